"""Print the members of a table: a panel with bars on a terminal, one line per fact in a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from mixsearch.cli.render import print_facts
from mixsearch.display import give_or_take, plain_number
from mixsearch.table.component import TableComponent, describe_count, describe_membership, describe_rows, list_names
from mixsearch.table.differences import ColumnDifference

_BAR = 12
_FRAME = 4  # characters of the panel beside its content
_GAP = 2
_N_ROWS = 10
_MAX_COLUMNS = 10
_MAX_LEVELS = 2
_MAX_VALUES = 6  # of a row
_MAX_LETTERS = 24  # of a value


def print_members(console: Console, found: TableComponent, seconds: float) -> None:
    """Print an answer and, on a terminal, how long the search took."""
    rows = describe_rows(found, found.typical_rows(_N_ROWS).tolist())
    examples = list_names(describe_rows(found, found.examples))
    if not console.is_terminal:
        print_facts(console, _lines(found, rows, examples))
        return
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in _facts(found):
        facts.add_row(name, Text(value))
    parts: list[RenderableType] = [facts]
    if _list_apart(found):
        parts += [_head("What sets the members apart"), _columns(found)]
    if rows:
        parts += [_head("Typical rows"), _rows(found, rows, console.width - _FRAME)]
    if found._search.dropped_columns_:
        parts += [_head("Columns left out"), Text("\n".join(_list_dropped(found)))]
    title = Text(f"Rows like {examples}", style="bold not dim")
    subtitle = f"{1000 * seconds:,.0f} ms"
    panel = Panel(Group(*parts), box=box.ROUNDED, border_style="dim", title=title, title_align="left",
                  subtitle=subtitle, subtitle_align="right")  # fmt: skip
    console.print(panel)


def _head(title: str) -> Text:
    return Text(f"\n{title}", style="bold")


def _lines(found: TableComponent, rows: Sequence[dict[str, Any]], examples: str) -> Iterator[tuple[str, str]]:
    """Yield the name of a fact and the fact, one for each line."""
    yield "examples", examples
    if found.not_examples:
        yield "not examples", list_names(describe_rows(found, found.not_examples))
    yield from _facts(found)
    for each in _list_apart(found)[:_MAX_COLUMNS]:
        members, others = _format_difference(each)
        yield "column", f"{each.column}  {members}  (others {others})  {each.effect:+.2f} sd"
    for row in rows:
        values = ", ".join(f"{name}={_format_value(row['values'][name])}" for name in _list_columns(found, row))
        yield "row", "  ".join(filter(None, [list_names([row]), _format_membership(row, found), values]))
    for line in _list_dropped(found):
        yield "left out", line


def _facts(found: TableComponent) -> list[tuple[str, str]]:
    facts = [("check", str(found.check)), ("members", describe_count(found.n_members, len(found.scores)))]
    if found.missing_apart():
        facts.append(("missing", "; ".join(map(str, found.missing_apart()[:_MAX_VALUES]))))
    if found.differences() and not _list_apart(found):
        facts.append(("columns", "none sets the members apart"))
    return facts


def _list_apart(found: TableComponent) -> list[ColumnDifference]:
    """List the columns in which the members differ from all rows."""
    return [each for each in found.differences() if each.effect]


def _columns(found: TableComponent) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", overflow="fold")
    table.add_column("members", overflow="fold")
    table.add_column("others", overflow="fold")
    table.add_column("difference", justify="right", style="dim", no_wrap=True)
    table.add_column("", no_wrap=True, style="blue")
    apart = _list_apart(found)
    shown = apart[:_MAX_COLUMNS]
    longest = max((abs(each.effect) for each in shown), default=0.0)
    for each in shown:
        length = round(_BAR * abs(each.effect) / longest) if longest > 0 else 0
        members, others = map(Text, _format_difference(each))
        table.add_row(Text(each.column), members, others, f"{each.effect:+.2f} sd", "█" * length)
    if len(apart) > len(shown):
        table.add_row(Text(f"and {len(apart) - len(shown)} more", style="dim"))
    return table


def _rows(found: TableComponent, rows: Sequence[dict[str, Any]], width: int) -> RenderableType:
    """Return a table of rows, with as many of their columns as there is room for."""
    id = found._search._id
    columns = [(id or "row", [list_names([row]) for row in rows], id is None)]
    columns.append(("membership", [_format_membership(row, found) for row in rows], True))
    for name in _list_columns(found, rows[0]):
        values = [row["values"][name] for row in rows]
        is_number = isinstance(values[0], int | float) and not isinstance(values[0], bool)
        columns.append((name, list(map(_format_value, values)), is_number))
    ends = np.cumsum([max(map(cell_len, (name, *cells))) + _GAP for name, cells, _ in columns])
    shown = columns[: max(2, int(np.searchsorted(ends, width + _GAP, side="right")))]
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
    for name, _, is_number in shown:
        table.add_column(Text(name), justify="right" if is_number else "left", no_wrap=True)
    for line in zip(*(cells for _, cells, _ in shown), strict=True):
        table.add_row(*map(Text, line))
    return table


def _format_membership(row: dict[str, Any], found: TableComponent) -> str:
    return describe_membership(row["membership"], is_probability=found.is_probability)


def _list_columns(found: TableComponent, row: dict[str, Any]) -> list[str]:
    """List the columns to show: all, or those that set the members apart; none of vectors and other nested values."""
    nested = (list, dict, np.ndarray)
    plain = [name for name, value in row["values"].items() if not isinstance(value, nested)]
    plain = [name for name in plain if name != found._search._id]
    if len(plain) <= _MAX_VALUES:
        return plain
    effective = [each.column for each in found.differences() if each.column in plain]
    chosen = list(dict.fromkeys([*effective, *plain]))[:_MAX_VALUES]
    return [name for name in plain if name in chosen]


def _format_value(value: Any) -> str:
    if value is None or value != value:
        return "–"
    text = plain_number(value) if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}…"


def _format_difference(each: ColumnDifference) -> tuple[str, str]:
    """Return the mean of the members and that of the other rows."""
    if isinstance(each.members, dict):
        levels = list(each.members)[:_MAX_LEVELS]
        return _format_shares(each.members, levels), _format_shares(each.others, levels)
    if each.stderr is None or not isinstance(each.members, int | float):
        error = "" if each.stderr is None else f" ± {plain_number(each.stderr)} days"
        return _format_date(each.members) + error, _format_date(each.others)
    # With as many decimals as the other.
    return give_or_take(each.members, each.stderr), give_or_take(each.others, each.stderr).partition(" ±")[0]


def _format_date(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)


def _format_shares(shares: dict[str, float], levels: Sequence[str]) -> str:
    return ", ".join(f"{level} {shares.get(level, 0.0):.0%}" for level in levels)


def _list_dropped(found: TableComponent) -> list[str]:
    return [f"{column}: {reason}" for column, reason in found._search.dropped_columns_.items()]
