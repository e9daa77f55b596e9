"""Columns of a frame: the kind of their values, and their names in error messages."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from mixsearch.errors import SearchError

Kind = Literal["numbers", "dates", "text", "true or false", "nothing", "other"]

MAX_LISTED = 20
_KINDS: dict[Any, Kind] = {pl.Date: "dates", pl.Datetime: "dates", pl.Boolean: "true or false", pl.Null: "nothing"}
_KINDS |= {pl.String: "text", pl.Categorical: "text", pl.Enum: "text"}


def find_kind(dtype: pl.DataType) -> Kind:
    """Find the kind of values of a type."""
    return _KINDS.get(dtype.base_type(), "numbers" if dtype.is_numeric() else "other")


def list_names(names: Sequence[str]) -> str:
    """Return names as a list for a sentence, cut after the first ones."""
    more = f", and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more


def suggest_name(error: SearchError, name: str, names: Sequence[str]) -> SearchError:
    """Return an error about an unknown name, with the nearest known one if it is near enough."""
    folded = {each.casefold(): each for each in reversed(names)}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return error.append("Did you mean {suggestion!r}?", suggestion=folded[near[0]]) if near else error


def make_unknown_error(name: str, names: Sequence[str]) -> SearchError:
    """Return the error about a column that does not exist."""
    error = SearchError(
        "There is no column {column!r}. The columns are: {listed}.",
        code="unknown_column",
        column=name,
        listed=list_names(names) or "none",
        columns=list(names[:MAX_LISTED]),
    )
    return suggest_name(error, name, names)
