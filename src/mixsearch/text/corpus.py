"""A corpus that was read: documents with their counts, in chunks on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import SearchError, SearchWarning
from mixsearch.io.disk import TemporaryFolder
from mixsearch.text.phrases import Sequences


@dataclass(frozen=True)
class CountChunk:
    """A chunk of the documents of a corpus, in the order of the input.

    Attributes
    ----------
    counts : sparse array of shape (n_rows, n_words), int32
        How often each word occurs in each document, features first.
    start : int
        The index of the first document in the input.
    names : list of str, optional
        Values of the id column, or names of files.
    texts : list of str
        The documents as they were read.
    columns : polars.DataFrame, optional
        The columns that are kept with the text.
    """

    counts: sp.csr_array[Any]
    start: int
    names: list[str] | None
    texts: list[str]
    columns: pl.DataFrame | None = None


class Spool:
    """Chunks of documents on disk, in order: contents, counts, tokens in their order. `close` removes them."""

    def __init__(self) -> None:
        with _report_full_disk():
            self._folder = TemporaryFolder()
        self.starts = [0]  # the first document of each chunk, and the number of all

    @property
    def places(self) -> range:
        """The numbers of the chunks."""
        return range(len(self.starts) - 1)

    def add(self, documents: pl.DataFrame, counts: sp.csr_array[Any], sequences: Sequences) -> None:
        """Write a chunk after the others: names and texts of documents, and their tokens."""
        place = len(self.starts) - 1
        with _report_full_disk():
            documents.write_ipc(self._get_path(place, "documents"))
            np.savez(self._get_path(place, "tokens"), **sequences._asdict())
        self.write_counts(place, counts)
        self.starts.append(self.starts[-1] + documents.height)

    def write_counts(self, place: int, counts: sp.csr_array[Any]) -> None:
        """Write the counts of the documents of a chunk, in place of those before."""
        with _report_full_disk():
            sp.save_npz(self._get_path(place, "counts"), counts, compressed=False)

    def read_documents(self, place: int) -> pl.DataFrame:
        """Return the names and texts of the documents of a chunk."""
        return pl.read_ipc(self._get_path(place, "documents"))

    def read_counts(self, place: int, width: int | None = None) -> sp.csr_array[Any]:
        """Return the counts of the documents of a chunk, as many columns as there were when it was written, or more."""
        counts: Any = sp.load_npz(self._get_path(place, "counts"))
        shape = (counts.shape[0], counts.shape[1] if width is None else width)
        return sp.csr_array((counts.data, counts.indices, counts.indptr), shape=shape)

    def read_rows(self, documents: Array, width: int) -> sp.csr_array[Any]:
        """Return the counts of some documents, in the order given."""
        rows, order = np.unique(documents, return_inverse=True)
        counts = [
            self.read_counts(place, width)[rows[start:stop] - self.starts[place]]
            for place, (start, stop) in enumerate(pairwise(np.searchsorted(rows, self.starts)))
            if start < stop
        ]
        return sp.csr_array(sp.vstack(counts, "csr")[order])

    def read_tokens(self, place: int) -> Sequences:
        """Return the tokens of the documents of a chunk in their order."""
        with np.load(self._get_path(place, "tokens")) as arrays:
            return Sequences(**arrays)

    def close(self) -> None:
        """Remove the folder."""
        self._folder.close()

    def _get_path(self, place: int, kind: str) -> Path:
        if not self._folder.path.is_dir():
            raise SearchError(
                "The corpus is closed and its temporary files are gone. Read its chunks inside the with statement.",
                code="corpus_closed",
            )
        return self._folder.path / f"{kind}-{place:06d}{'' if kind == 'documents' else '.npz'}"


@contextmanager
def _report_full_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SearchError(
            "Cannot write temporary files in {folder!r} ({reason}). Free some space there, or choose another folder "
            "with the environment variable TMPDIR.",
            code="tmp_dir_failed",
            folder=tempfile.gettempdir(),
            reason=error.strerror or str(error),
        ) from error


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents that were read and counted. As a context manager, it removes its temporary files.

    Attributes
    ----------
    n_documents : int
        The number of documents.
    copy_of : array of shape (n_documents,)
        The first document that each nearly repeats; its own index if it repeats none.
    notes : tuple of SearchWarning
        Decisions that the user should know about, such as which column has the text.
    stop_words : tuple of str
        The stop words that are not features.
    words : list of str
        All words of the texts: the features, in the order of the columns, and then the others.
    n_features : int
        The number d of features.
    document_frequencies : array of shape (n_words,)
        Number of documents that each word occurs in.
    word_counts : array of shape (n_words,)
        Total count of each word.
    n_missing : int
        Documents without a text: it was null. They have no words.
    columns : polars.DataFrame, optional
        The columns that are kept with the texts, one row for each document.

    Examples
    --------
    >>> from mixsearch.text import read_corpus
    >>> with read_corpus(["good sushi", "good, good ramen"]) as corpus:  # or files
    ...     counts = corpus.to_counts()
    >>> counts.shape
    (2, 3)
    """

    n_documents: int
    copy_of: Array
    notes: tuple[SearchWarning, ...]
    stop_words: tuple[str, ...]
    words: list[str] = field(repr=False)
    n_features: int
    document_frequencies: Array = field(repr=False)
    word_counts: Array = field(repr=False)
    n_missing: int
    columns: pl.DataFrame | None = field(repr=False)
    _spool: Spool = field(repr=False)

    @property
    def vocabulary(self) -> list[str]:
        """The features, in alphabetical order."""
        return self.words[: self.n_features]

    def chunks(self) -> Iterator[CountChunk]:
        """Yield the documents in order, one chunk at a time. It can be called again.

        Yields
        ------
        CountChunk
            Some documents.
        """
        for place, start in zip(self._spool.places, self._spool.starts, strict=False):
            documents, counts = self._spool.read_documents(place), self._spool.read_counts(place)
            names = documents["name"].to_list() if "name" in documents else None
            columns = None if self.columns is None else self.columns.slice(start, documents.height)
            yield CountChunk(counts, start, names, documents["text"].to_list(), columns)

    def to_counts(self) -> sp.csr_array[Any]:
        """Return the counts of all features at once, for a corpus that fits into memory.

        Returns
        -------
        sparse array of shape (n_documents, d)
            The counts.
        """
        return sp.csr_array(sp.vstack([chunk.counts[:, : self.n_features] for chunk in self.chunks()], "csr"))

    def close(self) -> None:
        """Remove the temporary files. The words and the frequencies stay."""
        self._spool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
