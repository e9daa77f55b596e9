"""Samples in partitions, each a run of rows with all that is known of them, wherever the partitions are stored.

Everything that grows with the number of samples stays in its partition. The mathematics sends small arrays there and
gets sums back: in memory there is one partition, and the sum is what a function of it returns; on a cluster there are
many, and the same function runs where each of them is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, NamedTuple, NoReturn, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from mixsearch.data.chunks import Sums
from mixsearch.errors import SearchError

# Blocks that are left out one at a time to see how far an answer depends on its samples.
N_GROUPS = 40


@dataclass(frozen=True)
class Partition:
    """Some of the rows, one after the other. Every field of a shard but `first` has one entry for each of its rows."""

    first: int  # the number of its first row among all rows

    def rows_at(self, step: int, offset: int = 0) -> slice:
        """Those of its rows whose number is `offset` more than a multiple of a step."""
        return slice((offset - self.first) % step, None, step)

    def thin(self, step: int, offset: int = 0) -> Self:
        """Only those rows."""
        rows = self.rows_at(step, offset)
        picked = {name: None if value is None else value[rows] for name, value in self._columns()}
        return replace(self, first=-((offset - self.first) // step), **picked)

    def _columns(self) -> list[tuple[str, Any]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self) if field.name != "first"]

    @classmethod
    def joined(cls, partitions: list[Self]) -> Self:
        """All rows of shards that follow each other."""
        columns = zip(*(partition._columns() for partition in partitions), strict=True)
        whole = {same[0][0]: _stacked([value for _, value in same]) for same in columns}
        return replace(partitions[0], **whole)


def _stacked(values: list[Any]) -> Any:
    first = values[0]
    if first is None or isinstance(first, np.ndarray):
        return None if first is None else np.concatenate(values)
    return sp.vstack(values, format=first.format)


@dataclass(frozen=True)
class SamplePartition(Partition):
    """Samples as they are given."""

    samples: Any  # (n, d), dense or sparse
    responses: Any = None  # (n,), of regressions


S = TypeVar("S", bound=Partition)


T = TypeVar("T", bound=Partition)


class Layout(NamedTuple):
    """What is known of the samples in all shards together."""

    n_rows: int
    n_features: int
    dtype: Any
    is_sparse: bool


@dataclass(frozen=True)
class Partitions(ABC, Generic[S]):
    """All shards of the samples.

    Functions that are sent to the shards take a shard first and small arrays after it. They are top-level functions and
    hold nothing else, since they may travel to another machine.
    """

    layout: Layout

    @property
    def n_rows(self) -> int:
        """How many samples there are."""
        return self.layout.n_rows

    @property
    def n_features(self) -> int:
        """How many features each of them has."""
        return self.layout.n_features

    @property
    def shape(self) -> tuple[int, int]:
        """Of the samples, (n, d)."""
        return self.layout[:2]

    @property
    def n_groups(self) -> int:
        """Blocks of the jackknife, row i in block i mod n_groups: rows that come sorted are spread over all."""
        return min(N_GROUPS, self.n_rows)

    @abstractmethod
    def reduce(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """The sum of what a function makes of every shard: named tuples, added entry by entry."""

    @abstractmethod
    def map(self, change: Callable[..., T], *shared: Any) -> Partitions[T]:
        """Shards as a function changes them. They may be changed anew for every fold; see `keep`."""

    @abstractmethod
    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[Partitions[T], Sums]:
        """Shards as a function changes them, kept, and the sum of what it returns beside: both in one pass."""

    @abstractmethod
    def persist(self) -> Self:
        """The same with all changes done, once and for all, where the shards are."""

    @abstractmethod
    def collect(self) -> LocalPartitions[S]:
        """The same in this process, where they are few rows."""

    def thin(self, step: int) -> Partitions[S]:
        """Only the rows whose number is a multiple of a step."""
        if step == 1:
            return self
        n_rows = -(-self.n_rows // step)
        return replace(self.map(_thin, step), layout=self.layout._replace(n_rows=n_rows))


def _thin(partition: S, step: int) -> S:
    return partition.thin(step)


@dataclass(frozen=True)
class LocalPartitions(Partitions[S]):
    """All samples in one shard, in the memory of this process or mapped into it."""

    partition: S

    def reduce(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """What the function makes of the shard."""
        return summarize(self.partition, *shared)

    def map(self, change: Callable[..., T], *shared: Any) -> LocalPartitions[T]:
        """The shard as the function changes it."""
        return LocalPartitions(self.layout, change(self.partition, *shared))

    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[LocalPartitions[T], Sums]:
        """The shard as the function changes it, and what it returns beside."""
        partition, sums = step(self.partition, *shared)
        return LocalPartitions(self.layout, partition), sums

    def persist(self) -> Self:
        """The same: changes are done at once."""
        return self

    def collect(self) -> LocalPartitions[S]:
        """The same."""
        return self


class DetachedPartitions(Partitions[S]):
    """Shards that stayed behind when what was found among them was sent elsewhere."""

    def _refuse(self) -> NoReturn:
        raise SearchError(
            f"The {self.n_rows:,} samples of this fit are elsewhere: they stayed where they were when it was pickled. "
            "It can score and transform other samples; for another search, fit again here."
        )

    def reduce(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Refuse."""
        self._refuse()

    def map(self, change: Callable[..., T], *shared: Any) -> Partitions[T]:
        """Refuse."""
        self._refuse()

    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[Partitions[T], Sums]:
        """Refuse."""
        self._refuse()

    def persist(self) -> Self:
        """The same."""
        return self

    def collect(self) -> LocalPartitions[S]:
        """Refuse."""
        self._refuse()


