"""Dask arrays as chunks of samples, and functions of samples that return Dask arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from itertools import accumulate
from typing import Any, NamedTuple

import cloudpickle
import dask.array as da
import numpy as np
import scipy.sparse as sp

from mixsearch.core.dask.cluster import check_workers, current_client
from mixsearch.core.dask.rows import DaskChunks
from mixsearch.core.dask.tasks import PickledCall, compute_tasks, persist_tasks, task
from mixsearch.core.rows import Chunks, DetachedChunks, Layout, SampleChunk
from mixsearch.errors import SearchError

FLOAT_DTYPES = (np.float64, np.float32)


class _Inspection(NamedTuple):
    """Shape and first invalid values of a chunk."""

    n_rows: int
    n_responses: int | None
    is_sparse: bool
    invalid: tuple[int, int] | None  # row and column of the first value that is not finite
    invalid_response: int | None  # row


def sample_chunks(X: Any, y: Any = None) -> DaskChunks[SampleChunk]:
    """Return the blocks of a Dask array as chunks that stay on the worker that computed them."""
    X = merge_columns(check_array(X))
    client = current_client()
    if client is not None:
        check_workers(client)
    dtype = X.dtype if X.dtype in FLOAT_DTYPES else np.dtype(np.float64)
    blocks = zip(X.to_delayed().ravel(), _split_responses(y, X), strict=True)
    parts = persist_tasks([task(_make_chunk, block, responses, dtype) for block, responses in blocks])
    inspections = compute_tasks([task(_inspect, part) for part in parts])
    firsts = [0, *accumulate(each.n_rows for each in inspections)]
    _check_inspections(inspections, firsts)
    filled = [(part, first) for part, first, each in zip(parts, firsts, inspections, strict=False) if each.n_rows]
    layout = Layout(firsts[-1], X.shape[1], dtype, inspections[0].is_sparse)
    return DaskChunks(layout, tuple(persist_tasks([task(_set_first, *each) for each in filled])))


def check_array(X: Any) -> da.Array:
    """Return samples that are a Dask array of two dimensions, or raise an error."""
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
    return X


def merge_columns(X: da.Array) -> da.Array:
    """Rechunk so that each block holds whole samples."""
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _split_responses(y: Any, X: da.Array) -> Sequence[Any]:
    """Return the responses of every block of samples."""
    if y is None:
        return [None] * X.numblocks[0]
    known = not np.isnan(X.shape[0])
    if not isinstance(y, da.Array):
        y = np.asarray(y).ravel()
        if not known:
            raise SearchError(
                "y is in memory, but the lengths of the blocks of X are unknown. Call X.compute_chunk_sizes() first.",
                code="unknown_shape",
            )
        y = da.from_array(y, chunks=-1)
    y = y.ravel()
    if known and not np.isnan(y.shape[0]):
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
    return SampleChunk(0, as_rows(block, dtype), None if responses is None else np.asarray(responses, np.float64))


def as_rows(block: Any, dtype: Any) -> Any:
    """Convert a block of a Dask array to a NumPy array or a csr_array."""
    if isinstance(block, np.ndarray):
        return np.ascontiguousarray(block, dtype=dtype)
    plain = block.to_scipy_sparse() if hasattr(block, "to_scipy_sparse") else block
    return sp.csr_array(plain, dtype=dtype)


def _inspect(chunk: SampleChunk) -> _Inspection:
    X, y = chunk.samples, chunk.responses
    n_rows = int(X.shape[0])
    return _Inspection(
        n_rows,
        None if y is None else len(y),
        sp.issparse(X),
        _first_invalid(X),
        None if y is None or np.isfinite(y).all() else int(np.flatnonzero(~np.isfinite(y))[0]),
    )


def _first_invalid(X: Any) -> tuple[int, int] | None:
    is_dense = isinstance(X, np.ndarray)
    values = X if is_dense else X.data
    # The sum is finite if all values are, unless it overflows.
    if np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all():
        return None
    rows, columns = np.nonzero(~np.isfinite(X)) if is_dense else _stored_indices(X, ~np.isfinite(values))
    return int(rows[0]), int(columns[0])


def _stored_indices(X: Any, wanted: Any) -> tuple[Any, Any]:
    """Return the rows and columns of some of the stored values."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return rows[wanted], X.indices[wanted]


