"""The columns of a table, whatever it is: arrays, data frames, Arrow tables, dicts of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, Protocol

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.column_names import list_names, suggest_name
from mixsearch.data.dask import is_dask
from mixsearch.data.missing import is_missing
from mixsearch.errors import SearchError

Kind = Literal["number", "date", "category", "vector", "empty", "other"]

_SECONDS_PER_DAY = 86_400
_MICROSECONDS_PER_DAY = _SECONDS_PER_DAY * 1_000_000


@dataclass(frozen=True, slots=True)
class Column:
    """The values of a column.

    Parameters
    ----------
    kind : {"number", "date", "category", "empty", "other"}
        What the values are.
    values : array of shape (n,)
        Numbers, or days since 1970, with NaN for missing; of a category, the codes of levels with -1 for missing.
    levels : tuple of str, default=()
        The levels of a category.
    is_whole : bool, default=False
        Whether they are integers, or dates without a time.
    """

    kind: Kind
    values: Array
    levels: tuple[str, ...] = ()
    is_whole: bool = False

    @property
    def missing(self) -> Array:
        """Which values are missing, (n,)."""
        if self.kind == "vector":
            return np.asarray(~np.isfinite(self.values).all(axis=1))
        return self.values < 0 if self.kind == "category" else ~np.isfinite(self.values)


class Header(Protocol):
    """The names of the columns of a table."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        ...

    @property
    def is_named(self) -> bool:
        """Whether the table has these names, or is an array without names."""
        ...


@dataclass(frozen=True, slots=True)
class Table:
    """A table as names, a number of rows, and how to get a column."""

    names: tuple[str, ...]
    n_rows: int
    get_raw: Callable[[int], Any]
    convert: Callable[[Any], Column]
    is_named: bool = True

    def get(self, index: int) -> Column:
        """Return a column by its index."""
        return self.convert(self.get_raw(index))


def open_table(table: Any) -> Table:
    """Return the columns of a table, which is not changed.

    Parameters
    ----------
    table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
        A data frame of pandas, Polars or any package with the Arrow interface.

    Returns
    -------
    Table
    """
    if is_dask(table):
        raise SearchError(
            "A table in memory is needed here, got a Dask {kind}. Call compute() on it.",
            code="not_in_memory",
            kind=type(table).__name__,
        )
    if isinstance(table, Mapping):
        return _open_mapping(table)
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return Table(_name(table.columns), len(table), lambda j: table.iloc[:, j], _convert_series)
    if any(hasattr(table, method) for method in ("__arrow_c_stream__", "__arrow_c_array__", "to_arrow")):
        return _open_arrow(table)
    return _open_array(table)


def get_column(table: Any, name: str) -> Column:
    """Return one column as an array of numbers or of codes.

    Parameters
    ----------
    table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
        The table.
    name : str
        The name of the column.

    Returns
    -------
    Column
        Dates are days since 1970.
    """
    opened = open_table(table)
    return opened.get(find_columns(opened, [name])[0])


def get_values(table: Any, name: str) -> list[Any]:
    """Return the values of one column as they are, for instance those of an id column.

    Parameters
    ----------
    table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
        The table.
    name : str
        The name of the column.

    Returns
    -------
    list
        One value for each row.
    """
    opened = open_table(table)
    column = opened.get_raw(find_columns(opened, [name])[0])
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def find_columns(table: Header, columns: Iterable[Any]) -> list[int]:
    """Return the indices of columns by their names; in an array, also by their numbers."""
    indices, unknown = [], []
    for column in columns:
        if not table.is_named and isinstance(column, int | np.integer) and 0 <= column < len(table.names):
            indices.append(int(column))
        elif str(column) in table.names:
            indices.append(table.names.index(str(column)))
        else:
            unknown.append(str(column))
    if unknown:
        error = SearchError(
            "The table has no column {unknown}. Its columns: {columns}.",
            code="unknown_column",
            unknown=", ".join(map(repr, unknown)),
            columns=list_names(table.names),
        )
        raise suggest_name(error, unknown[0], table.names)
    return list(dict.fromkeys(indices))


def name_columns(n_columns: int) -> tuple[str, ...]:
    """Return the names of the columns of an array, which has none."""
    return tuple(f"x{j}" for j in range(n_columns))


def _name(names: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(str, names))


def _open_mapping(table: Mapping[Any, Any]) -> Table:
    columns = list(table.values())
    lengths = {str(name): len(column) for name, column in table.items()}
    if len(set(lengths.values())) > 1:
        raise SearchError(
            "The columns must have the same length, but have {lengths}.",
            code="ragged_columns",
            lengths=", ".join(f"{name!r}: {length:,}" for name, length in lengths.items()),
        )
    return Table(_name(table), next(iter(lengths.values()), 0), columns.__getitem__, _convert_series)


def _open_arrow(table: Any) -> Table:
    try:
        arrow = import_pyarrow("Tables with the Arrow interface", "table")
    except SearchError:
        if not (hasattr(table, "columns") and hasattr(table, "__getitem__")):
            raise
        # Polars hands out NumPy's arrays by itself.
        names = list(table.columns)
        return Table(_name(names), len(table), lambda j: table[names[j]], _convert_series)
    opened = table if isinstance(table, arrow.Table) else arrow.table(_to_arrow(table))
    return Table(_name(opened.column_names), opened.num_rows, opened.column, _convert_arrow)


def _to_arrow(table: Any) -> Any:
    return table.to_arrow() if hasattr(table, "to_arrow") else table


