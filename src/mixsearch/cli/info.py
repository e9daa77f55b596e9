"""`mixsearch info`: describe an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from mixsearch import index as indexes
from mixsearch._typing import Array
from mixsearch.cli.console import (
    IndexArgument,
    print_json,
    print_notes,
    report_errors,
    stdout_console,
)
from mixsearch.cli.render import describe_growth, list_columns, print_facts
from mixsearch.cli.units import format_bytes
from mixsearch.display import plain_number, pluralize
from mixsearch.index.contents import Contents

HELP = """Show the contents of an index, how it was built, and its size.

Examples:

  mixsearch info reviews.index
  mixsearch info reviews.index --verify
  mixsearch info reviews.index --json

With --json, an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 index missing or damaged, 2 usage error."""

# Why words are not features.
_REASONS = {
    "too_common": "too common",
    "too_rare": "too rare",
    "beyond_max_words": "beyond the maximum",
    "stop_word": "stop words",
    "added": "of added documents",
}
_SPARKS = "▁▂▃▄▅▆▇█"
_MAX_LISTED = 8
_SPARK_WIDTH = 60


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
            indexes.verify_index(path)
        index = indexes.open_index(path)
        contents = index.contents()
        if as_json:
            print_json({**contents.as_dict(), "verified": verify})
        else:
            _print_contents(stdout_console(), contents, verified=verify)
            print_notes(describe_growth(contents.growth, path))


def _print_contents(console: Console, contents: Contents, *, verified: bool) -> None:
    print_facts(console, _facts(contents, verified=verified))
    if console.is_terminal:
        print_facts(console, [("", Text(_sparkline(contents.eigenvalues), style="blue"))])


def _facts(contents: Contents, *, verified: bool) -> Iterator[tuple[str, str]]:
    yield "index", contents.path
    yield "created", f"{contents.created} by mixsearch {contents.written_by}, format {contents.format_version}"
    duplicates = f"{contents.n_duplicates:,} {pluralize(contents.n_duplicates, 'duplicate')}"
    dropped = f"{contents.n_short:,} too short, {duplicates}"
    yield "documents", f"{contents.n_documents:,} (left out: {dropped})"
    yield "words", f"{contents.n_words:,}, with {contents.n_nonzeros:,} non-zero counts{_describe_dropped(contents)}"
    yield "topics", f"{contents.n_components:,}"
    if contents.columns:
        yield "columns", list_columns(contents.columns)
    growth = contents.growth
    if growth.n_added or growth.n_removed:
        changes = f"{growth.n_added:,} added, {growth.n_removed:,} removed since the topics were learned"
        yield "changes", f"{changes} from {growth.n_fitted:,} documents"
    yield "texts", _describe_texts(contents)
    yield "options", _join_options(contents.options)
    unknown = "unknown: built from counts"
    yield "tokens", unknown if contents.tokens is None else _join_options(contents.tokens)
    yield "size", f"{format_bytes(contents.n_bytes)}, {contents.bytes_per_document:,.0f} bytes per document"
    parts = sorted(contents.bytes_of_parts.items(), key=lambda part: -part[1])
    yield "parts", ", ".join(f"{name} {format_bytes(size)}" for name, size in parts)
    if verified:
        yield "verified", "all checksums match"
    yield "frequent", ", ".join(f"{each.word} {each.n_documents:,}" for each in contents.frequent_words)
    yield "distinctive", ", ".join(each.word for each in contents.distinctive_words)
    yield "begin with", ", ".join(each.name for each in contents.starters)
    values = contents.eigenvalues
    yield "spectrum", f"{len(values)} eigenvalues, from {plain_number(values[0])} to {plain_number(values[-1])}"


def _describe_dropped(contents: Contents) -> str:
    parts = [f"{n:,} {_REASONS[reason]}" for reason, n in contents.dropped_words.items() if n]
    return f" (left out: {', '.join(parts)})" if parts else ""


def _describe_texts(contents: Contents) -> str:
    texts = "kept" if contents.has_texts else "not kept"
    letters = f", {contents.n_characters:,} characters" if contents.n_characters else ""
    return f"{texts}{letters}; names {'kept' if contents.has_names else 'not kept'}"


def _join_options(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_shorten(value)}" for name, value in options.items())


def _shorten(value: Any) -> Any:
    """Return a value, or the length of a long list of words."""
    return f"{len(value)} words" if isinstance(value, list) and len(value) > _MAX_LISTED else value


def _sparkline(values: list[float]) -> str:
    """Return eigenvalues as bars on a logarithmic scale."""
    heights: Array = np.log(np.maximum(values, np.finfo(np.float64).tiny))
    if len(heights) > _SPARK_WIDTH:
        heights = heights[np.linspace(0, len(heights) - 1, _SPARK_WIDTH).round().astype(int)]
    low, high = heights.min(), heights.max()
    levels = np.rint((heights - low) / (high - low or 1) * (len(_SPARKS) - 1)).astype(int)
    return "".join(_SPARKS[level] for level in levels)
