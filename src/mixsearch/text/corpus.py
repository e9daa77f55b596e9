"""A corpus that was read: documents with their counts, in chunks on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import SearchError, SearchWarning
from mixsearch.io.disk import TemporaryFolder
from mixsearch.text.count.chunks import (
    Chunk,
    CountChunk,
    build_matrix,
    measure_texts,
    pack_texts,
    to_count_chunk,
    unpack_texts,
)
from mixsearch.text.count.dropped import DroppedWords
from mixsearch.text.count.ngrams import ChunkCounts
from mixsearch.text.count.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl


class Spool:
    """Chunks on disk, in order. `close` removes them."""

    def __init__(self) -> None:
        try:
            self._folder = TemporaryFolder()
        except OSError as error:
            raise self._make_error(error) from error
        self._n_chunks = 0

    def add(self, chunk: Chunk) -> None:
        """Write a chunk after the others."""
        counts = chunk.counts
        arrays = {
            "keys": counts.keys,
            "bounds": counts.bounds,
            "words": counts.words,
            "counts": counts.counts,
            "letters": counts.letters,
            "lengths": counts.lengths,
            "sequence": counts.sequence,
            "sequence_bounds": counts.sequence_bounds,
            "rows": chunk.rows,
            "n_characters": chunk.n_characters,
        }
        if chunk.names is not None:
            arrays["names"] = pack_texts(chunk.names)
            arrays["name_lengths"] = measure_texts(chunk.names)
        if chunk.texts is not None:
            arrays["texts"] = chunk.texts
        try:
            np.savez(self._get_path(self._n_chunks), **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise self._make_error(error) from error
        self._n_chunks += 1

    def read_counts(self) -> Iterator[ChunkCounts]:
        """Yield the counts of all chunks, in order."""
        self._check_open()
        for i in range(self._n_chunks):
            with np.load(self._get_path(i)) as file:
                yield _load_counts(file)

    def read_chunks(self) -> Iterator[Chunk]:
        """Yield all chunks, in order."""
        self._check_open()
        for i in range(self._n_chunks):
            with np.load(self._get_path(i)) as file:
                names = unpack_texts(file["names"], file["name_lengths"]) if "names" in file else None
                texts = file.get("texts")
                yield Chunk(_load_counts(file), file["rows"], names, texts, file["n_characters"])

    def close(self) -> None:
        """Remove the folder."""
        self._folder.close()

    def _check_open(self) -> None:
        if not self._folder.path.is_dir():
            raise SearchError(
                "The corpus is closed and its temporary files are gone. Read its chunks inside the with statement.",
                code="corpus_closed",
            )

    def _get_path(self, i: int) -> Path:
        return self._folder.path / f"chunk-{i:06d}.npz"

    @staticmethod
    def _make_error(error: OSError) -> SearchError:
        return SearchError(
            "Cannot write temporary files in {folder!r} ({reason}). Free some space there, or choose another folder "
            "with the environment variable TMPDIR.",
            code="tmp_dir_failed",
            folder=tempfile.gettempdir(),
            reason=error.strerror or str(error),
        )


def _load_counts(file: np.lib.npyio.NpzFile) -> ChunkCounts:
    return ChunkCounts(*(file[field.name] for field in fields(ChunkCounts)))


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents that were read and counted. As a context manager, it removes its temporary files.

    Attributes
    ----------
    n_documents, n_characters : int
        Documents that are left, and the characters of their texts.
    duplicates : array of shape (n_dropped, 2)
        Row of each dropped document, and row of the earlier document that it repeats.
    notes : tuple of SearchWarning
        Decisions that the user should know about, such as which column has the text.
    stop_words : tuple of str
        The stop words that were left out because the texts use them as such, if the corpus chose them.
    dropped : DroppedWords
        Words of the texts that are not features.
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
    duplicates: Array
    notes: tuple[SearchWarning, ...]
    stop_words: tuple[str, ...]
    dropped: DroppedWords = field(repr=False)
    _vocabulary: Vocabulary = field(repr=False)
    _spool: Spool = field(repr=False)
    n_missing: int = 0
    columns: pl.DataFrame | None = field(default=None, repr=False)

    @property
    def vocabulary(self) -> list[str]:
        """The words of the columns, in alphabetical order; of ready-made counts, in the order of their columns."""
        return self._vocabulary.words

    @property
    def document_frequencies(self) -> Array:
        """Number of documents that each word occurs in, (d,)."""
        return self._vocabulary.documents

    @property
    def word_counts(self) -> Array:
        """Total count of each word, (d,)."""
        return self._vocabulary.totals

    @property
    def n_words(self) -> int:
        """The number d of different words."""
        return len(self._vocabulary.words)

    @property
    def n_nonzeros(self) -> int:
        """Number of non-zero counts of all documents."""
        return int(self._vocabulary.documents.sum())

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
        first = 0
        for chunk in self._spool.read_chunks():
            columns = None if self.columns is None else self.columns.slice(first, len(chunk.rows))
            yield to_count_chunk(chunk, self._vocabulary, self.dropped.vocabulary, columns)
            first += len(chunk.rows)

    def to_counts(self) -> sp.csr_array[Any]:
        """Return all counts at once, for a corpus that fits into memory.

        Returns
        -------
        sparse array of shape (n_documents, d)
            The counts.
        """
        matrices = [build_matrix(counts, self._vocabulary) for counts in self._spool.read_counts()]
        return sp.csr_array(sp.vstack(matrices, "csr"))

    def close(self) -> None:
        """Remove the temporary files. The vocabulary and the frequencies stay."""
        self._spool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
