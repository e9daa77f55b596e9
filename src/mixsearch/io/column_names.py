"""Names of columns in error messages: a list that stays short, and the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from mixsearch.errors import SearchError

MAX_LISTED = 20


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
