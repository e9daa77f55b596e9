"""Lines and subspaces among the rows of a table: examples in, answers as plain data out."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.rows._line import describe_line, find_line
    from mixsearch.rows._numbered import NumberedRows, name_rows, take_numbers
    from mixsearch.rows._subspace import describe_subspace, find_subspace, scale_columns
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = [
    "NumberedRows",
    "describe_line",
    "describe_subspace",
    "find_line",
    "find_subspace",
    "name_rows",
    "scale_columns",
    "take_numbers",
]
