"""Reductions over partitions that are not sums of arrays: counts per partition, maxima, the best rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.partitions import Partition


@dataclass(frozen=True)
class PartitionCounts:
    """How many rows of some kind each shard has, under the number of its first row."""

    counts: dict[int, int]

    @classmethod
    def of(cls, partition: Partition, n_rows: int) -> PartitionCounts:
        """Of one shard."""
        return cls({partition.first: n_rows})

    def __add__(self, other: PartitionCounts) -> PartitionCounts:
        # Shards without rows begin where the next one does.
        both = self.counts.keys() | other.counts.keys()
        return PartitionCounts({first: self.counts.get(first, 0) + other.counts.get(first, 0) for first in both})

    @property
    def total(self) -> int:
        """How many there are in all shards."""
        return sum(self.counts.values())

    def before(self, partition: Partition) -> int:
        """How many there are in all shards before one of them."""
        return sum(n_rows for first, n_rows in self.counts.items() if first < partition.first)


@dataclass(frozen=True)
class Maximum:
    """A value, or an array of them: of two such, the larger."""

    value: Any

    def __add__(self, other: Maximum) -> Maximum:
        return Maximum(np.maximum(self.value, other.value))


@dataclass(frozen=True)
class Best:
    """So many rows with the largest scores, best first, equal ones in their order: of two such, the best of both."""

    most: int
    scores: Array
    numbers: Array  # of the rows among all
    about: tuple[Array, ...] = ()  # whatever else is to be known of these rows

    def __add__(self, other: Best) -> Best:
        scores, numbers, *about = (
            np.concatenate(pair)
            for pair in zip(
                (self.scores, self.numbers, *self.about), (other.scores, other.numbers, *other.about), strict=True
            )
        )
        order = np.lexsort((numbers, -scores))[: self.most]
        return Best(self.most, scores[order], numbers[order], tuple(each[order] for each in about))


def top_rows(scores: Array, n: int) -> Array:
    """Where the n largest scores stand, best first, equal ones in their order; without sorting the rest."""
    if n >= len(scores):
        return np.argsort(-scores, kind="stable")
    is_positive = scores > 0
    if n <= np.count_nonzero(is_positive) < len(scores) // 2:  # among many zeros a partition is ten times slower
        rows = np.flatnonzero(is_positive)
        return rows[top_rows(scores[rows], n)]
    level = np.partition(scores, len(scores) - n)[len(scores) - n]
    least = np.flatnonzero(scores >= level)
    return least[np.argsort(-scores[least], kind="stable")[:n]]
