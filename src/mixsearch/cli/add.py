"""`mixsearch add`: add documents to an index."""

from __future__ import annotations

from typing import Annotated, Any

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
from mixsearch.cli.progress import show_progress
from mixsearch.cli.render import describe_growth, print_facts
from mixsearch.cli.units import parse_keep
from mixsearch.display import pluralize
from mixsearch.index.update.add import Added, add_documents
from mixsearch.index.update.new_documents import Existing
from mixsearch.io.files import FORMATS, Format
from mixsearch.text.options import CorpusOptions

HELP = """Add documents to an index. They can be searched at once.

Words are counted as when the index was made. If the new documents are
about something new, a note recommends mixsearch refresh, which fits the
topics again.

Examples:

  mixsearch add reviews.index today.parquet
  mixsearch add reviews.index corrected.csv --existing replace
  mixsearch add mails.index mails/ --existing skip

With --json, an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad data or index, 2 usage error, 130 stopped by
Ctrl-C. The index is changed completely, or not at all."""


def add(
    path: IndexArgument,
    source: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE", help="Files, a folder, a quoted pattern, or - for standard input."),
    ],
    existing: Annotated[Existing, typer.Option(help="What to do with documents whose ids the index has.")] = "error",
    text: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column with the text. Default: as when the index was made."),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column with the ids. Default: as when the index was made."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(metavar="COLUMN,...|auto|none", help="Columns to keep. Default: as when the index was made."),
    ] = None,
    format: Annotated[
        Format | None, typer.Option(metavar="NAME", help=f"Format of the files: {', '.join(FORMATS)}.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of text files. Default: utf-8.")] = None,
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="Leave out rows that cannot be read, and name the first of them.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Add documents to an index."""
    with report_errors(as_json=as_json, stopped="Stopped. The index is unchanged."):
        places = {"text": text or None, "id": id, "format": format, "encoding": encoding}
        given: dict[str, Any] = {name: value for name, value in places.items() if value is not None}
        if skip_bad_rows:
            given["skip_bad_rows"] = True
        if keep is not None:
            given["keep"] = parse_keep(keep)
        # Without options, everything is as when the index was made.
        reading = CorpusOptions(**given) if given else None
        with show_progress() as on_progress:
            added = add_documents(
                path,
                source[0] if len(source) == 1 else source,
                reading,
                existing=existing,
                on_progress=on_progress,
            )
        _print(added, as_json=as_json)


def _print(added: Added, *, as_json: bool) -> None:
    if as_json:
        print_json(_as_dict(added))
        return
    left_out = [
        (added.n_short, "with too few words"),
        (added.n_duplicates, pluralize(added.n_duplicates, "duplicate")),
        (added.n_skipped, "in the index already"),
    ]
    dropped = ", ".join(f"{n:,} {reason}" for n, reason in left_out if n)
    replaced = f", {added.n_replaced:,} replaced" if added.n_replaced else ""
    documents = f"{added.n_documents:,} {pluralize(added.n_documents, 'document')}"
    facts = [
        ("index", str(added.path)),
        ("added", f"{documents}{replaced}{f'; left out: {dropped}' if dropped else ''}"),
        ("documents", f"{added.n_all:,}"),
    ]
    print_facts(stdout_console(), facts)
    print_notes([*map(describe, added.notes), *describe_growth(added.growth, added.path)])


def _as_dict(added: Added) -> dict[str, object]:
    counts = ("n_documents", "n_short", "n_duplicates", "n_skipped", "n_replaced", "n_all")
    return {
        "index": str(added.path),
        **{name: getattr(added, name) for name in counts},
        "growth": added.growth.as_dict(),
        "warnings": [describe_for_json(note) for note in added.notes],
    }
