"""Tables in markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mixsearch.experiments.rows import Rows


def markdown(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table with a line for each row."""
    rule = ["---"] * len(columns)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rule, *lines)) + "\n"


def mean_cell(rows: Rows) -> str:
    """The mean of some rows; nothing where there are none."""
    return f"{rows.mean:.3g}" if len(rows) else ""
