"""Samples in chunks: runs of consecutive rows, in memory or on a cluster.

Everything that grows with the number of samples stays in its chunk. Computations send a function and small arrays
to the chunks and get sums back. In memory there is one chunk, or one for each segment of an index. On a cluster
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
class Chunk:
    """Consecutive rows. Every field of a subclass has one entry per row, or is None."""

    first: int

    @property
    def n_rows(self) -> int:
        """Number of rows of this chunk."""
        return int(self._columns()[0][1].shape[0])

    def rows_at(self, step: int, offset: int = 0) -> slice:
        """Return the slice of rows whose index among all rows is `offset` plus a multiple of `step`."""
        return slice((offset - self.first) % step, None, step)

    def thin(self, step: int, offset: int = 0) -> Self:
        """Return the chunk with only the rows of `rows_at`."""
        return replace(self.take(self.rows_at(step, offset)), first=-((offset - self.first) // step))

    def take(self, indices: Any) -> Self:
        """Return the chunk with only some of its rows."""
        picked: dict[str, Any] = {name: None if value is None else value[indices] for name, value in self._columns()}
        return replace(self, **picked)

    def _columns(self) -> list[tuple[str, Any]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self) if field.name != "first"]

    @classmethod
    def joined(cls, chunks: list[Self]) -> Self:
        """Join chunks that follow each other."""
        columns = zip(*(chunk._columns() for chunk in chunks), strict=True)
        whole = {column[0][0]: _stack([value for _, value in column]) for column in columns}
        return replace(chunks[0], **whole)


def _stack(values: list[Any]) -> Any:
    first = values[0]
    if first is None or isinstance(first, np.ndarray):
        return None if first is None else np.concatenate(values)
    return sp.vstack(values, format=first.format)


@dataclass(frozen=True)
class SampleChunk(Chunk):
    """Samples as the user gave them, with responses in regressions."""

    samples: Any
    responses: Any = None


@dataclass(frozen=True)
class BlockChunk(Chunk):
    """Rows of a table as the user gave them."""

    block: Any

    @property
    def n_rows(self) -> int:
        """Number of rows of this chunk."""
        return int(self.block.shape[0])


S = TypeVar("S", bound=Chunk)
T = TypeVar("T", bound=Chunk)


class Layout(NamedTuple):
    """Shape and type of the samples in all chunks together."""

    n_rows: int
    n_features: int
    dtype: Any
    is_sparse: bool


@dataclass(frozen=True, eq=False)
class Chunks(ABC, Generic[S]):
    """All chunks of the samples.

    Functions that are applied to the chunks take a chunk and then small arrays. They must be top-level
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
    def sum(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Sum a function over all chunks."""

    @abstractmethod
    def map(self, change: Callable[..., T], *shared: Any) -> Chunks[T]:
        """Apply a function to every chunk. It may run again in every reduction; see `persist`."""

    @abstractmethod
    def map_sum(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[Chunks[T], Sums]:
        """Apply a function to every chunk, persist the results, and sum its second return value, in one pass."""

    @abstractmethod
    def persist(self) -> Self:
        """Apply all pending functions once, and store the results where the chunks are."""

    @abstractmethod
    def collect(self) -> LocalChunks[S]:
        """Bring all rows into this process. They must be few."""

    def thin(self, step: int) -> Chunks[S]:
        """Return only the rows whose index is a multiple of `step`."""
        if step == 1:
            return self
        n_rows = -(-self.n_rows // step)
        return self._with_rows(n_rows, _thin, step)

    def take_rows(self, rows: Any) -> Chunks[S]:
        """Return only some rows."""
        return self._with_rows(len(rows), _take_rows, rows)

    def drop_rows(self, rows: Any) -> Chunks[S]:
        """Return all rows but some, with new row numbers."""
        return self._with_rows(self.n_rows - len(rows), _drop_rows, rows) if len(rows) else self

    def _with_rows(self, n_rows: int, change: Callable[..., S], *shared: Any) -> Chunks[S]:
        """Apply a function that leaves this many rows."""
        return replace(self.map(change, *shared), layout=self.layout._replace(n_rows=n_rows))


def _thin(chunk: S, step: int) -> S:
    return chunk.thin(step)


def _take_rows(chunk: S, rows: Any) -> S:
    return replace(chunk.take(_indices_of(chunk, rows)), first=int(np.searchsorted(rows, chunk.first)))


def _drop_rows(chunk: S, rows: Any) -> S:
    is_kept = np.ones(chunk.n_rows, dtype=bool)
    is_kept[_indices_of(chunk, rows)] = False
    first = chunk.first - int(np.searchsorted(rows, chunk.first))
    return replace(chunk.take(is_kept), first=first)


def _indices_of(chunk: Chunk, rows: Any) -> Any:
    """Convert global row indices to indices within a chunk, and drop those outside it."""
    indices = rows - chunk.first
    return indices[(indices >= 0) & (indices < chunk.n_rows)]


@dataclass(frozen=True, eq=False)
class LocalChunks(Chunks[S]):
    """All samples in one chunk, in the memory of this process or mapped into it."""

    chunk: S

    def sum(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Return what the function returns for the chunk."""
        return summarize(self.chunk, *shared)

    def map(self, change: Callable[..., T], *shared: Any) -> LocalChunks[T]:
        """Apply the function to the chunk."""
        return LocalChunks(self.layout, change(self.chunk, *shared))

    def map_sum(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[LocalChunks[T], Sums]:
        """Apply a function to the chunk, and return the new chunk and the sums."""
        chunk, sums = step(self.chunk, *shared)
        return LocalChunks(self.layout, chunk), sums

    def persist(self) -> Self:
        """Return the chunks: functions are applied at once."""
        return self

    def collect(self) -> LocalChunks[S]:
        """Return the chunks: they are in this process."""
        return self


@dataclass(frozen=True, eq=False)
class SegmentedChunks(Chunks[S]):
    """Samples in a few chunks, in the memory of this process or mapped into it."""

    segments: tuple[S, ...]

    def sum(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Sum what the function returns for each chunk."""
        return reduce(add_sums, (summarize(each, *shared) for each in self.segments))

    def map(self, change: Callable[..., T], *shared: Any) -> SegmentedChunks[T]:
        """Apply the function to each chunk."""
        return SegmentedChunks(self.layout, tuple(change(each, *shared) for each in self.segments))

    def map_sum(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[SegmentedChunks[T], Sums]:
        """Apply a function to each chunk, and sum its second return value."""
        changed, sums = zip(*(step(each, *shared) for each in self.segments), strict=True)
        return SegmentedChunks(self.layout, changed), reduce(add_sums, sums)

    def persist(self) -> Self:
        """Return the chunks: functions are applied at once."""
        return self

    def collect(self) -> LocalChunks[S]:
        """Join the chunks."""
        return LocalChunks(self.layout, type(self.segments[0]).joined(list(self.segments)))


def chunk_in_memory(X: Any, responses: Any = None) -> LocalChunks[SampleChunk]:
    """Return samples in memory as one chunk."""
    n, d = X.shape
    return LocalChunks(Layout(n, d, X.dtype, sp.issparse(X)), SampleChunk(0, X, responses))


class DetachedChunks(Chunks[S]):
    """Stand-in for the samples of a fit that was pickled without them. Every operation on the rows raises an error."""

    def _refuse(self) -> NoReturn:
        raise SearchError(
            "The {n_samples:,} samples of this fit are not here: it was pickled without them. It can still score and "
            "transform other samples. To search again, fit again.",
            code="samples_detached",
            n_samples=self.n_rows,
        )

    def sum(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Raise an error."""
        self._refuse()

    def map(self, change: Callable[..., T], *shared: Any) -> Chunks[T]:
        """Raise an error."""
        self._refuse()

    def map_sum(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[Chunks[T], Sums]:
        """Raise an error."""
        self._refuse()

    def persist(self) -> Self:
        """Return the stand-in."""
        return self

    def collect(self) -> LocalChunks[S]:
        """Raise an error."""
        self._refuse()


def leave_one_out(chunks: Chunks[S], summarize: Callable[..., Sums], *shared: Any) -> list[Sums]:
    """Sum over all rows except those of one jackknife group, for each group in turn."""
    by_group = sums_by_group(chunks, summarize, *shared)
    totals = [field.sum(axis=0) for field in by_group]
    return [
        type(by_group)(*(total - field[group] for total, field in zip(totals, by_group, strict=True)))
        for group in range(chunks.n_groups)
    ]


def sums_by_group(chunks: Chunks[S], summarize: Callable[..., Sums], *shared: Any) -> Sums:
    """Sum over the rows of every jackknife group."""
    sums: Sums = chunks.sum(_sums_by_group, chunks.n_groups, summarize, shared)
    return sums


def _sums_by_group(chunk: S, n_groups: int, summarize: Callable[..., Sums], shared: tuple[Any, ...]) -> Sums:
    groups = [summarize(chunk, chunk.rows_at(n_groups, group), *shared) for group in range(n_groups)]
    return type(groups[0])(*(np.stack(field) for field in zip(*groups, strict=True)))


def spread_over_groups(chunk: Chunk, values: Any, n_groups: int) -> Any:
    """Put the value of each sample into the column of its jackknife group; X' times that has all group sums."""
    spread = np.zeros((len(values), n_groups), dtype=values.dtype)
    spread[np.arange(len(values)), group_indices(chunk, len(values), n_groups)] = values
    return spread


def group_indices(chunk: Chunk, n_rows: int, n_groups: int) -> Any:
    """Return the jackknife group of each row of a chunk."""
    return (np.arange(n_rows) + chunk.first) % n_groups
