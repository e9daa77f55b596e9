"""`mixsearch label`: the documents of an index with their share of some topics, as a table."""

from __future__ import annotations

from typing import Annotated

import typer

from mixsearch.cli._console import (
    EXIT_ERROR,
    report_errors,
    stderr_console,
)
from mixsearch.cli._index_options import EachWordArgument, HintsOption, IndexArgument, TableOutputOption
from mixsearch.cli._outcomes import print_messages
from mixsearch.cli._queries import TypedHints, read_queries
from mixsearch.index import AnswerOptions, answer_queries, label_documents, open_index
from mixsearch.table import write_table

HELP = """Write the documents of an index with their share of some topics to a table.

Give words, one topic each, or a file with one hint per line. For each topic,
the table has its share of the document, whether the document is about it (a
quarter or more is), and the verdict of the topic: clear, likely, doubtful or
unclear. The shares of a document add up to at most 1.

Examples:

  mixsearch label reviews.index --hints topics.txt -o labelled.parquet
  mixsearch label reviews.index sushi pizza --text -o labelled.xlsx

The other columns are row (in the files that were indexed, from 0), id if
documents have names, those that were kept and, with --text, the text.
Documents that were too short for a topic are left out. The name of the
file ends in .parquet, .csv, .tsv, .jsonl, .json or .xlsx; all but .parquet and
.xlsx may be compressed, as in .csv.gz.

Exit codes: 0 success, 1 bad hint, index or file, 2 usage error. A bad hint
does not stop the others."""


def label(
    path: IndexArgument,
    output: TableOutputOption,
    words: EachWordArgument = None,
    hints: HintsOption = None,
    text: Annotated[bool, typer.Option("--text/--no-text", help="Write the texts too.")] = False,
) -> None:
    """Write the documents of an index with their share of some topics to a table."""
    typed = TypedHints(words or (), hints=hints, each=bool(words))
    with report_errors():
        queries, index = read_queries(typed), open_index(path)
        outcomes = answer_queries(index, queries, AnswerOptions(n_words=0, n_documents=0))
        failed = print_messages(outcomes)
        write_table(label_documents(index, outcomes, text=text), output)
        stderr_console().print(f"Written: {output}, {index.n_documents:,} documents", markup=False, soft_wrap=True)
        if failed:
            raise typer.Exit(EXIT_ERROR)
