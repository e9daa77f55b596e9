"""`mixsearch overview`: the topics of an index, with their words and shares."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixsearch.cli.console import IndexArgument, print_json, print_notes, print_text, report_errors, stdout_console
from mixsearch.cli.units import format_share
from mixsearch.index.map import MAX_WORDS, MappedTopic, TopicMap, map_topics
from mixsearch.index.tables import map_to_csv
from mixsearch.index.topic_index import open_index

HELP = f"""Show the topics of an index, the largest first.

Searches for words that differ most between topics, one per topic, or for
the words given; words that mean one topic are listed together. Shares add
up to more than 100% if topics overlap.

Examples:

  mixsearch overview reviews.index
  mixsearch overview reviews.index --n {MAX_WORDS} --csv > topics.csv
  mixsearch overview reviews.index sushi pizza burger --json

--csv prints one topic per row: words (that mean it), typical_words, weight
(share of the corpus), separation, verdict, x and y (its place on a map).

With --json, an error is also printed as JSON on standard output:
{{"error": {{"code": ..., "message": ..., "fields": {{...}}}}}}

Exit codes: 0 success, 1 bad words or index, 2 usage error."""


def overview(
    path: IndexArgument,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", help="Words to search for. Default: chosen.")
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, max=MAX_WORDS, metavar="N", help="Number of words to choose.")] = 30,
    by: Annotated[
        Literal["distinctive", "frequent"],
        typer.Option(help="Choose words that differ most between topics, or those in most documents."),
    ] = "distinctive",
    refine: Annotated[
        bool | None,
        typer.Option(
            "--refine/--no-refine",
            help="Refine the topics by EM. Without it the shares are rougher, in a fourth of the time.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a table.")] = False,
) -> None:
    """Show the topics of an index."""
    if as_json and as_csv:
        raise typer.BadParameter("Use either --json or --csv.")
    with report_errors(as_json=as_json):
        found = map_topics(open_index(path), words or None, n=n, by=by, refine=refine)
        if as_json:
            print_json(found.as_dict())
        elif as_csv:
            print_text(map_to_csv(found))
        else:
            _print_topics(stdout_console(), found)
        print_notes(each.message for each in found.skipped)


def _print_topics(console: Console, found: TopicMap) -> None:
    """Print a table on a terminal, one line per topic in a pipe."""
    if not console.is_terminal:
        width = max(len(", ".join(topic.label)) for topic in found.topics)
        for topic in found.topics:
            line = f"{format_share(topic.weight):>6}  {', '.join(topic.label):<{width}}  {', '.join(topic.words)}"
            console.print(line + _mark(topic), markup=False, soft_wrap=True)
        return
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False)
    table.add_column("share", justify="right")
    table.add_column("topic", overflow="fold", style="bold")
    table.add_column("found by", overflow="fold")
    for topic in found.topics:
        table.add_row(
            format_share(topic.weight),
            Text(", ".join(topic.label)),
            Text(", ".join(topic.words) + _mark(topic), style="yellow" if topic.is_doubtful else ""),
        )
    console.print(table)


def _mark(topic: MappedTopic) -> str:
    return " (doubtful)" if topic.is_doubtful else ""
