"""Types of columns that PyArrow reads as text: numbers with a decimal comma, dates with slashes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from mixsearch.data.arrow import import_pyarrow

_DECIMAL_COMMA = r"^\s*[-+]?\d*,?\d+\s*$"
_SLASHED_DATE = r"^\d{1,2}/\d{1,2}/\d{4}$"
_ISO_DATE = r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?$"


def find_types(table: Any, *, decimal_comma: bool) -> Any:
    """Return a table whose columns of text become numbers or dates if all their values are."""
    types = import_pyarrow("Tables in files", "table").types
    for index, field in enumerate(table.schema):
        if types.is_string(field.type):
            column = _find_type(table.column(index), decimal_comma)
            table = table.set_column(index, field.name, column)
    return table


def rename_repeated(names: Sequence[str]) -> list[str]:
    """Return names of which none is repeated: "x", "x (2)"; a name that is empty becomes "column 1"."""
    taken, renamed = set(names), []
    for number, name in enumerate(names, start=1):
        unique = plain = name.strip() or f"column {number}"
        copy = 1
        while unique in renamed or (copy > 1 and unique in taken):
            copy += 1
            unique = f"{plain} ({copy})"
        renamed.append(unique)
    return renamed


def flatten_types(table: Any) -> Any:
    """Return a table that CSV can hold: nested values as JSON, categories as text."""
    arrow = import_pyarrow("Tables in files", "table")
    for index, field in enumerate(table.schema):
        column = table.column(index)
        if arrow.types.is_dictionary(field.type):
            table = table.set_column(index, field.name, column.cast(field.type.value_type))
        elif arrow.types.is_nested(field.type):
            texts = [None if value is None else to_json(value) for value in column.to_pylist()]
            table = table.set_column(index, field.name, arrow.array(texts, arrow.string()))
    return table


def to_json(value: Any) -> str:
    """Return a value as JSON; numbers that are not finite become null, dates text."""
    return json.dumps(_make_plain(value), ensure_ascii=False, default=str)


def _make_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _make_plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_make_plain(each) for each in value]
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    return value


def _find_type(column: Any, decimal_comma: bool) -> Any:
    arrow = import_pyarrow("Tables in files", "table")
    from pyarrow import compute

    def matches(pattern: str) -> bool:
        return bool(compute.all(compute.match_substring_regex(column, pattern)).as_py())

    if decimal_comma and matches(_DECIMAL_COMMA):
        plain = compute.replace_substring(compute.utf8_trim_whitespace(column), ",", ".")
        return plain.cast(arrow.float64())
    if matches(_SLASHED_DATE):
        formats = ("%m/%d/%Y", "%d/%m/%Y")
        read = [compute.strptime(column, format=each, unit="s", error_is_null=True) for each in formats]
        fitting = [each for each in read if each.null_count == column.null_count]
        # If both orders are possible, neither is known.
        return fitting[0].cast(arrow.date32()) if len(fitting) == 1 else column
    if matches(_ISO_DATE):
        return _read_times(column, arrow)
    return column


def _read_times(column: Any, arrow: Any) -> Any:
    for zone in (None, "UTC"):
        try:
            return column.cast(arrow.timestamp("us", zone))
        except arrow.ArrowInvalid:
            continue  # some values have a zone, or some have none, or a day does not exist
    return column
