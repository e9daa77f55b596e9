"""Dask arrays and data frames as tables: blocks of rows with columns of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import accumulate
from typing import Any

import cloudpickle
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed

from mixsearch.core.dask import DaskChunks, PickledCall, check_array, check_workers, current_client, run_tasks
from mixsearch.core.rows import Layout
from mixsearch.errors import SearchError
from mixsearch.table.summaries import BlockChunk


def list_columns(table: Any) -> list[str] | None:
    """Return the names of the columns."""
    return list(map(str, table.columns)) if _is_frame(table) else None


def count_columns(table: Any) -> int:
    """Return the number of columns."""
    return len(table.columns) if _is_frame(table) else int(check_array(table).shape[1])


def table_chunks(table: Any) -> tuple[DaskChunks[BlockChunk], tuple[int, ...]]:
    """Return the blocks of a table as chunks that stay on the worker that computed them."""
    client = current_client()
    if client is not None:
        check_workers(client)
    blocks = run_tasks(_list_blocks(table), keep=True)
    lengths = tuple(run_tasks([task(_count_rows, block) for block in blocks]))
    firsts = accumulate(lengths, initial=0)
    filled = [(first, block) for first, block, length in zip(firsts, blocks, lengths, strict=False) if length]
    layout = Layout(sum(lengths), count_columns(table), np.dtype(np.float64), is_sparse=False)
    parts = run_tasks([task(BlockChunk, first, block) for first, block in filled], keep=True)
    return DaskChunks(layout, tuple(parts)), lengths


def take_rows(table: Any, lengths: Sequence[int], rows: Sequence[int]) -> list[tuple[list[int], Any]]:
    """Bring a few rows of a table into this process."""
    ends = np.cumsum(lengths)
    block_of_row = np.searchsorted(ends, rows, side="right")
    blocks, places, tasks = _list_blocks(table), [], []
    for index in np.unique(block_of_row).tolist():
        own = np.flatnonzero(block_of_row == index)
        places.append(own.tolist())
        tasks.append(task(_take, blocks[index], np.asarray(rows)[own] - (ends[index] - lengths[index])))
    return list(zip(places, run_tasks(tasks), strict=True))


def with_columns(table: Any, lengths: Sequence[int], columns: Mapping[str, Any], add: Callable[..., Any]) -> Any:
    """Return a table as a Dask data frame with further columns."""
    try:
        import dask.dataframe as dd
    except ImportError as error:
        raise SearchError(
            "A Dask data frame needs the package {package}, which is not installed: pip install 'dask[dataframe]'.",
            code="package_missing",
            package=error.name,
        ) from error
    pandas = import_module("pandas")  # Dask's data frames need it

    def add_to_block(block: Any, further: Mapping[str, Any]) -> Any:
        names = [f"x{j}" for j in range(block.shape[1])]
        return add(block if _is_frame(block) else pandas.DataFrame(block, columns=names), further)

    ends = np.cumsum(lengths).tolist()
    parts = [
        task(add_to_block, block, {name: values[end - length : end] for name, values in columns.items()})
        for block, length, end in zip(_list_blocks(table), lengths, ends, strict=True)
    ]
    empty = {name: values[:0] for name, values in columns.items()}
    meta = add_to_block(table._meta if _is_frame(table) else np.empty((0, table.shape[1]), dtype=table.dtype), empty)
    return dd.from_delayed(parts, meta=meta, divisions=table.divisions if _is_frame(table) else None)


def map_blocks(function: Callable[[Any], Any], table: Any) -> da.Array:
    """Apply a function to every block of a table, lazily."""
    call = delayed(PickledCall(cloudpickle.dumps(function)), traverse=False)
    blocks = _list_blocks(table)
    lengths = [np.nan] * len(blocks) if _is_frame(table) else check_array(table).chunks[0]
    results = [
        da.from_delayed(task(_call, call, block), (length,), dtype=np.float64)
        for block, length in zip(blocks, lengths, strict=True)
    ]
    return da.concatenate(results, allow_unknown_chunksizes=True)


def task(function: Callable[..., Any], *arguments: Any) -> Delayed:
    """Make a task that calls a function on some worker."""
    return delayed(function, pure=False)(*arguments)


def _is_frame(table: Any) -> bool:
    return hasattr(table, "columns")


def _list_blocks(table: Any) -> list[Delayed]:
    """Return a task for each block of rows."""
    if _is_frame(table):
        return list(table.to_delayed())
    return list(check_array(table).to_delayed().ravel())


def _count_rows(block: Any) -> int:
    return int(block.shape[0])


def _take(block: Any, rows: Any) -> Any:
    return block.iloc[rows] if hasattr(block, "iloc") else block[rows]


def _call(call: PickledCall, block: Any) -> Any:
    return call.functions(block)
