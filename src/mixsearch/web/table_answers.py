"""Answers about tables for the API, with facts about the rows to draw."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.files.types import to_json
from mixsearch.errors import CenteredWarning, SearchError, SearchWarning
from mixsearch.regression import RegressionComponent
from mixsearch.rows import (
    NumberedRows,
    describe_line,
    describe_subspace,
    find_line,
    find_subspace,
    name_rows,
    scale_columns,
    take_numbers,
)
from mixsearch.subspace import Subspace
from mixsearch.table import (
    TableComponent,
    check_positions,
    describe_members,
    get_column,
    get_rows,
    list_numeric_columns,
    place_rows,
    spread_rows,
    with_columns,
)
from mixsearch.web.table_schemas import FitRequest, LineRequest, MembersRequest, SubspaceRequest
from mixsearch.web.table_store import TableStore

# Rows that are drawn: the same in every answer about a table.
MAX_POINTS = 10_000
_N_CURVE = 60
_MAX_OTHERS = 4
_DIGITS = 8


def describe_points(store: TableStore, key: str, x: str, y: str) -> dict[str, Any]:
    """Return rows in the plane of two columns of numbers or dates."""
    table = store.open(key).table
    rows = spread_rows(table.num_rows, MAX_POINTS)
    return {"rows": rows.tolist(), **{name: _read_axis(table, each)[rows] for name, each in (("x", x), ("y", y))}}


def _read_axis(table: Any, name: str) -> Array:
    column = get_column(table, name)
    if column.kind not in ("number", "date"):
        raise SearchError(
            "Only columns of numbers or dates can be drawn, not {columns}.", code="nothing_to_plot", columns=repr(name)
        )
    return np.where(column.missing, np.nan, column.values.astype(np.float64))


def describe_frame(store: TableStore, key: str, request: FitRequest) -> dict[str, Any]:
    """Return rows in the plane that sets the components of the mixture apart."""
    search, _ = store.fit(key, request.columns, request.without)
    plane, _ = store.find(key, request, lambda: place_rows(search, MAX_POINTS))
    return {
        "rows": plane.rows.tolist(),
        "x": plane.coordinates[:, 0],
        "y": plane.coordinates[:, 1],
        "group": plane.group.tolist(),
        "groups": [group._asdict() for group in plane.groups],
        "columns": list(search.columns_),
        "dropped_columns": dict(search.dropped_columns_),
    }


def list_values(store: TableStore, key: str, rows: list[int]) -> dict[str, Any]:
    """Return rows with their values, as JSON has them."""
    table = store.open(key).table
    positions = check_positions("row", np.array(rows), table.num_rows)
    values: list[dict[str, Any]] = json.loads(to_json(get_rows(table, positions)))
    return {"rows": [{"row": row, "values": each} for row, each in zip(rows, values, strict=True)]}


def find_members(store: TableStore, key: str, request: MembersRequest) -> tuple[TableComponent, list[SearchWarning]]:
    """Return the rows that are like the examples."""
    search, notes = store.fit(key, request.columns, request.without)
    found, warnings = store.find(key, request, lambda: search.search(request.like, not_like=request.not_like))
    return found, [*notes, *warnings]


def describe_found_members(store: TableStore, key: str, request: MembersRequest) -> dict[str, Any]:
    """Return the members, and the membership of the rows that are drawn."""
    found, warnings = find_members(store, key, request)
    rows = spread_rows(len(found.membership), MAX_POINTS)
    return {
        "answer": describe_members(found, n_rows=request.n_rows, id=request.id).as_dict(),
        "membership": found.membership[rows],
        "is_member": found.predict()[rows].tolist(),
        "warnings": [each.as_dict() for each in warnings],
    }


def _find_line(
    store: TableStore, key: str, request: LineRequest
) -> tuple[RegressionComponent, NumberedRows, list[SearchWarning]]:
    if request.y in request.x:
        raise SearchError("Column {column!r} cannot be both x and y.", code="column_used_twice", column=request.y)
    columns = {"x": request.x, "y": [request.y]}
    rows = take_numbers(store.open(key).table, columns, np.array(request.like), request.id)
    found, warnings = store.find(key, request, lambda: find_line(rows, request.n_components or "auto"))
    return found, rows, [name_rows(each, rows) for each in warnings]


def label_line(store: TableStore, key: str, request: LineRequest) -> Any:
    """Return the table with the membership of the line."""
    found, rows, _ = _find_line(store, key, request)
    membership = found.membership(rows.values[:, :-1], rows.values[:, -1])
    return with_columns(rows.table, {"membership": rows.spread(membership)})


def describe_found_line(store: TableStore, key: str, request: LineRequest) -> dict[str, Any]:
    """Return a line, its curve, and what is known of the rows that are drawn."""
    found, rows, warnings = _find_line(store, key, request)
    X, y = rows.values[:, :-1], rows.values[:, -1]
    drawn = spread_rows(rows.table.num_rows, MAX_POINTS)
    along = X[:, 0] if X.shape[1] == 1 else found.predict(X)
    grid, curve = _draw_curve(found, X)
    return {
        "y": request.y,
        "x": list(request.x),
        **describe_line(found, rows, request.x, request.n_rows),
        "curve": curve,
        "others": [_describe_other(each, request.x, grid) for each in _list_others(found)],
        "along": rows.spread(along)[drawn],
        "membership": rows.spread(found.membership(X, y))[drawn],
        "warnings": [each.as_dict() for each in warnings],
    }


def _draw_curve(found: RegressionComponent, X: Array) -> tuple[Array | None, dict[str, Array]]:
    """Return where other lines can be drawn, (g, 1), and the line with its standard errors."""
    if X.shape[1] == 1:
        grid = np.linspace(X.min(), X.max(), _N_CURVE)[:, None]
        return grid, {"along": grid[:, 0], "line": found.predict(grid), "stderr": found.predict_stderr(grid)}
    predicted = found.predict(X)
    order = np.argsort(predicted, kind="stable")
    chunks = [each for each in np.array_split(order, _N_CURVE) if len(each)]
    # Rows with the same prediction differ in their errors: the mean of each run of them is drawn.
    errors = found.predict_stderr(X)
    means = np.array([[predicted[each].mean(), errors[each].mean()] for each in chunks])
    return None, {"along": means[:, 0], "line": means[:, 0], "stderr": means[:, 1]}


def _list_others(found: RegressionComponent) -> list[RegressionComponent]:
    return list(found.alternatives[:_MAX_OTHERS])


def _describe_other(line: RegressionComponent, names: tuple[str, ...], grid: Array | None) -> dict[str, Any]:
    return {
        "weight": float(line.weight),
        "intercept": float(line.intercept),
        "coefficients": dict(zip(names, line.center.tolist(), strict=True)),
        "line": None if grid is None else line.predict(grid),
    }


def _find_subspace(
    store: TableStore, key: str, request: SubspaceRequest
) -> tuple[Subspace, NumberedRows, list[str], tuple[Array, bool], list[SearchWarning]]:
    table = store.open(key).table
    columns = list(request.columns) or [name for name in list_numeric_columns(table) if name != request.id]
    if not columns:
        raise SearchError("{file!r} has no columns of numbers.", code="no_columns", file=store.open(key).name)
    rows = take_numbers(table, {"columns": columns}, np.array(request.like), request.id)
    scaled = scale_columns(rows.values)
    found, warnings = store.find(
        key,
        request,
        lambda: find_subspace(scaled[0], rows, request.n_components or "auto", request.dim or "auto"),
    )
    # The answer itself says through which point subspaces go.
    notes = [name_rows(each, rows) for each in warnings if not isinstance(each, CenteredWarning)]
    return found, rows, columns, scaled, notes


def label_subspace(store: TableStore, key: str, request: SubspaceRequest) -> Any:
    """Return the table with the membership of the subspace, and the distance from it."""
    found, rows, _, (X, _), _ = _find_subspace(store, key, request)
    facts = {"membership": found.membership(X), "residual": _measure_residuals(found, X)}
    return with_columns(rows.table, {name: rows.spread(each) for name, each in facts.items()})


def describe_found_subspace(store: TableStore, key: str, request: SubspaceRequest) -> dict[str, Any]:
    """Return a subspace, and what is known of the rows that are drawn."""
    found, rows, columns, (X, is_scaled), warnings = _find_subspace(store, key, request)
    membership = found.membership(X)
    drawn = spread_rows(rows.table.num_rows, MAX_POINTS)
    return {
        "columns": columns,
        "scaled": is_scaled,
        **describe_subspace(found, rows, columns, membership, request.n_rows),
        "along": rows.spread((X - found.center) @ found.basis[:, 0])[drawn],
        "residual": rows.spread(_measure_residuals(found, X))[drawn],
        "membership": rows.spread(membership)[drawn],
        "warnings": [each.as_dict() for each in warnings],
    }


def _measure_residuals(found: Subspace, X: Array) -> Array:
    """Return the distance of each row from the subspace, (n,)."""
    centered = X - found.center
    return np.asarray(np.linalg.norm(centered - (centered @ found.basis) @ found.basis.T, axis=1))


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
