"""Answers about tables for the API, with facts about the rows to draw."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError, SearchWarning
from mixsearch.io.values import to_json
from mixsearch.table.component import TableComponent
from mixsearch.table.fit import place_rows
from mixsearch.table.rows import check_positions, get_rows, spread_rows
from mixsearch.table.tables import get_column
from mixsearch.web.table_schemas import FitRequest, MembersRequest
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


def describe_frame(store: TableStore, key: str, request: FitRequest) -> dict[str, Any]:
    """Return rows in the plane of the two principal axes of the columns in use."""
    search, _ = store.fit(key, request.columns, request.without)
    (rows, plane), _ = store.find(key, request, lambda: place_rows(search._rows, MAX_POINTS))
    return {
        "rows": rows.tolist(),
        "x": plane[:, 0],
        "y": plane[:, 1],
        "columns": list(search.columns_),
        "dropped_columns": dict(search.dropped_columns_),
    }


def list_values(store: TableStore, key: str, rows: list[int]) -> dict[str, Any]:
    """Return rows with their values, as JSON has them."""
    table = store.open(key).table
    positions = check_positions("row", np.array(rows), table.height)
    values: list[dict[str, Any]] = json.loads(to_json(get_rows(table, positions)))
    return {"rows": [{"row": row, "values": each} for row, each in zip(rows, values, strict=True)]}


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
