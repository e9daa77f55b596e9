"""Facts and advice: two columns on a terminal, one line per fact in a pipe."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixsearch.display import pluralize

if TYPE_CHECKING:
    from mixsearch.topics.growth import Growth
    from mixsearch.topics.records import StoredColumn

_NAME = 12


def print_facts(console: Console, facts: Iterable[tuple[str, str | Text]]) -> None:
    """Print names and values: in two columns on a terminal, one line each in a pipe."""
    if not console.is_terminal:
        for name, value in facts:
            console.print(f"{name:<{_NAME - 1}} {value}", markup=False, soft_wrap=True)
        return
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True, min_width=_NAME - 1)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(name, Text(value) if isinstance(value, str) else value)
    console.print(table)


def list_columns(columns: Iterable[StoredColumn]) -> str:
    """Return the names of columns with what they hold."""
    return ", ".join(f"{column.name} ({column.role or column.kind})" for column in columns)


def describe_growth(growth: Growth, path: Path) -> list[str]:
    """Return the advice to fit an index again, with its reason; empty if there is no need."""
    if growth.reason is None:
        return []
    changed = growth.n_added + growth.n_removed
    reasons = {
        "new_words": f"{growth.new_words:.0%} of the words of the added texts are new to the index",
        "changed": f"{changed:,} {pluralize(changed, 'document was', 'documents were')} added or removed since the "
        f"index was fitted to {growth.n_fitted:,}",
    }
    command = shlex.join(["mixsearch", "add", str(path), "--refit"])
    return [f"Fit the index again: {reasons[growth.reason]}. Run: {command}"]
