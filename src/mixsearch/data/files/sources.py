"""Find the files that a caller names, and their format."""

from __future__ import annotations

import glob
import io
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from mixsearch.data.files.detection import (
    Detected,
    detect_format,
    detect_stream,
    guess_by_name,
    is_binary,
    refuse_binary,
)
from mixsearch.data.files.location import (
    File,
    RemoteFile,
    StoredFile,
    TableFile,
    find_remote_files,
    get_size,
    is_remote,
    resolve_file,
    split_table,
)
from mixsearch.data.files.signatures import BINARY_FORMATS, FORMATS, NAMES, Format
from mixsearch.data.files.streams import STANDARD_INPUT, find_compression
from mixsearch.display import pluralize
from mixsearch.errors import BinaryFileError, Option, SearchError, SearchWarning

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_MAX_LISTED = 8
_MAX_NAMED = 3
# Files beside the partitions of a table, as Spark, Dask and Hugging Face write them.
_COMPANIONS = (
    "_success", "_metadata", "_common_metadata", "dataset_info.json", "dataset_infos.json", "dataset_dict.json",
    "state.json", "readme.md", "license", "license.txt", "license.md",
)  # fmt: skip
_PARTITION_FORMATS = ("parquet", "arrow")
# Formats of which some files may have another.
_READ_AS: dict[Format, tuple[Format, ...]] = {"json": ("json", "jsonl")}


@dataclass(frozen=True)
class SourceFiles:
    """The files of a corpus or a table, all of one format."""

    paths: list[File]  # empty for standard input
    format: Format
    root: StoredFile | None = None  # names of files are relative to this folder
    notes: tuple[SearchWarning, ...] = ()

    @property
    def n_bytes(self) -> int | None:
        """Stored bytes of all files; None for standard input, and if a store does not report a size."""
        sizes = [get_size(path) for path in self.paths]
        return sum(size or 0 for size in sizes) if sizes and None not in sizes else None


@dataclass(frozen=True)
class _Found:
    """The files of one name; those of a folder or a pattern were not named one by one."""

    files: list[File]
    root: StoredFile | None
    are_named: bool
    unread: tuple[str, ...] = ()  # folders that could not be listed


def find_sources(source: Source, format: Format | None, columns: Sequence[str] = ()) -> SourceFiles:
    """Return the files of a path, a folder, a pattern or a list of them, and their format.

    Columns that the caller names tell CSV on standard input from lines of text.
    """
    if source == "-":
        return _find_input(format, columns)
    names = _list_names(source)
    if not names:
        raise SearchError(
            "{argument} is an empty list, but at least one file is needed.",
            code="no_files",
            argument=Option("source"),
        )
    found = [_find_files(name) for name in names]
    unread = _note_unread([folder for each in found for folder in each.unread])
    root = found[0].root if len(found) == 1 else None
    if format is not None:
        given = _check_given(found, format, root)
        return replace(given, notes=(*unread, *given.notes))
    detected, notes = _detect_all(found)
    notes = [*unread, *notes]
    if len(detected) == 1 and root is None and detected[0][1].format is None:
        return SourceFiles([detected[0][0]], "lines", root, (*notes, _note_lines(detected[0][0])))
    chosen = _choose_format([each.format or "files" for _, each in detected], are_named=_are_named(found))
    read = [(file, each) for file, each in detected if (each.format or "files") in _READ_AS.get(chosen, (chosen,))]
    skipped = [_name_skipped(file, each.format) for file, each in detected if chosen == "files" and each.format]
    notes += [_note_skipped(skipped, len(detected))] if skipped else []
    notes += _sum_notes([each.note for _, each in read if each.note is not None])
    return SourceFiles([file for file, _ in read], chosen, root, tuple(notes))


def describe_source(source: Source) -> str:
    """Return a name for all files in one sentence."""
    if source == "-":
        return STANDARD_INPUT
    names = _list_names(source)
    return names[0] + (" and others" if len(names) > 1 else "")


def make_empty_error(source: str) -> SearchError:
    """Return the error for files without documents."""
    return SearchError(
        "{source!r} has no documents, but at least one is needed. Check that it is the right file.",
        code="no_documents",
        source=source,
    )


