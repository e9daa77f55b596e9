"""`mixsearch overview`: the largest topics of an index."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from mixsearch.cli import console
from mixsearch.cli.options import IndexArgument, JsonOption
from mixsearch.topics.index import open_index
from mixsearch.topics.overview import list_topics
from mixsearch.topics.topic import format_about

HELP = """Searches for words that differ most between topics, one per topic; words
whose topics share most of their documents are listed together.

Examples:

  mixsearch overview reviews.index
  mixsearch overview reviews.index --n 100 --json

--json prints a list: hints, words, n_members, match."""


def overview(
    path: IndexArgument,
    n: Annotated[int, typer.Option("--n", min=1, max=200, metavar="N", help="Number of words to begin with.")] = 30,
    as_json: JsonOption = False,
) -> None:
    with console.show_status("Searching for topics"):
        topics = list_topics(open_index(path), n)
    if as_json:
        names = ("hints", "words", "n_members", "match")
        console.print_json([{name: getattr(topic, name) for name in names} for topic in topics])
        return
    table = console.make_table(">documents", "found by", "words")
    for topic in topics:
        hints = Text(", ".join(topic.hints), style="bold")
        table.add_row(f"about {format_about(topic.n_members)}", hints, Text(", ".join(topic.words)))
    console.print_table(table)
