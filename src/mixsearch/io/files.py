"""The files that a caller names, and their format: by their first bytes, or else by their names."""

from __future__ import annotations

import csv
import glob
import json
import os
import re
import shutil
import stat
import sys
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from mixsearch.display import pluralize
from mixsearch.errors import BinaryFileError, Option, SearchError, SearchWarning
from mixsearch.io.disk import TemporaryFolder
from mixsearch.io.streams import (
    COMPRESSION_SUFFIXES,
    STANDARD_INPUT,
    UTF16_BOMS,
    File,
    find_compression,
    make_unreadable_error,
    open_stream,
)

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow", "excel", "sqlite", "lines", "files", "npz"]
FORMATS: tuple[Format, ...] = get_args(Format)
TABLE_FORMATS: tuple[Format, ...] = FORMATS[:8]
# Formats of bytes, which no text file begins like, and those of files that may be one table together.
BINARY_FORMATS: tuple[Format, ...] = ("parquet", "arrow", "excel", "sqlite", "npz")
FOLDER_FORMATS: tuple[Format, ...] = ("parquet", "arrow")
FORMAT_BY_SUFFIX: dict[str, Format] = {
    **{".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json"},
    **{".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"},
    **{".arrows": "arrow", ".xlsx": "excel", ".xlsm": "excel", ".npz": "npz"},
    **{".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"},
}
NAMES: dict[Format | None, str] = {
    **{"jsonl": "JSON lines", "json": "JSON", "csv": "CSV", "tsv": "TSV", "lines": "lines of text", "files": "text"},
    **{"parquet": "a Parquet file", "arrow": "an Arrow file", "excel": "an Excel workbook"},
    **{"sqlite": "an SQLite database", "npz": "a NumPy archive", None: "plain text"},
}
# Usual names of a column of texts.
TEXT_NAMES = ("text", "body", "content", "abstract", "review", "description", "message")

# First bytes of formats; an Arrow stream begins with a mark, the length of a message and a table of Flatbuffers.
_STARTS: dict[Format, bytes] = {
    "parquet": b"PAR1",
    "arrow": rb"ARROW1|\xff\xff\xff\xff[\x00-\xff]{2}[\x00-\x0f]\x00[\x08-\x20]\x00\x00\x00",
    "sqlite": rb"SQLite format 3\x00",
}
# First bytes of other files, which are named in the error.
_OTHERS = {
    rb"%PDF": "a PDF document",
    rb"\xd0\xcf\x11\xe0": "an old Office file (.xls, .doc)",
    rb"PK\x03\x04|PK\x05\x06": "a ZIP archive",
    rb"7z\xbc\xaf\x27\x1c|Rar!\x1a|.{257}ustar": "an archive",
    rb"\x89PNG": "a PNG image",
    rb"\xff\xd8\xff|GIF8[79]a": "an image",
    rb"\x89HDF": "an HDF5 file",
    rb".{8}DUCK": "a DuckDB database",
    rb"%%MatrixMarket": "a Matrix Market file",
    rb"\x93NUMPY|\x80[\x03-\x05]": "an array or pickle of Python",
}
_N_HEAD_BYTES = 1 << 13
# Of random bytes, a tenth are control characters that no text has; one in a text does not make it binary.
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"
_MIN_CONTROLS, _CONTROLS_SHARE = 4, 0.01
_MAX_LISTED = 8
# Files beside those of a table, as Spark, Dask and Hugging Face write them.
_COMPANIONS = re.compile(r"_success|_(common_)?metadata|dataset_\w+\.json|state\.json|readme\.md|license(\.\w+)?", re.I)


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


def find_files(source: Source, format: Format | None = None, columns: Sequence[str] = ()) -> SourceFiles:
    """Return the files of a path, a folder, a pattern or a list of them, and their format; "-" is standard input.

    Columns that the caller names tell CSV without a suffix from lines of text.
    """
    names = [os.fspath(name) for name in ([source] if isinstance(source, str | os.PathLike) else source)]
    if not names:
        raise SearchError(
            "{argument} is an empty list, but at least one file is needed.", code="no_files", argument=Option("source")
        )
    listed = [_list_files(name) for name in names]
    root = listed[0][1] if len(listed) == 1 else None
    is_single = len(listed) == 1 and len(listed[0][0]) == 1 and root is None
    found: list[tuple[File, Format | None, SearchWarning | None]] = []
    skipped: list[str] = []
    for files, folder, _ in listed:
        for file in files:
            try:
                found.append((file, *detect_format(file, format, columns if is_single else None)))
            except BinaryFileError as error:
                if folder is None and len(files) == 1:
                    raise
                skipped.append(f"{file.path.name} ({error.fields['kind']})")
                refused = error
    if not found:
        raise refused
    n_files = len(found) + len(skipped)
    chosen, kept = (format, found) if format else _choose_format(found, is_single, are_named=listed[0][2])
    if chosen == "files":
        skipped += [f"{file.path.name} ({NAMES[kind]})" for file, kind, _ in found if kind in BINARY_FORMATS]
    notes = [note for _, _, note in kept if note is not None][:1]
    if skipped:
        notes.append(_note_skipped(skipped, n_files))
    if is_single and not format and chosen == "lines":
        notes.append(_note_guess(str(kept[0][0]), "lines of text, one document each", "lines_are_documents", "files"))
    return SourceFiles([file for file, _, _ in kept], chosen, root, tuple(notes))


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


