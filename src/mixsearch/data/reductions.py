"""Reductions over chunks that are not sums: counts, values of rows, maxima, best rows; samples of terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.rows import Chunk

# Each step lowers the bound from above, and changes it little from here on.
_N_STEPS = 4


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
class RowValues:
    """A value for each row, (n,). Chunks are identified by the index of their first row."""

    values: dict[int, Array]

    @classmethod
    def from_chunk(cls, chunk: Chunk, values: Array) -> RowValues:
        """Return the values of one chunk."""
        return cls({chunk.first: values})

    def __add__(self, other: RowValues) -> RowValues:
        return RowValues(self.values | other.values)

    def join(self) -> Array:
        """Return the values of all rows, in their order."""
        return np.concatenate([self.values[first] for first in sorted(self.values)])


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


# If there are many scores, one of this many says how large the n-th largest is, about.
_N_PER_PROBE, _MIN_PROBED, _MIN_PER_ROW = 64, 50_000, 16


def top_rows(scores: Array, n: int) -> Array:
    """Return the indices of the n largest scores, best first, ties in their order. The rest is not sorted."""
    if n >= len(scores):
        return np.argsort(-scores, kind="stable")
    if len(scores) > max(_MIN_PER_ROW * n, _MIN_PROBED):
        rows = _find_large(scores, n)
        if n <= len(rows) < len(scores) // 4:
            return rows[top_rows(scores[rows], n)]
    is_positive = scores > 0
    if n <= np.count_nonzero(is_positive) < len(scores) // 2:  # np.partition is ten times slower with many equal values
        rows = np.flatnonzero(is_positive)
        return rows[top_rows(scores[rows], n)]
    level = np.partition(scores, len(scores) - n)[len(scores) - n]
    candidates = np.flatnonzero(scores >= level)
    return candidates[np.argsort(-scores[candidates], kind="stable")[:n]]


def _find_large(scores: Array, n: int) -> Array:
    """Return the rows of about twice the n largest scores, found from a part of them."""
    n_above = 2 * n // _N_PER_PROBE + 8
    level = np.partition(scores[::_N_PER_PROBE], -n_above)[-n_above]
    return np.flatnonzero(scores >= level)


def sample_terms(sizes: Array, n: int) -> tuple[Array, Array]:
    """Choose about n terms of a sum: the largest ones, and others at even steps.

    Notes
    -----
    A term is chosen with probability p = min(size / b, 1) and has the weight 1 / p; b follows from Σ p = n. Of the
    terms with p < 1, those are chosen at which the sum of p so far passes an integer and a half (systematic sampling):
    equal sums have equal samples.
    """
    nonzero = np.flatnonzero(sizes != 0)
    if len(nonzero) <= n:
        return nonzero, np.ones(len(nonzero))
    bound = float(sizes.sum()) / n
    is_large = sizes >= bound
    for _ in range(_N_STEPS):
        bound = float(sizes[~is_large].sum()) / max(n - int(np.count_nonzero(is_large)), 1)
        is_large = sizes >= bound
    passed = np.floor(np.cumsum(np.where(is_large, 0.0, sizes / bound)) + 0.5)
    chosen = np.flatnonzero(is_large | (np.diff(passed, prepend=0.0) > 0))
    return chosen, np.maximum(bound / sizes[chosen], 1.0)
