"""Samples with Dask: chunks that stay where a scheduler stores them, and functions of samples that return Dask arrays.

This is the only module that imports Dask.
"""

from __future__ import annotations

import pickle
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from itertools import accumulate
from operator import getitem
from time import monotonic
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from dask.base import get_scheduler
from dask.delayed import Delayed, delayed
from dask.sizeof import sizeof
from distributed import CancelledError, Client, KilledWorker, futures_of, wait
from distributed.scheduler import NoValidWorkerError

from mixsearch.core.rows import Chunk, Chunks, DetachedChunks, Layout, S, SampleChunk, Sums, T, add_all
from mixsearch.errors import ClusterError, SearchError
from mixsearch.machine import on_one_core

FLOAT_DTYPES = (np.float64, np.float32)
# Sums that one task adds: more would fill the memory of its worker.
SUMS_PER_TASK = 8
# Seconds to wait while a cluster has no workers: as long as a worker takes to restart.
WORKER_TIMEOUT = 30.0
# Arrays shared by tasks are sent with the graph. They are small, but larger than the size at which Dask warns.
LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "100 GB"}
# Errors of the cluster itself, not of the work.
CLUSTER_ERRORS = (CancelledError, KilledWorker, NoValidWorkerError, OSError)

# ---- Chunks ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DaskChunks(Chunks[S]):
    """Chunks that a Dask scheduler stores."""

    pieces: tuple[Any, ...]  # tasks, one chunk each
    changes: tuple[Callable[..., Any], ...] = ()  # pending: applied first in every sum

    @property
    def chunk(self) -> S:
        """All rows in one chunk of this process."""
        return self.collect().chunk

    def sum(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Sum over all chunks where they are, and bring the sum here."""
        total: Sums = run_tasks(_add_tree(self._call(lambda chunk: summarize(chunk, *shared))))[0]
        return total

    def map(self, change: Callable[..., T], *shared: Any) -> DaskChunks[T]:
        """Add a function that every sum applies first."""
        changes = (*self.changes, lambda chunk: change(chunk, *shared))
        return DaskChunks(self.layout, self.pieces, changes)

    def map_sum(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[DaskChunks[T], Sums]:
        """Apply a function to every chunk, store the results, and sum its second return value."""
        results = self._call(lambda chunk: step(chunk, *shared))
        totals = _add_tree([delayed(getitem, pure=False)(result, 1) for result in results])
        *moved, total = run_tasks(
            [*(delayed(getitem, pure=False)(result, 0) for result in results), *totals], keep=True
        )
        return DaskChunks(self.layout, tuple(moved)), run_tasks([total])[0]

    def persist(self) -> Chunks[S]:
        """Apply all pending functions, and store the results."""
        return replace(self, pieces=tuple(run_tasks(self._call(), keep=True)), changes=()) if self.changes else self

    def collect(self) -> Chunks[S]:
        """Bring all rows into one chunk of this process. They must be few."""
        return Chunks(self.layout, tuple(run_tasks(self._call()))).collect()

    def _call(self, *functions: Callable[..., Any]) -> list[Delayed]:
        """Return a task for each chunk that applies all pending functions, and these."""
        call = delayed(PickledCall(cloudpickle.dumps((*self.changes, *functions))), traverse=False)
        return [delayed(_apply, pure=False)(call, piece) for piece in self.pieces]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the samples, which stay on the cluster."""
        return DetachedChunks, (self.layout,)


class PickledCall:
    """Functions as bytes that the first task unpickles.

    If a worker cannot unpickle them, the task fails. Otherwise the connection would fail, and Dask would retry forever.
    """

    def __init__(self, pickled: bytes) -> None:
        self.pickled = pickled

    @cached_property
    def functions(self) -> Any:
        """What was pickled."""
        return pickle.loads(self.pickled)

    def __reduce__(self) -> tuple[Any, ...]:
        return PickledCall, (self.pickled,)

    def __sizeof__(self) -> int:
        return len(self.pickled)


def _apply(call: PickledCall, chunk: Any) -> Any:
    with on_one_core():
        for function in call.functions:
            chunk = function(chunk)
    return chunk


def _add_tree(nodes: list[Delayed]) -> list[Delayed]:
    """Return a task that adds the results of tasks, a few at a time and in order."""
    while len(nodes) > 1:
        starts = range(0, len(nodes), SUMS_PER_TASK)
        nodes = [delayed(add_all, pure=False)(nodes[start : start + SUMS_PER_TASK]) for start in starts]
    return nodes


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
    client = current_client()
    if client is not None:
        check_workers(client)
    dtype = X.dtype if X.dtype in FLOAT_DTYPES else np.dtype(np.float64)
    blocks = zip(X.to_delayed().ravel(), _split_responses(y, X), strict=True)
    pieces = run_tasks([delayed(_make_chunk, pure=False)(*block, dtype) for block in blocks], keep=True)
    lengths, kinds, invalid = zip(*run_tasks([delayed(_inspect, pure=False)(piece) for piece in pieces]), strict=True)
    firsts = [0, *accumulate(lengths)]
    for first, place in zip(firsts, invalid, strict=False):
        if place is not None:
            raise SearchError(
                "Input {name} contains NaN or infinity, first in row {row:,}"
                + (", column {column:,}" if place[1] is not None else "")
                + ". Drop such rows, or fill in finite values.",
                code="not_finite",
                name="y" if place[1] is None else "X",
                row=first + place[0],
                column=place[1],
            )
    if not firsts[-1]:
        raise SearchError("X has {n} samples, but at least {needed} is needed.", code="too_few_samples", n=0, needed=1)
    filled = [(piece, first) for piece, first, n in zip(pieces, firsts, lengths, strict=False) if n]
    numbered = run_tasks([delayed(replace, pure=False)(piece, first=first) for piece, first in filled], keep=True)
    return DaskChunks(Layout(firsts[-1], X.shape[1], dtype, kinds[0]), tuple(numbered))


def check_array(X: Any) -> da.Array:
    """Return samples that are a Dask array of two dimensions, in blocks of whole samples, or raise an error."""
    if not isinstance(X, da.Array):
        raise SearchError(
            "X must be a Dask array, got a Dask {kind}. Pass X.to_dask_array(lengths=True).",
            code="not_an_array",
            kind=type(X).__name__,
        )
    if X.ndim != 2:
        raise SearchError(
            "X must have 2 dimensions, one row per sample and one column per feature, but has {n_dimensions}.",
            code="wrong_dimensions",
            n_dimensions=X.ndim,
        )
    if np.isnan(X.shape[1]):
        raise SearchError(
            "The number of columns of X is unknown. Call X.compute_chunk_sizes() first.", code="unknown_shape"
        )
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _split_responses(y: Any, X: da.Array) -> Sequence[Any]:
    """Return the responses of every block of samples."""
    if y is None:
        return [None] * X.numblocks[0]
    y = (y if isinstance(y, da.Array) else da.from_array(np.asarray(y).ravel(), chunks=-1)).ravel()
    if not (np.isnan(X.shape[0]) or np.isnan(y.shape[0])):
        if len(y) != len(X):
            raise SearchError(
                "y has {n_values:,} values, but X has {n_samples:,} samples.",
                code="length_mismatch",
                n_values=len(y),
                n_samples=len(X),
            )
        y = y.rechunk((X.chunks[0],))
    if y.numblocks[0] != X.numblocks[0]:
        raise SearchError(
            "y has {n_blocks_y} blocks, but X has {n_blocks_x}, and their lengths are unknown. Give both the same "
            "blocks, or call compute_chunk_sizes() on both.",
            code="unknown_shape",
            n_blocks_y=y.numblocks[0],
            n_blocks_x=X.numblocks[0],
        )
    blocks: Sequence[Any] = y.to_delayed().ravel()
    return blocks


def _make_chunk(block: Any, responses: Any, dtype: Any) -> SampleChunk:
    """Return a block as a chunk whose first row is not known yet."""
    X, y = _as_rows(block, dtype), None if responses is None else np.asarray(responses, np.float64)
    if y is not None and len(y) != X.shape[0]:
        raise SearchError(
            "A block of y has {n_values:,} values, but that of X has {n_samples:,} samples.",
            code="length_mismatch",
            n_values=len(y),
            n_samples=X.shape[0],
        )
    return SampleChunk(0, X, y)


def _as_rows(block: Any, dtype: Any) -> Any:
    """Convert a block of a Dask array to a NumPy array or a csr_array."""
    if isinstance(block, np.ndarray):
        return np.ascontiguousarray(block, dtype=dtype)
    return sp.csr_array(block.to_scipy_sparse() if hasattr(block, "to_scipy_sparse") else block, dtype=dtype)


def _inspect(chunk: SampleChunk) -> tuple[int, bool, tuple[int, int | None] | None]:
    """Return the number of rows, whether they are sparse, and the place of the first value that is not finite."""
    X, y = chunk.samples, chunk.responses
    invalid: tuple[int, int | None] | None = None
    is_sparse = sp.issparse(X)
    if not np.isfinite(X.data if is_sparse else X).all():
        rows, columns = np.nonzero(~np.isfinite(X.toarray() if is_sparse else X))
        invalid = int(rows[0]), int(columns[0])
    elif y is not None and not np.isfinite(y).all():
        invalid = int(np.flatnonzero(~np.isfinite(y))[0]), None
    return int(X.shape[0]), is_sparse, invalid


def gather(y: Any) -> Any:
    """Bring a vector, (n,), into this process."""
    return np.concatenate([np.asarray(block) for block in run_tasks(list(y.ravel().to_delayed()))])


def map_rows(
    function: Callable[..., Any], X: Any, n_features: int, *, y: Any = None, n_columns: int | None = None
) -> da.Array:
    """Apply a function to every block of rows, lazily."""
    X = check_array(X)
    if X.shape[1] != n_features:
        raise SearchError(
            "X has {n_features} features, but the fit has {needed}.",
            code="wrong_features",
            n_features=X.shape[1],
            needed=n_features,
        )
    dtype = X.dtype if X.dtype in FLOAT_DTYPES else np.dtype(np.float64)
    work = partial(_call_on_rows, PickledCall(_pickle_without_samples(function)), dtype)
    if y is not None:
        y = (y if isinstance(y, da.Array) else da.from_array(np.asarray(y).ravel())).ravel()
    arrays = [X] if y is None else [X, y.rechunk((X.chunks[0],))[:, None]]
    if n_columns is None:
        return da.map_blocks(work, *arrays, dtype=np.float64, drop_axis=1, meta=np.empty(0))
    return da.map_blocks(
        work, *arrays, dtype=dtype, chunks=(X.chunks[0], (n_columns,)), meta=np.empty((0, 0), dtype=dtype)
    )


def _call_on_rows(call: PickledCall, dtype: Any, block: Any, responses: Any = None) -> Any:
    samples = _as_rows(block, dtype)
    return call.functions(samples) if responses is None else call.functions(samples, responses.ravel())


class _PicklerWithoutSamples(cloudpickle.Pickler):  # type: ignore[misc]
    """Leaves out the samples of a fit, which are not needed to score others."""

    def reducer_override(self, obj: Any) -> Any:
        return (DetachedChunks, (obj.layout,)) if isinstance(obj, Chunks) else super().reducer_override(obj)


def _pickle_without_samples(function: Callable[..., Any]) -> bytes:
    buffer = BytesIO()
    _PicklerWithoutSamples(buffer).dump(function)
    return buffer.getvalue()


# ---- The cluster ----------------------------------------------------------------------------------------------------


def current_client() -> Client | None:
    """Return the client of the cluster that Dask works on now."""
    owner = getattr(get_scheduler(), "__self__", None)
    if not isinstance(owner, Client):
        return None
    if owner.scheduler is None:
        raise ClusterError(
            "The connection to the cluster is closed. Connect again, and fit again there.", code="cluster_closed"
        )
    return owner


def check_workers(client: Client, timeout: float = WORKER_TIMEOUT) -> None:
    """Check that every worker has the versions of Python and of the packages that the work needs."""

    def list_versions() -> dict[str, str]:
        versions = {"Python": platform.python_version()}
        for name in ("mixsearch", "numpy", "scipy"):
            try:
                versions[name] = version(name)
            except PackageNotFoundError:
                versions[name] = "none"
        return {name: ".".join(text.split(".")[:2]) for name, text in versions.items()}

    try:
        client.wait_for_workers(1, timeout=timeout)
        by_worker = client.run(list_versions)
    except TimeoutError as error:
        raise _no_workers(client, timeout) from error
    except (*CLUSTER_ERRORS, AttributeError) as error:  # AttributeError if the client is closed meanwhile
        raise _explain(error) from error
    for name, needed in list_versions().items():
        for worker, versions in by_worker.items():
            if versions[name] != needed:
                raise ClusterError(
                    "The worker {worker} of the cluster has version {found} of {package}, but {version} is used here. "
                    "Use one environment for the client, the scheduler and the workers.",
                    code="worker_version",
                    worker=worker,
                    found=versions[name],
                    package=name,
                    version=needed,
                )


def run_tasks(nodes: Sequence[Delayed], *, keep: bool = False) -> list[Any]:
    """Run tasks, and either leave the results where they are or bring them, which are small, into this process."""
    client = current_client()
    if client is None:
        return list((dask.persist if keep else dask.compute)(*nodes, optimize_graph=False))
    try:
        with dask.config.set(LARGE_GRAPHS):
            kept = list(dask.persist(*nodes, optimize_graph=False))
        futures = [futures_of(node)[0] for node in kept]
        _wait_for(client, futures)
        return kept if keep else list(client.gather(futures))
    except CLUSTER_ERRORS as error:
        raise _explain(error) from error


def _wait_for(client: Client, futures: Sequence[Any]) -> None:
    """Wait until all futures are done, as long as the cluster has workers."""
    timeout = float(dask.config.get("mixsearch.worker-timeout", WORKER_TIMEOUT))
    last_seen = monotonic()
    while True:
        try:
            wait(futures, timeout=1.0)
            break
        except TimeoutError:
            failed = next((future for future in futures if future.status == "error"), None)
            if failed is not None:
                raise failed.exception() from None
        if client.nthreads():
            last_seen = monotonic()
        elif monotonic() - last_seen > timeout:
            raise _no_workers(client, timeout)
    failed = next((future for future in futures if future.status == "error"), None)
    if failed is not None:
        raise failed.exception()


def _no_workers(client: Client, seconds: float) -> ClusterError:
    return ClusterError(
        "The cluster at {address!r} has had no workers for {seconds:g} seconds, and the work is not done. Start "
        "workers with `dask worker`, with more memory or smaller blocks if they were killed, and try again.",
        code="no_workers",
        address=client.scheduler.address,
        seconds=seconds,
    )


def _explain(error: BaseException) -> ClusterError:
    """Return the error of ours for an error of the cluster itself."""
    if isinstance(error, KilledWorker):
        return ClusterError(
            "Several workers died while they worked on the same samples, most likely for lack of memory: {reason}. "
            "Use smaller blocks (X.rechunk, or smaller files), or give workers more memory.",
            code="worker_killed",
            reason=str(error),
        )
    return ClusterError(
        "The cluster is gone, or lost samples that cannot be computed again ({reason}). Samples sent with "
        "client.scatter are lost with their worker: load them with Dask instead.",
        code="cluster_lost",
        reason=f"{type(error).__name__}: {error}",
    )
