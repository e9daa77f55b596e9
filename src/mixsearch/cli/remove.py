"""`mixsearch remove`: remove documents from an index."""

from __future__ import annotations

from typing import Annotated

import typer

from mixsearch.cli import console
from mixsearch.cli.options import IndexArgument, JsonOption
from mixsearch.topics.update import remove_documents

HELP = """The index is changed completely, or not at all.

Examples:

  mixsearch remove reviews.index --where "date < 2020-01-01"
  mixsearch remove reviews.index --id r17 --id r4711"""
STOPPED = "Stopped. The index is unchanged."


def remove(
    path: IndexArgument,
    where: Annotated[
        str | None, typer.Option(metavar="FILTER", help="A filter of the documents, such as 'stars <= 2'.")
    ] = None,
    id: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="A document; repeat for several.")] = None,
    as_json: JsonOption = False,
) -> None:
    with console.show_status("Removing documents"):
        removed = remove_documents(path, where=where, ids=id)
    if as_json:
        facts = {"index": str(path), "n_documents": removed.n_documents, "n_all": removed.n_all}
        notes = [console.describe_for_json(note) for note in removed.notes]
        console.print_json(facts | {"growth": removed.growth.as_dict(), "warnings": notes})
        return
    counts = [("removed", f"{removed.n_documents:,}"), ("documents", f"{removed.n_all:,}")]
    console.print_facts([("index", str(path)), *counts])
    console.print_notes([*removed.notes, *console.describe_growth(removed.growth, path)])
