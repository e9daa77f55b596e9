"""Indexes of files to serve: built in a cache next to the file, and rebuilt when the file changes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mixsearch import __version__
from mixsearch.cli._console import describe, print_notes, record_warnings, stderr_console
from mixsearch.cli._index_report import SUFFIX
from mixsearch.cli._progress import show_progress
from mixsearch.cli._render import list_columns
from mixsearch.data.files.location import split_table
from mixsearch.errors import SearchError
from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.text import CorpusOptions

CACHE = ".mixsearch"


def build_cached(source: str, text: Sequence[str] | None = None) -> Path:
    """Return the index of a file; it is built unless that of the same file is in the cache.

    Parameters
    ----------
    source : str
        The file, or the file and a table in it: shop.sqlite::reviews.
    text : sequence of str, optional
        Columns with the text. By default they are found.

    Returns
    -------
    Path
    """
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
