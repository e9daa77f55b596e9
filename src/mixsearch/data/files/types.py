"""Types of columns whose values were read as text, found in one chunk after another."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mixsearch.data.arrow import import_pyarrow

# Values of a column of text that mean that there is none.
MISSING_MARKS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "?")

_READINGS_KEY = b"mixsearch.readings"

# A number with a leading zero, such as a postcode, or with more digits than a float holds is a name.
_INTEGER = r"^-?(?:0|[1-9]\d{0,17})$"
NUMBER_PATTERN = r"^[-+]?(?:(?:0|[1-9]\d{0,14})(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?$"
_DECIMAL_COMMA = r"^[-+]?\d*,?\d+$"
_ISO_TIME = r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[-+]\d{2}:?\d{2})?)?$"
# From patterns of dates to ISO, with the groups of year, month and day.
_DATES = {
    "date": (r"^(\d{4})-(\d{2})-(\d{2})$", r"\1-\2-\3"),
    "date_slashes": (r"^(\d{4})/(\d{2})/(\d{2})$", r"\1-\2-\3"),
    "date_dots": (r"^(\d{2})\.(\d{2})\.(\d{4})$", r"\3-\2-\1"),
    "month_first": (r"^(\d{2})/(\d{2})/(\d{4})$", r"\3-\1-\2"),
    "day_first": (r"^(\d{2})/(\d{2})/(\d{4})$", r"\3-\2-\1"),
}


def _matches(column: Any, pattern: str) -> bool:
    from pyarrow import compute

    return bool(compute.all(compute.match_substring_regex(column, pattern)).as_py())


def _read_boolean(column: Any) -> Any | None:
    from pyarrow import compute

    return compute.equal(compute.utf8_lower(column), "true") if _matches(column, "^(?i:true|false)$") else None


def _read_integer(column: Any) -> Any | None:
    return column.cast(import_pyarrow("Columns").int64()) if _matches(column, _INTEGER) else None


def _read_number(column: Any) -> Any | None:
    return column.cast(import_pyarrow("Columns").float64()) if _matches(column, NUMBER_PATTERN) else None


def _read_decimal_comma(column: Any) -> Any | None:
    from pyarrow import compute

    if not _matches(column, _DECIMAL_COMMA):
        return None
    return compute.replace_substring(column, ",", ".").cast(import_pyarrow("Columns").float64())


def _read_date(column: Any, pattern: str, iso: str) -> Any | None:
    from pyarrow import compute

    padded = compute.replace_substring_regex(column, r"\b(\d)/", r"0\1/")
    if not _matches(padded, pattern):
        return None
    # Not `strptime`, for which 30 February is a day of March.
    return _cast(compute.replace_substring_regex(padded, pattern, iso), import_pyarrow("Columns").date32())


def _read_time(column: Any, zone: str | None) -> Any | None:
    return _cast(column, import_pyarrow("Columns").timestamp("us", zone)) if _matches(column, _ISO_TIME) else None


def _cast(column: Any, kind: Any) -> Any | None:
    arrow = import_pyarrow("Columns")
    try:
        return column.cast(kind)
    except arrow.ArrowInvalid:
        return None  # a day does not exist, or only some values have a zone


def _make_date_reader(pattern: str, iso: str) -> Callable[[Any], Any | None]:
    return lambda column: _read_date(column, pattern, iso)


# Ways to read a column of text, the first that all values allow is taken; each returns None where one does not.
_READERS: dict[str, Callable[[Any], Any | None]] = {
    "boolean": _read_boolean,
    "integer": _read_integer,
    "number": _read_number,
    "decimal_comma": _read_decimal_comma,
    **{name: _make_date_reader(pattern, iso) for name, (pattern, iso) in _DATES.items()},
    "time": lambda column: _read_time(column, None),
    "time_with_zone": lambda column: _read_time(column, "UTC"),
}
DATES = (*_DATES, "time", "time_with_zone")
NUMBERS = ("boolean", "integer", "number", *DATES)
NUMBERS_WITH_COMMA = (*NUMBERS, "decimal_comma")


@dataclass(frozen=True)
class ColumnType:
    """The type of the values seen so far, and the ways to read them if they are text."""

    kind: Any  # a type of PyArrow
    readings: frozenset[str] = frozenset()

    @property
    def reading(self) -> str | None:
        """The way to read the text; None if it stays text."""
        # Without any value, every way is possible. If both orders of day and month are, neither is known.
        if len(self.readings) == len(_READERS) or {"month_first", "day_first"} <= self.readings:
            return None
        return next((name for name in _READERS if name in self.readings), None)

    def merge(self, other: ColumnType) -> ColumnType:
        """Return the type that the values of both have."""
        arrow = import_pyarrow("Columns")
        if self.kind == other.kind:
            return ColumnType(self.kind, self.readings & other.readings)
        for one, another in ((self, other), (other, self)):
            if arrow.types.is_null(one.kind):
                return another
        try:
            schemas = [arrow.schema([("x", each.kind)]) for each in (self, other)]
            return ColumnType(arrow.unify_schemas(schemas, promote_options="permissive").field(0).type)
        except arrow.ArrowException:
            are_days = all(
                arrow.types.is_date(kind) or kind == arrow.timestamp("us") for kind in (self.kind, other.kind)
            )
            return ColumnType(arrow.timestamp("us") if are_days else arrow.string())


@dataclass(frozen=True)
class ColumnTypes:
    """The types of columns that are read chunk by chunk: find those of each chunk, merge them, convert each chunk.

    The result depends neither on the order of the chunks nor on where they are cut.
    """

    by_name: dict[str, ColumnType]

    def merge(self, other: ColumnTypes) -> ColumnTypes:
        """Return the types that the chunks of both have."""
        shared = {name: kind.merge(other.by_name[name]) for name, kind in self.by_name.items() if name in other.by_name}
        return ColumnTypes({**self.by_name, **other.by_name, **shared})

    def convert(self, chunk: Any) -> Any:
        """Return a record batch or table with these columns and types; a column that is missing becomes null."""
        arrow = import_pyarrow("Columns")
        columns = {name: self._convert_column(chunk, name, kind) for name, kind in self.by_name.items()}
        build = arrow.table if isinstance(chunk, arrow.Table) else arrow.RecordBatch.from_pydict
        return build(columns)

    def _convert_column(self, chunk: Any, name: str, kind: ColumnType) -> Any:
        arrow = import_pyarrow("Columns")
        final = kind.kind
        reader = _READERS.get(kind.reading or "")
        if name not in chunk.schema.names:
            column = arrow.nulls(chunk.num_rows, final)
        else:
            column = _cast_any(chunk.column(name), final)
        return column if reader is None else reader(_trim(column))


def find_column_types(chunk: Any) -> ColumnTypes:
    """Return the types of the columns of a record batch or table; see `allow_readings` for columns of text."""
    allowed = _get_readings(chunk.schema)
    return ColumnTypes(
        {field.name: _find_type(chunk.column(i), field.type, allowed) for i, field in enumerate(chunk.schema)}
    )


def allow_readings(chunk: Any, readings: Sequence[str]) -> Any:
    """Return a record batch or table whose columns of text may become other types: `NUMBERS` in CSV, `DATES` in JSON.

    What is allowed goes with the chunk as metadata, also into files.
    """
    return chunk.replace_schema_metadata({**(chunk.schema.metadata or {}), _READINGS_KEY: ",".join(readings).encode()})


def allow_dates(chunk: Any) -> Any:
    """Return a record batch whose columns of text may become dates, unless it already has such a setting."""
    return chunk if _READINGS_KEY in (chunk.schema.metadata or {}) else allow_readings(chunk, DATES)


def to_nulls(values: Sequence[str]) -> list[str | None]:
    """Return the values of a column of CSV, with None for marks of missing ones."""
    return [None if value in MISSING_MARKS else value for value in values]


def find_types(table: Any, readings: Sequence[str]) -> Any:
    """Return a table with unique column names, and columns of text converted to other types if all values allow it."""
    named = allow_readings(table.rename_columns(rename_repeated(table.column_names)), readings)
    return find_column_types(named).convert(named)


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


def flatten_types(chunk: Any) -> Any:
    """Return a record batch or table of plain columns: nested values as JSON, categories as their values."""
    arrow = import_pyarrow("Tables in files")
    for index, field in enumerate(chunk.schema):
        column = chunk.column(index)
        if arrow.types.is_dictionary(field.type):
            chunk = chunk.set_column(index, field.name, column.cast(field.type.value_type))
        elif arrow.types.is_nested(field.type):
            chunk = chunk.set_column(index, field.name, _cast_any(column, arrow.string()))
    return chunk


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


def _cast_any(column: Any, kind: Any) -> Any:
    """Return a column as another type; nested values that have none in common with others become JSON."""
    arrow = import_pyarrow("Columns")
    if arrow.types.is_nested(column.type) and arrow.types.is_string(kind):
        return arrow.array([None if value is None else to_json(value) for value in column.to_pylist()], kind)
    return column.cast(kind)


def _find_type(column: Any, kind: Any, allowed: Sequence[str]) -> ColumnType:
    types = import_pyarrow("Columns").types
    if not (types.is_string(kind) or types.is_large_string(kind)):
        return ColumnType(kind)
    if column.null_count == len(column):
        return ColumnType(kind, frozenset(_READERS))
    trimmed = _trim(column)
    return ColumnType(kind, frozenset(name for name in allowed if _READERS[name](trimmed) is not None))


def _get_readings(schema: Any) -> list[str]:
    names = (schema.metadata or {}).get(_READINGS_KEY, b"").decode()
    return names.split(",") if names else []


def _trim(column: Any) -> Any:
    from pyarrow import compute

    return compute.utf8_trim_whitespace(column)
