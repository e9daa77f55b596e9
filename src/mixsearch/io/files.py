"""The files that a caller names, and their format: by their first bytes, or else by their names."""

from __future__ import annotations

import csv
import glob
import io
import json
import os
import re
import stat
import sys
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from mixsearch.display import pluralize
from mixsearch.errors import BinaryFileError, Option, SearchError, SearchWarning
from mixsearch.io.streams import (
    COMPRESSION_SUFFIXES,
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
# Formats of bytes, which no text file begins like.
BINARY_FORMATS: tuple[Format, ...] = ("parquet", "arrow", "excel", "sqlite", "npz")
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
_STARTS: dict[Format, re.Pattern[bytes]] = {
    "parquet": re.compile(b"PAR1"),
    "arrow": re.compile(rb"ARROW1|\xff\xff\xff\xff[\x00-\xff]{2}[\x00-\x0f]\x00[\x08-\x20]\x00\x00\x00", re.DOTALL),
    "sqlite": re.compile(rb"SQLite format 3\x00"),
}
_TABLE, _UNPACK, _EXTRACT = "save the table as Parquet or CSV", "unpack it first", "extract its text first"
# Other files, by their first bytes: what they are, and what to do.
_OTHERS: tuple[tuple[bytes, str, str], ...] = (
    (rb"%PDF", "a PDF document", _EXTRACT),
    (rb"\{\\rtf", "an RTF document", _EXTRACT),
    (rb"\xd0\xcf\x11\xe0", "an old Office file (.xls, .doc)", "save it as .xlsx or as text"),
    (rb"PK\x05\x06", "an empty ZIP archive", "name another file"),
    (rb"7z\xbc\xaf\x27\x1c|Rar!\x1a|.{257}ustar", "an archive", _UNPACK),
    (rb"\x89PNG", "a PNG image", "name a text or a table"),
    (rb"\xff\xd8\xff|GIF8[79]a", "an image", "name a text or a table"),
    (rb"\x89HDF", "an HDF5 file", _TABLE),
    (rb".{8}DUCK", "a DuckDB database", _TABLE),
    (rb"%%MatrixMarket", "a Matrix Market file", "save the counts with scipy.sparse.save_npz"),
    (rb"\x93NUMPY", "a NumPy array", _TABLE),
    (rb"Obj\x01|FEA1", "an Avro or old Feather file", _TABLE),
    (rb"\x80[\x03-\x05]", "a Python pickle", _TABLE),
)
_ARCHIVES = {
    "xl/workbook.bin": ("a binary Excel workbook (.xlsb)", "save it as .xlsx"),
    "word/": ("a Word document", _EXTRACT),
    "content.xml": ("an OpenDocument file", "save it as .xlsx, .csv or text"),
}
_N_HEAD_BYTES = 1 << 13
# Of random bytes, a tenth are control characters that no text has; one that slipped into a text is no reason.
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"
_MIN_CONTROLS, _CONTROLS_SHARE = 4, 0.01
_MAX_LISTED, _MAX_NAMED = 8, 3
# Files beside those of a table, as Spark, Dask and Hugging Face write them.
_COMPANIONS = re.compile(r"_success|_(common_)?metadata|dataset_\w+\.json|state\.json|readme\.md|license(\.\w+)?", re.I)
_FOLDER_FORMATS = ("parquet", "arrow")


@dataclass(frozen=True)
class SourceFiles:
    """The files of a corpus or a table, all of one format."""

    files: list[File]
    format: Format
    root: Path | None = None  # names of files are relative to this folder
    notes: tuple[SearchWarning, ...] = ()

    @property
    def n_bytes(self) -> int | None:
        """Stored bytes of all files; None for standard input."""
        return None if self.files[0].path is None else sum(file.n_bytes for file in self.files)


def find_files(source: Source, format: Format | None = None, columns: Sequence[str] = ()) -> SourceFiles:
    """Return the files of a path, a folder, a pattern or a list of them, and their format.

    Columns that the caller names tell CSV on standard input from lines of text.
    """
    if source == "-":
        return _find_input(format, columns)
    names = [os.fspath(name) for name in ([source] if isinstance(source, str | os.PathLike) else source)]
    if not names:
        raise SearchError(
            "{argument} is an empty list, but at least one file is needed.", code="no_files", argument=Option("source")
        )
    listed = [_list_files(name) for name in names]
    root = listed[0][1] if len(listed) == 1 else None
    are_named = all(is_named for _, _, is_named in listed)
    found: list[tuple[File, Format | None, SearchWarning | None]] = []
    skipped: list[str] = []
    for files, _, is_named in listed:
        for file in files:
            try:
                found.append((file, *detect_format(file, format, may_be_records=is_named and len(listed) == 1)))
            except BinaryFileError as error:
                if is_named:
                    raise
                skipped.append(f"{cast(Path, file.path).name} ({error.fields['kind']})")
                refused = error
    if not found:
        raise refused
    n_files = len(found) + len(skipped)
    chosen, kept = (format, found) if format else _choose_format(found, are_named=are_named, root=root)
    skipped += [f"{cast(Path, file.path).name} ({NAMES[own]})" for file, own, _ in found if own in BINARY_FORMATS
                and chosen == "files"]  # fmt: skip
    notes = [_note_skipped(skipped, n_files)] if skipped else []
    if chosen == "lines" and not format:
        notes.append(_note_guess(str(kept[0][0]), "lines"))
    notes += [note for _, _, note in kept if note is not None][:_MAX_NAMED]
    return SourceFiles([file for file, _, _ in kept], chosen, root, tuple(notes))


def describe_source(source: Source) -> str:
    """Return a name for all files in one sentence."""
    if isinstance(source, str | os.PathLike):
        return "standard input" if source == "-" else os.fspath(source)
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
    plain, table = split_table(name)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", plain):
        raise SearchError(
            "{file!r} is not a file on this machine. Download it first.", code="file_is_remote", file=plain
        )
    path = Path(plain)
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file() and not _is_hidden(each.relative_to(path)))
        if not files:
            raise SearchError(
                "The folder {folder!r} has no files, but at least one is needed.", code="empty_folder", folder=plain
            )
        states = [each for each in files if each.name == "state.json"]
        return [File(each) for each in files if not _is_cache(each, states)], path, False
    if path.exists():
        return [File(path, table)], None, True
    matches = sorted(Path(each) for each in glob.glob(plain, recursive=True) if Path(each).is_file())
    if not matches:
        raise _make_missing_file_error(plain)
    return [File(each, table) for each in matches], None, len(matches) == 1


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_cache(file: Path, states: Sequence[Path]) -> bool:
    """Return whether a file is a result of an earlier step of a Hugging Face dataset."""
    if file.suffix != ".arrow" or file.with_name("state.json") not in states:
        return False
    try:
        names = [each["filename"] for each in json.loads(file.with_name("state.json").read_bytes())["_data_files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return file.name not in names


def _make_missing_file_error(name: str) -> SearchError:
    error = SearchError("No file {file!r}.", code="file_missing", file=name)
    folder = Path(name).parent
    if not folder.is_dir():
        return error
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    listed = ", ".join(names[:_MAX_LISTED]) + (", ..." if len(names) > _MAX_LISTED else "") or "nothing"
    return error.append("The folder {folder!r} has: {entries}.", folder=str(folder), entries=listed)


def _choose_format(found: list[Any], *, are_named: bool, root: Path | None) -> tuple[Format, list[Any]]:
    """Return the one format of files, and the files that have it."""
    if len(found) == 1 and root is None:
        return found[0][1] or "lines", found
    tables = [each for each in found if each[1] in _FOLDER_FORMATS]
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
        files=", ".join(names[:_MAX_NAMED]) + (", ..." if len(names) > _MAX_NAMED else ""),
    )


def _note_guess(file: str, format: Format) -> SearchWarning:
    is_lines = format == "lines"
    return SearchWarning(
        "{file!r} is read as {name}. Set {argument} to {other!r} to read it otherwise.",
        code="lines_are_documents" if is_lines else "format_guessed",
        file=file,
        name="lines of text, one document each" if is_lines else "CSV, since its first line names columns",
        argument=Option("format"),
        other="files" if is_lines else "lines",
    )


def _find_input(format: Format | None, columns: Sequence[str]) -> SourceFiles:
    """Return standard input with its format, and a note if the format is a guess."""
    files = [File(None)]
    if format is not None:
        return SourceFiles(files, format)
    head = cast(io.BufferedReader, sys.stdin.buffer).peek()
    is_packed = find_compression(head) is not None
    if is_binary(head) and not is_packed:
        raise BinaryFileError("Standard input looks like {kind}: name the file instead.", file="-", kind="binary data")
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"{", b'["', b"[{")):
        return SourceFiles(files, "jsonl" if start.startswith(b"{") else "json")
    if columns and not is_packed:  # lines of text have no columns
        return SourceFiles(files, "csv")
    guess: Format = "csv" if _has_header(start) else "lines"
    return SourceFiles(files, guess, notes=(_note_guess("standard input", guess),))


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


