"""`mixsearch report`: topics of an index as an HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli import console
from mixsearch.cli.options import HintsOption, IndexArgument, JsonOption
from mixsearch.cli.queries import read_questions
from mixsearch.cli.topic import report_topics
from mixsearch.report import make_report
from mixsearch.topics.index import open_index

HELP = """Give words, one topic each, or a file with one hint per line. The file is the
page of mixsearch serve with these topics inside: a chart, the map of the
documents, and for each topic its words and 100 documents. It opens offline.
A bad hint does not stop the others. --json prints an object: written, topics,
failed (hint, error).

Examples:

  mixsearch report reviews.index --hints topics.txt -o report.html
  mixsearch report reviews.index sushi pizza --by city -o food.html
  mixsearch report reviews.index sushi --where "stars <= 2" -o complaints.html"""


def report(
    path: IndexArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write: .html.")],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", help="Words, phrases and patterns; each is one hint.")
    ] = None,
    hints: HintsOption = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the chart. Default: the first one of dates."),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="FILTER", help='List and count only documents whose columns match, such as "stars <= 2".'),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    questions = read_questions(words or (), hints=hints, each=bool(words))
    with console.show_status("Searching"):
        made = make_report(open_index(path), questions, by=by, where=where)
        made.write(output)
    report_topics(output, {"topics": made.names}, made.failed, as_json=as_json)
