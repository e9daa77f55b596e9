"""The files that a caller names, and their format: by their suffix, or by a simple rule for files without one."""

from __future__ import annotations

import codecs
import csv
import glob
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from mixsearch.display import pluralize
from mixsearch.errors import BinaryFileError, Option, SearchError, SearchWarning
from mixsearch.io.column_names import list_names
from mixsearch.io.disk import TemporaryFolder
from mixsearch.io.streams import COMPRESSION_SUFFIXES, STANDARD_INPUT, File, make_unreadable_error, read_head

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow", "excel", "sqlite", "lines", "files"]
FORMATS: tuple[Format, ...] = get_args(Format)
TABLE_FORMATS: tuple[Format, ...] = FORMATS[:8]
_BINARY_FORMATS: tuple[Format, ...] = ("parquet", "arrow", "excel", "sqlite")
FORMAT_BY_SUFFIX: dict[str, Format] = {
    **{".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json"},
    **{".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"},
    **{".xlsx": "excel", ".xlsm": "excel"},
    **{".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"},
}
DELIMITERS = ",;\t|"
_BINARY = "binary"


@dataclass(frozen=True)
class SourceFiles:
    """The files of a corpus or a table, all of one format."""

    files: list[File]
    format: Format
    root: Path | None = None  # names of files are relative to this folder
    notes: tuple[SearchWarning, ...] = ()

    @property
    def n_bytes(self) -> int:
        """Stored bytes of all files."""
        return sum(file.n_bytes for file in self.files)


def find_files(source: Source, *, is_table: bool = False) -> SourceFiles:
    """Return the files of a path, a folder, a pattern or a list of them, and their format; "-" is standard input.

    CSV without a suffix is recognised by its rows, or by its first one if the caller knows that it is a table. Of a
    folder or a pattern, the files of the format that most of them have are read.
    """
    names = [os.fspath(name) for name in ([source] if isinstance(source, str | os.PathLike) else source)]
    if not names:
        raise SearchError(
            "{argument} is an empty list, but at least one file is needed.", code="no_files", argument=Option("source")
        )
    files = [file for name in names for file in _list_files(name)]
    kinds = [_find_kind(file) for file in files]
    counts = Counter(kind for kind in kinds if kind != _BINARY)
    if not counts or (len(names) > 1 and _BINARY in kinds):
        raise BinaryFileError(
            "{file!r} has NUL bytes, as binary files and UTF-16 have. Name a text in UTF-8, or a table "
            "with its usual suffix.",
            file=str(files[kinds.index(_BINARY)]),
        )
    if len(files) == 1 and not os.path.isdir(names[0]):
        is_plain = kinds[0] == "files"
        return SourceFiles(
            files, _guess_by_content(files[0], is_table=is_table) if is_plain else cast(Format, kinds[0])
        )
    common, n_common = counts.most_common(1)[0]
    if n_common < counts.total() and (len(names) > 1 or 2 * n_common <= counts.total()):
        raise SearchError(
            "The files have several formats ({formats}), but one is needed. Name files of one format.",
            code="mixed_formats",
            formats=", ".join(sorted(counts)),
        )
    chosen = [file for file, kind in zip(files, kinds, strict=True) if kind == common]
    skipped = [file.path.name for file, kind in zip(files, kinds, strict=True) if kind != common]
    note = SearchWarning(
        "{n_skipped:,} of {n_files:,} files "
        + pluralize(len(skipped), "was skipped, since it has", "were skipped, since they have")
        + " another format: {files}.",
        code="skipped_files",
        n_skipped=len(skipped),
        n_files=len(files),
        files=list_names(skipped),
    )
    root = Path(names[0]) if len(names) == 1 and os.path.isdir(names[0]) else None
    return SourceFiles(chosen, cast(Format, common), root, (note,) if skipped else ())


