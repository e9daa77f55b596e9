"""`mixsearch info`: describe an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from mixsearch.cli import console
from mixsearch.cli.options import IndexArgument, JsonOption
from mixsearch.display import pluralize
from mixsearch.topics.index import open_index

if TYPE_CHECKING:
    from mixsearch.topics.index import Contents

HELP = """The words after "try" are topics to begin with.

Examples:

  mixsearch info reviews.index
  mixsearch info reviews.index --verify"""


def info(
    path: IndexArgument,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every byte and compare it with the checksums.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    with console.show_status("Reading the index"):
        contents = open_index(path, verify=verify).contents()
    if as_json:
        console.print_json({**contents.as_dict(), "verified": verify})
    else:
        console.print_facts([*list_facts(contents), *_list_history(contents, verified=verify)])
        console.print_notes(console.describe_growth(contents.growth, path))


def list_facts(contents: Contents) -> Iterator[tuple[str, str]]:
    """Yield what an index contains, and its size."""
    yield "index", contents.path
    empty = f", {contents.n_empty:,} of them without words to compare" if contents.n_empty else ""
    yield "documents", f"{contents.n_documents:,}{empty}"
    yield "words", f"{contents.n_words:,}; documents are compared by {contents.n_features:,} of them"
    if contents.columns:
        yield "columns", ", ".join(f"{column.name} ({column.role or column.kind})" for column in contents.columns)
    per_document = contents.n_bytes / contents.n_documents
    yield "size", f"{console.format_bytes(contents.n_bytes)}, {per_document:,.0f} bytes per document"


def _list_history(contents: Contents, *, verified: bool) -> Iterator[tuple[str, str]]:
    yield "created", f"{contents.created} by mixsearch {contents.written_by}, format {contents.format_version}"
    growth = contents.growth
    if growth.n_added or growth.n_removed:
        fitted = f"{growth.n_fitted:,} {pluralize(growth.n_fitted, 'document')}"
        yield "changes", f"{growth.n_added:,} added, {growth.n_removed:,} removed since the fit to {fitted}"
    if verified:
        yield "verified", "all checksums match"
    yield "try", ", ".join(starter.word for starter in contents.starters)
