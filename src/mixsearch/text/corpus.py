"""What has been read: documents with their counts, in blocks on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.text.count.chunks import CountChunk, build_count_matrix, read_chunk
from mixsearch.text.count.spool import Spool
from mixsearch.text.count.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents that have been read and counted; a context manager that removes its temporary files.

    Attributes
    ----------
    document_frequencies, word_counts : arrays of shape (d,)
        In how many documents each word occurs, and how often.
    n_documents, n_characters : int
        Documents that are left, and the characters of their texts.
    duplicates : array of shape (n_dropped, 2)
        The row of each dropped document, and that of the earlier one that it repeats.
    notes : tuple of str
        What was decided on the way, for the user to know: which column was taken as the text, for example.
    """

    n_documents: int
    n_characters: int
    duplicates: Array
    notes: tuple[str, ...]
    _vocabulary: Vocabulary = field(repr=False)
    _spool: Spool = field(repr=False)

    @property
    def vocabulary(self) -> list[str]:
        """The words of the columns: in alphabetical order, or in their own where counts were given."""
        return self._vocabulary.words

    @property
    def document_frequencies(self) -> Array:
        """In how many documents each word occurs, (d,)."""
        return self._vocabulary.documents

    @property
    def word_counts(self) -> Array:
        """How often each word occurs, (d,)."""
        return self._vocabulary.totals

    @property
    def n_words(self) -> int:
        """The number d of different words."""
        return len(self._vocabulary.words)

    @property
    def n_nonzeros(self) -> int:
        """Non-zero counts of all documents."""
        return int(self._vocabulary.documents.sum())

    @property
    def n_dropped(self) -> int:
        """Documents that were dropped as duplicates."""
        return len(self.duplicates)

    def blocks(self) -> Iterator[CountChunk]:
        """The documents in order, a block at a time; as often as wanted."""
        for block in self._spool.blocks():
            yield read_chunk(block, self._vocabulary)

    def to_counts(self) -> sp.csr_array[Any]:
        """All counts at once, (n_documents, d), for a corpus that fits into memory."""
        return sp.csr_array(
            sp.vstack([build_count_matrix(counts, self._vocabulary) for counts in self._spool.counts()], "csr")
        )

    def close(self) -> None:
        """Remove the temporary files; the vocabulary stays."""
        self._spool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