def detect_format(
    file: File, given: Format | None = None, *, may_be_records: bool = True
) -> tuple[Format | None, SearchWarning | None]:
    """Return the format of a file by its first bytes, None for plain text; and a note if its name indicates another."""
    path = cast(Path, file.path)
    head, compression = _read_head(file)
    by_name = guess_by_name(path)
    found = _detect_binary(head, file)
    if found is None and given in BINARY_FORMATS:
        raise make_unreadable_error(file, "it holds plain text", NAMES[given])
    if found and compression:
        raise _refuse(file, f"{NAMES[found]} compressed with {compression}", "decompress it first")
    if given is not None:
        if found and given not in BINARY_FORMATS:
            raise _refuse(file, NAMES[found], "leave out {argument}, or name a text", argument=Option("format"))
        return given, None
    found = found or _detect_text(head, by_name, file, may_be_records=may_be_records)
    is_raw = compression is None and path.suffix.lower() in COMPRESSION_SUFFIXES
    is_expected = found in (None, by_name) or {found, by_name} in ({"json", "jsonl"}, {"csv", "tsv"})
    if not is_raw and (is_expected or (by_name is None and found in BINARY_FORMATS)):
        return found, None
    note = SearchWarning(
        "{file!r} is read as {format}, since that is what it holds, although its name ends in {suffix!r}.",
        code="format_by_content",
        file=str(file),
        format=NAMES[found],
        suffix=path.suffix,
    )
    return found, note