def _set_first(chunk: SampleChunk, first: int) -> SampleChunk:
    return replace(chunk, first=first)


def _check_inspections(inspections: Sequence[_Inspection], firsts: Sequence[int]) -> None:
    for each, first in zip(inspections, firsts, strict=False):
        if each.invalid is not None:
            raise SearchError(
                "Input X contains NaN or infinity, first in row {row:,}, column {column:,}. Drop such rows, or fill in "
                "finite values.",
                code="not_finite",
                row=first + each.invalid[0],
                column=each.invalid[1],
            )
        if each.n_responses is not None and each.n_responses != each.n_rows:
            raise SearchError(
                "The block of y from row {row:,} on has {n_values:,} values, but that of X has {n_samples:,} samples.",
                code="length_mismatch",
                row=first,
                n_values=each.n_responses,
                n_samples=each.n_rows,
            )
        if each.invalid_response is not None:
            raise SearchError(
                "Input y contains NaN or infinity, first in row {row:,}.",
                code="not_finite",
                row=first + each.invalid_response,
            )
    if firsts[-1] == 0:
        raise SearchError("X has {n} samples, but at least {needed} is needed.", code="too_few_samples", n=0, needed=1)


def member_rows(y: Any) -> tuple[Any, int]:
    """Return the rows whose label is 1, and the number of labels."""
    blocks = compute_tasks([task(_find_members, block) for block in y.ravel().to_delayed()])
    firsts = [0, *accumulate(n for _, n in blocks)]
    rows = [first + own for first, (own, _) in zip(firsts, blocks, strict=False)]
    return np.concatenate(rows), firsts[-1]


def _find_members(labels: Any) -> tuple[Any, int]:
    return np.flatnonzero(np.asarray(labels) == 1), len(labels)


def map_rows(
    function: Callable[..., Any], X: Any, n_features: int, *, y: Any = None, n_columns: int | None = None
) -> da.Array:
    """Apply a function to every block of rows, lazily."""
    X = merge_columns(check_array(X))
    if X.shape[1] != n_features:
        raise SearchError(
            "X has {n_features} features, but the fit has {needed}.",
            code="wrong_features",
            n_features=X.shape[1],
            needed=n_features,
        )
    dtype = X.dtype if X.dtype in FLOAT_DTYPES else np.dtype(np.float64)
    work = partial(_call_on_rows, PickledCall(_pickle_without_samples(function)), dtype)
    arrays = [X] if y is None else [X, _align_responses(y, X)]
    if n_columns is None:
        return da.map_blocks(work, *arrays, dtype=np.float64, drop_axis=1, meta=np.empty(0))
    return da.map_blocks(
        work, *arrays, dtype=dtype, chunks=(X.chunks[0], (n_columns,)), meta=np.empty((0, 0), dtype=dtype)
    )


def _align_responses(y: Any, X: da.Array) -> da.Array:
    """Return responses as one column, in the same blocks as the samples."""
    if not isinstance(y, da.Array):
        y = da.from_array(np.asarray(y).ravel(), chunks=(X.chunks[0],))
    return y.ravel().rechunk((X.chunks[0],))[:, None]


def _call_on_rows(call: PickledCall, dtype: Any, block: Any, responses: Any = None) -> Any:
    samples = as_rows(block, dtype)
    return call.unpickled(samples) if responses is None else call.unpickled(samples, responses.ravel())


class _PicklerWithoutSamples(cloudpickle.Pickler):  # type: ignore[misc]
    """Leaves out the samples of a fit, which are not needed to score others."""

    def reducer_override(self, obj: Any) -> Any:
        return (DetachedChunks, (obj.layout,)) if isinstance(obj, Chunks) else super().reducer_override(obj)


def _pickle_without_samples(function: Callable[..., Any]) -> bytes:
    buffer = BytesIO()
    _PicklerWithoutSamples(buffer).dump(function)
    return buffer.getvalue()
