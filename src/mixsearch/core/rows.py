"""Samples in chunks, and sums over them: in memory, from files or with Dask.

Everything that grows with the number of samples stays in its chunk. Computations send a function to the chunks and get
sums back. In memory there is one chunk, or one for each segment of an index. With Dask there are many, and the function
runs where each of them is stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import reduce
from itertools import pairwise
from typing import Any, Generic, NamedTuple, NoReturn, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.machine import is_on_one_core

# Rows per chunk: large enough for BLAS, small enough that a chunk with a few hundred features stays in cache.
CHUNK_ROWS = 8192
# Rows that stay in cache while they are read twice.
CACHED_ROWS = 512
# Non-zeros per chunk of sparse rows: 16 MB in single precision, and enough work to outweigh adding the results.
CHUNK_NONZEROS = 2_000_000

Item = TypeVar("Item")
Sums = TypeVar("Sums", bound=Any)


def row_slices(n_rows: int, size: int = CHUNK_ROWS) -> Iterator[slice]:
    """Yield slices that cover all rows, in order; one empty slice if there are no rows, so that sums have a shape."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, max(n_rows, 1), size))


def even_slices(n_rows: int, n_slices: int) -> Iterator[slice]:
    """Yield slices of equal size that cover all rows; the last may be shorter."""
    return row_slices(n_rows, max(-(-n_rows // n_slices), 1))


def add_sums(one: Sums, other: Sums) -> Sums:
    """Add the sums of two disjoint sets of rows: arrays, numbers, or tuples of them."""
    total: Sums = (
        _like(one, [a + b for a, b in zip(one, other, strict=True)]) if isinstance(one, tuple) else one + other
    )
    return total


def _like(sums: Any, fields: list[Any]) -> Any:
    """Return fields as a tuple of the same kind, named or not."""
    return type(sums)(*fields) if hasattr(sums, "_fields") else tuple(fields)


def add_all(sums: Iterable[Sums]) -> Sums:
    """Add the sums of disjoint sets of rows, in their order."""
    remaining = iter(sums)
    total, second = next(remaining), next(remaining, None)
    if second is None:
        return total
    total = add_sums(total, second)  # new arrays, so the others can be added in place
    for more in remaining:
        total = _add_into(total, more)
    return total


def _add_into(total: Any, more: Any) -> Any:
    if isinstance(total, tuple):
        return _like(total, list(map(_add_into, total, more)))
    if isinstance(total, np.ndarray) and total.dtype == np.result_type(total, more) and total.shape == np.shape(more):
        total += more  # Dask workers return large arrays to the system at once, so new arrays cost page faults
        return total
    return total + more


def sum_chunks(summarize: Callable[[Item], Sums], chunks: Iterable[Item], n_threads: int = 1) -> Sums:
    """Sum a function over chunks, in their order."""
    if n_threads == 1:
        return add_all(map(summarize, chunks))
    with ThreadPoolExecutor(n_threads) as pool:
        return add_all(pool.map(summarize, chunks))


@dataclass(frozen=True, slots=True)
class RowChunks:
    """Sparse rows in chunks that are read on demand: views of memory, or sections of files.

    The bounds of the chunks depend on the rows alone. So sums over the chunks, added in their order, are the same to
    the last bit wherever the rows are stored and however many threads share the work.
    """

    slices: Sequence[slice]  # the rows of each chunk
    read: Callable[[int], Any]  # the index of a chunk -> its rows, a csr_array
    shape: tuple[int, int]
    n_nonzeros: int
    dtype: Any

    def enumerate(self) -> Iterator[tuple[int, slice]]:
        """Iterate over the index and the rows of every chunk."""
        return iter(enumerate(self.slices))


def split_rows(indptr: Any, max_nonzeros: int | None = None) -> list[slice]:
    """Split sparse rows into slices with about the same number of non-zeros."""
    n_rows, n_nonzeros = len(indptr) - 1, int(indptr[-1])
    min_chunks = 1 if is_on_one_core() else 2
    n_chunks = min(max(min_chunks, -(-n_nonzeros // (max_nonzeros or CHUNK_NONZEROS))), max(n_rows, 1))
    cuts = np.searchsorted(indptr, np.linspace(0, n_nonzeros, n_chunks + 1))
    cuts[0], cuts[-1] = 0, n_rows
    return [slice(int(a), int(b)) for a, b in pairwise(cuts) if b > a] or [slice(0, 0)]


def chunk_rows(X: sp.csr_array[Any], max_nonzeros: int | None = None) -> RowChunks:
    """Split rows in memory into chunks, without a copy."""
    slices = split_rows(X.indptr, max_nonzeros)
    views = [_view(X, rows) for rows in slices]
    return RowChunks(slices, views.__getitem__, X.shape, X.nnz, X.dtype)


def _view(X: sp.csr_array[Any], rows: slice) -> sp.csr_array[Any]:
    start, stop = int(X.indptr[rows.start]), int(X.indptr[rows.stop])
    view = sp.csr_array((rows.stop - rows.start, X.shape[1]), dtype=X.dtype)
    # Set the attributes one by one: SciPy's constructor copies a view of less than half of its base array.
    view.data, view.indices = X.data[start:stop], X.indices[start:stop]
    view.indptr = X.indptr[rows.start : rows.stop + 1] - X.indptr[rows.start]
    return view


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
    by_group: Any = sums_by_group(chunks, summarize, *shared)
    if not isinstance(by_group, tuple):
        return list(by_group.sum(axis=0) - by_group)
    totals = [field.sum(axis=0) for field in by_group]
    return [
        _like(by_group, [total - field[group] for total, field in zip(totals, by_group, strict=True)])
        for group in range(chunks.n_groups)
    ]


def sums_by_group(chunks: Chunks[S], summarize: Callable[..., Sums], *shared: Any) -> Sums:
    """Sum over the rows of every jackknife group."""
    n_groups = chunks.n_groups

    def sum_chunk(chunk: S) -> Any:
        groups = [summarize(chunk, chunk.rows_at(n_groups, group), *shared) for group in range(n_groups)]
        if not isinstance(groups[0], tuple):
            return np.stack(groups)
        return _like(groups[0], [np.stack(field) for field in zip(*groups, strict=True)])

    sums: Sums = chunks.sum(sum_chunk)
    return sums


def spread_over_groups(chunk: Chunk, values: Any, n_groups: int) -> Any:
    """Put the value of each sample into the column of its jackknife group; X' times that has all group sums."""
    spread = np.zeros((len(values), n_groups), dtype=values.dtype)
    spread[np.arange(len(values)), group_indices(chunk, len(values), n_groups)] = values
    return spread


def group_indices(chunk: Chunk, n_rows: int, n_groups: int) -> Any:
    """Return the jackknife group of each row of a chunk."""
    return (np.arange(n_rows) + chunk.first) % n_groups


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
