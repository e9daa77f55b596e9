"""Which values of a column are missing."""

from __future__ import annotations

from typing import Any


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, and the NaT and NA of pandas.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    return (
        value is None or type(value).__name__ in {"NAType", "NaTType"} or (isinstance(value, float) and value != value)
    )
