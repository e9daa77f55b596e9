"""`mixsearch index`: build a topic index from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli.console import report_errors
from mixsearch.cli.index_report import run_index
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.build import IndexOptions

HELP = """Build an index of texts. Search it with [bold]mixsearch topic[/].

Reads JSON lines, JSON, CSV, TSV, Parquet, Arrow, Excel, tables of SQLite
databases, text files, folders of them; files may be compressed (gz, zst). The suffix of a file decides its format.

Examples:

  mixsearch index reviews.csv --text review --id review_id
  mixsearch index reviews.parquet --text review --keep date,shop,stars
  mixsearch index 'news/*.jsonl.gz' -o news.index
  mixsearch index mails/ -o mails.index --drop-duplicates
  mixsearch index shop.sqlite::reviews --text review
  zcat logs.gz | mixsearch index - -o logs.index --n-components 50

With --json, an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad data or options, 2 usage error, 130 stopped
by Ctrl-C. An index appears when it is complete, or not at all."""


def index(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Files, a folder, a quoted pattern, or - for standard input.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="The folder of the index. Default: the name of the source with .index, in the current folder.",
            show_default=False,
        ),
    ] = None,
    *,
    options: IndexOptions,
    reading: CorpusOptions,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Build an index of texts."""
    with report_errors(as_json=as_json, stopped="Stopped. No index was written; an existing one is unchanged."):
        run_index(source, output, options, reading, as_json=as_json)
