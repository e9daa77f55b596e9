"""Filters: conditions on the columns of a table, as people type them."""
