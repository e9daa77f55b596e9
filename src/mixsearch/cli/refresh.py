"""`mixsearch refresh`: refit the topics of an index."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated, Any

import typer

from mixsearch.cli.console import IndexArgument, record_warnings, report_errors
from mixsearch.cli.index_report import report_built
from mixsearch.cli.progress import show_progress
from mixsearch.cli.units import parse_bytes
from mixsearch.index.update.refresh import refresh_index

HELP = """Choose words and fit topics of an index again, from its current documents.

The result is that of mixsearch index for the same documents. Documents keep
their rows. Needs an index with texts.

Example:

  mixsearch refresh reviews.index

With --json, an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 index missing or without texts, 2 usage error, 130
stopped by Ctrl-C. The index is changed completely, or not at all."""


def refresh(
    path: IndexArgument,
    memory: Annotated[
        Any,
        typer.Option(
            parser=parse_bytes,
            metavar="SIZE",
            help="Approximate memory limit: 500MB, 2GiB. Default: half of this machine's memory.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Fit the topics of an index again."""
    with report_errors(as_json=as_json, stopped="Stopped. The index is unchanged."):
        start = perf_counter()
        with show_progress() as on_progress, record_warnings() as warned:
            built = refresh_index(path, memory=memory, on_progress=on_progress)
        report_built(built, perf_counter() - start, warned, as_json=as_json)
