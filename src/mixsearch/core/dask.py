"""Samples with Dask: chunks that stay where a scheduler stores them, and functions of samples that return Dask arrays.

This is the only module that imports Dask.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed, delayed
from dask.sizeof import sizeof
from distributed import CancelledError, KilledWorker, futures_of
from distributed.scheduler import NoValidWorkerError

from mixsearch.core.rows import Chunk, Chunks, Layout, S, SampleChunk, Sums, T, add_all
from mixsearch.core.validation import FLOAT_DTYPES
from mixsearch.errors import ClusterError, SearchError
from mixsearch.machine import on_one_core

# Sums that one task adds: more would fill the memory of its worker.
SUMS_PER_TASK = 8
# Arrays shared by tasks are sent with the graph. They are small, but larger than the size at which Dask warns.
LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "100 GB"}
# Errors of the cluster, not of the work; a KeyError is of samples that are gone with their workers.
CLUSTER_ERRORS = (CancelledError, KilledWorker, NoValidWorkerError, OSError, KeyError)

# ---- Chunks ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DaskChunks(Chunks[S]):
    """Chunks that a Dask scheduler stores. Pickled without the samples, which stay on the cluster."""

    pieces: tuple[Any, ...]  # tasks, one chunk each

    def gather(self, function: Callable[[S], T]) -> list[T]:
        """Return the result of a function for each chunk, in order."""
        return run_tasks(self._call(function))

    def sum(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Sum a function over all chunks where they are, a few at a time and in order, and bring the sum here."""
        nodes = self._call(lambda chunk: summarize(chunk, *shared))
        while len(nodes) > 1:
            starts = range(0, len(nodes), SUMS_PER_TASK)
            nodes = [delayed(add_all, pure=False)(nodes[start : start + SUMS_PER_TASK]) for start in starts]
        total: Sums = run_tasks(nodes)[0]
        return total

    def map(self, change: Callable[..., T], *shared: Any) -> DaskChunks[T]:
        """Apply a function to every chunk, and leave the results where the chunks are."""
        return DaskChunks(self.layout, tuple(run_tasks(self._call(lambda chunk: change(chunk, *shared)), store=True)))

    def _call(self, function: Callable[..., Any]) -> list[Delayed]:
        """Return a task for each chunk that calls a function, which is sent as bytes: once to each worker."""
        if any(future.client.status == "closed" for future in futures_of(list(self.pieces))):
            raise _cluster_lost("its client is closed")
        pickled = delayed(cloudpickle.dumps(function), traverse=False)
        return [delayed(_call_pickled, pure=False)(pickled, piece) for piece in self.pieces]

    def __reduce__(self) -> tuple[Any, ...]:
        return Chunks, (self.layout, ())


def _call_pickled(pickled: bytes, *arguments: Any) -> Any:
    with on_one_core():
        return pickle.loads(pickled)(*arguments)


def run_tasks(nodes: Sequence[Delayed], *, store: bool = False) -> list[Any]:
    """Run tasks, and either leave the results where they are or bring them, which are small, into this process."""
    try:
        with dask.config.set(LARGE_GRAPHS):
            return list((dask.persist if store else dask.compute)(*nodes, optimize_graph=False))
    except CLUSTER_ERRORS as error:
        raise _cluster_lost(f"{type(error).__name__}: {error}") from error


def _cluster_lost(reason: str) -> ClusterError:
    return ClusterError(
        "The cluster failed or is gone ({reason}). If workers ran out of memory, use smaller blocks (X.rechunk, or "
        "smaller files). Samples sent with client.scatter are lost with their worker: load them with Dask instead.",
        code="cluster_lost",
        reason=reason,
    )


@sizeof.register(Chunk)
def _count_bytes(chunk: Chunk) -> int:
    """Return the size of a chunk, which Dask needs to decide where it is stored."""
    columns = [getattr(chunk, field.name) for field in fields(chunk)]
    sparse = [array for X in columns if hasattr(X, "indptr") for array in (X.data, X.indices, X.indptr)]
    return sum(int(getattr(column, "nbytes", 0)) for column in (*columns, *sparse))


# ---- Dask arrays ----------------------------------------------------------------------------------------------------


