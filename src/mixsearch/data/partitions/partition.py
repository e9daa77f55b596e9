"""One partition: consecutive rows, with what belongs to each of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Partition:
    """Consecutive rows. Every field of a subclass has one entry per row, or is None.

    Parameters
    ----------
    first : int
        Index of the first row among all rows.
    """

    first: int

    @property
    def n_rows(self) -> int:
        """Number of rows of this partition."""
        return int(self._columns()[0][1].shape[0])

    def rows_at(self, step: int, offset: int = 0) -> slice:
        """Return the slice of rows whose index among all rows is `offset` plus a multiple of `step`.

        Parameters
        ----------
        step : int
            The distance between rows.
        offset : int, default=0
            The index of the first of them.

        Returns
        -------
        slice
        """
        return slice((offset - self.first) % step, None, step)

    def thin(self, step: int, offset: int = 0) -> Self:
        """Return the partition with only the rows of `rows_at`.

        Parameters
        ----------
        step : int
            The distance between rows.
        offset : int, default=0
            The index of the first of them.

        Returns
        -------
        Partition
        """
        return replace(self.take(self.rows_at(step, offset)), first=-((offset - self.first) // step))

    def take(self, indices: Any) -> Self:
        """Return the partition with only some of its rows.

        Parameters
        ----------
        indices : slice, or array of int or bool
            Rows of this partition. `first` stays.

        Returns
        -------
        Partition
        """
        picked: dict[str, Any] = {name: None if value is None else value[indices] for name, value in self._columns()}
        return replace(self, **picked)

    def _columns(self) -> list[tuple[str, Any]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self) if field.name != "first"]

    @classmethod
    def joined(cls, partitions: list[Self]) -> Self:
        """Join partitions that follow each other.

        Parameters
        ----------
        partitions : list of Partition
            In the order of their rows.

        Returns
        -------
        Partition
        """
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
    """Samples as the user gave them, with responses in regressions.

    Parameters
    ----------
    first : int
        Index of the first row among all rows.
    samples : array or sparse matrix of shape (n, d)
        The samples.
    responses : array of shape (n,), optional
        The responses.
    """

    samples: Any
    responses: Any = None


@dataclass(frozen=True)
class BlockPartition(Partition):
    """Rows of a table as the user gave them.

    Parameters
    ----------
    first : int
        Index of the first row among all rows.
    block : array or data frame of n rows
        It may hold values of any kind.
    """

    block: Any

    @property
    def n_rows(self) -> int:
        """Number of rows of this partition."""
        return int(self.block.shape[0])