def _list_names(source: Source) -> list[str]:
    return [os.fspath(name) for name in ([source] if isinstance(source, str | os.PathLike) else source)]


def _check_given(found: list[_Found], format: Format, root: StoredFile | None) -> SourceFiles:
    """Return the files in the format that was given; binary ones are not read as text."""
    files: list[File] = []
    refused: list[BinaryFileError] = []
    for each in found:
        for file in each.files:
            try:
                if format not in BINARY_FORMATS and not _is_one_of_many(file, each):
                    refuse_binary(file)
                files.append(file)
            except BinaryFileError as error:
                if each.are_named:
                    raise
                refused.append(error)
    if not files:
        raise refused[0]
    return SourceFiles(files, format, root, tuple(_note_refused(refused, len(files))))


def _are_named(found: list[_Found]) -> bool:
    return any(each.are_named for each in found)


def _detect_all(found: list[_Found]) -> tuple[list[tuple[File, Detected]], list[SearchWarning]]:
    """Return the format of each file. Binary files of no known format in a folder are left out, with a note."""
    detected: list[tuple[File, Detected]] = []
    refused: list[BinaryFileError] = []
    for each in found:
        for file in each.files:
            if _is_one_of_many(file, each):
                detected.append((file, Detected(guess_by_name(file))))
                continue
            try:
                detected.append((file, detect_format(file, may_be_records=each.are_named and len(found) == 1)))
            except BinaryFileError as error:
                if each.are_named:
                    raise
                refused.append(error)
    if not detected:
        raise refused[0]
    return _leave_out_companions(detected), _note_refused(refused, len(detected))


def _is_one_of_many(file: File, found: _Found) -> bool:
    """Return whether to recognise a file by its name: in a remote store, reading each file would cost a request."""
    return isinstance(file, RemoteFile) and not found.are_named


def _leave_out_companions(detected: list[tuple[File, Detected]]) -> list[tuple[File, Detected]]:
    """Return the partitions of a table without other files in the folder."""
    partitions = [(file, each) for file, each in detected if each.format in _PARTITION_FORMATS]
    others = [file for file, each in detected if each.format not in _PARTITION_FORMATS]
    return partitions if partitions and all(file.name.lower() in _COMPANIONS for file in others) else detected


def _choose_format(formats: Sequence[Format], *, are_named: bool) -> Format:
    """Return the one format of files; that of most if these are texts and the others binary files in their folder."""
    counts = Counter(formats)
    if len(counts) == 1:
        return formats[0]
    if set(counts) == {"json", "jsonl"}:
        return "json"
    are_binary = set(counts) <= {"files", *BINARY_FORMATS}
    if are_binary and not are_named and 2 * counts["files"] > len(formats):
        return "files"
    raise SearchError(
        "The files have several formats ({formats}), but one is needed. Name files of one format, or set "
        "{argument} to one of {choices}.",
        code="mixed_formats",
        formats=", ".join(sorted(counts)),
        argument=Option("format"),
        choices=", ".join(FORMATS),
    )


def _sum_notes(notes: list[SearchWarning]) -> list[SearchWarning]:
    """Return one note for all files whose names indicate another format."""
    if len(notes) < 2:
        return notes
    return [notes[0].append("So are {n_others:,} other files.", n_others=len(notes) - 1)]


def _name_skipped(file: File, format: Format) -> str:
    return f"{file.name} ({NAMES[format]})"


def _note_lines(path: File) -> SearchWarning:
    return SearchWarning(
        "Each line of {file!r} is read as a document. Set {argument} to 'files' to read the file as one document.",
        code="lines_are_documents",
        file=str(path),
        argument=Option("format"),
    )


def _note_refused(refused: Sequence[BinaryFileError], n_read: int) -> list[SearchWarning]:
    named = [f"{Path(error.fields['file']).name} ({error.fields['kind']})" for error in refused]
    return [_note_skipped(named, n_read + len(refused))] if refused else []


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


