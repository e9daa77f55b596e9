"""Reductions over chunks of documents that are not sums of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rows import Chunk


@dataclass(frozen=True)
class ChunkCounts:
    """Count the rows of some kind in every chunk. Chunks are identified by the index of their first row."""

    counts: dict[int, int]

    @classmethod
    def from_chunk(cls, chunk: Chunk, n_rows: int) -> ChunkCounts:
        """Return the count of one chunk."""
        return cls({chunk.first: n_rows})

    def __add__(self, other: ChunkCounts) -> ChunkCounts:
        # An empty chunk has the same first row as the next one.
        both = self.counts.keys() | other.counts.keys()
        return ChunkCounts({first: self.counts.get(first, 0) + other.counts.get(first, 0) for first in both})

    @property
    def total(self) -> int:
        """Number of rows counted in all chunks."""
        return sum(self.counts.values())

    def count_before(self, chunk: Chunk) -> int:
        """Return the number of rows counted in all chunks before this one."""
        return sum(n_rows for first, n_rows in self.counts.items() if first < chunk.first)


@dataclass(frozen=True)
class Maximum:
    """A value or an array; adding two of them takes the elementwise maximum."""

    value: Any

    def __add__(self, other: Maximum) -> Maximum:
        return Maximum(np.maximum(self.value, other.value))


@dataclass(frozen=True)
class TopRows:
    """The n rows with the largest scores, best first, ties in row order; adding two keeps the best n of both."""

    n: int
    scores: Array
    indices: Array  # of the rows, among the rows of all chunks
    values: tuple[Array, ...] = ()  # further columns, one entry for each of these rows

    def __add__(self, other: TopRows) -> TopRows:
        columns = zip(
            (self.scores, self.indices, *self.values), (other.scores, other.indices, *other.values), strict=True
        )
        scores, indices, *values = (np.concatenate(pair) for pair in columns)
        order = np.lexsort((indices, -scores))[: self.n]
        return TopRows(self.n, scores[order], indices[order], tuple(column[order] for column in values))
