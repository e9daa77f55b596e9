"""Answers about uploaded tables; what fits is imported when used, so that a server starts fast."""

from __future__ import annotations

import json
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.errors import SearchError, collect_warnings
from mixsearch.io.filters import Filter
from mixsearch.io.tables import read_table, write_table
from mixsearch.io.values import to_json
from mixsearch.machine import on_one_core
from mixsearch.web.processes import call_in_process
from mixsearch.web.schemas import MembersRequest, RowsRequest
from mixsearch.web.settings import Limits
from mixsearch.web.uploads import UploadStore

if TYPE_CHECKING:
    from mixsearch.table.component import TableComponent
    from mixsearch.table.search import TableSearch

EXAMPLE = "example"
_ARROW = "table.arrow"
# Rows that are drawn: the same in every answer about a table.
_MAX_POINTS = 10_000

Warnings = list[dict[str, Any]]


class TableStore:
    """The uploaded tables with what was fitted to them, and an example that is always there: wines of three growers."""

    def __init__(self, uploads: UploadStore, limits: Limits) -> None:
        self._uploads, self._limits = uploads, limits
        self._read = lru_cache(4)(self._read_file)
        self._fit = lru_cache(8)(self._fit_table)
        self.find = lru_cache(16)(self._find_members)

    def open(self, key: str) -> tuple[str, pl.DataFrame, Warnings]:
        """Return the name of a table, the table and the warnings of its reader; it is read at its first use."""
        if key != EXAMPLE:
            self._uploads.get(key)  # also if it is in memory: it stays the last to be removed
        return self._read(key)

    def _read_file(self, key: str) -> tuple[str, pl.DataFrame, Warnings]:
        if key == EXAMPLE:
            from sklearn.datasets import load_wine

            return "wine.csv", pl.DataFrame(load_wine().data, schema=load_wine().feature_names), []
        file = self._uploads.get(key)
        warnings = call_in_process(
            self._limits.timeout, file.folder, convert_to_arrow, file.name, self._limits.max_cells
        )
        return file.name, pl.read_ipc(file.folder / _ARROW), warnings

    def _fit_table(self, key: str, columns: tuple[str, ...], without: tuple[str, ...]) -> tuple[TableSearch, Warnings]:
        from mixsearch.table.search import TableSearch

        with collect_warnings() as warnings:
            search = TableSearch().fit(self.open(key)[1], columns=columns or None, without=without)
        return search, [each.as_dict() for each in warnings]

    def _find_members(self, key: str, request: MembersRequest) -> tuple[TableComponent, Warnings]:
        search, notes = self._fit(key, request.columns, request.without)
        with collect_warnings() as warnings, on_one_core():
            found = search.search(request.examples, not_examples=request.not_examples)
        return found, notes + [each.as_dict() for each in {str(each): each for each in warnings}.values()]


def convert_to_arrow(name: str, max_cells: int) -> Warnings:
    """Read a table and write it as an Arrow file, in a process; return the warnings."""
    with collect_warnings() as warnings:
        table = read_table(name)
    if table.height * table.width > max_cells:
        raise SearchError(
            "{name!r} has {n_rows:,} rows and {n_columns:,} columns, but at most {max_cells:,} values are allowed. Use "
            "mixsearch find on the command line.",
            code="table_too_large",
            name=name,
            n_rows=table.height,
            n_columns=table.width,
            max_cells=max_cells,
        )
    table.write_ipc(_ARROW)
    return [each.as_dict() for each in warnings]


def describe_table(store: TableStore, key: str) -> dict[str, Any]:
    """Return what a table contains."""
    from mixsearch.table.tables import get_column

    name, table, warnings = store.open(key)
    columns = {column: get_column(table, column) for column in table.columns}
    return {
        "name": name,
        "n_rows": table.height,
        "columns": [
            {"name": column, "kind": values.kind, "n_missing": int(values.missing.sum())}
            for column, values in columns.items()
        ],
        "warnings": warnings,
    }


def describe_points(store: TableStore, key: str, x: str, y: str) -> dict[str, Any]:
    """Return rows in the plane of two columns of numbers or dates."""
    from mixsearch.table.rows import spread_rows
    from mixsearch.table.tables import get_column

    table = store.open(key)[1]
    rows = spread_rows(table.height, _MAX_POINTS)
    points: dict[str, Any] = {"rows": rows.tolist()}
    for axis, name in (("x", x), ("y", y)):
        column = get_column(table, name)
        if column.kind not in ("number", "date"):
            raise SearchError(
                "Only columns of numbers or dates can be drawn, not {columns}.",
                code="nothing_to_plot",
                columns=repr(name),
            )
        points[axis] = np.where(column.missing, np.nan, column.values.astype(np.float64))[rows].tolist()
    return points


def list_rows(store: TableStore, key: str, request: RowsRequest) -> dict[str, Any]:
    """Return a page of rows with their values, as JSON has them."""
    from mixsearch.table.rows import get_rows
    from mixsearch.table.tables import open_table

    table = store.open(key)[1]
    frame = open_table(table).frame
    found = None
    if request.examples:
        fields = {name: getattr(request, name) for name in MembersRequest.model_fields}
        found = store.find(key, MembersRequest(**fields))[0]
    if request.rows:
        order = np.array([row for row in request.rows if row < table.height], dtype=np.intp)
    elif request.sort_by is not None:
        order = _sort(frame, request.sort_by, descending=request.descending)
    elif found is not None:
        order = np.argsort(-found.scores, kind="stable")
    else:
        order = np.arange(table.height)
    if request.where:
        order = order[Filter(request.where).mask(frame)[order]]
    rows = order[request.skip : request.skip + request.n_rows].tolist()
    values: list[dict[str, Any]] = json.loads(to_json(get_rows(table, rows)))
    return {
        "n_matching": len(order),
        "rows": [
            {"row": row, "membership": None if found is None else float(found.membership[row]), "values": item}
            for row, item in zip(rows, values, strict=True)
        ],
    }


def _sort(frame: pl.DataFrame, name: str, *, descending: bool) -> Array:
    """Return all rows sorted by a column, those without a value last, (n,)."""
    from mixsearch.table.tables import Table, find_columns

    values = frame[:, find_columns(Table(frame), [name])[0]]
    if values.dtype.is_nested():
        raise SearchError("Rows cannot be sorted by {column}: it has lists.", code="not_sortable", column=repr(name))
    return values.arg_sort(descending=descending, nulls_last=True).to_numpy()


def describe_members(store: TableStore, key: str, request: MembersRequest) -> dict[str, Any]:
    """Return the members, and the membership of the rows that are drawn."""
    from mixsearch.table.rows import spread_rows

    found, warnings = store.find(key, request)
    drawn = spread_rows(len(found.membership), _MAX_POINTS)
    return {"answer": found.as_dict(id=request.id), "is_member": found.predict()[drawn].tolist(), "warnings": warnings}


def encode_members(store: TableStore, key: str, request: MembersRequest) -> bytes:
    """Return the table with `score`, `membership` and `is_member` as CSV."""
    with tempfile.TemporaryDirectory(prefix="mixsearch-") as folder:
        write_table(store.find(key, request)[0].to_frame(), Path(folder, "members.csv"))
        return Path(folder, "members.csv").read_bytes()
