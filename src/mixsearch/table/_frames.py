"""Tables with further columns, as data frames."""

from __future__ import annotations

from collections.abc import Mapping

from mixsearch._typing import Array, DataFrame, TableLike
from mixsearch.data.arrow import build_frame, import_pyarrow
from mixsearch.table._tables import open_table


def with_columns(table: TableLike, columns: Mapping[str, Array]) -> DataFrame:
    """Return a table as a data frame with further columns.

    Parameters
    ----------
    table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
        It is not changed.
    columns : mapping from str to array of shape (n,)
        Each replaces a column of the same name. In a table of PyArrow, NaN becomes a missing value.

    Returns
    -------
    DataFrame
        From the library of the table, such as pandas, Polars or PyArrow; from pandas if the table is not a data frame.
    """
    if hasattr(table, "assign"):  # pandas
        return table.assign(**columns)
    if hasattr(table, "hstack") and hasattr(table, "to_arrow"):  # Polars
        return table.drop(*columns, strict=False).hstack(type(table)(dict(columns)))
    if hasattr(table, "append_column"):  # PyArrow
        arrow = import_pyarrow("Arrow tables")
        kept = table.drop_columns([name for name in columns if name in table.column_names])
        for name, values in columns.items():
            kept = kept.append_column(name, arrow.array(values, from_pandas=True))
        return kept
    opened = open_table(table)
    named = {name: opened.get_raw(j) for j, name in enumerate(opened.names)}
    return build_frame({**named, **columns})
