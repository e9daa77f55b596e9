"""Answers about tables for the API, with facts about the rows to draw."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.errors import SearchError, SearchWarning
from mixsearch.io.filters import Filter
from mixsearch.io.values import to_json
from mixsearch.table.component import TableComponent
from mixsearch.table.rows import get_rows, spread_rows
from mixsearch.table.tables import Table, find_columns, get_column, open_table
from mixsearch.web.table_schemas import MembersRequest, RowsRequest
from mixsearch.web.table_store import TableStore

# Rows that are drawn: the same in every answer about a table.
MAX_POINTS = 10_000
_DIGITS = 8


def describe_points(store: TableStore, key: str, x: str, y: str) -> dict[str, Any]:
    """Return rows in the plane of two columns of numbers or dates."""
    table = store.open(key).table
    rows = spread_rows(table.height, MAX_POINTS)
    return {"rows": rows.tolist(), **{name: _read_axis(table, each)[rows] for name, each in (("x", x), ("y", y))}}


def _read_axis(table: Any, name: str) -> Array:
    column = get_column(table, name)
    if column.kind not in ("number", "date"):
        raise SearchError(
            "Only columns of numbers or dates can be drawn, not {columns}.", code="nothing_to_plot", columns=repr(name)
        )
    return np.where(column.missing, np.nan, column.values.astype(np.float64))


def list_page(store: TableStore, key: str, request: RowsRequest) -> dict[str, Any]:
    """Return a page of rows with their values, as JSON has them."""
    table = store.open(key).table
    frame = open_table(table).frame
    membership = None
    if request.examples:
        wanted = {name: getattr(request, name) for name in ("columns", "without", "examples", "not_examples")}
        component, _ = find_members(store, key, MembersRequest(**wanted))
        membership = component.membership
    if request.sort_by is not None:
        order = _sort(frame, request.sort_by, descending=request.descending)
    elif membership is not None:
        order = np.argsort(np.abs(membership - 0.5) if request.doubtful else -component.scores, kind="stable")
    else:
        order = np.arange(table.height)
    if request.where:
        order = order[Filter(request.where).mask(frame)[order]]
    rows = order[request.skip : request.skip + request.n_rows].tolist()
    values: list[dict[str, Any]] = json.loads(to_json(get_rows(table, rows)))
    return {
        "n_matching": len(order),
        "rows": [
            {"row": row, "membership": None if membership is None else float(membership[row]), "values": item}
            for row, item in zip(rows, values, strict=True)
        ],
    }


def _sort(frame: pl.DataFrame, name: str, *, descending: bool) -> Array:
    """Return all rows sorted by a column, those without a value last, (n,)."""
    values = frame[:, find_columns(Table(frame), [name])[0]]
    if values.dtype.is_nested():
        raise SearchError("Rows cannot be sorted by {column}: it has lists.", code="not_sortable", column=repr(name))
    return values.arg_sort(descending=descending, nulls_last=True).to_numpy()


def find_members(store: TableStore, key: str, request: MembersRequest) -> tuple[TableComponent, list[SearchWarning]]:
    """Return the rows that are like the examples."""
    search, notes = store.fit(key, request.columns, request.without)
    found, warnings = store.find(
        key, request, lambda: search.search(request.examples, not_examples=request.not_examples)
    )
    return found, [*notes, *warnings]


def describe_found_members(store: TableStore, key: str, request: MembersRequest) -> dict[str, Any]:
    """Return the members, and the membership of the rows that are drawn."""
    found, warnings = find_members(store, key, request)
    rows = spread_rows(len(found.membership), MAX_POINTS)
    return {
        "answer": found.as_dict(request.n_rows, request.id),
        "membership": found.membership[rows],
        "is_member": found.predict()[rows].tolist(),
        "warnings": [each.as_dict() for each in warnings],
    }


def to_plain(value: Any) -> Any:
    """Return an answer as JSON has it: arrays as lists of rounded numbers, null for those that are not finite."""
    if isinstance(value, np.ndarray):
        return [_round(each) for each in value.tolist()]
    if isinstance(value, dict):
        return {name: to_plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(each) for each in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value


def _round(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None
