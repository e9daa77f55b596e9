"""`mixsearch info`: describe an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixsearch.cli.console import IndexArgument, print_json, print_notes, report_errors, stdout_console
from mixsearch.cli.render import describe_growth, list_columns, print_facts
from mixsearch.cli.units import format_bytes
from mixsearch.display import pluralize
from mixsearch.topics.index import open_index, verify_index

if TYPE_CHECKING:
    from mixsearch.topics.index import Contents

HELP = """Show the contents of an index, how it was built, and its size.

Examples:

  mixsearch info reviews.index
  mixsearch info reviews.index --verify
  mixsearch info reviews.index --json

With --json, an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 index missing or damaged, 2 usage error."""

_MAX_LISTED = 8


def info(
    path: IndexArgument,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every byte and compare it with the checksums.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the contents of an index."""
    with report_errors(as_json=as_json):
        if verify:
            verify_index(path)
        contents = open_index(path).contents()
        if as_json:
            print_json({**contents.as_dict(), "verified": verify})
        else:
            print_facts(stdout_console(), _list_facts(contents, verified=verify))
            print_notes(describe_growth(contents.growth, path))


def _list_facts(contents: Contents, *, verified: bool) -> Iterator[tuple[str, str]]:
    yield "index", contents.path
    yield "created", f"{contents.created} by mixsearch {contents.written_by}, format {contents.format_version}"
    yield "documents", f"{contents.n_documents:,} ({contents.n_empty:,} without words)"
    yield "words", f"{contents.n_words:,}, of which {contents.n_features:,} compare documents"
    if contents.columns:
        yield "columns", list_columns(contents.columns)
    growth = contents.growth
    if growth.n_added or growth.n_removed:
        fitted = f"{growth.n_fitted:,} {pluralize(growth.n_fitted, 'document')}"
        yield "changes", f"{growth.n_added:,} added, {growth.n_removed:,} removed since the fit to {fitted}"
    yield "names", "kept" if contents.has_names else "not kept"
    yield "reading", _join_options(contents.reading)
    yield "size", f"{format_bytes(contents.n_bytes)}, {contents.n_bytes / contents.n_documents:,.0f} bytes per document"
    files = sorted(contents.bytes_of_files.items(), key=lambda item: -item[1])
    yield "files", ", ".join(f"{name} {format_bytes(size)}" for name, size in files)
    if verified:
        yield "verified", "all checksums match"
    yield "frequent", ", ".join(f"{word.word} {word.n_documents:,}" for word in contents.frequent_words)
    yield "begin with", ", ".join(starter.word for starter in contents.starters)


def _join_options(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_shorten(value)}" for name, value in options.items() if value not in (None, False))


def _shorten(value: Any) -> Any:
    """Return a value, or the length of a long list of words."""
    return f"{len(value)} words" if isinstance(value, list) and len(value) > _MAX_LISTED else value
