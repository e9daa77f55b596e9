"""The contents of an index, how it was built, and its size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mixsearch.index.column_file import StoredColumn
from mixsearch.index.columns import Columns
from mixsearch.index.completion import CorpusWord
from mixsearch.index.documents import list_short
from mixsearch.index.growth import Growth, read_growth
from mixsearch.index.starters import Starter
from mixsearch.index.stored_corpus import read_corpus
from mixsearch.io.folder import Folder
from mixsearch.topics.corpus import FittedCorpus


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The contents of an index, how it was built, and its size."""

    path: str
    created: str
    written_by: str
    format_version: int
    n_documents: int
    n_short: int
    n_duplicates: int
    n_words: int
    n_nonzeros: int
    n_components: int
    n_characters: int | None
    has_texts: bool
    has_names: bool
    options: dict[str, Any]
    tokens: dict[str, Any] | None
    bytes_of_parts: dict[str, int]
    n_bytes: int
    bytes_per_document: float
    dropped_words: dict[str, int]
    frequent_words: list[CorpusWord]
    distinctive_words: list[CorpusWord]
    starters: list[Starter]
    eigenvalues: list[float]
    columns: list[StoredColumn]
    growth: Growth

    def as_dict(self) -> dict[str, Any]:
        """Return the contents as JSON has them."""
        return {**asdict(self), "growth": self.growth.as_dict()}


def read_contents(
    folder: Folder,
    fitted: FittedCorpus,
    frequent: Sequence[CorpusWord],
    distinctive: Sequence[CorpusWord],
    starters: Sequence[Starter],
) -> Contents:
    """Return the contents of a folder; the counts and texts themselves are not read."""
    topics, corpus = fitted.search, read_corpus(folder)
    sizes: Counter[str] = Counter()  # by the first part of the names of files
    for name, file in folder.manifest.files.items():
        sizes[re.split(r"[/.]", name)[0]] += file.size
    n_documents, n_duplicates = fitted.chunks.n_rows, corpus["n_duplicates"]
    return Contents(
        path=str(folder.path),
        created=folder.manifest.created,
        written_by=folder.manifest.written_by,
        format_version=folder.manifest.version,
        n_documents=n_documents,
        n_short=_count_short(folder, topics.n_dropped_ - n_duplicates),
        n_duplicates=n_duplicates,
        n_words=topics.n_features_in_,
        n_nonzeros=fitted.n_nonzeros,
        n_components=topics.n_components_,
        n_characters=corpus["n_characters"],
        has_texts=corpus["has_texts"],
        has_names=corpus["has_names"],
        options=_list_options(folder),
        tokens=corpus["tokens"],
        bytes_of_parts=dict(sizes),
        n_bytes=sum(sizes.values()),
        bytes_per_document=round(sum(sizes.values()) / n_documents, 1),
        dropped_words=dict(folder.facts["dropped"]["n_words"]) if "dropped" in folder.facts else {},
        frequent_words=list(frequent),
        distinctive_words=list(distinctive),
        starters=list(starters),
        eigenvalues=fitted.eigenvalues.tolist(),
        columns=Columns(folder).described,
        growth=read_growth(folder.facts, n_documents),
    )


def _list_options(folder: Folder) -> dict[str, Any]:
    """Return the options of the search. The default preset is not one: its choices are listed themselves."""
    return {name: value for name, value in folder.facts["search"].items() if (name, value) != ("preset", "default")}


def _count_short(folder: Folder, n_dropped: int) -> int:
    """Return the number of documents that are too short; a saved search has only their number."""
    groups = list_short(folder)
    return sum(len(folder[f"{group}/rows"]) for group in groups) if "n_rows" in folder.facts else n_dropped
