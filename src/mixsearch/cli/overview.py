"""`mixsearch overview`: the largest topics of an index."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from mixsearch.cli.console import IndexArgument, print_json, report_errors, stdout_console
from mixsearch.topics.index import open_index
from mixsearch.topics.overview import list_topics
from mixsearch.topics.topic import format_about

HELP = """Show the topics of an index, the largest first.

Searches for words that differ most between topics, one per topic; words
whose topics share most of their documents are listed together.

Examples:

  mixsearch overview reviews.index
  mixsearch overview reviews.index --n 100 --json

--json prints a list: hints, words, n_members, match. An error is printed
there too: {"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad index, 2 usage error."""


def overview(
    path: IndexArgument,
    n: Annotated[int, typer.Option("--n", min=1, max=200, metavar="N", help="Number of words to begin with.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the largest topics of an index."""
    with report_errors(as_json=as_json):
        topics = list_topics(open_index(path), n)
        if as_json:
            names = ("hints", "words", "n_members", "match")
            print_json([{name: getattr(topic, name) for name in names} for topic in topics])
            return
        table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
        table.add_column("documents", justify="right")
        table.add_column("found by", overflow="fold", style="bold")
        table.add_column("words", overflow="fold")
        for topic in topics:
            hints = Text(", ".join(topic.hints))
            table.add_row(f"about {format_about(topic.n_members)}", hints, Text(", ".join(topic.words)))
        stdout_console().print(table)