def describe_source(source: Source) -> str:
    """Return a name for all files in one sentence."""
    if isinstance(source, str | os.PathLike):
        return STANDARD_INPUT if source == "-" else os.fspath(source)
    return os.fspath(source[0]) + (" and others" if len(source) > 1 else "")


def split_table(name: str) -> tuple[str, str | None]:
    """Return the name of a file, and that of its table if it has one: "shop.sqlite::reviews"."""
    file, mark, table = name.rpartition("::")
    return (file, table) if mark and file and not Path(name).exists() else (name, None)


def strip_compression_suffix(path: Path) -> str:
    """Return the name of a file without the suffix of its compression."""
    return path.stem if path.suffix.lower() in COMPRESSION_SUFFIXES else path.name


def guess_by_name(path: Path) -> Format | None:
    """Return the format that the name of a file indicates; None if it indicates none."""
    return FORMAT_BY_SUFFIX.get(Path(strip_compression_suffix(path)).suffix.lower())


def _find_kind(file: File) -> str:
    """Return the format of a file by its name, that of plain text, or that it is binary and none of them."""
    kind = guess_by_name(file.path) or "files"
    return kind if kind in _BINARY_FORMATS or b"\0" not in read_head(file) else _BINARY


def _guess_by_content(file: File, *, is_table: bool) -> Format:
    """Return the format of a file without a known suffix: JSON by its first letters, CSV by its rows."""
    start = read_head(file).removeprefix(codecs.BOM_UTF8).lstrip()
    if re.match(rb'\{\s*"|\[\s*[{"]', start):
        return "jsonl" if start.startswith(b"{") else "json"
    return "csv" if _is_csv(start.decode(errors="replace"), is_table=is_table) else "lines"


def _is_csv(start: str, *, is_table: bool) -> bool:
    """Return whether a text starts with a header, and unless it is known to be a table, with rows of as many values."""
    lines = start.splitlines(keepends=True) or [""]
    mark = max(DELIMITERS, key=lines[0].count)
    if is_table or mark not in lines[0]:
        return mark in lines[0]
    try:
        header, *rows = csv.reader(lines, delimiter=mark, strict=True)
    except csv.Error:  # the start may end in the middle of a quoted value
        header, *rows = csv.reader(lines[:-1], delimiter=mark)
    n_values = {len(row) for row in rows[:-1] or rows}
    return n_values == {len(header)} and all(re.fullmatch(r"[^\W\d][\w .-]{0,39}", name) for name in header)


def _list_files(name: str) -> list[File]:
    """Return the files of a name: a path, a folder, a pattern, or standard input."""
    if name == "-":
        # A copy can be looked at, and read again from its start.
        copy = TemporaryFolder()
        path = copy.path / "input"
        with path.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        return [File(path, None, copy)]
    plain, table = split_table(name)
    path = Path(plain)
    if path.is_dir():
        inner = [file for file in sorted(path.rglob("*")) if file.is_file()]
        # Spark and Dask write "_SUCCESS" and "_metadata" beside tables.
        visible = [file for file in inner if not re.search(r"(^|/)[._]", file.relative_to(path).as_posix())]
        if not visible:
            raise SearchError(
                "The folder {folder!r} has no files, but at least one is needed.", code="empty_folder", folder=plain
            )
        return [File(file) for file in visible]
    if path.is_file():
        return [File(path, table)]
    if path.exists():  # a pipe or a device may have no end
        raise make_unreadable_error(File(path), "it is not a regular file")
    matches = sorted(Path(match) for match in glob.glob(plain, recursive=True) if Path(match).is_file())
    if not matches:
        error = SearchError("No file {file!r}.", code="file_missing", file=plain)
        if not path.parent.is_dir():
            raise error
        names = sorted(entry.name for entry in path.parent.iterdir() if not entry.name.startswith("."))
        entries = list_names(names) or "nothing"
        raise error.append("The folder {folder!r} has: {entries}.", folder=str(path.parent), entries=entries)
    return [File(match, table) for match in matches]
