"""`mixsearch report`: topics of an index as an HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli.console import EXIT_ERROR, IndexArgument, report_errors, stderr_console
from mixsearch.cli.queries import EachWordArgument, HintsOption, TypedHints, read_questions
from mixsearch.cli.topic import print_messages
from mixsearch.display import pluralize
from mixsearch.report.page import make_report
from mixsearch.topics.index import open_index

HELP = """Write a report on some topics: one HTML file to share.

Give words, one topic each, or a file with one hint per line. For each topic,
the report has its words, documents, share over time and by group, what else
the hint could mean, and how far to trust it. The file opens offline, in light
and dark, and prints well.

Examples:

  mixsearch report reviews.index --hints topics.txt -o report.html
  mixsearch report reviews.index sushi pizza --over date --by shop -o food.html
  mixsearch report reviews.index sushi --where "stars <= 2" -o complaints.html

Exit codes: 0 success, 1 bad hint, index or file, 2 usage error. A bad hint
does not stop the others."""


def report(
    path: IndexArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write: .html.")],
    words: EachWordArgument = None,
    hints: HintsOption = None,
    title: Annotated[str | None, typer.Option(help="The title. Default: the name of the index.")] = None,
    over: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the timeline. Default: the first column of dates."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of groups; repeat for several. Default: the first three columns of categories.",
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="FILTER", help='List and count only documents whose columns match, such as "stars <= 2".'),
    ] = None,
) -> None:
    """Write a report on some topics."""
    typed = TypedHints(words or (), hints=hints, each=bool(words))
    with report_errors():
        index, questions = open_index(path), read_questions(typed)
        made = make_report(index, questions, title=title, over=over or "auto", by=by or "auto", where=where)
        made.write(output)
        print_messages(made.failed)
        topics = f"{len(made.topics):,} {pluralize(len(made.topics), 'topic')}"
        stderr_console().print(f"Written: {output}, {topics}", markup=False, soft_wrap=True)
        if made.failed:
            raise typer.Exit(EXIT_ERROR)
