"""Which rows of a table match a filter. Missing values never match."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import Any, Literal

import numpy as np
from pyarrow import compute

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.column_names import MAX_LISTED, list_names, suggest_name
from mixsearch.data.filters.expression import (
    ORDERS,
    Both,
    Comparison,
    Condition,
    DateValue,
    Either,
    Missing,
    Not,
    OneOf,
    Order,
    TextMatch,
    Value,
    read_date,
    read_year,
    spell_name,
)
from mixsearch.errors import SearchError

arrow = import_pyarrow("Filters")
types = arrow.types

Kind = Literal["numbers", "dates", "text", "true or false", "nothing", "other"]

_OPPOSITE: dict[Order, Order] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_COMPUTE: dict[str, Callable[[Any, Any], Any]] = {
    "=": compute.equal,
    "<": compute.less,
    "<=": compute.less_equal,
    ">": compute.greater,
    ">=": compute.greater_equal,
}
_EXAMPLES = {"numbers": "{} >= 3", "dates": "{} >= 2024-05-31", "text": '{} = "text"', "true or false": "{} = true"}
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
# More digits than any decimal has.
_EXACT = Context(prec=100)

arrow = import_pyarrow("Filters")


def compare(column: Any, name: str, operator: Order | TextMatch, value: Value, *, negated: bool = False) -> Any:
    """Return for which rows a comparison, or its opposite, is true: a ChunkedArray without missing values."""
    kind = find_kind(column.type)
    if kind == "nothing":
        return compute.is_valid(column)
    if operator not in ORDERS:
        if kind != "text":
            raise _make_type_error(name, column.type, f"{operator} needs text")
        found = _match_text(_widen(column), operator, str(value))
        return compute.and_(compute.is_valid(column), compute.invert(found)) if negated else found
    order = next(each for each in ORDERS if each == operator)
    if negated:
        order = _OPPOSITE[order]
    if kind == "true or false" and order not in {"=", "!="}:
        raise _make_type_error(name, column.type, f"{operator} needs an order")
    fitting = _convert(value, kind, column.type, name)
    if types.is_floating(column.type) or kind in {"text", "true or false"}:
        return _compare_plain(_widen(column), order, fitting)
    return _compare_span(column, order, *_find_span(fitting, column.type))


def match_any(column: Any, name: str, values: Sequence[Value], *, negated: bool = False) -> Any:
    """Return for which rows one of the values is there; if negated, another value."""
    kind = find_kind(column.type)
    is_exact = types.is_integer(column.type)
    if not (kind == "text" or is_exact or types.is_floating(column.type)):
        masks = (compare(column, name, "=", value, negated=negated) for value in values)
        return reduce(compute.and_ if negated else compute.or_, masks)
    wide = _widen(column)
    fitting = [_convert(value, kind, column.type, name) for value in values]
    if is_exact:
        low, high = _find_limits(column.type)
        fitting = [int(value) for value in fitting if low <= value <= high and value == int(value)]
    found = compute.is_in(wide, value_set=arrow.array(fitting, wide.type))
    return compute.and_(compute.invert(find_missing(wide)), compute.invert(found)) if negated else found


def find_missing(column: Any) -> Any:
    """Return which values are missing, NaN among them."""
    return compute.is_null(_widen(column), nan_is_null=types.is_floating(column.type))


def find_kind(kind: Any) -> Kind:
    """Return what the values of an Arrow type are to a filter."""
    if types.is_null(kind):
        return "nothing"
    if types.is_boolean(kind):
        return "true or false"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "dates"
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return "text" if is_text else "other"


def _widen(column: Any) -> Any:
    """Return a column of a type that PyArrow can compare."""
    if types.is_float16(column.type):
        return column.cast(arrow.float32())
    return column.cast(arrow.large_string()) if types.is_string_view(column.type) else column


def _convert(value: Value, kind: Kind, column_type: Any, name: str) -> Any:
    """Return a value of the column's kind: a float, str, bool or DateValue, or a Decimal for exact numbers."""
    if kind == "numbers" and isinstance(value, Decimal):
        return _round(value, column_type) if types.is_floating(column_type) else value
    if kind == "true or false" and isinstance(value, bool):
        return value
    if kind == "text" and isinstance(value, str):
        return value
    if kind == "dates":
        converted = read_year(value) if isinstance(value, Decimal) else value
        converted = read_date(converted) if isinstance(converted, str) else converted
        if isinstance(converted, DateValue):
            return converted
    found = {bool: "true or false", str: "text", Decimal: "a number"}.get(type(value), "a date")
    raise _make_type_error(name, column_type, f"it cannot be compared with {found}")


