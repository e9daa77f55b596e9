"""Tables in files: CSV, TSV, Parquet and JSON lines, read with the types of their columns, and written."""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.types import (
    DATES,
    MISSING_MARKS,
    NUMBERS,
    NUMBERS_WITH_COMMA,
    find_types,
    flatten_types,
    rename_repeated,
    to_json,
)
from mixsearch.errors import SearchError
from mixsearch.storage import explain_os_errors, write_atomically

Format = Literal["csv", "tsv", "parquet", "jsonl", "json"]

_FORMAT_BY_SUFFIX: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
}
_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_DELIMITERS = ",;\t|"
# A row must fit in a block.
_BLOCK_BYTES = 16 << 20
_MAX_LISTED = 8
_MAX_QUOTED = 80


def read_table(path: str | os.PathLike[str]) -> Any:
    """Read a table from a file.

    Parameters
    ----------
    path : str or path
        A file .csv, .tsv, .parquet, .jsonl or .json. All but Parquet may be compressed: .gz, .bz2, .xz or .zst.

    Returns
    -------
    pyarrow.Table
        Numbers, booleans, dates and times have their types; "", NA, NaN, null and ? are missing. Dates such as
        03/04/2024, of which the order of day and month stays unknown, are text. Repeated names get a number: "x (2)".
    """
    file = Path(path)
    format = _find_format(file)
    arrow = import_pyarrow("Tables in files", "table")
    _check_file(file)
    with _explain_errors(file, arrow):
        if format == "parquet":
            from pyarrow import parquet

            table = parquet.read_table(file)
        else:
            table = _read_csv(file, format) if format in ("csv", "tsv") else _read_json(file, arrow)
        # Here, since names that are not UTF-8 are found only now.
        names = rename_repeated(table.column_names)
    if table.num_rows == 0 or table.num_columns == 0:
        raise SearchError(
            "{file!r} has {n_columns} columns, but no rows. Check that it is the right file.",
            code="no_rows",
            file=str(file),
            n_columns=table.num_columns,
        )
    return table.rename_columns(names)


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a table to a file, completely or not at all.

    Parameters
    ----------
    table : pyarrow.Table, DataFrame or mapping from names to columns
        The table.
    path : str or path
        A file .csv, .tsv, .parquet, .jsonl or .json. It is replaced if it exists. All but Parquet may be
        compressed: .gz, .bz2, .xz or .zst. In CSV, nested values become JSON.
    """
    file = Path(path)
    format = _find_format(file)
    arrow = import_pyarrow("Tables in files", "table")
    rows = table if isinstance(table, arrow.Table) else arrow.table(table)
    with explain_os_errors("write to", file), write_atomically(file) as temporary:
        if format == "parquet":
            from pyarrow import parquet

            parquet.write_table(rows, temporary)
            return
        with _create(temporary) as stream:
            if format in ("csv", "tsv"):
                from pyarrow import csv

                options = csv.WriteOptions(delimiter="\t" if format == "tsv" else ",")
                csv.write_csv(flatten_types(rows), stream, options)
            else:
                _write_json(rows, stream, format)


def _find_format(file: Path) -> Format:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    plain = suffixes[:-1] if suffixes[-1:] and suffixes[-1] in _COMPRESSIONS else suffixes
    format = _FORMAT_BY_SUFFIX.get(plain[-1]) if plain else None
    if format is None or (format == "parquet" and plain != suffixes):
        raise SearchError(
            "{file!r} has no format that is known. The name must end in {suffixes}; all but Parquet may also be "
            "compressed ({compressions}).",
            code="unknown_format",
            file=str(file),
            suffixes=", ".join(_FORMAT_BY_SUFFIX),
            compressions=", ".join(_COMPRESSIONS),
        )
    return format


def _check_file(file: Path) -> None:
    if file.is_dir():
        raise SearchError("{file!r} is a folder, but one file is needed.", code="file_is_folder", file=str(file))
    if not file.exists():
        error = SearchError("No file {file!r}.", code="file_missing", file=str(file))
        if not file.parent.is_dir():
            raise error
        names = sorted(entry.name for entry in file.parent.iterdir() if not entry.name.startswith("."))
        listed = ", ".join(names[:_MAX_LISTED]) + (", ..." if len(names) > _MAX_LISTED else "")
        raise error.append(
            "The folder {folder!r} has: {entries}.", folder=str(file.parent), entries=listed or "nothing"
        )
    if file.stat().st_size == 0:
        raise _make_empty_error(file)


def _make_empty_error(file: Path) -> SearchError:
    return SearchError("{file!r} is empty. Check that it is the right file.", code="empty_file", file=str(file))


@contextmanager
def _explain_errors(file: Path, arrow: Any) -> Iterator[None]:
    """Turn what PyArrow and the operating system raise into errors that name the file."""
    try:
        yield
    except SearchError:
        raise
    except UnicodeDecodeError as error:
        raise _make_encoding_error(file) from error
    except (arrow.ArrowException, OSError, EOFError, lzma.LZMAError, ValueError) as error:
        raise SearchError(
            "Cannot read {file!r}: {reason}. Check that the file is complete and has the format of its suffix.",
            code="unreadable_file",
            file=str(file),
            reason=(str(error) or type(error).__name__).partition("\n")[0].rstrip("."),
        ) from error


def _make_encoding_error(file: Path) -> SearchError:
    return SearchError("{file!r} is not UTF-8. Save it as UTF-8.", code="wrong_encoding", file=str(file))


def _open(file: Path) -> Any:
    """Open the decompressed bytes of a file."""
    arrow = import_pyarrow("Tables in files", "table")
    if file.suffix.lower() == ".xz":
        return arrow.PythonFile(lzma.open(file), mode="r")
    return arrow.input_stream(str(file), compression="detect")


def _create(file: Path) -> Any:
    """Open a file for bytes that are compressed if its name has the suffix of a compression."""
    if file.suffix.lower() == ".xz":
        return lzma.open(file, "wb")
    arrow = import_pyarrow("Tables in files", "table")
    return arrow.output_stream(str(file), compression="detect")


def _read_start(file: Path) -> bytes:
    """Return the beginning of a file, without a byte order mark."""
    with _open(file) as stream:
        start: bytes = stream.read(1 << 16)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _make_encoding_error(file)
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        raise _make_empty_error(file)
    return start


def _read_csv(file: Path, format: Format) -> Any:
    header = _read_start(file).partition(b"\n")[0].decode("utf-8", errors="replace")
    delimiter = "\t" if format == "tsv" else max(_DELIMITERS, key=header.count)
    table = _parse_csv(file, delimiter, use_threads=True)
    types = import_pyarrow("Tables in files", "table").types
    if any(types.is_binary(field.type) for field in table.schema):
        raise _make_encoding_error(file)
    return find_types(table, NUMBERS if delimiter == "," else NUMBERS_WITH_COMMA)


def _parse_csv(file: Path, delimiter: str, *, use_threads: bool) -> Any:
    from pyarrow import ArrowInvalid, csv

    wrong: list[Any] = []

    def note_row(row: Any) -> str:
        wrong.append(row)
        return "error"

    try:
        with _open(file) as stream:
            return csv.read_csv(
                stream,
                read_options=csv.ReadOptions(use_threads=use_threads, block_size=_BLOCK_BYTES),
                parse_options=csv.ParseOptions(
                    delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note_row
                ),
                convert_options=csv.ConvertOptions(
                    null_values=list(MISSING_MARKS),
                    strings_can_be_null=True,
                    timestamp_parsers=[csv.ISO8601, "%Y/%m/%d", "%d.%m.%Y"],
                ),
            )
    except ArrowInvalid as error:
        if not wrong:
            raise
        row = wrong[0]
        if row.number is None and use_threads:
            # Only one thread knows the number of the row.
            return _parse_csv(file, delimiter, use_threads=False)
        raise SearchError(
            "Row {row:,} of {file!r} has {n_values} values, but the header has {n_columns}: {text!r}. Quote the values "
            "that contain the delimiter, and close every quotation mark.",
            code="wrong_row_length",
            row=row.number,
            file=str(file),
            n_values=row.actual_columns,
            n_columns=row.expected_columns,
            text=row.text[:_MAX_QUOTED],
        ) from error


def _read_json(file: Path, arrow: Any) -> Any:
    if _read_start(file).startswith(b"["):
        with _open(file) as stream:
            records = json.loads(stream.read().decode("utf-8-sig"))
        if not all(isinstance(record, dict) for record in records):
            raise SearchError(
                "{file!r} must be a list of JSON objects, one for each row.", code="invalid_record", file=str(file)
            )
        names = dict.fromkeys(name for record in records for name in record)
        table = arrow.table({name: [record.get(name) for record in records] for name in names})
    else:
        from pyarrow import json as arrow_json

        with _open(file) as stream:
            table = arrow_json.read_json(stream, arrow_json.ReadOptions(block_size=_BLOCK_BYTES))
    return find_types(table, DATES)


def _write_json(rows: Any, stream: Any, format: Format) -> None:
    is_list = format == "json"
    stream.write(b"[\n" if is_list else b"")
    is_first = True
    for batch in rows.to_batches():
        for record in batch.to_pylist():
            separator = "" if is_first else ",\n" if is_list else "\n"
            is_first = False
            stream.write((separator + to_json(record)).encode())
    stream.write(b"\n]\n" if is_list else b"\n")