def _read_head(file: File) -> tuple[bytes, str | None]:
    """Return the first bytes of a file, decompressed, and its compression."""
    path = cast(Path, file.path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device may have no end
            raise make_unreadable_error(file, "it is not a regular file")
        with path.open("rb") as raw:
            compression = find_compression(raw.read(10))
    except OSError as error:
        raise make_unreadable_error(file, error) from error
    with open_stream(file) as stream:
        return stream.read(_N_HEAD_BYTES), compression


def is_binary(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of no text in any encoding that keeps ASCII."""
    n_controls = len(head) - len(head.translate(None, _CONTROLS))
    return not head.startswith(UTF16_BOMS) and n_controls >= max(_MIN_CONTROLS, _CONTROLS_SHARE * len(head))


def _detect_binary(head: bytes, file: File) -> Format | None:
    """Return the format of a file that no text begins like; None for text. Raise for other binary files."""
    for format, start in _STARTS.items():
        if start.match(head):
            return format
    if head.startswith(b"PK\x03\x04"):
        return _detect_archive(file)
    for pattern, kind, advice in _OTHERS:
        if re.match(pattern, head, re.DOTALL):
            raise _refuse(file, kind, advice)
    if is_binary(head):
        if head.count(b"\x00") >= len(head) // 3:
            raise _refuse(file, "UTF-16 or UTF-32", "convert it with `iconv -f utf-16 -t utf-8`")
        raise _refuse(file, "binary data, not text", "name a text or a table of a format that can be read")
    return None


def _detect_archive(file: File) -> Format:
    try:
        with zipfile.ZipFile(cast(Path, file.path)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise make_unreadable_error(file, error) from error
    if "xl/workbook.xml" in names:
        return "excel"
    for entry, (kind, advice) in _ARCHIVES.items():
        if any(name.startswith(entry) for name in names):
            raise _refuse(file, kind, advice)
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    raise _refuse(file, "a ZIP archive", _UNPACK)


def _detect_text(head: bytes, by_name: Format | None, file: File, *, may_be_records: bool) -> Format | None:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    first, end, _ = start.partition(b"\n")
    is_object = _is_value(first, dict) or (not end and len(start) > _N_HEAD_BYTES // 2 and start.startswith(b'{"'))
    if by_name is None:
        return "jsonl" if may_be_records and is_object and end else None
    if by_name in BINARY_FORMATS and not is_object and not _is_delimited(start):
        raise make_unreadable_error(file, "it holds plain text", NAMES[by_name])
    if start.startswith(b"{"):
        if by_name == "json" and not is_object and re.match(rb'\{\s*["}]', start):
            return "json"  # one object over several lines, as an editor shows it
        return "jsonl" if is_object or by_name in ("json", "jsonl") else by_name
    if start.startswith(b"[") and (by_name == "json" or re.match(rb'\[\s*[\]{"]', start)):
        return "json"
    if by_name not in ("csv", "tsv") and _is_delimited(start) and not _is_value(first, str | list):
        return "csv"
    return "jsonl" if by_name == "json" else by_name


def _is_value(line: bytes, kind: Any) -> bool:
    """Return whether a line is a value of JSON of a kind."""
    try:
        return isinstance(json.loads(line), kind)
    except (ValueError, RecursionError):
        return False


def _is_delimited(start: bytes) -> bool:
    """Return whether the first lines have the same number of a delimiter."""
    lines = start.decode("utf-8", errors="replace").splitlines()[:2]
    counts = {line.count(guess_delimiter(lines[0])) for line in lines}
    return len(lines) == 2 and len(counts) == 1 and counts != {0}


def _refuse(file: File, kind: str, advice: str, **fields: Any) -> BinaryFileError:
    return BinaryFileError("{file!r} looks like {kind}: " + advice + ".", file=str(file.path), kind=kind, **fields)