def _round(value: Decimal, column_type: Any) -> float:
    """Round a number to the precision of a column of floats: 0.1 in 32 bits equals 0.1 in a filter."""
    with np.errstate(over="ignore"):
        return float(column_type.to_pandas_dtype()(float(value)))


def _make_type_error(name: str, column_type: Any, problem: str) -> SearchError:
    kind = find_kind(column_type)
    spelled = spell_name(name)
    return SearchError(
        "Column {column!r} holds {kind}: {problem}. Example: {example}.",
        code="filter_type",
        column=name,
        kind=f"values of type {column_type}" if kind == "other" else kind,
        problem="it can only be missing or not" if kind == "other" else problem,
        example=_EXAMPLES.get(kind, "{} is missing").format(spelled),
    )


def _match_text(column: Any, match: str, text: str) -> Any:
    matchers = {
        "contains": compute.match_substring,
        "starts with": compute.starts_with,
        "ends with": compute.ends_with,
    }
    return matchers[match](column, text, ignore_case=True).fill_null(False)


def _compare_plain(column: Any, order: Order, value: float | str | bool) -> Any:
    bound = arrow.scalar(value, column.type)
    if order != "!=":
        return _COMPUTE[order](column, bound).fill_null(False)
    # NaN differs from every number, but is missing.
    return compute.and_(compute.invert(find_missing(column)), compute.not_equal(column, bound).fill_null(False))


