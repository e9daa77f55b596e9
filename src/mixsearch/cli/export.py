"""`mixsearch export`: the documents of an index as a table."""

from __future__ import annotations

from typing import Annotated

import typer

from mixsearch.cli._console import report_errors, stderr_console
from mixsearch.cli._index_options import IndexArgument, TableOutputOption
from mixsearch.index import list_documents, open_index
from mixsearch.table import write_table

HELP = """Write the documents of an index to a table, with their columns and texts.

The table has a row for each document of the index: row (in the files that
were indexed, from 0), id if documents have names, the columns that were kept,
and text. Documents that were too short for a topic are left out.

Examples:

  mixsearch export reviews.index -o documents.parquet
  mixsearch export reviews.index --no-text -o columns.csv

The name of the file ends in .parquet, .csv, .tsv, .jsonl, .json or .xlsx; all
but .parquet and .xlsx may be compressed, as in .csv.gz.

Exit codes: 0 success, 1 bad index or file, 2 usage error."""


def export(
    path: IndexArgument,
    output: TableOutputOption,
    text: Annotated[bool, typer.Option("--text/--no-text", help="Write the texts too.")] = True,
) -> None:
    """Write the documents of an index to a table."""
    with report_errors():
        index = open_index(path)
        write_table(list_documents(index, text=text), output)
        stderr_console().print(f"Written: {output}, {index.n_documents:,} documents", markup=False, soft_wrap=True)
