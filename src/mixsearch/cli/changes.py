"""`mixsearch changes`: what rose and fell between two groups of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixsearch.cli._console import complete_index, print_json, print_text, report_errors, stdout_console
from mixsearch.cli._units import format_share
from mixsearch.display import pluralize
from mixsearch.index import MAX_WORDS, Change, CorpusChanges, find_changes, open_index

HELP = """Show the topics and words whose share changed between two groups of documents.

Compares the topics of the overview and all words. Only significant
changes are listed: the 95% intervals hold for all topics at once, and for
all words at once.

Examples:

  mixsearch changes papers.index --before "year between 2010 and 2015" --after "year >= 2020"
  mixsearch changes reviews.index --before 'shop = "Rome"' --after 'shop = "Oslo"' --csv

--csv prints one change per row: kind (topic, word), direction (risen,
fallen), item, words (of a topic), before and after (mean share of a
document; for a word, share of the documents that contain it), difference,
low, high.

With --json, an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad filter or index, 2 usage error."""


def changes(
    path: Annotated[
        Path, typer.Argument(metavar="INDEX", help="Folder made by mixsearch index.", autocompletion=complete_index)
    ],
    before: Annotated[str, typer.Option(metavar="FILTER", help="The documents before.")],
    after: Annotated[str, typer.Option(metavar="FILTER", help="The documents after.")],
    n: Annotated[
        int, typer.Option("--n", min=1, max=MAX_WORDS, metavar="N", help="Number of words to choose topics by.")
    ] = 30,
    n_words: Annotated[int, typer.Option(min=0, metavar="N", help="Number of words to show.")] = 15,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a table.")] = False,
) -> None:
    """Show what rose and fell between two groups of documents."""
    if as_json and as_csv:
        raise typer.BadParameter("Use either --json or --csv.")
    with report_errors(as_json=as_json):
        found = find_changes(open_index(path), before, after, n=n, n_words=n_words)
        if as_json:
            print_json(found.as_dict())
        elif as_csv:
            print_text(found.to_csv())
        else:
            _print_changes(stdout_console(), found)


def _print_changes(console: Console, found: CorpusChanges) -> None:
    """Print tables on a terminal, one line per change in a pipe."""
    before, after = (f"{n:,} {pluralize(n, 'document')}" for n in (found.n_before, found.n_after))
    console.print(f"before: {found.before} ({before})", markup=False, soft_wrap=True)
    console.print(f"after: {found.after} ({after})", markup=False, soft_wrap=True)
    for title, listed in (
        (f"risen topics, of {found.n_topics}", found.risen_topics),
        ("fallen topics", found.fallen_topics),
        (f"risen words, of {found.n_words:,}", found.risen_words),
        ("fallen words", found.fallen_words),
    ):
        if console.is_terminal:
            console.print(_make_table(title, listed))
        else:
            console.print()
            console.print(title, markup=False)
            for line in _list_lines(listed):
                console.print(line, markup=False, soft_wrap=True)


def _make_table(title: str, listed: Sequence[Change]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, title=Text(title), title_justify="left")
    for name in ("before", "after", "change", "at least"):
        table.add_column(name, justify="right")
    table.add_column("", overflow="fold")
    for change in listed:
        table.add_row(*_list_cells(change), Text.assemble((change.item, "bold"), _describe_words(change)))
    return table


def _list_lines(listed: Sequence[Change]) -> Iterator[str]:
    for change in listed:
        before, after, difference, bound = _list_cells(change)
        yield f"{before:>7} -> {after:>7}  {difference:>8} (at least {bound})  {change.item}{_describe_words(change)}"
    if not listed:
        yield "none for sure"


def _list_cells(change: Change) -> tuple[str, str, str, str]:
    """Return the shares before and after, the difference, and the end of its interval that is nearest to 0."""
    bound = change.low if change.difference > 0 else change.high
    sign = "+" if change.difference > 0 else ""
    return (
        format_share(change.before),
        format_share(change.after),
        f"{sign}{format_share(change.difference)}",
        f"{sign}{format_share(bound)}",
    )


def _describe_words(change: Change) -> str:
    return f": {', '.join(change.words)}" if change.words else ""
