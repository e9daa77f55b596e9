"""`mixsearch remove`: remove documents from an index."""

from __future__ import annotations

from typing import Annotated

import typer

from mixsearch.cli.console import (
    IndexArgument,
    describe,
    describe_for_json,
    print_json,
    print_notes,
    report_errors,
    stdout_console,
)
from mixsearch.cli.render import describe_growth, print_facts
from mixsearch.topics.update import remove_documents

HELP = """Remove documents from an index, with their texts and columns.

Examples:

  mixsearch remove reviews.index --where "date < 2020-01-01"
  mixsearch remove reviews.index --id r17 --id r4711
  mixsearch remove reviews.index --where "row in (12, 40)"

With --json, an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad condition or index, 2 usage error. The index is
changed completely, or not at all."""


def remove(
    path: IndexArgument,
    where: Annotated[
        str | None, typer.Option(metavar="CONDITION", help="A condition on columns, such as 'stars <= 2'.")
    ] = None,
    id: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="A document; repeat for several.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Remove documents from an index."""
    with report_errors(as_json=as_json, stopped="Stopped. The index is unchanged."):
        removed = remove_documents(path, where=where, ids=id)
        if as_json:
            notes = [describe_for_json(note) for note in removed.notes]
            counts = {"n_documents": removed.n_documents, "n_all": removed.n_all}
            print_json({"index": str(path), **counts, "growth": removed.growth.as_dict(), "warnings": notes})
            return
        facts = [
            ("index", str(path)),
            ("removed", f"{removed.n_documents:,}"),
            ("documents", f"{removed.n_all:,}"),
        ]
        print_facts(stdout_console(), facts)
        print_notes([*map(describe, removed.notes), *describe_growth(removed.growth, path)])
