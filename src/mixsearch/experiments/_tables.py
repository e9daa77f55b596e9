"""Format tables in markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mixsearch.experiments._rows import Rows


def format_markdown(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table with one line per row."""
    rule = ["---"] * len(columns)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rule, *lines)) + "\n"


def format_mean(rows: Rows) -> str:
    """Return the mean of some rows, or an empty text if there are none."""
    return f"{rows.mean:.3g}" if len(rows) else ""
