"""`mixsearch report`: topics of an index as an HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli.console import EXIT_ERROR, IndexArgument, report_errors, stderr_console
from mixsearch.cli.queries import EachWordArgument, HintsOption, TypedHints, read_questions
from mixsearch.cli.topic import print_messages
from mixsearch.display import pluralize
from mixsearch.report import make_report
from mixsearch.topics.index import open_index

HELP = """Write a report on some topics: one HTML file to share.

Give words, one topic each, or a file with one hint per line. The file is the
page of mixsearch serve with these topics inside: a chart, the map of the
documents, and for each topic its words and 100 documents. It opens offline.

Examples:

  mixsearch report reviews.index --hints topics.txt -o report.html
  mixsearch report reviews.index sushi pizza --by shop -o food.html
  mixsearch report reviews.index sushi --where "stars <= 2" -o complaints.html

Exit codes: 0 success, 1 bad hint, index or file, 2 usage error. A bad hint
does not stop the others."""


def report(
    path: IndexArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write: .html.")],
    words: EachWordArgument = None,
    hints: HintsOption = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the chart. Default: the first one of dates."),
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
        made = make_report(index, questions, by=by, where=where)
        made.write(output)
        print_messages(made.failed)
        topics = f"{len(made.names):,} {pluralize(len(made.names), 'topic')}"
        stderr_console().print(f"Written: {output}, {topics}", markup=False, soft_wrap=True)
        if made.failed:
            raise typer.Exit(EXIT_ERROR)
