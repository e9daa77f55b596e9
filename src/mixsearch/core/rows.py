"""Samples in chunks, and sums over them: in memory, from files or with Dask.

Everything that grows with the number of samples stays in its chunk. A computation sends a function to the chunks, and
either leaves the results there (`map`) or gets their sum back (`sum`). In memory there is one chunk, or one for each
segment of an index. With Dask there are many, and the function runs where each of them is stored.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import reduce
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from mixsearch.errors import SearchError

# Groups of the jackknife, which are left out one at a time.
N_GROUPS = 40
# Rows per piece: large enough for BLAS, small enough that one with a few hundred features stays in cache.
CHUNK_ROWS = 8192
# Rows that stay in cache while they are read twice.
CACHED_ROWS = 512
# Non-zeros per piece of sparse rows: 16 MB in single precision, and enough work to outweigh adding the results.
CHUNK_NONZEROS = 2_000_000

Item = TypeVar("Item")
Sums = TypeVar("Sums", bound=Any)

# ---- Chunks ---------------------------------------------------------------------------------------------------------


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

    def take(self, indices: Any) -> Self:
        """Return the chunk with only some of its rows."""
        picked: dict[str, Any] = {name: None if value is None else value[indices] for name, value in self._columns()}
        return replace(self, **picked)

    def _columns(self) -> list[tuple[str, Any]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self) if field.name != "first"]

    @classmethod
    def joined(cls, chunks: Sequence[Self]) -> Self:
        """Join chunks that follow each other."""
        if len(chunks) == 1:
            return chunks[0]
        columns = zip(*(chunk._columns() for chunk in chunks), strict=True)
        return replace(chunks[0], **{column[0][0]: _stack([value for _, value in column]) for column in columns})


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


S = TypeVar("S", bound=Any)
T = TypeVar("T", bound=Any)


class Layout(NamedTuple):
    """Shape and type of the samples in all chunks together."""

    n_rows: int
    n_features: int
    dtype: Any
    is_sparse: bool


@dataclass(frozen=True, eq=False)
class Chunks(Generic[S]):
    """Samples in chunks, here in the memory of this process or mapped into it.

    Functions of chunks may be closures. With Dask they are pickled, together with the arrays that they hold: these
    must be small, and must not be the samples.
    """

    layout: Layout
    pieces: tuple[S, ...]

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

    # The three operations that a backend has of its own.

    def gather(self, function: Callable[[S], T]) -> list[T]:
        """Return the result of a function for each chunk, in order. The results must be small."""
        self.check_attached()
        return [function(piece) for piece in self.pieces]

    def sum(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Sum a function over all chunks: arrays, numbers, or tuples of them."""
        return add_all(self.gather(lambda chunk: summarize(chunk, *shared)))

    def map(self, change: Callable[..., T], *shared: Any) -> Chunks[T]:
        """Apply a function to every chunk, and leave the results where the chunks are."""
        return Chunks(self.layout, tuple(self.gather(lambda chunk: change(chunk, *shared))))

    # What follows from them.

    def map_sum(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[Chunks[T], Sums]:
        """Apply a function to every chunk that returns a chunk and sums, in one pass."""
        both = self.map(step, *shared)
        return both.map(lambda pair: pair[0]), both.sum(lambda pair: pair[1])

    @property
    def chunk(self) -> S:
        """All rows in one chunk of this process. With Dask, they must be few."""
        chunks = self.gather(lambda chunk: chunk)
        joined: S = type(chunks[0]).joined(chunks)
        return joined

    def collect(self) -> Chunks[S]:
        """Return all rows as one chunk of this process. With Dask, they must be few."""
        return Chunks(self.layout, (self.chunk,))

    def thin(self, step: int) -> Chunks[S]:
        """Return only the rows whose index is a multiple of `step`."""
        n_rows = -(-self.n_rows // step)
        return self if step == 1 else self._select(n_rows, lambda chunk: chunk.rows_at(step), lambda i: -(-i // step))

    def take_rows(self, rows: Any) -> Chunks[S]:
        """Return only some rows, which rise."""
        return self._select(
            len(rows), lambda chunk: _indices_of(chunk, rows), lambda first: int(np.searchsorted(rows, first))
        )

    def drop_rows(self, rows: Any) -> Chunks[S]:
        """Return all rows but some, with new row numbers."""
        return self._select(
            self.n_rows - len(rows),
            lambda chunk: np.delete(np.arange(chunk.n_rows), _indices_of(chunk, rows)),
            lambda first: first - int(np.searchsorted(rows, first)),
        )

    def _select(self, n_rows: int, pick: Callable[[Any], Any], renumber: Callable[[int], int]) -> Chunks[S]:
        """Return the rows of each chunk with some indices, this many in all, and number them anew."""
        chunks = self.map(lambda chunk: replace(chunk.take(pick(chunk)), first=renumber(chunk.first)))
        return replace(chunks, layout=self.layout._replace(n_rows=n_rows))

    def detach(self) -> Chunks[S]:
        """Return a stand-in without samples, as of a fit that was pickled without them."""
        return Chunks(self.layout, ())

    @property
    def is_detached(self) -> bool:
        """Whether the samples are not here."""
        return not self.pieces

    def check_attached(self) -> None:
        """Raise an error if the samples are not here."""
        if self.is_detached:
            raise SearchError(
                "The {n_samples:,} samples of this fit are not here: it was pickled without them. It can still score "
                "and transform other samples. To search again, fit again.",
                code="samples_detached",
                n_samples=self.n_rows,
            )


def _indices_of(chunk: Chunk, rows: Any) -> Any:
    """Convert global row indices to indices within a chunk, and drop those outside it."""
    indices = rows - chunk.first
    return indices[(indices >= 0) & (indices < chunk.n_rows)]


def chunk_in_memory(X: Any, responses: Any = None) -> Chunks[SampleChunk]:
    """Return samples in memory as one chunk."""
    n, d = X.shape
    return Chunks(Layout(n, d, X.dtype, sp.issparse(X)), (SampleChunk(0, X, responses),))


def load_dask() -> ModuleType:
    """Import the functions on Dask arrays, when the first one is met."""
    try:
        return import_module("mixsearch.core.dask")
    except ImportError as error:
        raise SearchError(
            "Dask arrays need the packages of mixsearch[dask], and {package} is missing. Install them with "
            "`pip install 'mixsearch[dask]'`.",
            code="package_missing",
            package=error.name,
        ) from error


# ---- Sums -----------------------------------------------------------------------------------------------------------


def add_all(sums: Iterable[Sums]) -> Sums:
    """Add the sums of disjoint sets of rows, in their order: arrays, numbers, or tuples of them."""
    return reduce(lambda total, more: _combine(operator.add, total, more), sums)


def _combine(operate: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """Add or subtract arrays, numbers, or tuples of them, named or not."""
    if not isinstance(one, tuple):
        return operate(one, other)
    values = [_combine(operate, *pair) for pair in zip(one, other, strict=True)]
    return type(one)(*values) if hasattr(one, "_fields") else tuple(values)


def sum_chunks(summarize: Callable[[Item], Sums], pieces: Iterable[Item], n_threads: int = 1) -> Sums:
    """Sum a function over slices or other pieces, in their order."""
    if n_threads == 1:
        return add_all(map(summarize, pieces))
    with ThreadPoolExecutor(n_threads) as pool:
        return add_all(pool.map(summarize, pieces))


def row_slices(n_rows: int, size: int = CHUNK_ROWS) -> Iterator[slice]:
    """Yield slices that cover all rows, in order; one empty slice if there are no rows, so that sums have a shape."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, max(n_rows, 1), size))


def even_slices(n_rows: int, n_slices: int) -> Iterator[slice]:
    """Yield slices of equal size that cover all rows; the last may be shorter."""
    return row_slices(n_rows, max(-(-n_rows // n_slices), 1))


def leave_one_out(chunks: Chunks[S], summarize: Callable[..., Sums], *shared: Any) -> list[Sums]:
    """Sum over all rows except those of one jackknife group, for each group in turn."""
    n_groups = chunks.n_groups

    def sum_groups(chunk: S) -> Any:
        return tuple(summarize(chunk, chunk.rows_at(n_groups, group), *shared) for group in range(n_groups))

    groups = chunks.sum(sum_groups)
    total = add_all(groups)
    return [_combine(operator.sub, total, group) for group in groups]


# ---- Sparse rows in pieces ------------------------------------------------------------------------------------------


def split_rows(X: Any) -> list[tuple[slice, sp.csr_array[Any]]]:
    """Split sparse rows into slices with about the same number of non-zeros, at least two; return views of them.

    The slices depend on the rows alone: sums over them, added in their order, are the same to the last bit however many
    threads share the work.
    """
    n_pieces = max(2, -(-X.nnz // CHUNK_NONZEROS))
    cuts = np.searchsorted(X.indptr, np.linspace(0, X.nnz, n_pieces + 1)[1:-1])
    slices = [slice(int(a), int(b)) for a, b in pairwise([0, *cuts, X.shape[0]]) if b > a] or [slice(0, 0)]
    return [(rows, view_rows(X, rows)) for rows in slices]


def view_rows(X: sp.csr_array[Any], rows: slice) -> sp.csr_array[Any]:
    """Return rows without a copy, and without a check of their indices, which takes as long as a product."""
    start, stop = int(X.indptr[rows.start]), int(X.indptr[rows.stop])
    view = sp.csr_array((rows.stop - rows.start, X.shape[1]), dtype=X.dtype)
    # Set the attributes one by one: SciPy's constructor copies a view of less than half of its base array.
    view.data, view.indices = X.data[start:stop], X.indices[start:stop]
    view.indptr = X.indptr[rows.start : rows.stop + 1] - X.indptr[rows.start]
    return view
