"""`mixsearch add`: add documents to an index, or fit it again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli.console import (
    IndexArgument,
    describe,
    describe_for_json,
    print_json,
    print_notes,
    record_warnings,
    report_errors,
    stdout_console,
)
from mixsearch.cli.index_report import report_built
from mixsearch.cli.progress import show_progress
from mixsearch.cli.render import describe_growth, print_facts
from mixsearch.display import pluralize
from mixsearch.topics.update import Added, Existing, add_documents, refresh_index

HELP = """Add documents to an index. They can be searched at once.

Words are counted as when the index was made. If the new documents are
about something new, a note recommends --refit, which chooses words and fits
the index again from its texts.

Examples:

  mixsearch add reviews.index today.parquet
  mixsearch add reviews.index corrected.csv --existing replace
  mixsearch add mails.index mails/ --existing skip
  mixsearch add reviews.index --refit

With --json, an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad data or index, 2 usage error, 130 stopped by
Ctrl-C. The index is changed completely, or not at all."""


def add(
    path: IndexArgument,
    source: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help="Files, a folder, a quoted pattern, or - for standard input."),
    ] = None,
    existing: Annotated[Existing, typer.Option(help="What to do with documents whose ids the index has.")] = "error",
    refit: Annotated[bool, typer.Option("--refit", help="Fit the index again, after documents are added.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Add documents to an index."""
    if not source and not refit:
        raise typer.BadParameter("Give files to add, or --refit.")
    with report_errors(as_json=as_json, stopped="Stopped. The index is unchanged."):
        if source:
            with show_progress() as on_progress:
                documents = source[0] if len(source) == 1 else source
                added = add_documents(path, documents, existing=existing, on_progress=on_progress)
            if not refit or not as_json:
                _print(added, as_json=as_json, is_refitted=refit)
        if refit:
            _refit(path, as_json=as_json)


def _refit(path: Path, *, as_json: bool) -> None:
    from time import perf_counter

    start = perf_counter()
    with show_progress() as on_progress, record_warnings() as warned:
        built = refresh_index(path, on_progress=on_progress)
    report_built(built, perf_counter() - start, warned, as_json=as_json)


def _print(added: Added, *, as_json: bool, is_refitted: bool) -> None:
    if as_json:
        print_json(_as_dict(added))
        return
    skipped = f"; left out: {added.n_skipped:,} in the index already" if added.n_skipped else ""
    replaced = f", {added.n_replaced:,} replaced" if added.n_replaced else ""
    documents = f"{added.n_documents:,} {pluralize(added.n_documents, 'document')}"
    facts = [
        ("index", str(added.path)),
        ("added", f"{documents}{replaced}{skipped}"),
        ("documents", f"{added.n_all:,}"),
    ]
    print_facts(stdout_console(), facts)
    advice = [] if is_refitted else describe_growth(added.growth, added.path)
    print_notes([*map(describe, added.notes), *advice])


def _as_dict(added: Added) -> dict[str, object]:
    counts = ("n_documents", "n_empty", "n_skipped", "n_replaced", "n_all")
    return {
        "index": str(added.path),
        **{name: getattr(added, name) for name in counts},
        "growth": added.growth.as_dict(),
        "warnings": [describe_for_json(note) for note in added.notes],
    }
