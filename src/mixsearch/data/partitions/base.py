"""All partitions of the samples: what computations ask of them, wherever the rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from mixsearch.data.chunks import Sums
from mixsearch.data.partitions.partition import Partition

if TYPE_CHECKING:
    from mixsearch.data.partitions.local import LocalPartitions

# Groups of the jackknife, which are left out one at a time.
N_GROUPS = 40

S = TypeVar("S", bound=Partition)
T = TypeVar("T", bound=Partition)


class Layout(NamedTuple):
    """Shape and type of the samples in all partitions together.

    Parameters
    ----------
    n_rows, n_features : int
        Shape of the samples, (n, d).
    dtype : dtype
        Type of their values.
    is_sparse : bool
        Whether they are sparse matrices.
    """

    n_rows: int
    n_features: int
    dtype: Any
    is_sparse: bool


@dataclass(frozen=True, eq=False)
class Partitions(ABC, Generic[S]):
    """All partitions of the samples.

    Functions that are applied to the partitions take a partition and then small arrays. They must be top-level
    functions, because they may be pickled and sent to another machine.

    Parameters
    ----------
    layout : Layout
        Shape and type of the samples.
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
        """Sum a function over all partitions.

        Parameters
        ----------
        summarize : callable
            From a partition and `shared` to a named tuple of values that can be added.
        *shared
            Small arrays, sent to every partition.

        Returns
        -------
        named tuple
            Added field by field.
        """

    @abstractmethod
    def map(self, change: Callable[..., T], *shared: Any) -> Partitions[T]:
        """Apply a function to every partition. It may run again in every reduction; see `persist`.

        Parameters
        ----------
        change : callable
            From a partition and `shared` to a partition.
        *shared
            Small arrays, sent to every partition.

        Returns
        -------
        Partitions
        """

    @abstractmethod
    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[Partitions[T], Sums]:
        """Apply a function to every partition, persist the results, and sum its second return value, in one pass.

        Parameters
        ----------
        step : callable
            From a partition and `shared` to a partition and a named tuple of values that can be added.
        *shared
            Small arrays, sent to every partition.

        Returns
        -------
        partitions : Partitions
        sums : named tuple
        """

    @abstractmethod
    def persist(self) -> Self:
        """Apply all pending functions once, and store the results where the partitions are.

        Returns
        -------
        Partitions
        """

    @abstractmethod
    def collect(self) -> LocalPartitions[S]:
        """Bring all rows into this process. They must be few.

        Returns
        -------
        LocalPartitions
        """

    def thin(self, step: int) -> Partitions[S]:
        """Return only the rows whose index is a multiple of `step`.

        Parameters
        ----------
        step : int
            From one row to the next.

        Returns
        -------
        Partitions
        """
        if step == 1:
            return self
        n_rows = -(-self.n_rows // step)
        return self._with_rows(n_rows, _thin, step)

    def take_rows(self, rows: Any) -> Partitions[S]:
        """Return only some rows.

        Parameters
        ----------
        rows : array of int
            Indices among all rows, rising.

        Returns
        -------
        Partitions
        """
        return self._with_rows(len(rows), _take_rows, rows)

    def drop_rows(self, rows: Any) -> Partitions[S]:
        """Return all rows but some, with new row numbers.

        Parameters
        ----------
        rows : array of int
            Indices among all rows, rising.

        Returns
        -------
        Partitions
        """
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
