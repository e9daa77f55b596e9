"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable


def make_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table. A cell is one line; its bars are escaped."""
    lines = [head, ("---",) * len(head), *rows]
    cells = ([" ".join(cell.split()).replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
