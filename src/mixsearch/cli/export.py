"""`mixsearch export`: the documents of an index as a table, also with their share of some topics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli.console import EXIT_ERROR, IndexArgument, print_messages, report_errors, stderr_console
from mixsearch.cli.queries import HintsOption, TypedHints, read_queries
from mixsearch.cli.table_rows import split_list
from mixsearch.index.answer import AnswerOptions
from mixsearch.index.compare import answer_queries
from mixsearch.index.tables import label_documents, list_documents
from mixsearch.index.topic_index import open_index
from mixsearch.io.tables import write_table

HELP = """Write the documents of an index to a table, with their columns and texts.

The table has a row for each document of the index: row (in the files that
were indexed, from 0), id if documents have names, the columns that were kept,
and text. Documents that were too short for a topic are left out.

With --topics or --hints, it also has three columns for each topic: its share
of the document, whether the document is about it (a quarter or more is), and
the verdict of the topic: clear, likely, doubtful or unclear. The shares of a
document add up to at most 1. Texts are then left out unless --text is given.

Examples:

  mixsearch export reviews.index -o documents.parquet
  mixsearch export reviews.index --no-text -o columns.csv
  mixsearch export reviews.index --topics sushi,pizza --text -o labelled.xlsx
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
    text: Annotated[
        bool | None,
        typer.Option("--text/--no-text", help="Write the texts too. Default: unless there are topics."),
    ] = None,
) -> None:
    """Write the documents of an index to a table."""
    words = split_list(topics or ())
    typed = TypedHints(words, hints=hints, each=bool(words)) if words or hints is not None else None
    with report_errors():
        queries = [] if typed is None else read_queries(typed)
        index = open_index(path)
        outcomes = answer_queries(index, queries, AnswerOptions(n_words=0, n_documents=0))
        failed = print_messages(outcomes)
        if queries:
            frames = label_documents(index, outcomes, text=bool(text))
        else:
            frames = list_documents(index, text=text is not False)
        write_table(frames, output)
        stderr_console().print(f"Written: {output}, {index.n_documents:,} documents", markup=False, soft_wrap=True)
        if failed:
            raise typer.Exit(EXIT_ERROR)
