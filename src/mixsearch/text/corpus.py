"""A corpus that was read: documents with their counts, in chunks on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.files.types import ColumnTypes
from mixsearch.errors import SearchWarning
from mixsearch.text.count.chunks import CountChunk, build_matrix, to_count_chunk
from mixsearch.text.count.dropped import DroppedWords
from mixsearch.text.count.spool import Spool
from mixsearch.text.count.vocabulary import Vocabulary


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
    _types: ColumnTypes | None = field(default=None, repr=False)
    n_missing: int = 0

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
        for chunk in self._spool.read_chunks():
            yield to_count_chunk(chunk, self._vocabulary, self.dropped.vocabulary, self._types)

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
