"""Print topics in groups of documents: a table with bars on a terminal, one line per group in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixsearch.cli._console import print_json, print_notes, print_text, stdout_console
from mixsearch.cli._units import format_share
from mixsearch.display import pluralize

if TYPE_CHECKING:
    from mixsearch.index import GroupedTopic, GroupShare, TopicGroups

_BAR = 24
_HEADER = ("documents", "share", "95% interval", "about it", "with words")


@dataclass(frozen=True)
class GroupOptions:
    """Which groups of documents to show, as `group_topics` takes them."""

    over: str | None
    by: str | None
    every: str | float | None
    where: str | None


def read_every(every: str | None) -> str | float | None:
    """Return the width of ranges as a number, or the name of a period unchanged.

    Examples
    --------
    >>> read_every("month"), read_every("2.5")
    ('month', 2.5)
    """
    try:
        return None if every is None else float(every)
    except ValueError:
        return every


def print_groups(found: TopicGroups, style: Literal["text", "json", "csv"]) -> None:
    """Print the shares of topics in groups."""
    if style == "json":
        print_json(found.as_dict())
    elif style == "csv":
        print_text(found.to_csv())
    else:
        _print_tables(stdout_console(), found)
        if found.n_missing:
            documents = pluralize(found.n_missing, "document has", "documents have")
            print_notes([f"{found.n_missing:,} {documents} no value in column {found.column!r}."])


def _print_tables(console: Console, found: TopicGroups) -> None:
    for position, topic in enumerate(found.topics):
        if not console.is_terminal:
            if position:
                console.print()
            for line in _list_lines(topic, found.column):
                console.print(line, markup=False, soft_wrap=True)
            continue
        console.print(_make_table(topic, found.column))


def _list_lines(topic: GroupedTopic, column: str) -> Iterator[str]:
    yield f"topic       {topic.hint}: {', '.join(topic.words)}"
    width = max([len(column), *(len(group.label) for group in topic.groups)])
    rows = [(column, *_HEADER), *((group.label, *_list_cells(group)) for group in topic.groups)]
    for label, documents, share, interval, about, holding in rows:
        line = f"{label:<{width}}  {documents:>9}  {share:>15}  {interval:<18}  {about:>8}  {holding:>10}"
        yield line.rstrip()


def _make_table(topic: GroupedTopic, column: str) -> Table:
    title = Text.assemble((topic.hint, "bold"), (f"  {', '.join(topic.words)}", "dim"))
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, title=title, title_justify="left")
    table.add_column(column, overflow="fold")
    for name in _HEADER:
        table.add_column(name, justify="right")
    table.add_column("", no_wrap=True, style="blue")
    longest = max((group.share or 0.0 for group in topic.groups), default=0.0)
    for group in topic.groups:
        bar = "█" * round(_BAR * (group.share or 0.0) / longest) if longest > 0 else ""
        table.add_row(Text(group.label), *_list_cells(group), bar)
    return table


def _list_cells(group: GroupShare) -> tuple[str, str, str, str, str]:
    """Return what is known of a group; nothing but 0 documents for an empty one."""
    share = "" if group.share is None else format_share(group.share, group.stderr)
    is_known = group.low is not None and group.high is not None
    interval = f"{format_share(group.low or 0.0)} to {format_share(group.high or 0.0)}" if is_known else ""
    about = "" if group.n_about is None else f"{group.n_about:,.0f}"
    holding = "" if group.n_holding is None else f"{group.n_holding:,}"
    return f"{group.n_documents:,}", share, interval, about, holding
