"""Build an index with its progress shown and print a summary; indexes of files to serve are kept in a cache."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.text import Text

from mixsearch import __version__
from mixsearch.cli.console import (
    describe,
    describe_for_json,
    print_json,
    print_notes,
    record_warnings,
    stderr_console,
    stdout_console,
)
from mixsearch.cli.progress import show_progress
from mixsearch.cli.render import list_columns, print_facts
from mixsearch.cli.units import format_bytes, format_seconds
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.io.files import split_table, strip_compression_suffix
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.build import Built, IndexOptions, build_index
from mixsearch.topics.index import open_index
from mixsearch.topics.records import StoredColumn

SUFFIX = ".index"
_STANDARD_INPUT_NAME = "texts"
_COUNTS = (
    "n_documents",
    "n_empty",
    "n_missing",
    "n_words",
    "n_features",
    "n_nonzeros",
    "n_components",
    "n_bytes",
)
CACHE = ".mixsearch"


@dataclass(frozen=True)
class Summary:
    """Summary of a build: contents, time, notes, and a word to search for first."""

    built: Built
    seconds: float
    warnings: tuple[SearchWarning, ...]
    first_word: str
    columns: tuple[StoredColumn, ...]

    @property
    def bytes_per_document(self) -> float:
        """Bytes of the index on disk, per document."""
        return self.built.n_bytes / self.built.n_documents

    @property
    def next_command(self) -> str:
        """A command that searches the index."""
        words = [self.first_word] if self.first_word else []
        return shlex.join(["mixsearch", "topic", str(self.built.path), *words])

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as JSON has it."""
        return {
            "index": str(self.built.path),
            **{name: getattr(self.built, name) for name in _COUNTS},
            "columns": [asdict(column) for column in self.columns],
            "bytes_per_document": round(self.bytes_per_document, 1),
            "seconds": round(self.seconds, 3),
            "warnings": [describe_for_json(warning) for warning in self.warnings],
            "next": self.next_command,
        }


def run_index(
    sources: Sequence[str],
    output: Path | None,
    options: IndexOptions,
    reading: CorpusOptions,
    *,
    as_json: bool,
) -> None:
    """Build an index and print a summary."""
    target = output or name_index(sources)
    _require_outside(sources, target)
    start = perf_counter()
    with show_progress() as on_progress, record_warnings() as warned:
        source = sources[0] if len(sources) == 1 else list(sources)
        built = build_index(source, target, options, reading, on_progress=on_progress)
    report_built(built, perf_counter() - start, warned, as_json=as_json)


def report_built(built: Built, seconds: float, warned: Sequence[SearchWarning], *, as_json: bool) -> None:
    """Print the summary of an index that was built."""
    index = open_index(built.path)
    columns, starters = tuple(index.columns.described), index.starters(1)
    summary = Summary(built, seconds, (*built.notes, *warned), starters[0].word if starters else "", columns)
    if as_json:
        print_json(summary.as_dict())
    else:
        _print_summary(stdout_console(), summary)


def name_index(sources: Sequence[str]) -> Path:
    """Return the name of the first source with the suffix of an index, in the current folder."""
    first = sources[0]
    if first == "-":
        return Path(_STANDARD_INPUT_NAME + SUFFIX)
    path = Path(first)
    if any(letter in path.name for letter in "*?["):
        path = path.parent
    named = path if path.name else path.resolve()
    if named.is_dir():
        return Path(named.name + SUFFIX)
    plain = Path(strip_compression_suffix(named))
    return Path((plain.stem or _STANDARD_INPUT_NAME) + SUFFIX)


def _require_outside(sources: Sequence[str], target: Path) -> None:
    """Raise an error if the index would be inside the folder that it is built from."""
    for source in sources:
        folder = Path(source)
        if source != "-" and folder.is_dir() and target.resolve().is_relative_to(folder.resolve()):
            raise SearchError(
                "The index '{path}' would lie inside its source, the folder '{source}'. Choose another folder with "
                "{argument}.",
                code="index_inside_source",
                path=str(target),
                source=source,
                argument=Option("output"),
            )


def _print_summary(console: Console, summary: Summary) -> None:
    built = summary.built
    size = f"{format_bytes(built.n_bytes)}, {summary.bytes_per_document:,.0f} bytes per document"
    facts = [
        ("index", str(built.path)),
        ("documents", f"{built.n_documents:,}"),
        ("words", f"{built.n_words:,}, of which {built.n_features:,} compare documents"),
        *([("columns", list_columns(summary.columns))] if summary.columns else []),
        ("size", size),
        ("time", format_seconds(summary.seconds)),
    ]
    print_facts(console, facts)
    print_notes(map(describe, summary.warnings))
    print_facts(console, [("next", Text(summary.next_command, style="bold"))])


def build_cached(source: str, text: Sequence[str] | None = None) -> Path:
    """Return the index of a file; it is built unless that of the same file is in the cache."""
    named, table = split_table(source)
    file = Path(named)
    cache = file.resolve().parent / CACHE
    if not os.access(cache if cache.exists() else cache.parent, os.W_OK):
        raise SearchError(
            "The index of '{path}' would be made in '{folder}', which cannot be written. Build it elsewhere: "
            "mixsearch index '{path}' -o FOLDER",
            code="cache_not_writable",
            path=source,
            folder=str(cache),
        )
    name = file.name if table is None else f"{file.name}-{table}"
    target, stamp = cache / f"{name}{SUFFIX}", cache / f"{name}.json"
    state = _describe_state(file, text)
    if target.exists() and _read(stamp) == state:
        return target
    cache.mkdir(exist_ok=True)
    stamp.unlink(missing_ok=True)
    _build(source, target, text)
    stamp.write_text(json.dumps(state))
    return target


def _build(source: str, target: Path, text: Sequence[str] | None) -> None:
    stderr_console().print(f"Indexing {source}", markup=False, soft_wrap=True)
    with show_progress() as on_progress, record_warnings() as warned:
        reading = CorpusOptions(text=list(text) if text else None)
        built = build_index(source, target, IndexOptions(overwrite=True), reading, on_progress=on_progress)
    columns = open_index(target).columns.described
    if columns:
        stderr_console().print(f"Columns: {list_columns(columns)}", markup=False, soft_wrap=True)
    print_notes(map(describe, (*built.notes, *warned)))


def _describe_state(file: Path, text: Sequence[str] | None) -> dict[str, object]:
    """Return what the index depends on; another version may write other indexes."""
    facts = file.stat()
    return {"modified": facts.st_mtime_ns, "size": facts.st_size, "text": list(text or []), "version": __version__}


def _read(stamp: Path) -> object:
    with suppress(OSError, ValueError):
        return json.loads(stamp.read_text())
    return None