def _note_unread(folders: Sequence[str]) -> list[SearchWarning]:
    if not folders:
        return []
    return [
        SearchWarning(
            "{n_folders:,} {noun} could not be listed, and the files in there are left out: {folders}.",
            code="skipped_folders",
            n_folders=len(folders),
            noun="folder" if len(folders) == 1 else "folders",
            folders=", ".join(folders[:_MAX_NAMED]) + (", ..." if len(folders) > _MAX_NAMED else ""),
        )
    ]


def _find_files(name: str) -> _Found:
    plain, table = split_table(name)
    unread: list[str] = []
    folder, files = (
        find_remote_files(plain) if is_remote(plain) else _find_local_files(cast(Path, resolve_file(plain)), unread)
    )
    if folder is not None and not files:
        raise SearchError(
            "The folder {folder!r} has no files, but at least one is needed.", code="empty_folder", folder=plain
        )
    if not files:
        raise _make_missing_file_error(plain)
    are_named = folder is None and len(files) == 1
    kept = files if are_named else _leave_out_caches(files)
    tables = [file if table is None else TableFile(file, table) for file in kept]
    return _Found(tables, folder, are_named, tuple(unread))


def _find_local_files(path: Path, unread: list[str]) -> tuple[Path | None, list[Path]]:
    """Return a folder and its files, or None and the files of a pattern; name folders that cannot be listed."""
    if path.is_dir():
        files = []
        for folder, inner, names in os.walk(path, onerror=lambda error: unread.append(str(error.filename))):
            inner[:] = [name for name in inner if not name.startswith(".")]
            files += [Path(folder, name) for name in names if not name.startswith(".")]
        return path, sorted(file for file in files if file.is_file())
    if path.exists():
        return None, [path]
    return None, sorted(Path(match) for match in glob.glob(str(path), recursive=True) if Path(match).is_file())


def _leave_out_caches(files: Sequence[StoredFile]) -> list[StoredFile]:
    """Return files without the caches of Hugging Face, such as the results of earlier steps."""
    data_files = {_name_folder(file): _list_data_files(file) for file in files if file.name == "state.json"}
    return [file for file in files if _is_data(file, data_files.get(_name_folder(file)))]


def _name_folder(file: StoredFile) -> str:
    return str(file).removesuffix(file.name)


def _is_data(file: StoredFile, data_files: list[str] | None) -> bool:
    return data_files is None or not file.name.endswith(".arrow") or file.name in data_files


def _list_data_files(state: StoredFile) -> list[str] | None:
    try:
        with state.open("rb") as file:
            return [each["filename"] for each in json.load(file)["_data_files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _make_missing_file_error(name: str) -> SearchError:
    error = SearchError("No file {file!r}.", code="file_missing", file=name)
    folder = Path(name).parent
    if not folder.is_dir():
        return error
    return error.append("The folder {folder!r} has: {entries}.", folder=str(folder), entries=_list_folder(folder))


def _list_folder(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    return ", ".join(names[:_MAX_LISTED]) + (", ..." if len(names) > _MAX_LISTED else "") if names else "nothing"


def _find_input(format: Format | None, columns: Sequence[str]) -> SourceFiles:
    """Return standard input with its format, and a note if the format is a guess."""
    if format is not None:
        return SourceFiles([], format)
    head = cast(io.BufferedReader, sys.stdin.buffer).peek()
    if is_binary(head) and find_compression(head) is None:
        raise BinaryFileError(
            "Standard input looks like {kind}: name the file instead.", file=STANDARD_INPUT, kind="binary data"
        )
    found = detect_stream(head, columns)
    if found == "lines" and columns and find_compression(head) is None:
        found = "csv"  # lines of text have no columns, so one that is named is missing from the header
    if found == "lines" or (found == "csv" and not columns):
        return SourceFiles([], found, notes=(_note_input(found),))
    return SourceFiles([], found)


def _note_input(format: Format) -> SearchWarning:
    return SearchWarning(
        "Standard input is read as {name}. Set {argument} to {other!r} to read it otherwise.",
        code="lines_are_documents" if format == "lines" else "format_guessed",
        name="lines of text, one document each" if format == "lines" else "CSV, since its first line names columns",
        argument=Option("format"),
        other="csv" if format == "lines" else "lines",
    )
