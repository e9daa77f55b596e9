"""A corpus on disk, open for reading: its files, their state, and what is known of how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mixsearch.errors import Coded
from mixsearch.io.disk import damage_error
from mixsearch.io.folder import Folder
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.corpus import FittedCorpus

# What is known of the corpus of a saved search: a folder that `TopicSearch.save` wrote, not `build_index`.
_SAVED_SEARCH: Mapping[str, Any] = {
    "n_characters": None,
    "n_duplicates": 0,
    "has_texts": False,
    "has_names": False,
    "tokens": None,
    "reading": None,
}


def read_corpus(folder: Folder) -> Mapping[str, Any]:
    """Return what a folder knows of its corpus."""
    corpus: Mapping[str, Any] = folder.facts.get("corpus", _SAVED_SEARCH)
    return corpus


# Facts of an index, with their types.
_NUMBER = int | float
_SHAPES: Mapping[str, Any] = {
    "n_rows": int,
    "corpus": {
        "n_characters": int | None,
        "n_duplicates": int,
        "has_texts": bool,
        "has_names": bool,
        "tokens": dict | None,
        "reading": dict | None,
    },
    "columns": [{"name": str, "kind": str, "role": str | None}],
    "growth": {"n_fitted": int, "n_added": int, "n_removed": int, "outside": _NUMBER, "new_words": _NUMBER},
    "dropped": {"n_words": dict, "reasons": [str]},
    "fit": {"distinct": bool, "n_applications": int, "n_dropped": int, "has_vocabulary": bool, "has_left_out": bool},
}


def _check_facts(folder: Folder) -> None:
    """Raise `DamagedFolderError` unless facts have the types that their users trust."""
    for name, value in folder.facts.items():
        shape = _SHAPES.get(name.rpartition("/")[2], object)
        if not _has_shape(value, shape):
            raise damage_error(
                "'{path}' is damaged: its {name} cannot be {value!r}.", path=str(folder.path), name=name, value=value
            )


def _has_shape(value: Any, shape: Any) -> bool:
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(name in value and _has_shape(value[name], shape[name]) for name in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(_has_shape(each, shape[0]) for each in value)
    return isinstance(value, shape)


class StoredCorpus:
    """A corpus on disk, with the fit to it."""

    def __init__(self, folder: Folder) -> None:
        _check_facts(folder)
        self._folder = folder
        self._fitted = FittedCorpus.from_folder(folder)
        self._corpus = read_corpus(folder)

    @property
    def path(self) -> Path:
        """The folder of the index."""
        return self._folder.path

    @property
    def generation(self) -> str:
        """The state of the index, which changes with every write."""
        return self._folder.generation

    @property
    def created(self) -> str:
        """When this state of the index was written."""
        return self._folder.manifest.created

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return self._fitted.chunks.n_rows

    @property
    def n_components(self) -> int:
        """The number of fitted topics: a search can use fewer."""
        return self._fitted.search.n_components_

    @property
    def has_texts(self) -> bool:
        """Whether the index stores the texts of its documents."""
        return bool(self._corpus["has_texts"])

    @property
    def has_names(self) -> bool:
        """Whether the documents have names."""
        return bool(self._corpus["has_names"])

    @property
    def tokens(self) -> Mapping[str, Any] | None:
        """How texts are split into words; None if that is not known."""
        tokens: Mapping[str, Any] | None = self._corpus["tokens"]
        return tokens

    @property
    def n_rows(self) -> int:
        """The number of rows that were ever read, with those of documents that were left out or removed."""
        known = self._folder.facts.get("n_rows")  # None in a saved search
        return int(self._fitted.search.kept_rows_[-1]) + 1 if known is None else int(known)

    @property
    def reading(self) -> CorpusOptions | None:
        """How the texts were read and counted; None if that is not known."""
        stored = self._corpus["reading"]
        return None if stored is None else CorpusOptions(**stored)

    @property
    def fitted(self) -> FittedCorpus:
        """The words and documents of the fit."""
        return self._fitted

    @contextmanager
    def explain_failures(self) -> Iterator[None]:
        """Report a damaged index instead of an unexpected error that follows from it."""
        self.check_files()
        try:
            yield
        except Coded:
            raise
        except Exception as error:
            self.verify()
            if isinstance(error, OSError | np.linalg.LinAlgError | pl.exceptions.PolarsError):
                sentence = "'{path}' cannot be read ({error})."
                raise damage_error(sentence, path=str(self.path), error=str(error)) from error
            raise

    def check_files(self) -> None:
        """Raise `DamagedFolderError` if a file of the index was cut in place: reading it would end the process."""
        self._folder.check_sizes()

    def file_times(self) -> tuple[int, ...]:
        """Return when each file of the index was changed, in nanoseconds; nothing if one is gone.

        Returns
        -------
        tuple of int
        """
        with suppress(OSError):
            return tuple(path.stat().st_mtime_ns for path in self._folder.files.values())
        return ()

    def verify(self) -> None:
        """Read every byte of the index and compare it with the checksums."""
        self._folder.verify()
