"""Dask arrays as shards of samples, checked block by block; and functions of samples that stay Dask arrays."""

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

from mixsearch.data.dask.cluster import check_workers, current_client
from mixsearch.data.dask.partitions import DaskPartitions
from mixsearch.data.dask.tasks import PickledCall, compute_tasks, persist_tasks, task
from mixsearch.data.partitions import DetachedPartitions, Layout, Partitions, SamplePartition
from mixsearch.errors import SearchError

FLOAT_DTYPES = (np.float64, np.float32)


class Facts(NamedTuple):
    """What a block of samples is like."""

    n_rows: int
    n_responses: int | None
    is_sparse: bool
    bad: tuple[int, int] | None  # where its first value is that is no finite number
    bad_response: int | None


def sample_partitions(X: Any, y: Any = None) -> DaskPartitions[SamplePartition]:
    """The blocks of an array, (n, d), as shards that stay where they are computed.

    Parameters
    ----------
    X : dask.array.Array of shape (n, d)
        Blocks are NumPy arrays, or sparse arrays of SciPy; their lengths need not be known.
    y : dask.array.Array or array of shape (n,), optional
        One response for each row.
    """
    X = _one_block_wide(_as_array(X))
    client = current_client()
    if client is not None:
        check_workers(client)
    dtype = X.dtype if X.dtype in FLOAT_DTYPES else np.dtype(np.float64)
    blocks, responses = X.to_delayed().ravel(), _blocks_of(y, X)
    parts = persist_tasks([task(_shard_of, block, own, dtype) for block, own in zip(blocks, responses, strict=True)])
    facts = compute_tasks([task(_facts_of, part) for part in parts])
    firsts = [0, *accumulate(each.n_rows for each in facts)]
    _check(facts, firsts)
    filled = [(part, first) for part, first, each in zip(parts, firsts, facts, strict=False) if each.n_rows]
    layout = Layout(firsts[-1], X.shape[1], dtype, facts[0].is_sparse)
    return DaskPartitions(layout, tuple(persist_tasks([task(_numbered, *each) for each in filled])))


def _as_array(X: Any) -> da.Array:
    if not isinstance(X, da.Array):
        raise SearchError(
            f"Found a {type(X).__name__} of Dask, needed a Dask array. Pass X.to_dask_array(lengths=True)."
        )
    if X.ndim != 2:
        raise SearchError(f"Found X with {X.ndim} dimensions, needed 2: one row per sample, one column per feature.")
    if np.isnan(X.shape[1]):
        raise SearchError("The number of columns of X is not known. Call X.compute_chunk_sizes() first.")
    return X


def _one_block_wide(X: da.Array) -> da.Array:
    """A sample is whole in one block."""
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _blocks_of(y: Any, X: da.Array) -> Sequence[Any]:
    """The responses of every block of samples."""
    if y is None:
        return [None] * X.numblocks[0]
    known = not np.isnan(X.shape[0])
    if not isinstance(y, da.Array):
        y = np.asarray(y).ravel()
        if not known:
            raise SearchError(
                "y is in memory, and the lengths of the blocks of X are not known. Call X.compute_chunk_sizes() first."
            )
        y = da.from_array(y, chunks=-1)
    y = y.ravel()
    if known and not np.isnan(y.shape[0]):
        if len(y) != len(X):
            raise SearchError(f"y has {len(y):,} values, but X has {len(X):,} samples.")
        y = y.rechunk((X.chunks[0],))
    if y.numblocks[0] != X.numblocks[0]:
        raise SearchError(
            f"y has {y.numblocks[0]} blocks, but X has {X.numblocks[0]}, and their lengths are not known. Give both "
            "the same blocks, or call compute_chunk_sizes() on both."
        )
    blocks: Sequence[Any] = y.to_delayed().ravel()
    return blocks


def _shard_of(block: Any, responses: Any, dtype: Any) -> SamplePartition:
    """One block, its first row not known yet."""
    return SamplePartition(0, as_rows(block, dtype), None if responses is None else np.asarray(responses, np.float64))


def as_rows(block: Any, dtype: Any) -> Any:
    """A block of a Dask array as the estimators have samples."""
    if isinstance(block, np.ndarray):
        return np.ascontiguousarray(block, dtype=dtype)
    plain = block.to_scipy_sparse() if hasattr(block, "to_scipy_sparse") else block  # of the package `sparse`
    return sp.csr_array(plain, dtype=dtype)


