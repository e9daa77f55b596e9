"""Partitions in this process: all samples in one, or in a few segments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import scipy.sparse as sp

from mixsearch.data.chunks import Sums, add_sums
from mixsearch.data.partitions.base import Layout, Partitions, S, T
from mixsearch.data.partitions.partition import SamplePartition


@dataclass(frozen=True, eq=False)
class LocalPartitions(Partitions[S]):
    """All samples in one partition, in the memory of this process or mapped into it."""

    partition: S

    def reduce(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Return what the function returns for the partition."""
        return summarize(self.partition, *shared)

    def map(self, change: Callable[..., T], *shared: Any) -> LocalPartitions[T]:
        """Apply the function to the partition."""
        return LocalPartitions(self.layout, change(self.partition, *shared))

    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[LocalPartitions[T], Sums]:
        """Apply a function to the partition, and return the new partition and the sums."""
        partition, sums = step(self.partition, *shared)
        return LocalPartitions(self.layout, partition), sums

    def persist(self) -> Self:
        """Return the partitions: functions are applied at once."""
        return self

    def collect(self) -> LocalPartitions[S]:
        """Return the partitions: they are in this process."""
        return self


@dataclass(frozen=True, eq=False)
class SegmentedPartitions(Partitions[S]):
    """Samples in a few partitions, in the memory of this process or mapped into it."""

    segments: tuple[S, ...]

    def reduce(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Sum what the function returns for each partition."""
        return reduce(add_sums, (summarize(each, *shared) for each in self.segments))

    def map(self, change: Callable[..., T], *shared: Any) -> SegmentedPartitions[T]:
        """Apply the function to each partition."""
        return SegmentedPartitions(self.layout, tuple(change(each, *shared) for each in self.segments))

    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[SegmentedPartitions[T], Sums]:
        """Apply a function to each partition, and sum its second return value."""
        changed, sums = zip(*(step(each, *shared) for each in self.segments), strict=True)
        return SegmentedPartitions(self.layout, changed), reduce(add_sums, sums)

    def persist(self) -> Self:
        """Return the partitions: functions are applied at once."""
        return self

    def collect(self) -> LocalPartitions[S]:
        """Join the partitions."""
        return LocalPartitions(self.layout, type(self.segments[0]).joined(list(self.segments)))


def partition_in_memory(X: Any, responses: Any = None) -> LocalPartitions[SamplePartition]:
    """Return samples in memory as one partition.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The samples.
    responses : array of shape (n,), optional
        The responses, in regressions.

    Returns
    -------
    LocalPartitions of SamplePartition
    """
    n, d = X.shape
    return LocalPartitions(Layout(n, d, X.dtype, sp.issparse(X)), SamplePartition(0, X, responses))
