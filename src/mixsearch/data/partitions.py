"""Samples in partitions: runs of consecutive rows, in memory or on a cluster.

Everything that grows with the number of samples stays in its partition. Computations send a function and small arrays
to the partitions and get sums back. In memory there is one partition, or one for each segment of an index. On a cluster
there are many, and the function runs on the worker that stores each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any, Generic, NamedTuple, NoReturn, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from mixsearch.data.chunks import Sums, add_sums
from mixsearch.errors import SearchError

# Groups of the jackknife, which are left out one at a time.
N_GROUPS = 40


@dataclass(frozen=True)
class Partition:
    """Consecutive rows. Every field of a subclass has one entry per row, or is None."""

    first: int

    @property
    def n_rows(self) -> int:
        """Number of rows of this partition."""
        return int(self._columns()[0][1].shape[0])

    def rows_at(self, step: int, offset: int = 0) -> slice:
        """Return the slice of rows whose index among all rows is `offset` plus a multiple of `step`."""
        return slice((offset - self.first) % step, None, step)

    def thin(self, step: int, offset: int = 0) -> Self:
        """Return the partition with only the rows of `rows_at`."""
        return replace(self.take(self.rows_at(step, offset)), first=-((offset - self.first) // step))

    def take(self, indices: Any) -> Self:
        """Return the partition with only some of its rows."""
        picked: dict[str, Any] = {name: None if value is None else value[indices] for name, value in self._columns()}
        return replace(self, **picked)

    def _columns(self) -> list[tuple[str, Any]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self) if field.name != "first"]

    @classmethod
    def joined(cls, partitions: list[Self]) -> Self:
        """Join partitions that follow each other."""
        columns = zip(*(partition._columns() for partition in partitions), strict=True)
        whole = {column[0][0]: _stack([value for _, value in column]) for column in columns}
        return replace(partitions[0], **whole)


def _stack(values: list[Any]) -> Any:
    first = values[0]
    if first is None or isinstance(first, np.ndarray):
        return None if first is None else np.concatenate(values)
    return sp.vstack(values, format=first.format)


@dataclass(frozen=True)
class SamplePartition(Partition):
    """Samples as the user gave them, with responses in regressions."""

    samples: Any
    responses: Any = None


@dataclass(frozen=True)
class BlockPartition(Partition):
    """Rows of a table as the user gave them."""

    block: Any

    @property
    def n_rows(self) -> int:
        """Number of rows of this partition."""
        return int(self.block.shape[0])


S = TypeVar("S", bound=Partition)
T = TypeVar("T", bound=Partition)


class Layout(NamedTuple):
    """Shape and type of the samples in all partitions together."""

    n_rows: int
    n_features: int
    dtype: Any
    is_sparse: bool


@dataclass(frozen=True, eq=False)
class Partitions(ABC, Generic[S]):
    """All partitions of the samples.

    Functions that are applied to the partitions take a partition and then small arrays. They must be top-level
    functions, because they may be pickled and sent to another machine.
    """

    layout: Layout

    @property
    def n_rows(self) -> int:
        """Number of samples, n."""
        return self.layout.n_rows

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return self.layout.n_features

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the samples, (n, d)."""
        return self.layout[:2]

    @property
    def n_groups(self) -> int:
        """Number of jackknife groups. Row i is in group i mod n_groups, so sorted rows are spread over all groups."""
        return min(N_GROUPS, self.n_rows)

    @abstractmethod
    def reduce(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Sum a function over all partitions."""

    @abstractmethod
    def map(self, change: Callable[..., T], *shared: Any) -> Partitions[T]:
        """Apply a function to every partition. It may run again in every reduction; see `persist`."""

    @abstractmethod
    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[Partitions[T], Sums]:
        """Apply a function to every partition, persist the results, and sum its second return value, in one pass."""

    @abstractmethod
    def persist(self) -> Self:
        """Apply all pending functions once, and store the results where the partitions are."""

    @abstractmethod
    def collect(self) -> LocalPartitions[S]:
        """Bring all rows into this process. They must be few."""

    def thin(self, step: int) -> Partitions[S]:
        """Return only the rows whose index is a multiple of `step`."""
        if step == 1:
            return self
        n_rows = -(-self.n_rows // step)
        return self._with_rows(n_rows, _thin, step)

    def take_rows(self, rows: Any) -> Partitions[S]:
        """Return only some rows."""
        return self._with_rows(len(rows), _take_rows, rows)

    def drop_rows(self, rows: Any) -> Partitions[S]:
        """Return all rows but some, with new row numbers."""
        return self._with_rows(self.n_rows - len(rows), _drop_rows, rows) if len(rows) else self

    def _with_rows(self, n_rows: int, change: Callable[..., S], *shared: Any) -> Partitions[S]:
        """Apply a function that leaves this many rows."""
        return replace(self.map(change, *shared), layout=self.layout._replace(n_rows=n_rows))


def _thin(partition: S, step: int) -> S:
    return partition.thin(step)


def _take_rows(partition: S, rows: Any) -> S:
    return replace(partition.take(_indices_of(partition, rows)), first=int(np.searchsorted(rows, partition.first)))


def _drop_rows(partition: S, rows: Any) -> S:
    is_kept = np.ones(partition.n_rows, dtype=bool)
    is_kept[_indices_of(partition, rows)] = False
    first = partition.first - int(np.searchsorted(rows, partition.first))
    return replace(partition.take(is_kept), first=first)


def _indices_of(partition: Partition, rows: Any) -> Any:
    """Convert global row indices to indices within a partition, and drop those outside it."""
    indices = rows - partition.first
    return indices[(indices >= 0) & (indices < partition.n_rows)]


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
    """Return samples in memory as one partition."""
    n, d = X.shape
    return LocalPartitions(Layout(n, d, X.dtype, sp.issparse(X)), SamplePartition(0, X, responses))


class DetachedPartitions(Partitions[S]):
    """Stand-in for the samples of a fit that was pickled without them. Every operation on the rows raises an error."""

    def _refuse(self) -> NoReturn:
        raise SearchError(
            "The {n_samples:,} samples of this fit are not here: it was pickled without them. It can still score and "
            "transform other samples. To search again, fit again.",
            code="samples_detached",
            n_samples=self.n_rows,
        )

    def reduce(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Raise an error."""
        self._refuse()

    def map(self, change: Callable[..., T], *shared: Any) -> Partitions[T]:
        """Raise an error."""
        self._refuse()

    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[Partitions[T], Sums]:
        """Raise an error."""
        self._refuse()

    def persist(self) -> Self:
        """Return the stand-in."""
        return self

    def collect(self) -> LocalPartitions[S]:
        """Raise an error."""
        self._refuse()


def leave_one_out(partitions: Partitions[S], summarize: Callable[..., Sums], *shared: Any) -> list[Sums]:
    """Sum over all rows except those of one jackknife group, for each group in turn."""
    by_group = sums_by_group(partitions, summarize, *shared)
    totals = [field.sum(axis=0) for field in by_group]
    return [
        type(by_group)(*(total - field[group] for total, field in zip(totals, by_group, strict=True)))
        for group in range(partitions.n_groups)
    ]


def sums_by_group(partitions: Partitions[S], summarize: Callable[..., Sums], *shared: Any) -> Sums:
    """Sum over the rows of every jackknife group."""
    sums: Sums = partitions.reduce(_sums_by_group, partitions.n_groups, summarize, shared)
    return sums


def _sums_by_group(partition: S, n_groups: int, summarize: Callable[..., Sums], shared: tuple[Any, ...]) -> Sums:
    groups = [summarize(partition, partition.rows_at(n_groups, group), *shared) for group in range(n_groups)]
    return type(groups[0])(*(np.stack(field) for field in zip(*groups, strict=True)))


def spread_over_groups(partition: Partition, values: Any, n_groups: int) -> Any:
    """Put the value of each sample into the column of its jackknife group; X' times that has all group sums."""
    spread = np.zeros((len(values), n_groups), dtype=values.dtype)
    spread[np.arange(len(values)), group_indices(partition, len(values), n_groups)] = values
    return spread


def group_indices(partition: Partition, n_rows: int, n_groups: int) -> Any:
    """Return the jackknife group of each row of a partition."""
    return (np.arange(n_rows) + partition.first) % n_groups
