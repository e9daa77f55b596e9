"""Samples in several partitions of one process: a stand-in for a cluster, in tests of families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

from mixsearch._typing import Array, Samples
from mixsearch.data.chunks import Sums, add_sums
from mixsearch.data.partitions import LocalPartitions, Partitions, S, SamplePartition, T, partition_in_memory


@dataclass(frozen=True, eq=False)
class SplitPartitions(Partitions[S]):
    """Several partitions in one process, to test what a cluster would compute.

    Attributes
    ----------
    layout : Layout
        Number of rows and features, and the type of the samples.
    parts : tuple of Partition
        The partitions, in the order of their rows.
    """

    parts: tuple[S, ...]

    def reduce(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Sum a function over all partitions.

        Parameters
        ----------
        summarize : callable
            From a partition and `shared` to a named tuple of values that can be added.
        *shared
            Further arguments of the function.

        Returns
        -------
        named tuple
            Added field by field.
        """
        return reduce(add_sums, [summarize(part, *shared) for part in self.parts])

    def map(self, change: Callable[..., T], *shared: Any) -> SplitPartitions[T]:
        """Apply a function to every partition.

        Parameters
        ----------
        change : callable
            From a partition and `shared` to a partition.
        *shared
            Further arguments of the function.

        Returns
        -------
        SplitPartitions
        """
        return SplitPartitions(self.layout, tuple(change(part, *shared) for part in self.parts))

    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[SplitPartitions[T], Sums]:
        """Apply a function to every partition, and sum its second return value.

        Parameters
        ----------
        step : callable
            From a partition and `shared` to a partition and a named tuple of values that can be added.
        *shared
            Further arguments of the function.

        Returns
        -------
        partitions : SplitPartitions
        sums : named tuple
        """
        changed, sums = zip(*(step(part, *shared) for part in self.parts), strict=True)
        return SplitPartitions(self.layout, tuple(changed)), reduce(add_sums, sums)

    def persist(self) -> SplitPartitions[S]:
        """Return the partitions unchanged: nothing is lazy here.

        Returns
        -------
        SplitPartitions
        """
        return self

    def collect(self) -> LocalPartitions[S]:
        """Join all partitions into one.

        Returns
        -------
        LocalPartitions
        """
        return LocalPartitions(self.layout, type(self.parts[0]).joined(list(self.parts)))


def split_rows(X: Samples, cuts: Sequence[int], y: Array | None = None) -> SplitPartitions[SamplePartition]:
    """Split samples into partitions at some rows."""
    whole = partition_in_memory(X, y)
    bounds = pairwise([0, *cuts, X.shape[0]])
    parts = [SamplePartition(a, X[a:b], None if y is None else y[a:b]) for a, b in bounds]
    return SplitPartitions(whole.layout, tuple(parts))