def _facts_of(partition: SamplePartition) -> Facts:
    X, y = partition.samples, partition.responses
    n_rows = int(X.shape[0])
    return Facts(
        n_rows,
        None if y is None else len(y),
        sp.issparse(X),
        _first_bad(X),
        None if y is None or np.isfinite(y).all() else int(np.flatnonzero(~np.isfinite(y))[0]),
    )


def _first_bad(X: Any) -> tuple[int, int] | None:
    is_dense = isinstance(X, np.ndarray)
    values = X if is_dense else X.data
    # A sum is finite where all values are, but for one that leaves the range.
    if np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all():
        return None
    rows, columns = np.nonzero(~np.isfinite(X)) if is_dense else _places(X, ~np.isfinite(values))
    return int(rows[0]), int(columns[0])


def _places(X: Any, wanted: Any) -> tuple[Any, Any]:
    """Rows and columns of some of the stored values."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return rows[wanted], X.indices[wanted]


def _numbered(partition: SamplePartition, first: int) -> SamplePartition:
    return replace(partition, first=first)


def _check(facts: Sequence[Facts], firsts: Sequence[int]) -> None:
    for each, first in zip(facts, firsts, strict=False):
        if each.bad is not None:
            row, column = each.bad
            raise SearchError(
                f"Input X contains NaN or infinity, first in row {first + row:,}, column {column:,}. Every value must "
                "be a finite number: drop such rows, or fill them in."
            )
        if each.n_responses is not None and each.n_responses != each.n_rows:
            raise SearchError(
                f"A block of y has {each.n_responses:,} values, but that of X has {each.n_rows:,} samples, from row "
                f"{first:,} on."
            )
        if each.bad_response is not None:
            raise SearchError(f"Input y contains NaN or infinity, first in row {first + each.bad_response:,}.")
    if firsts[-1] == 0:
        raise SearchError("Found array with 0 samples, needed at least 1.")


def member_rows(y: Any) -> tuple[Any, int]:
    """The numbers of the rows that labels mark with 1, which are few, and how many labels there are."""
    blocks = compute_tasks([task(_marked, block) for block in y.ravel().to_delayed()])
    firsts = [0, *accumulate(n for _, n in blocks)]
    rows = [first + own for first, (own, _) in zip(firsts, blocks, strict=False)]
    return np.concatenate(rows), firsts[-1]


def _marked(labels: Any) -> tuple[Any, int]:
    return np.flatnonzero(np.asarray(labels) == 1), len(labels)


def map_rows(
    function: Callable[..., Any], X: Any, n_features: int, *, y: Any = None, n_columns: int | None = None
) -> da.Array:
    """What a function makes of every block of rows, as a Dask array, (n, q) or (n,); nothing is computed yet.

    Parameters
    ----------
    function : callable
        From samples, and responses where there are any, to as many rows. What it was fitted to stays here.
    X : dask.array.Array of shape (n, d)
    n_features : int
        The d that the function needs.
    y : dask.array.Array of shape (n,), optional
    n_columns : int, optional
        q; one number for each row by default.
    """
    X = _one_block_wide(_as_array(X))
    if X.shape[1] != n_features:
        raise SearchError(f"X has {X.shape[1]} features, but the fit has {n_features}.")
    dtype = X.dtype if X.dtype in FLOAT_DTYPES else np.dtype(np.float64)
    work = partial(_on_rows, PickledCall(_packed_bare(function)), dtype)
    both = [X] if y is None else [X, _beside(y, X)]
    if n_columns is None:
        return da.map_blocks(work, *both, dtype=np.float64, drop_axis=1, meta=np.empty(0))
    return da.map_blocks(
        work, *both, dtype=dtype, chunks=(X.chunks[0], (n_columns,)), meta=np.empty((0, 0), dtype=dtype)
    )


def _beside(y: Any, X: da.Array) -> da.Array:
    """Responses as one column, in the blocks of the samples."""
    if not isinstance(y, da.Array):
        y = da.from_array(np.asarray(y).ravel(), chunks=(X.chunks[0],))
    return y.ravel().rechunk((X.chunks[0],))[:, None]


def _on_rows(parcel: PickledCall, dtype: Any, block: Any, responses: Any = None) -> Any:
    samples = as_rows(block, dtype)
    return parcel.opened(samples) if responses is None else parcel.opened(samples, responses.ravel())


class _BarePickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Leaves samples behind: those of a fit are not needed to score others."""

    def reducer_override(self, obj: Any) -> Any:
        return (DetachedPartitions, (obj.layout,)) if isinstance(obj, Partitions) else super().reducer_override(obj)


def _packed_bare(function: Callable[..., Any]) -> bytes:
    packed = BytesIO()
    _BarePickler(packed).dump(function)
    return packed.getvalue()
