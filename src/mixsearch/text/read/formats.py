"""Whatever the source, blocks of documents."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial

from mixsearch.errors import SearchError
from mixsearch.text.read.columns import as_text
from mixsearch.text.read.documents import Documents, Load, Reading, gather, repair
from mixsearch.text.read.files import File
from mixsearch.text.read.lines import read_files, read_jsonl, read_lines
from mixsearch.text.read.sources import Sources
from mixsearch.text.read.tables import read_csv, read_parquet

_READERS: dict[str, Callable[[File | None, Reading], Iterator[Load]]] = {
    "jsonl": read_jsonl,
    "lines": read_lines,
    "csv": read_csv,
    "tsv": read_csv,
    "parquet": read_parquet,
}


def read_documents(sources: Sources, reading: Reading) -> Generator[Load, None, None]:
    """The documents of all files, in order."""
    if sources.format in ("lines", "files"):
        _check_no_columns(reading)
    if sources.format == "files":
        yield from read_files(sources, reading)
        return
    paths: list[File | None] = [*sources.paths] or [None]
    for path in paths:
        yield from _READERS[sources.format](path, reading)


def _check_no_columns(reading: Reading) -> None:
    options = reading.options
    for name, asked in (("text", options.text), ("id", options.id)):
        if asked is not None:
            raise SearchError(
                f"Found {name}={asked!r} for {reading.source}, which is plain text without columns: leave it out, or "
                "say what the file is with format=."
            )


def read_strings(texts: Iterable[str | None], names: Iterable[str] | None, reading: Reading) -> Iterator[Load]:
    """Documents that are strings already."""
    pairs: Iterable[tuple[str | None, str | None]] = (
        zip(texts, names, strict=True) if names is not None else ((text, None) for text in texts)
    )
    start = 0
    for block in gather(((pair, len(pair[0] or "")) for pair in pairs), reading.options.block_bytes):
        yield partial(_load_strings, block, names is not None, start)
        start += len(block)


def _load_strings(block: list[tuple[str | None, str | None]], named: bool, start: int) -> Documents:
    texts = [repair(as_text(text)) for text, _ in block]
    names = [repair(as_text(name)) for _, name in block] if named else None
    return Documents(texts, names, lambda i: f"text {start + i + 1:,}")