def sample_chunks(X: Any, y: Any = None) -> DaskChunks[SampleChunk]:
    """Return the blocks of a Dask array as chunks that stay on the worker that computed them."""
    X = check_array(X)
    n_blocks, firsts = X.numblocks[0], np.cumsum([0, *X.chunks[0]])
    if not firsts[-1]:
        raise SearchError("X has {n} samples, but at least {needed} is needed.", code="too_few_samples", n=0, needed=1)
    responses = [None] * n_blocks if y is None else check_responses(y, X).to_delayed().ravel()
    blocks = zip(firsts, X.to_delayed().ravel(), responses, X.chunks[0], strict=False)
    dtype = X.dtype if X.dtype in FLOAT_DTYPES else np.dtype(np.float64)
    tasks = [delayed(_make_chunk, pure=False)(int(i), block, values, dtype) for i, block, values, n in blocks if n]
    layout = Layout(int(firsts[-1]), int(X.shape[1]), dtype, is_sparse=False)
    chunks: DaskChunks[SampleChunk] = DaskChunks(layout, tuple(run_tasks(tasks, store=True)))
    kinds, places = zip(*chunks.gather(_inspect), strict=True)
    row, column = next((place for place in places if place is not None), (None, None))
    if row is not None:
        raise SearchError(
            "Input {name} contains NaN or infinity, first in row {row:,}"
            + (", column {column:,}" if column is not None else "")
            + ". Drop such rows, or fill in finite values.",
            code="not_finite",
            name="y" if column is None else "X",
            row=row,
            column=column,
        )
    return DaskChunks(layout._replace(is_sparse=kinds[0]), chunks.pieces)


def check_array(X: Any) -> da.Array:
    """Return samples that are a Dask array of two dimensions, in blocks of whole samples of known number."""
    X = X.to_dask_array(lengths=True) if hasattr(X, "to_dask_array") else X  # of a frame
    if not isinstance(X, da.Array):
        raise SearchError(
            "X must be a Dask array or frame, got a Dask {kind}.",
            code="not_an_array",
            kind=type(X).__name__,
        )
    if X.ndim != 2:
        raise SearchError(
            "X must have 2 dimensions, one row per sample and one column per feature, but has {n_dimensions}.",
            code="wrong_dimensions",
            n_dimensions=X.ndim,
        )
    X = X.compute_chunk_sizes() if np.isnan(X.shape).any() else X
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def check_responses(y: Any, X: da.Array) -> da.Array:
    """Return responses in the blocks of the samples, (n,)."""
    y = (y if isinstance(y, da.Array) else da.from_array(np.asarray(y).ravel(), chunks=-1)).ravel()
    y = y.compute_chunk_sizes() if np.isnan(y.shape[0]) else y
    if len(y) != len(X):
        raise SearchError(
            "y has {n_values:,} values, but X has {n_samples:,} samples.",
            code="length_mismatch",
            n_values=len(y),
            n_samples=len(X),
        )
    return y.rechunk((X.chunks[0],))


def _make_chunk(first: int, block: Any, responses: Any, dtype: Any) -> SampleChunk:
    return SampleChunk(first, _as_rows(block, dtype), None if responses is None else np.asarray(responses, np.float64))


def _as_rows(block: Any, dtype: Any) -> Any:
    """Convert a block of a Dask array to a NumPy array or a csr_array."""
    if isinstance(block, np.ndarray):
        return np.ascontiguousarray(block, dtype=dtype)
    return sp.csr_array(block.to_scipy_sparse() if hasattr(block, "to_scipy_sparse") else block, dtype=dtype)


def _inspect(chunk: SampleChunk) -> tuple[bool, tuple[int, int | None] | None]:
    """Return whether the rows are sparse, and the row and column of the first value that is not finite."""
    X, y = chunk.samples, chunk.responses
    is_sparse = sp.issparse(X)
    if not np.isfinite(X.data if is_sparse else X).all():
        rows, columns = np.nonzero(~np.isfinite(X.toarray() if is_sparse else X))
        return is_sparse, (chunk.first + int(rows[0]), int(columns[0]))
    if y is not None and not np.isfinite(y).all():
        return is_sparse, (chunk.first + int(np.flatnonzero(~np.isfinite(y))[0]), None)
    return is_sparse, None
