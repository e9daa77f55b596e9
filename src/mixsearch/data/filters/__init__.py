"""Filters: conditions on the columns of a table, as people type them."""

from mixsearch.data.filters.expression import Filter
from mixsearch.data.filters.parser import parse_filter

__all__ = ["Filter", "parse_filter"]
