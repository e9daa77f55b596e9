"""Tables in memory: of pandas, Polars, Arrow or dicts, to Polars and back, without PyArrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from mixsearch.errors import SearchError
from mixsearch.io.types import make_series
from mixsearch.io.values import rename_repeated


def is_frame(table: Any) -> bool:
    """Return whether an object is a table with columns: of pandas, Polars, Arrow, DuckDB, or a mapping."""
    if isinstance(table, Mapping):
        return True
    has_columns = any(hasattr(table, name) for name in ("collect_schema", "columns", "schema"))
    return has_columns and any(hasattr(table, name) for name in ("__arrow_c_stream__", "iloc", "collect"))


def to_polars(table: Any) -> pl.DataFrame:
    """Return a table as a data frame of Polars, which shares memory with it where it can. It is not changed."""
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    if isinstance(table, Mapping):
        return _from_columns(table)
    if hasattr(table, "iloc"):
        return _from_pandas(table)
    if hasattr(table, "rename_columns"):  # Arrow allows names to be repeated
        names = list(map(str, table.schema.names))
        table = table if len(set(names)) == len(names) else table.rename_columns(rename_repeated(names))
    frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
    halves = [name for name, kind in frame.schema.items() if str(kind) == "Float16"]  # which older versions lack
    return frame.with_columns(frame[name].cast(pl.Float32) for name in halves)


def list_columns(table: Any) -> list[str]:
    """Return the names of the columns of a table. No row is read: a stream has each once."""
    if isinstance(table, Mapping) or hasattr(table, "iloc"):
        return to_polars(table if isinstance(table, Mapping) else table.iloc[:0]).columns
    if hasattr(table, "collect_schema"):  # of Polars
        return list(table.collect_schema().names())
    return list(table.schema.names if hasattr(table, "schema") else table.columns)  # of Arrow or DuckDB


def add_columns(table: Any, columns: Mapping[str, Any]) -> Any:
    """Return a table with further columns, as the same kind of table; arrays and dicts become frames of Polars."""
    if hasattr(table, "assign") and hasattr(table, "iloc"):
        return table.assign(**columns)
    if hasattr(table, "append_column"):  # of PyArrow
        table = table.drop_columns([name for name in columns if name in table.column_names])
        for name, values in columns.items():
            table = table.append_column(name, pl.Series(values, nan_to_null=True).to_arrow())
        return table
    frame = to_polars(table) if is_frame(table) else pl.DataFrame(np.asarray(table), orient="row")
    if not is_frame(table):
        frame.columns = [f"x{j}" for j in range(frame.width)]
    return frame.with_columns(pl.Series(name, values) for name, values in columns.items())


def _from_columns(columns: Mapping[Any, Any]) -> pl.DataFrame:
    lengths = {str(name): len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise SearchError(
            "The columns must have the same length, but have {lengths}.",
            code="ragged_columns",
            lengths=", ".join(f"{name!r}: {length:,}" for name, length in lengths.items()),
        )
    names = rename_repeated(list(map(str, columns)))
    return pl.DataFrame([_to_series(name, column) for name, column in zip(names, columns.values(), strict=True)])


def _from_pandas(frame: Any) -> pl.DataFrame:
    """Return a data frame of pandas, with the levels of its index that have a name."""
    named = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(level=named) if named else frame
    names = rename_repeated(list(map(str, frame.columns)))
    return pl.DataFrame([_to_series(name, frame.iloc[:, j]) for j, name in enumerate(names)])


def _to_series(name: str, column: Any) -> pl.Series:
    if isinstance(column, pl.Series):
        return column.alias(name)
    if hasattr(column, "cat"):  # categories of pandas
        levels = make_series(name, column.cat.categories.tolist()).cast(pl.String)
        codes = pl.Series(np.asarray(column.cat.codes, dtype=np.int64))
        return levels.gather(pl.select(pl.when(codes >= 0).then(codes)).to_series())
    kind = getattr(column, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "biufM":
        values = np.asarray(column)
        values = values.astype(np.float32) if kind == np.float16 else values
        values = values.astype("datetime64[us]") if kind.kind == "M" else values
        return pl.Series(name, values, nan_to_null=True)
    if not isinstance(column, list | tuple):
        column = next((getattr(column, m)() for m in ("to_pylist", "tolist", "to_list") if hasattr(column, m)), column)
    return make_series(name, column)
