"""Bytes, counts, shares, times and names of columns, as users type and read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer

from mixsearch.display import format_share as format_share

if TYPE_CHECKING:
    from mixsearch.text.options import KeptColumns


def parse_frequency(text: str | float) -> int | float:
    """Parse a number of documents (an integer) or a share of them (with a decimal point)."""
    try:
        return int(str(text)) if re.fullmatch(r"[+-]?\d+", str(text)) else float(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither a number of documents, such as 5, nor a share of them, such as 0.3."
        ) from None


def parse_components(text: str | int) -> int | str:
    """Parse a number of components, or "auto"."""
    if text == "auto":
        return "auto"
    if not re.fullmatch(r"0*[1-9]\d*", str(text)):
        raise typer.BadParameter(f"{text!r} is neither a positive integer nor 'auto'.")
    return int(text)


def format_bytes(n: float) -> str:
    """Format bytes with a unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:,.3g} TB"


def format_count(n: float) -> str:
    """Format a count in at most five characters."""
    if n < 10_000:
        return f"{n:,.0f}"
    for unit in ("k", "M"):
        n /= 1000
        if n < 999.5:
            return f"{n:.3g}{unit}"
    return f"{n / 1000:.3g}G"


def format_seconds(seconds: float) -> str:
    """Format a duration, rounded for reading."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = (hours, "h"), (minutes, "min"), (0 if hours else rest, "s")
    return " ".join(f"{n} {unit}" for n, unit in parts if n)


def parse_keep(value: str) -> KeptColumns:
    """Return the columns of a list with commas; "auto" and "none" stand for themselves."""
    if value in ("auto", "none"):
        return "auto" if value == "auto" else None
    return [name.strip() for name in value.split(",") if name.strip()]
