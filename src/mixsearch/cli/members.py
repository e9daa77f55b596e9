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
from mixsearch.table.component import ShownRow, TableAnswer, describe_count, describe_membership
from mixsearch.table.differences import ColumnDifference

_BAR = 12
_FRAME = 4  # characters of the panel beside its content
_GAP = 2
_MAX_COLUMNS = 10
_MAX_LEVELS = 2
_MAX_EXAMPLES = 8
_MAX_VALUES = 6  # of a row
_MAX_LETTERS = 24  # of a value


def print_members(console: Console, answer: TableAnswer, seconds: float) -> None:
    """Print an answer and, on a terminal, how long the search took."""
    if console.is_terminal:
        console.print(_panel(answer, seconds, console.width - _FRAME))
    else:
        print_facts(console, _lines(answer))


def _panel(answer: TableAnswer, seconds: float, width: int) -> Panel:
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in _facts(answer):
        facts.add_row(name, Text(value))
    parts: list[RenderableType] = [facts]
    if _list_apart(answer):
        parts += [_head("What sets the members apart"), _columns(answer)]
    if answer.typical_rows:
        parts += [_head("Typical rows"), _rows(answer, answer.typical_rows, width)]
    if answer.dropped_columns:
        parts += [_head("Columns left out"), Text("\n".join(_list_dropped(answer)))]
    return Panel(
        Group(*parts),
        box=box.ROUNDED,
        border_style="dim",
        title=Text(f"Rows like {_name_examples(answer.examples)}", style="bold not dim"),
        title_align="left",
        subtitle=f"{1000 * seconds:,.0f} ms",
        subtitle_align="right",
    )


def _head(title: str) -> Text:
    return Text(f"\n{title}", style="bold")


def _lines(answer: TableAnswer) -> Iterator[tuple[str, str]]:
    """Yield the name of a fact and the fact, one for each line."""
    yield "examples", _name_examples(answer.examples)
    if answer.not_examples:
        yield "not examples", _name_examples(answer.not_examples)
    yield from _facts(answer)
    for each in _list_apart(answer)[:_MAX_COLUMNS]:
        members, others = _format_difference(each)
        yield "column", f"{each.column}  {members}  (others {others})  {each.effect:+.2f} sd"
    for row in answer.typical_rows:
        values = ", ".join(f"{column}={_format_value(row.values[column])}" for column in _list_columns(answer, row))
        yield "row", "  ".join(filter(None, [_name_row(row), _format_membership(row, answer), values]))
    for line in _list_dropped(answer):
        yield "left out", line


def _facts(answer: TableAnswer) -> list[tuple[str, str]]:
    facts = [("check", answer.check), ("members", describe_count(answer.n_members, answer.n_table_rows))]
    if answer.missing:
        facts.append(("missing", "; ".join(answer.missing[:_MAX_VALUES])))
    if answer.differences and not _list_apart(answer):
        facts.append(("columns", "none sets the members apart"))
    return facts


def _list_apart(answer: TableAnswer) -> list[ColumnDifference]:
    """Return the columns in which the members differ from all rows."""
    return [each for each in answer.differences if each.effect]


def _columns(answer: TableAnswer) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", overflow="fold")
    table.add_column("members", overflow="fold")
    table.add_column("others", overflow="fold")
    table.add_column("difference", justify="right", style="dim", no_wrap=True)
    table.add_column("", no_wrap=True, style="blue")
    apart = _list_apart(answer)
    shown = apart[:_MAX_COLUMNS]
    longest = max((abs(each.effect) for each in shown), default=0.0)
    for each in shown:
        length = round(_BAR * abs(each.effect) / longest) if longest > 0 else 0
        members, others = map(Text, _format_difference(each))
        table.add_row(Text(each.column), members, others, f"{each.effect:+.2f} sd", "█" * length)
    if len(apart) > len(shown):
        table.add_row(Text(f"and {len(apart) - len(shown)} more", style="dim"))
    return table


def _rows(answer: TableAnswer, rows: Sequence[ShownRow], width: int) -> RenderableType:
    """Return a table of rows, with as many of their columns as there is room for."""
    columns = [(answer.id or "row", [_name_row(row) for row in rows], answer.id is None)]
    columns.append(("membership", [_format_membership(row, answer) for row in rows], True))
    for name in _list_columns(answer, rows[0]):
        is_number = isinstance(rows[0].values[name], int | float) and not isinstance(rows[0].values[name], bool)
        columns.append((name, [_format_value(row.values[name]) for row in rows], is_number))
    ends = np.cumsum([max(map(cell_len, (name, *cells))) + _GAP for name, cells, _ in columns])
    shown = columns[: max(2, int(np.searchsorted(ends, width + _GAP, side="right")))]
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
    for name, _, is_number in shown:
        table.add_column(Text(name), justify="right" if is_number else "left", no_wrap=True)
    for line in zip(*(cells for _, cells, _ in shown), strict=True):
        table.add_row(*map(Text, line))
    return table


def _format_membership(row: ShownRow, answer: TableAnswer) -> str:
    return describe_membership(row.membership, is_probability=answer.is_probability)


def _name_row(row: ShownRow) -> str:
    return str(row.row if row.id is None else row.id)


def _name_examples(rows: Sequence[ShownRow]) -> str:
    names = list(map(_name_row, rows))
    more = f" and {len(names) - _MAX_EXAMPLES} more" if len(names) > _MAX_EXAMPLES else ""
    return ", ".join(names[:_MAX_EXAMPLES]) + more


def _list_columns(answer: TableAnswer, row: ShownRow) -> list[str]:
    """Return the columns to show: all, or those that set the members apart; none of vectors and other nested values."""
    nested = (list, dict, np.ndarray)
    plain = [name for name, value in row.values.items() if not isinstance(value, nested) and name != answer.id]
    if len(plain) <= _MAX_VALUES:
        return plain
    effective = [each.column for each in answer.differences if each.column in plain]
    chosen = [*effective, *(name for name in plain if name not in effective)][:_MAX_VALUES]
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


def _list_dropped(answer: TableAnswer) -> list[str]:
    return [f"{column}: {reason}" for column, reason in answer.dropped_columns.items()]
