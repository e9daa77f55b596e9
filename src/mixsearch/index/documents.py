"""The documents of an index: names, texts and columns, read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from mixsearch.index.columns import Columns
from mixsearch.io.disk import damage_error
from mixsearch.io.folder import Folder
from mixsearch.io.parquet import Texts
from mixsearch.topics.corpus import FittedCorpus
from mixsearch.topics.segments import read_segments

# Documents that are too short for a topic. They are part of the corpus again when the index is refreshed, since what
# words are counted depends on them too.
SHORT = "short"


class Document(NamedTuple):
    """A document of the corpus."""

    row: int
    name: str | None
    text: str | None
    columns: Mapping[str, Any] = MappingProxyType({})


class Documents:
    """The documents of an index."""

    def __init__(
        self, folder: Folder, fitted: FittedCorpus, columns: Columns, *, has_names: bool, has_texts: bool
    ) -> None:
        self._folder, self._fitted, self._columns = folder, fitted, columns
        self._has_names, self._has_texts = has_names, has_texts

    @cached_property
    def _names(self) -> Texts | None:
        return read_texts(self._folder, "names") if self._has_names else None

    @cached_property
    def _texts(self) -> Texts | None:
        return read_texts(self._folder, "texts") if self._has_texts else None

    def read(self, rows: Sequence[int]) -> list[Document]:
        """Return documents by their rows."""
        if not len(rows):
            return []
        indices = self._fitted.find_documents(rows)
        names = self._names.read(indices) if self._names is not None else [None] * len(indices)
        texts = self._texts.read(indices) if self._texts is not None else [None] * len(indices)
        columns = self._columns.list_values(indices)
        return [Document(*each) for each in zip(map(int, rows), names, texts, columns, strict=True)]

    def names(self) -> Iterator[str]:
        """Yield the names of all documents, in the order of the corpus."""
        yield from self._names or ()

    def short_names(self) -> Iterator[str]:
        """Yield the names of documents that are too short for a topic."""
        for group in list_short(self._folder) if self._has_names else ():
            yield from self._folder.texts(f"{group}/names")


def read_texts(folder: Folder, name: str) -> Texts:
    """Return the texts or the names of all documents, in the order of the corpus."""
    segments = read_segments(folder)
    texts = folder.texts(*(segment.place(name) for segment in segments))
    n_documents = sum(segment.n_documents for segment in segments)
    if len(texts) != n_documents:
        raise damage_error(
            "'{path}' is damaged: it has {n_texts:,} {name} for {n_documents:,} documents.",
            path=str(folder.path),
            name=name,
            n_texts=len(texts),
            n_documents=n_documents,
        )
    return texts


def list_short(folder: Folder) -> list[str]:
    """Return the groups of documents that are too short for a topic, at most one for each segment."""
    return [name.removesuffix("/rows") for name in folder if name.endswith(f"{SHORT}/rows")]
