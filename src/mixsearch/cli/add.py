"""`mixsearch add`: add documents to an index, or fit it again."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated

import typer

from mixsearch.cli import console
from mixsearch.cli.index import report_built
from mixsearch.cli.options import IndexArgument, JsonOption
from mixsearch.display import pluralize
from mixsearch.topics.update import Added, Existing, add_documents, refresh_index

HELP = """Words are counted as when the index was made, and the documents can be searched
at once. If they are about something new, a note recommends --refit, which
chooses words and fits the index again from its texts. The index is changed
completely, or not at all.

Examples:

  mixsearch add reviews.index today.parquet
  mixsearch add reviews.index corrected.csv --existing replace
  mixsearch add mails.index mails/ --existing skip
  mixsearch add reviews.index --refit"""
STOPPED = "Stopped. The index is unchanged."


def add(
    path: IndexArgument,
    source: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help="Files, a folder, a quoted pattern, or - for standard input."),
    ] = None,
    existing: Annotated[Existing, typer.Option(help="What to do with documents whose ids the index has.")] = "error",
    refit: Annotated[bool, typer.Option("--refit", help="Fit the index again, after documents are added.")] = False,
    as_json: JsonOption = False,
) -> None:
    if not source and not refit:
        raise typer.BadParameter("Give files to add, or --refit.")
    if source:
        with console.show_progress() as on_progress:
            documents = source[0] if len(source) == 1 else source
            added = add_documents(path, documents, existing=existing, on_progress=on_progress)
        if not refit:
            _print(added, as_json=as_json)
    if refit:
        start = perf_counter()
        with console.show_progress() as on_progress, console.record_warnings() as warned:
            built = refresh_index(path, on_progress=on_progress)
        report_built(built, perf_counter() - start, warned, as_json=as_json)


def _print(added: Added, *, as_json: bool) -> None:
    if as_json:
        counts = ("n_documents", "n_empty", "n_skipped", "n_replaced", "n_all")
        facts = {"index": str(added.path), **{name: getattr(added, name) for name in counts}}
        notes = [console.describe_for_json(note) for note in added.notes]
        console.print_json(facts | {"growth": added.growth.as_dict(), "warnings": notes})
        return
    counted = [
        (added.n_replaced, "replaced"),
        (added.n_skipped, "left out since the index has them"),
    ]
    documents = f"{added.n_documents:,} {pluralize(added.n_documents, 'document')}"
    changes = ", ".join([documents, *(f"{n:,} {reason}" for n, reason in counted if n)])
    console.print_facts([("index", str(added.path)), ("added", changes), ("documents", f"{added.n_all:,}")])
    console.print_notes([*added.notes, *console.describe_growth(added.growth, added.path)])
