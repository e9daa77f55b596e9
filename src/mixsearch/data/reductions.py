"""Reductions over partitions that are not sums of arrays: counts per partition, maxima, the best rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.partitions import Shard


@dataclass(frozen=True)
class Tally:
    """How many rows of some kind each shard has, under the number of its first row."""

    counts: dict[int, int]

    @classmethod
    def of(cls, shard: Shard, n_rows: int) -> Tally:
        """Of one shard."""
        return cls({shard.first: n_rows})

    def __add__(self, other: Tally) -> Tally:
        # Shards without rows begin where the next one does.
        both = self.counts.keys() | other.counts.keys()
        return Tally({first: self.counts.get(first, 0) + other.counts.get(first, 0) for first in both})

    @property
    def total(self) -> int:
        """How many there are in all shards."""
        return sum(self.counts.values())

    def before(self, shard: Shard) -> int:
        """How many there are in all shards before one of them."""
        return sum(n_rows for first, n_rows in self.counts.items() if first < shard.first)


@dataclass(frozen=True)
class Largest:
    """A value, or an array of them: of two such, the larger."""

    value: Any

    def __add__(self, other: Largest) -> Largest:
        return Largest(np.maximum(self.value, other.value))


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


def best_rows(scores: Array, n: int) -> Array:
    """Where the n largest scores stand, best first, equal ones in their order; without sorting the rest."""
    if n >= len(scores):
        return np.argsort(-scores, kind="stable")
    is_positive = scores > 0
    if n <= np.count_nonzero(is_positive) < len(scores) // 2:  # among many zeros a partition is ten times slower
        rows = np.flatnonzero(is_positive)
        return rows[best_rows(scores[rows], n)]
    level = np.partition(scores, len(scores) - n)[len(scores) - n]
    least = np.flatnonzero(scores >= level)
    return least[np.argsort(-scores[least], kind="stable")[:n]]
