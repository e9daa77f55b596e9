"""Answers about uploaded tables; what fits is imported when used, so that a server starts fast."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mixsearch.errors import SearchError, collect_warnings
from mixsearch.io.filters import Filter
from mixsearch.io.tables import read_table
from mixsearch.io.values import to_json
from mixsearch.machine import on_one_core
from mixsearch.options import TableOptions, list_options
from mixsearch.web.answers import encode_csv
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
        self.open = lru_cache(4)(self._open_table)
        self._fit = lru_cache(8)(self._fit_table)
        self.find = lru_cache(16)(self._find_members)

    def _open_table(self, key: str) -> tuple[str, pl.DataFrame, Warnings]:
        """Return the name of a table, the table and the warnings of its reader; it is read at its first use."""
        if key == EXAMPLE:
            from sklearn.datasets import load_wine

            return "wine.csv", pl.DataFrame(load_wine().data, schema=load_wine().feature_names), []
        file = self._uploads.get(key)
        warnings = call_in_process(self._limits.timeout, file.folder, convert_to_arrow, file.name)
        return file.name, pl.read_ipc(file.folder / _ARROW), warnings

    def _fit_table(self, key: str, options: TableOptions) -> tuple[TableSearch, Warnings]:
        from mixsearch.table.search import TableSearch

        with collect_warnings() as warnings:
            search = TableSearch().fit(self.open(key)[1], **vars(options))
        return search, [each.as_dict() for each in warnings]

    def _find_members(self, key: str, request: MembersRequest) -> tuple[TableComponent, Warnings]:
        options = TableOptions(**{each.name: getattr(request, each.name) for each, _ in list_options(TableOptions)})
        search, notes = self._fit(key, options)
        with collect_warnings() as warnings, on_one_core():
            found = search.search(request.examples, not_examples=request.not_examples)
        return found, notes + [each.as_dict() for each in {str(each): each for each in warnings}.values()]


def convert_to_arrow(name: str) -> Warnings:
    """Read a table and write it as an Arrow file, in a process; return the warnings."""
    with collect_warnings() as warnings:
        read_table(name).write_ipc(_ARROW)
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
    from mixsearch.table.tables import Table, find_columns, open_table

    table = store.open(key)[1]
    frame = open_table(table).frame
    found = None
    if request.examples:
        fields = {name: getattr(request, name) for name in MembersRequest.model_fields}
        found = store.find(key, MembersRequest(**fields))[0]
    if request.rows:
        order = np.array([row for row in request.rows if row < table.height], dtype=np.intp)
    elif request.sort_by is not None:
        values = frame[:, find_columns(Table(frame), [request.sort_by])[0]]
        order = values.arg_sort(descending=request.descending, nulls_last=True).to_numpy()
    elif found is not None:
        order = np.argsort(-found.scores, kind="stable")
    else:
        order = np.arange(table.height)
    if request.where:
        order = order[Filter(request.where).mask(frame)[order]]
    rows = order[request.skip : request.skip + request.n_rows].tolist()
    listed: list[dict[str, Any]] = json.loads(to_json(get_rows(table, rows)))
    return {
        "n_matching": len(order),
        "rows": [
            {"row": row, "membership": None if found is None else float(found.membership[row]), "values": item}
            for row, item in zip(rows, listed, strict=True)
        ],
    }


def describe_members(store: TableStore, key: str, request: MembersRequest) -> dict[str, Any]:
    """Return the members, and the membership of the rows that are drawn."""
    from mixsearch.table.rows import spread_rows

    found, warnings = store.find(key, request)
    drawn = spread_rows(len(found.membership), _MAX_POINTS)
    return {"answer": found.as_dict(), "is_member": found.predict()[drawn].tolist(), "warnings": warnings}


def encode_members(store: TableStore, key: str, request: MembersRequest) -> bytes:
    """Return the table with `score`, `membership` and `is_member` as CSV."""
    return encode_csv(store.find(key, request)[0].to_frame())
