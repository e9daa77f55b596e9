"""A corpus that was read: documents with their counts, in chunks on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import SearchError, SearchWarning
from mixsearch.io.disk import TemporaryFolder
from mixsearch.text.phrases import Phrases, Sequences


class Entries(NamedTuple):
    """The counts of some documents by the numbers of words, each once in a document, in the order of the documents."""

    numbers: Array  # int32, (n_entries,)
    counts: Array  # int32, (n_entries,)
    bounds: Array  # entries bounds[i] to bounds[i + 1] belong to document i, (n_documents + 1,)

    @property
    def documents(self) -> Array:
        """The document of each entry, (n_entries,)."""
        return np.repeat(np.arange(len(self.bounds) - 1, dtype=np.int32), np.diff(self.bounds))


class Chunk(NamedTuple):
    """Documents with the counts of all of their words, before the features are known."""

    entries: Entries
    sequences: Sequences | None  # for phrases
    n_characters: Array  # of each text, (n_documents,)
    contents: pl.DataFrame  # names and texts, if there are any


@dataclass(frozen=True)
class CountChunk:
    """A chunk of the documents of a corpus, in the order of the input.

    Attributes
    ----------
    counts : sparse array of shape (n_rows, n_words), int32
        How often each word occurs in each document, features first.
    rows : array of shape (n_rows,)
        Indices of the documents in the input. Those of dropped documents are missing.
    names : list of str, optional
        Values of the id column, or names of files.
    texts : list of str, optional
        The documents as they were read.
    columns : polars.DataFrame, optional
        The columns that are kept with the text.
    """

    counts: sp.csr_array[Any]
    rows: Array
    names: list[str] | None
    texts: list[str] | None
    columns: pl.DataFrame | None = None

    def take_contents(self, indices: Array) -> tuple[Array, list[str] | None, list[str] | None, pl.DataFrame | None]:
        """Return rows, names, texts and columns of some of the documents, without their counts."""
        return (
            np.asarray(self.rows)[indices],
            None if self.names is None else [self.names[i] for i in indices],
            None if self.texts is None else [self.texts[i] for i in indices],
            None if self.columns is None else self.columns[indices],
        )

    def take(self, indices: Array) -> CountChunk:
        """Return some of the documents."""
        rows, names, texts, columns = self.take_contents(indices)
        return CountChunk(self.counts[indices], rows, names, texts, columns)


class Spool:
    """Chunks on disk, in order. `close` removes them."""

    def __init__(self) -> None:
        try:
            self._folder = TemporaryFolder()
        except OSError as error:
            raise _make_spool_error(error) from error
        self.starts = [0]  # the first document of each chunk, and the number of all

    def add(self, chunk: Chunk) -> None:
        """Write a chunk after the others."""
        contents, place = BytesIO(), len(self.starts) - 1
        chunk.contents.write_ipc(contents)
        try:
            self._save(place, "entries", [*chunk.entries, chunk.n_characters])
            if chunk.sequences is not None:
                self._save(place, "sequences", chunk.sequences)
            self._get_path(place, "contents").write_bytes(contents.getbuffer())
        except OSError as error:
            raise _make_spool_error(error) from error
        self.starts.append(self.starts[-1] + len(chunk.n_characters))

    def read(self) -> Iterator[Chunk]:
        """Yield all chunks, in order."""
        for place in range(len(self.starts) - 1):
            *entries, n_characters = self._load(place, "entries")
            sequences = self._load(place, "sequences")
            contents = pl.read_ipc(self._get_path(place, "contents"))
            yield Chunk(Entries(*entries), Sequences(*sequences) if sequences else None, n_characters, contents)

    def read_entries(self) -> Iterator[Entries]:
        """Yield the counts of all chunks, in order."""
        for place in range(len(self.starts) - 1):
            yield Entries(*self._load(place, "entries")[:3])

    def read_sequences(self) -> Iterator[Sequences]:
        """Yield the tokens of all chunks in their order."""
        for place in range(len(self.starts) - 1):
            yield Sequences(*self._load(place, "sequences"))

    def read_rows(self, documents: Array) -> sp.csr_array[Any]:
        """Return the counts of some documents by the numbers of words, in the order of the documents given."""
        wanted, order = np.unique(documents, return_inverse=True)
        parts, width = [], max(int(entries.numbers.max(initial=0)) for entries in self.read_entries()) + 1
        for place, (start, stop) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            chosen = wanted[(wanted >= start) & (wanted < stop)] - start
            if len(chosen):
                numbers, counts, bounds, _ = self._load(place, "entries")
                shape = (stop - start, width)
                parts.append(sp.csr_array((counts, numbers, bounds), shape=shape)[chosen])
        return sp.csr_array(sp.vstack(parts, "csr")[order])

    def close(self) -> None:
        """Remove the folder."""
        self._folder.close()

    def _save(self, place: int, kind: str, arrays: Iterable[Array]) -> None:
        with self._get_path(place, kind).open("wb") as file:
            for array in arrays:
                np.save(file, array)

    def _load(self, place: int, kind: str) -> list[Array]:
        """Return the arrays of a file; none if there is no such file."""
        if not self._folder.path.is_dir():
            raise SearchError(
                "The corpus is closed and its temporary files are gone. Read its chunks inside the with statement.",
                code="corpus_closed",
            )
        arrays, path = [], self._get_path(place, kind)
        if path.exists():
            with path.open("rb") as file:
                while file.tell() < path.stat().st_size:
                    arrays.append(np.load(file))
        return arrays

    def _get_path(self, place: int, kind: str) -> Path:
        return self._folder.path / f"{kind}-{place:06d}"


def _make_spool_error(error: OSError) -> SearchError:
    return SearchError(
        "Cannot write temporary files in {folder!r} ({reason}). Free some space there, or choose another folder "
        "with the environment variable TMPDIR.",
        code="tmp_dir_failed",
        folder=tempfile.gettempdir(),
        reason=error.strerror or str(error),
    )


class Words(NamedTuple):
    """The words of a corpus by their columns, features first."""

    spelled: pl.Series  # (n_words,)
    n_features: int
    documents: Array  # number of documents that each word occurs in, (n_words,)
    totals: Array  # total count of each, (n_words,)
    column_of: Array  # column of each number of a word, or -1
    phrases: Phrases | None


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents that were read and counted. As a context manager, it removes its temporary files.

    Attributes
    ----------
    n_documents, n_characters : int
        Documents that are left, and the characters of their texts.
    copy_of : array of shape (n_documents,)
        The first document that each nearly repeats; its own index if it repeats none.
    duplicates : array of shape (n_dropped, 2)
        Row of each dropped document, and row of the earlier document that it repeats.
    notes : tuple of SearchWarning
        Decisions that the user should know about, such as which column has the text.
    stop_words : tuple of str
        The stop words that are not features.
    n_missing : int
        Documents without a text: it was null. They have no words.
    columns : polars.DataFrame, optional
        The columns that are kept with the texts, one row for each document.

    Examples
    --------
    >>> from mixsearch.text import count_texts
    >>> with count_texts(["good sushi", "good, good ramen"]) as corpus:  # or read_corpus, for files
    ...     counts = corpus.to_counts()
    >>> counts.shape
    (2, 3)
    """

    n_documents: int
    n_characters: int
    copy_of: Array
    duplicates: Array
    notes: tuple[SearchWarning, ...]
    stop_words: tuple[str, ...]
    _words: Words = field(repr=False)
    _spool: Spool = field(repr=False)
    n_missing: int = 0
    columns: pl.DataFrame | None = field(default=None, repr=False)

    @cached_property
    def words(self) -> list[str]:
        """All words of the texts: the features, in the order of the columns, and then the others."""
        return self._words.spelled.to_list()

    @property
    def vocabulary(self) -> list[str]:
        """The features, in alphabetical order; of ready-made counts, in the order of their columns."""
        return self.words[: self._words.n_features]

    @property
    def document_frequencies(self) -> Array:
        """Number of documents that each word occurs in, (n_words,)."""
        return self._words.documents

    @property
    def word_counts(self) -> Array:
        """Total count of each word, (n_words,)."""
        return self._words.totals

    @property
    def n_features(self) -> int:
        """The number d of features."""
        return self._words.n_features

    @property
    def n_nonzeros(self) -> int:
        """Number of non-zero counts of features in all documents."""
        return int(self._words.documents[: self.n_features].sum())

    @property
    def n_dropped(self) -> int:
        """Number of documents that were dropped as duplicates."""
        return len(self.duplicates)

    def chunks(self) -> Iterator[CountChunk]:
        """Yield the documents in order, one chunk at a time. It can be called again.

        Yields
        ------
        CountChunk
            Some documents.
        """
        n_done = first = 0
        is_dropped = np.zeros(self._spool.starts[-1], dtype=bool)
        is_dropped[self.duplicates[:, 0]] = True
        for chunk in self._spool.read():
            rows = first + np.flatnonzero(~is_dropped[first : first + len(chunk.n_characters)])
            counts, contents = self._count(chunk.entries, chunk.sequences), chunk.contents
            if len(rows) < counts.shape[0]:
                counts = counts[rows - first]
                contents = contents[rows - first] if contents.width else contents
            names, texts = (contents[name].to_list() if name in contents else None for name in ("name", "text"))
            columns = None if self.columns is None else self.columns.slice(n_done, len(rows))
            yield CountChunk(counts, rows, names, texts, columns)
            first += len(chunk.n_characters)
            n_done += len(rows)

    def to_counts(self) -> sp.csr_array[Any]:
        """Return the counts of all features at once, for a corpus that fits into memory.

        Returns
        -------
        sparse array of shape (n_documents, d)
            The counts.
        """
        matrices = [chunk.counts[:, : self.n_features] for chunk in self.chunks()]
        return sp.csr_array(sp.vstack(matrices, "csr"))

    def _count(self, entries: Entries, sequences: Sequences | None) -> sp.csr_array[Any]:
        """Return counts with words as columns, (n, n_words)."""
        words, shape = self._words, (len(entries.bounds) - 1, len(self._words.spelled))
        columns = words.column_of[entries.numbers]
        is_word = columns >= 0
        bounds = np.concatenate([[0], np.cumsum(is_word)])[entries.bounds].astype(np.int32)
        counts: sp.csr_array[Any] = sp.csr_array((entries.counts[is_word], columns[is_word], bounds), shape=shape)
        counts = counts.tocsc().tocsr()  # sorts the columns of each row
        if words.phrases is not None and sequences is not None:
            documents, phrases = words.phrases.find(sequences)
            counts = counts + sp.csr_array((np.ones(len(phrases), np.int32), (documents, phrases)), shape=shape)
        return counts

    def close(self) -> None:
        """Remove the temporary files. The words and the frequencies stay."""
        self._spool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