def _open_array(table: Any) -> Table:
    try:
        is_array = isinstance(table, list | tuple) or hasattr(table, "__array__")
        array = np.asarray(table) if is_array else None
    except ValueError:  # rows of different lengths
        array = None
    if array is not None and array.dtype.names:
        fields = array.dtype.names
        return Table(fields, len(array), lambda j: array[fields[j]], _convert_array)
    if array is None or array.ndim != 2:
        raise SearchError(
            "A table is needed: an array with rows and columns, a data frame, a pyarrow.Table or a dict of columns; "
            "got {found}.",
            code="not_a_table",
            found=type(table).__name__ if array is None else f"an array of {array.ndim} dimensions",
        )
    names = name_columns(array.shape[1])
    return Table(names, len(array), lambda j: array[:, j], _convert_array, is_named=False)


def _convert_series(series: Any) -> Column:
    """Return a column of pandas, Polars, NumPy or Python."""
    dtype = getattr(series, "dtype", None)
    if str(dtype) == "category":
        return Column("category", series.cat.codes.to_numpy().astype(np.intp), _name(series.cat.categories))
    if hasattr(series, "isna") and not isinstance(dtype, np.dtype) and getattr(dtype, "kind", "O") != "M":
        # The extension types of pandas have a missing value of their own.
        series = series.to_numpy(dtype=object, na_value=None)
    elif hasattr(series, "to_numpy"):
        series = series.to_numpy()
    elif not isinstance(series, np.ndarray):
        values, series = list(series), np.empty(len(series), dtype=object)
        series[:] = values
    return _convert_array(series)


def _convert_array(values: Array) -> Column:
    kind = values.dtype.kind
    if kind in "iuf":
        return Column("number", values, is_whole=kind != "f")
    if kind == "b":
        return Column("category", values.astype(np.intp), ("False", "True"))
    if kind == "M":
        return _convert_dates(values)
    if kind == "m":
        return Column("number", values / np.timedelta64(1, "D"))
    if kind in "OUST":
        return _convert_objects(values.tolist())
    return Column("other", np.full(len(values), np.nan))


def _convert_dates(values: Array) -> Column:
    # Microseconds as integers: a float of nanoseconds would lose the time of day.
    micros = values.astype("datetime64[us]").astype(np.int64)
    days = np.where(np.isnat(values), np.nan, micros / _MICROSECONDS_PER_DAY)
    return Column("date", days, is_whole=not np.any(np.mod(days[np.isfinite(days)], 1)))


def _convert_objects(values: list[Any]) -> Column:
    """Return a column of Python objects; None, NaN, NaT and NA are missing."""
    present = [None if is_missing(value) else value for value in values]
    types = {type(value) for value in present} - {type(None)}
    if not types:
        return Column("empty", np.full(len(values), np.nan))
    if all(issubclass(each, Real | Decimal) and not issubclass(each, bool | np.bool_) for each in types):
        numbers = np.array([np.nan if value is None else float(value) for value in present])
        return Column("number", numbers, is_whole=all(issubclass(each, int | np.integer) for each in types))
    if all(issubclass(each, timedelta) for each in types):
        return _convert_array(np.array(present, dtype="timedelta64[us]"))
    if all(issubclass(each, date) for each in types):
        return _convert_dates(np.array([_to_datetime64(value) for value in present], dtype="datetime64[us]"))
    if any(issubclass(each, list | tuple | dict | set | np.ndarray | bytes) for each in types):
        return _convert_vectors(present)
    # One level for each text: True and "True" are the same.
    index: dict[str, int] = {}
    codes = [-1 if value is None else index.setdefault(str(value), len(index)) for value in present]
    return Column("category", np.array(codes, dtype=np.intp), tuple(index))


def _convert_vectors(values: list[Any]) -> Column:
    """Return a column of vectors, such as embeddings: lists or arrays of numbers, all of the same length."""
    length = next((len(value) for value in values if isinstance(value, list | tuple | np.ndarray)), 0)
    try:
        vectors = np.array([np.full(length, np.nan) if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        vectors = np.empty(0)
    if vectors.ndim != 2 or not length:
        return Column("other", np.full(len(values), np.nan))
    return Column("vector", vectors)


def _to_datetime64(value: Any) -> np.datetime64:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return np.datetime64(round(value.timestamp() * 1e6), "us")
    return np.datetime64(value, "us") if value is not None else np.datetime64("NaT", "us")


def _convert_arrow(column: Any) -> Column:
    """Return a column of an Arrow table: a ChunkedArray."""
    arrow = import_pyarrow("Arrow tables", "table")
    types, kind = arrow.types, column.type
    if types.is_dictionary(kind):
        return _convert_arrow(column.cast(kind.value_type))
    if types.is_null(kind) or column.null_count == len(column):
        return Column("empty", np.full(len(column), np.nan))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        numbers = column.cast(arrow.float64(), safe=False).to_numpy()
        return Column("number", numbers, is_whole=types.is_integer(kind))
    if types.is_date(kind) or types.is_timestamp(kind):
        micros = column.cast(arrow.timestamp("us", getattr(kind, "tz", None)), safe=False)
        return _convert_dates(micros.cast(arrow.timestamp("us")).to_numpy())
    if types.is_duration(kind):
        micros = column.cast(arrow.duration("us"), safe=False).to_numpy()
        return Column("number", micros / np.timedelta64(1, "D"))
    if types.is_boolean(kind):
        codes = column.cast(arrow.int64()).fill_null(-1).to_numpy()
        return Column("category", codes, ("False", "True"))
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        encoded = column.cast(arrow.large_string()).combine_chunks().dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Column("category", codes.astype(np.intp), _name(encoded.dictionary.to_pylist()))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _convert_vectors(column.to_numpy(zero_copy_only=False).tolist())
    return Column("other", np.full(len(column), np.nan))
