"""Which rows of a table match a filter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from pyarrow import compute

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.column_names import MAX_LISTED, list_names, suggest_name
from mixsearch.data.filters.comparison import compare, find_missing, match_any
from mixsearch.data.filters.expression import Both, Comparison, Condition, Either, Missing, Not, OneOf
from mixsearch.errors import SearchError

arrow = import_pyarrow("Filters")


def evaluate(condition: Condition, table: Any) -> Array:
    """Return which rows of a table match a condition.

    Parameters
    ----------
    condition : Condition
        The condition.
    table : pyarrow.Table
        The table.

    Returns
    -------
    array of shape (n,), of bool

    Notes
    -----
    A comparison with a missing value is unknown, and a row matches if the whole is true in Kleene's logic. De Morgan's
    laws hold there, so negations move down to the comparisons, of which each has an opposite that is true only for
    values that are there. No mask for what is unknown is needed.
    """
    return np.asarray(_find_matches(condition, table, negated=False).to_numpy(), dtype=bool)


def _find_matches(condition: Condition, table: Any, *, negated: bool) -> Any:
    if isinstance(condition, Not):
        return _find_matches(condition.condition, table, negated=not negated)
    if isinstance(condition, Both | Either):
        masks = (_find_matches(each, table, negated=negated) for each in condition.conditions)
        return reduce(compute.and_ if isinstance(condition, Both) != negated else compute.or_, masks)
    return _test_column(condition, _get_column(table, condition.column), negated)


def _test_column(condition: Comparison | OneOf | Missing, column: Any, negated: bool) -> Any:
    if arrow.types.is_dictionary(column.type):
        return _test_levels(condition, column, negated)
    if isinstance(condition, Missing):
        missing = find_missing(column)
        return compute.invert(missing) if negated else missing
    if isinstance(condition, OneOf):
        return match_any(column, condition.column, condition.values, negated=negated)
    return compare(column, condition.column, condition.operator, condition.value, negated=negated)


def _test_levels(condition: Comparison | OneOf | Missing, column: Any, negated: bool) -> Any:
    """Test each level of a category once."""
    if_missing = isinstance(condition, Missing) and not negated
    masks = []
    for chunk in column.chunks or [arrow.array([], column.type)]:
        levels = _test_column(condition, arrow.chunked_array([chunk.dictionary]), negated).combine_chunks()
        masks.append(levels.take(chunk.indices).fill_null(if_missing))
    return arrow.chunked_array(masks, arrow.bool_())


def _get_column(table: Any, name: str) -> Any:
    indices = table.schema.get_all_field_indices(name)
    if len(indices) == 1:
        return table.column(indices[0])
    if indices:
        raise SearchError(
            "The filter names {column!r}, but {n_columns} columns have this name.",
            code="ambiguous_column",
            column=name,
            n_columns=len(indices),
        )
    raise _make_unknown_error(name, table.column_names)


def _make_unknown_error(name: str, names: Sequence[str]) -> SearchError:
    error = SearchError(
        "The filter names {column!r}, but there is no such column. {listed}.",
        code="unknown_column",
        column=name,
        listed=f"The columns are: {list_names(names)}" if names else "There are no columns",
        columns=list(names[:MAX_LISTED]),
    )
    return suggest_name(error, name, names)
