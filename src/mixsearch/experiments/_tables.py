"""Format tables in markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mixsearch.experiments._rows import Rows


def format_markdown(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table with one line per row.

    Examples
    --------
    >>> print(format_markdown(["seeds", "error"], [["1", "0.3 (2.1 ± nan%)"], ["0", "nan"]]))
    | seeds | error |
    | --- | --- |
    | 1 | 0.3 (2.1%) |
    | 0 | – |
    <BLANKLINE>
    """
    rule = ["---"] * len(columns)
    rows = (map(_hide_unknown, cells) for cells in (columns, rule, *lines))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows) + "\n"


def _hide_unknown(cell: str) -> str:
    """Hide NaN: a dash for a missing value, no standard error for a single seed."""
    return "–" if cell == "nan" else cell.replace(" ± nan", "")


def format_mean(rows: Rows) -> str:
    """Return the mean of some rows, or an empty text if there are none."""
    return f"{rows.mean:.3g}" if len(rows) else ""
