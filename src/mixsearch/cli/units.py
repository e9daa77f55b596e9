"""Bytes, counts, shares and times, as users read them."""

from __future__ import annotations

from mixsearch.display import format_share as format_share


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
