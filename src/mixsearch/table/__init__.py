"""Tables: the rows like a few given ones."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.table._columns import Column
    from mixsearch.table._component import MemberCount, ShownRow, TableAnswer, TableComponent, describe_members
    from mixsearch.table._differences import ColumnDifference
    from mixsearch.table._encoding import TableEncoder
    from mixsearch.table._plane import RowGroup, RowPlane, place_rows
    from mixsearch.table._read import read_table, write_table
    from mixsearch.table._rows import check_positions, find_rows, get_rows, spread_rows
    from mixsearch.table._search import TableSearch, find
    from mixsearch.table._source import with_columns
    from mixsearch.table._tables import get_column, get_numbers, get_values, list_numeric_columns
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = [
    "Column",
    "ColumnDifference",
    "MemberCount",
    "RowGroup",
    "RowPlane",
    "ShownRow",
    "TableAnswer",
    "TableComponent",
    "TableEncoder",
    "TableSearch",
    "check_positions",
    "describe_members",
    "find",
    "find_rows",
    "get_column",
    "get_numbers",
    "get_rows",
    "get_values",
    "list_numeric_columns",
    "place_rows",
    "read_table",
    "spread_rows",
    "with_columns",
    "write_table",
]
