"""Names of columns to keep, as the command line takes them."""

from __future__ import annotations

from mixsearch.text import KeptColumns


def parse_keep(value: str) -> KeptColumns:
    """Return the columns of a list with commas; "auto" and "none" stand for themselves.

    Examples
    --------
    >>> parse_keep("date, shop"), parse_keep("none")
    (['date', 'shop'], None)
    """
    if value in ("auto", "none"):
        return "auto" if value == "auto" else None
    return [name.strip() for name in value.split(",") if name.strip()]