def _find_span(value: Decimal | DateValue, column_type: Any) -> tuple[int, int]:
    """Return the steps of an exact type that a value covers: from the first to before the second.

    An integer is a step of an integer column, a day of a column of dates. A number between two steps covers none.
    """
    if isinstance(value, Decimal):
        steps = Fraction(value) * Fraction(10) ** getattr(column_type, "scale", 0)
        return math.ceil(steps), math.floor(steps) + 1
    zone = getattr(column_type, "tz", None)
    edges = value.start, value.stop
    if zone is not None and not value.is_absolute:
        edges = _to_utc(edges[0], zone), _to_utc(edges[1], zone)
    unit = 86_400 * 10**9 if types.is_date32(column_type) else _NANOSECONDS[getattr(column_type, "unit", "ms")]
    return -(-edges[0] // unit), -(-edges[1] // unit)


def _to_utc(nanoseconds: int, zone: str) -> int:
    # In microseconds, which reach further; the rest is less than any change of a zone's clocks.
    micros, rest = divmod(nanoseconds, 1000)
    local = arrow.scalar(micros, arrow.int64()).cast(arrow.timestamp("us"))
    try:
        moved = compute.assume_timezone(local, zone, ambiguous="earliest", nonexistent="earliest")
    except arrow.ArrowInvalid as error:
        raise SearchError(
            "The time zone {zone!r} of a column is not known here. Write dates with a zone: 2024-05-31T18:30Z.",
            code="unknown_zone",
            zone=zone,
        ) from error
    return int(moved.cast(arrow.int64()).as_py()) * 1000 + rest


def _compare_span(column: Any, order: Order, first: int, stop: int) -> Any:
    match order:
        case "<":
            return _find_below(column, first)
        case "<=":
            return _find_below(column, stop)
        case ">":
            return _find_from(column, stop)
        case ">=":
            return _find_from(column, first)
        case "!=":
            return compute.or_(_find_below(column, first), _find_from(column, stop))
        case _:
            return compute.and_(_find_from(column, first), _find_below(column, stop))


def _find_below(column: Any, bound: int) -> Any:
    low, high = _find_limits(column.type)
    if low < bound <= high:
        return compute.less(column, _make_scalar(bound, column.type)).fill_null(False)
    return compute.is_valid(column) if bound > high else _match_nothing(column)


def _find_from(column: Any, bound: int) -> Any:
    low, high = _find_limits(column.type)
    if low < bound <= high:
        return compute.greater_equal(column, _make_scalar(bound, column.type)).fill_null(False)
    return _match_nothing(column) if bound > high else compute.is_valid(column)


def _find_limits(column_type: Any) -> tuple[int, int]:
    """Return the least and the largest step that a type can hold."""
    if types.is_decimal(column_type):
        return 1 - 10**column_type.precision, 10**column_type.precision - 1
    steps = column_type.to_pandas_dtype() if types.is_integer(column_type) else f"int{column_type.bit_width}"
    info = np.iinfo(steps)
    return int(info.min), int(info.max)


def _make_scalar(steps: int, column_type: Any) -> Any:
    if types.is_decimal(column_type):
        return arrow.scalar(Decimal(steps).scaleb(-column_type.scale, _EXACT), column_type)
    if types.is_integer(column_type):
        return arrow.scalar(steps, column_type)
    return arrow.scalar(steps, arrow.int32() if types.is_date32(column_type) else arrow.int64()).cast(column_type)


def _match_nothing(column: Any) -> Any:
    return arrow.chunked_array([arrow.repeat(arrow.scalar(False), len(column))])


def evaluate(condition: Condition, table: Any) -> Array:
    """Return which rows of a table match a condition.

    Notes
    -----
    A comparison with a missing value is unknown, and a row matches if the whole is true in Kleene's logic. De Morgan's
    laws hold there, so negations move down to the comparisons, of which each has an opposite that is true only for
    values that are there. No mask for what is unknown is needed.
    """
    return np.asarray(_find_matches(condition, table, negated=False).to_numpy(), dtype=bool)


def _find_matches(condition: Condition, table: Any, *, negated: bool) -> Any:
    if isinstance(condition, Not):
        return _find_matches(condition.condition, table, negated=not negated)
    if isinstance(condition, Both | Either):
        masks = (_find_matches(each, table, negated=negated) for each in condition.conditions)
        return reduce(compute.and_ if isinstance(condition, Both) != negated else compute.or_, masks)
    return _test_column(condition, _get_column(table, condition.column), negated)


def _test_column(condition: Comparison | OneOf | Missing, column: Any, negated: bool) -> Any:
    if arrow.types.is_dictionary(column.type):
        return _test_levels(condition, column, negated)
    if isinstance(condition, Missing):
        missing = find_missing(column)
        return compute.invert(missing) if negated else missing
    if isinstance(condition, OneOf):
        return match_any(column, condition.column, condition.values, negated=negated)
    return compare(column, condition.column, condition.operator, condition.value, negated=negated)


def _test_levels(condition: Comparison | OneOf | Missing, column: Any, negated: bool) -> Any:
    """Test each level of a category once."""
    if_missing = isinstance(condition, Missing) and not negated
    masks = []
    for chunk in column.chunks or [arrow.array([], column.type)]:
        levels = _test_column(condition, arrow.chunked_array([chunk.dictionary]), negated).combine_chunks()
        masks.append(levels.take(chunk.indices).fill_null(if_missing))
    return arrow.chunked_array(masks, arrow.bool_())


def _get_column(table: Any, name: str) -> Any:
    indices = table.schema.get_all_field_indices(name)
    if len(indices) == 1:
        return table.column(indices[0])
    if indices:
        raise SearchError(
            "The filter names {column!r}, but {n_columns} columns have this name.",
            code="ambiguous_column",
            column=name,
            n_columns=len(indices),
        )
    raise _make_unknown_error(name, table.column_names)


def _make_unknown_error(name: str, names: Sequence[str]) -> SearchError:
    error = SearchError(
        "The filter names {column!r}, but there is no such column. {listed}.",
        code="unknown_column",
        column=name,
        listed=f"The columns are: {list_names(names)}" if names else "There are no columns",
        columns=list(names[:MAX_LISTED]),
    )
    return suggest_name(error, name, names)