def _list_files(name: str) -> tuple[list[File], Path | None, bool]:
    """Return the files of a name, the folder if it is one, and whether the name is that of one file."""
    if name == "-":
        # A copy can be looked at, and read again from its start.
        copy = TemporaryFolder()
        path = copy.path / "input"
        with path.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        return [File(path, None, copy)], None, True
    plain, table = split_table(name)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", plain):
        sentence = "{file!r} is not a file on this machine. Download it first."
        raise SearchError(sentence, code="file_is_remote", file=plain)
    path = Path(plain)
    if path.is_dir():
        inner = [file for file in path.rglob("*") if file.is_file() and not _is_hidden(file.relative_to(path))]
        if not inner:
            raise SearchError(
                "The folder {folder!r} has no files, but at least one is needed.", code="empty_folder", folder=plain
            )
        return [File(file) for file in sorted(inner) if not _is_cache(file)], path, False
    if path.exists():
        return [File(path, table)], None, True
    matches = sorted(Path(match) for match in glob.glob(plain, recursive=True) if Path(match).is_file())
    if not matches:
        error = SearchError("No file {file!r}.", code="file_missing", file=plain)
        if not path.parent.is_dir():
            raise error
        names = sorted(entry.name for entry in path.parent.iterdir() if not entry.name.startswith("."))
        entries = ", ".join(names[:_MAX_LISTED]) + (", ..." if len(names) > _MAX_LISTED else "") or "nothing"
        raise error.append("The folder {folder!r} has: {entries}.", folder=str(path.parent), entries=entries)
    return [File(match, table) for match in matches], None, len(matches) == 1


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_cache(file: Path) -> bool:
    """Return whether a file is a result of an earlier step of a Hugging Face dataset, which lists its files."""
    state = file.with_name("state.json")
    if file.suffix != ".arrow" or not state.is_file():
        return False
    try:
        return file.name not in [each["filename"] for each in json.loads(state.read_bytes())["_data_files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _choose_format(found: list[Any], is_single: bool, *, are_named: bool) -> tuple[Format, list[Any]]:
    """Return the one format of files, and the files that have it."""
    if is_single:
        return found[0][1] or "lines", found
    tables = [each for each in found if each[1] in FOLDER_FORMATS]
    if tables and all(each in tables or _COMPANIONS.fullmatch(each[0].path.name) for each in found):
        found = tables
    counts = Counter(each[1] or "files" for each in found)
    if len(counts) == 1:
        return next(iter(counts)), found
    if set(counts) == {"json", "jsonl"}:
        return "json", found
    if not are_named and set(counts) <= {"files", *BINARY_FORMATS} and 2 * counts["files"] > len(found):
        return "files", [each for each in found if each[1] is None]
    raise SearchError(
        "The files have several formats ({formats}), but one is needed. Name files of one format, or set "
        "{argument} to one of {choices}.",
        code="mixed_formats",
        formats=", ".join(sorted(counts)),
        argument=Option("format"),
        choices=", ".join(FORMATS),
    )


def _note_skipped(names: Sequence[str], n_files: int) -> SearchWarning:
    return SearchWarning(
        "{n_skipped:,} of {n_files:,} files "
        + pluralize(len(names), "was skipped, since it contains", "were skipped, since they contain")
        + " no text: {files}.",
        code="skipped_files",
        n_skipped=len(names),
        n_files=n_files,
        files=", ".join(names[:_MAX_LISTED]) + (", ..." if len(names) > _MAX_LISTED else ""),
    )


def _note_guess(file: str, name: str, code: str, other: Format) -> SearchWarning:
    sentence = "{file!r} is read as {name}. Set {argument} to {other!r} to read it otherwise."
    return SearchWarning(sentence, code=code, file=file, name=name, argument=Option("format"), other=other)


def detect_format(
    file: File, given: Format | None = None, columns: Sequence[str] | None = ()
) -> tuple[Format | None, SearchWarning | None]:
    """Return the format of a file by its first bytes, None for plain text; and a note if that is not expected.

    A file without a suffix may have records only if the columns that the caller names, perhaps none, are given.
    """
    head, compression = _read_head(file)
    by_name = guess_by_name(file.path)
    found = _detect_binary(head, file)
    if found and compression:
        raise _refuse(file, f"{NAMES[found]} compressed with {compression}")
    if given is not None:
        if found and given not in BINARY_FORMATS:
            raise _refuse(file, NAMES[found])
        if not found and given in BINARY_FORMATS:
            raise make_unreadable_error(file, "it holds plain text", NAMES[given])
        return given, None
    if not found:
        found = _detect_text(head, by_name, file) if by_name else _detect_unnamed(head, columns, file)
        if found == "csv" and not by_name and not columns:
            name = "CSV, since its first line names columns"
            return found, _note_guess(str(file), name, "format_guessed", "lines")
    is_raw = compression is None and file.path.suffix.lower() in COMPRESSION_SUFFIXES
    is_expected = found in (None, by_name) or {found, by_name} in ({"json", "jsonl"}, {"csv", "tsv"})
    if not is_raw and (is_expected or by_name is None):
        return found, None
    note = SearchWarning(
        "{file!r} is read as {format}, since that is what it holds, although its name ends in {suffix!r}.",
        code="format_by_content",
        file=str(file),
        format=NAMES[found],
        suffix=file.path.suffix,
    )
    return found, note


def _read_head(file: File) -> tuple[bytes, str | None]:
    """Return the first bytes of a file, decompressed, and its compression."""
    try:
        if not stat.S_ISREG(file.path.stat().st_mode):  # a pipe or a device may have no end
            raise make_unreadable_error(file, "it is not a regular file")
        with file.path.open("rb") as raw:
            compression = find_compression(raw.read(10))
    except OSError as error:
        raise make_unreadable_error(file, error) from error
    with open_stream(file) as stream:
        return stream.read(_N_HEAD_BYTES), compression


def _detect_binary(head: bytes, file: File) -> Format | None:
    """Return the format of a file that no text begins like; None for text. Raise for other binary files."""
    for format, start in _STARTS.items():
        if re.match(start, head, re.DOTALL):
            return format
    if head.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(file.path) as archive:
                names = archive.namelist()
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
            raise make_unreadable_error(file, error) from error
        if "xl/workbook.xml" in names or (names and all(name.endswith(".npy") for name in names)):
            return "excel" if "xl/workbook.xml" in names else "npz"
    for pattern, kind in _OTHERS.items():
        if re.match(pattern, head, re.DOTALL):
            raise _refuse(file, kind)
    n_controls = len(head) - len(head.translate(None, _CONTROLS))
    if not head.startswith(UTF16_BOMS) and n_controls >= max(_MIN_CONTROLS, _CONTROLS_SHARE * len(head)):
        raise _refuse(file, "UTF-16 or UTF-32" if head.count(b"\x00") >= len(head) // 3 else "binary data, not text")
    return None


def _refuse(file: File, kind: str) -> BinaryFileError:
    sentence = "{file!r} looks like {kind}. Name a text or a table, or save it as text, CSV or Parquet."
    return BinaryFileError(sentence, file=str(file), kind=kind)


def _detect_unnamed(head: bytes, columns: Sequence[str] | None, file: File) -> Format | None:
    """Detect records in a file without a known suffix: JSON lines; on standard input also JSON and CSV."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if columns is not None and _is_object(start) and (file.copy or b"\n" in start):
        return "jsonl"
    if file.copy is None:
        return None
    if start.startswith((b'["', b"[{", b"{")):
        return "jsonl" if start.startswith(b"{") else "json"
    return "csv" if columns or _has_header(start) else None  # lines of text have no columns


def _has_header(start: bytes) -> bool:
    """Return whether the first line names a column of texts beside others, above a row of as many values."""
    lines = start[: start.rfind(b"\n") + 1 or None].decode("utf-8", errors="replace").splitlines()
    try:
        rows = list(csv.reader(lines[:20], delimiter=guess_delimiter(lines[0]))) if lines else [[]]
    except csv.Error:
        return False
    is_text = any(name.strip().lower() in TEXT_NAMES for name in rows[0])
    return is_text and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows[1:2] if row)


def guess_delimiter(header: str) -> str:
    """Return the most frequent of comma, semicolon, tab and bar in the header of a CSV."""
    return max(",;\t|", key=header.count)


def _detect_text(head: bytes, by_name: Format, file: File) -> Format:
    """Detect the format of text whose name indicates one."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        return by_name
    if start.startswith(b"{") and (_is_object(start) or by_name in ("json", "jsonl")):
        return "json" if by_name == "json" and not _is_object(start) else "jsonl"
    if re.match(rb'\[\s*[\]{"]', start) or (by_name == "json" and start.startswith(b"[")):
        return "json"
    lines = start.decode("utf-8", errors="replace").splitlines()[:2]
    counts = {line.count(guess_delimiter(lines[0])) for line in lines}
    is_delimited = len(lines) == 2 and len(counts) == 1 and counts != {0} and not _is_value(start, str | list)
    if by_name not in ("csv", "tsv") and is_delimited:
        return "csv"
    if by_name in BINARY_FORMATS:
        raise make_unreadable_error(file, "it holds plain text", NAMES[by_name])
    return "jsonl" if by_name == "json" else by_name


def _is_object(start: bytes) -> bool:
    """Return whether the first line is an object of JSON, or begins like one that is too long to see its end."""
    is_cut = b"\n" not in start and len(start) > _N_HEAD_BYTES // 2
    return start.startswith(b'{"') if is_cut else _is_value(start, dict)


def _is_value(start: bytes, kind: Any) -> bool:
    try:
        return isinstance(json.loads(start.partition(b"\n")[0]), kind)
    except (ValueError, RecursionError):
        return False