def partition_in_memory(X: Any, responses: Any = None) -> LocalPartitions[SamplePartition]:
    """Samples in memory, as one shard."""
    n, d = X.shape
    return LocalPartitions(Layout(n, d, X.dtype, sp.issparse(X)), SamplePartition(0, X, responses))


def leave_one_out(partitions: Partitions[S], summarize: Callable[..., Sums], *shared: Any) -> list[Sums]:
    """The sums over all rows but those of one block, for each block of the jackknife in turn.

    `summarize` takes a shard, a slice of its rows and the shared arrays.
    """
    each = sums_by_group(partitions, summarize, *shared)
    totals = [field.sum(axis=0) for field in each]
    return [
        type(each)(*(total - field[block] for total, field in zip(totals, each, strict=True)))
        for block in range(partitions.n_groups)
    ]


def sums_by_group(partitions: Partitions[S], summarize: Callable[..., Sums], *shared: Any) -> Sums:
    """Sums with one entry for each block of the jackknife, (B, ...), from a function as `leave_one_out` takes it."""
    sums: Sums = partitions.reduce(_sums_by_group, partitions.n_groups, summarize, shared)
    return sums


def _sums_by_group(partition: S, n_groups: int, summarize: Callable[..., Sums], shared: tuple[Any, ...]) -> Sums:
    blocks = [summarize(partition, partition.rows_at(n_groups, block), *shared) for block in range(n_groups)]
    return type(blocks[0])(*(np.stack(field) for field in zip(*blocks, strict=True)))


def spread_over_groups(partition: Partition, values: Any, n_groups: int) -> Any:
    """Values of samples, (n,), each in the column of its block, (n, B): X' times that is all block sums in one pass."""
    spread = np.zeros((len(values), n_groups), dtype=values.dtype)
    spread[np.arange(len(values)), group_indices(partition, len(values), n_groups)] = values
    return spread


def group_indices(partition: Partition, n_rows: int, n_groups: int) -> Any:
    """The block that each of a shard's rows belongs to, (n,)."""
    return (np.arange(n_rows) + partition.first) % n_groups
