"""The source of a table's rows: memory, or the chunks of a Dask array or data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from mixsearch._typing import Array, DataFrame, TableLike
from mixsearch.core.rows import Chunks, Layout, is_dask, load_dask
from mixsearch.io.frames import add_columns
from mixsearch.table.rows import get_rows
from mixsearch.table.summaries import ColumnsChunk, convert_block
from mixsearch.table.tables import name_columns, open_table


def load_tables() -> ModuleType:
    """Import the functions on Dask tables."""
    load_dask()
    return import_module("mixsearch.table.dask_tables")


class LocalTable:
    """A table in memory."""

    def __init__(self, table: TableLike) -> None:
        opened = open_table(table)
        self.table, self.names, self.is_named = table, opened.names, opened.is_named

    def read(self, indices: Sequence[int]) -> Chunks[ColumnsChunk]:
        """Return some columns as one chunk."""
        opened = open_table(self.table)
        layout = Layout(opened.n_rows, len(self.names), np.dtype(np.float64), is_sparse=False)
        return Chunks(layout, (ColumnsChunk(0, tuple(opened.get(j) for j in indices)),))

    def get_rows(self, rows: Sequence[int] | Array) -> list[dict[str, Any]]:
        """Return a few rows."""
        return get_rows(self.table, rows)

    def with_columns(self, columns: Mapping[str, Array]) -> DataFrame:
        """Return the table as a data frame with further columns."""
        return add_columns(self.table, columns)


class DaskTable:
    """A Dask array or data frame. Its rows stay where Dask has them."""

    def __init__(self, table: Any) -> None:
        self.table = table
        names = load_tables().list_columns(table)
        self.is_named = names is not None
        self.names = name_columns(load_tables().count_columns(table)) if names is None else tuple(names)

    def read(self, indices: Sequence[int]) -> Chunks[ColumnsChunk]:
        """Return some columns, converted and stored where the rows are."""
        blocks, self._lengths = load_tables().table_chunks(self.table)
        chunks: Chunks[ColumnsChunk] = blocks.map(convert_block, list(indices)).persist()
        return chunks

    def get_rows(self, rows: Sequence[int] | Array) -> list[dict[str, Any]]:
        """Return a few rows, from the blocks that hold them."""
        found: list[dict[str, Any]] = [{} for _ in rows]
        for places, some in load_tables().take_rows(self.table, self._lengths, rows):
            for place, values in zip(places, get_rows(some, range(len(places))), strict=True):
                found[place] = values
        return found

    def with_columns(self, columns: Mapping[str, Array]) -> DataFrame:
        """Return the table as a Dask data frame with further columns."""
        return load_tables().with_columns(self.table, self._lengths, columns, add_columns)


TableSource = LocalTable | DaskTable


def open_source(table: TableLike) -> TableSource:
    """Return a table with its rows, wherever they are."""
    return DaskTable(table) if is_dask(table) else LocalTable(table)
