"""Tables: the rows like a few given ones."""

from mixsearch.table._component import MemberCount, TableComponent
from mixsearch.table._differences import ColumnDifference
from mixsearch.table._encoding import TableEncoder
from mixsearch.table._search import TableSearch, find

__all__ = ["ColumnDifference", "MemberCount", "TableComponent", "TableEncoder", "TableSearch", "find"]
