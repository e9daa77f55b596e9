"""`mixsearch export`: the documents of an index as a table, also with their membership in some topics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli.console import EXIT_ERROR, IndexArgument, report_errors, stderr_console
from mixsearch.cli.options import split_list
from mixsearch.cli.queries import HintsOption, TypedHints, read_questions
from mixsearch.cli.topic import print_messages
from mixsearch.io.tables import write_table
from mixsearch.topics.answers import answer_questions, frame_documents, name_answers
from mixsearch.topics.index import open_index

HELP = """Write the documents of an index to a table, with their columns and texts.

The table has a row for each document of the index: row (in the files that
were indexed, from 0), id if documents have names, the columns that were kept,
and text. With --topics or --hints, it also has a column for each topic: the
membership of each document.

Examples:

  mixsearch export reviews.index -o documents.parquet
  mixsearch export reviews.index --topics sushi,pizza -o labelled.xlsx
  mixsearch export reviews.index --hints topics.txt -o labelled.parquet

The name of the file ends in .parquet, .csv, .tsv, .jsonl, .json or .xlsx; all
but .parquet and .xlsx may be compressed, as in .csv.gz.

Exit codes: 0 success, 1 bad hint, index or file, 2 usage error. A bad hint
does not stop the others."""


def export(
    path: IndexArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write. It is replaced if it exists.")
    ],
    topics: Annotated[
        list[str] | None,
        typer.Option(metavar="WORDS", help="Words separated by commas; each is the hint of one topic."),
    ] = None,
    hints: HintsOption = None,
) -> None:
    """Write the documents of an index to a table."""
    words = split_list(topics or ())
    typed = TypedHints(words, hints=hints, each=bool(words)) if words or hints is not None else None
    with report_errors():
        index = open_index(path)
        answers = [] if typed is None else answer_questions(index, read_questions(typed))
        print_messages(answers)
        write_table(frame_documents(index, name_answers(answers), text=True), output)
        stderr_console().print(f"Written: {output}, {index.n_documents:,} documents", markup=False, soft_wrap=True)
        if any(answer.error is not None for answer in answers):
            raise typer.Exit(EXIT_ERROR)
