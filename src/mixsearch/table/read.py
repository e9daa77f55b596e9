"""Tables in files: read with the types of their columns, and written."""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.arrow_tables import TABLE_FORMATS, read_arrow_table
from mixsearch.data.files.detection import guess_by_name
from mixsearch.data.files.location import get_size
from mixsearch.data.files.signatures import FORMAT_BY_SUFFIX, Format
from mixsearch.data.files.sources import SourceFiles, find_sources
from mixsearch.data.files.streams import COMPRESSION_SUFFIXES
from mixsearch.data.files.types import flatten_types, to_json
from mixsearch.data.files.workbook import Sheet, write_workbook
from mixsearch.display import pluralize
from mixsearch.errors import SearchError, warn_user
from mixsearch.io.disk import explain_os_errors, write_atomically

_WRITTEN_FORMATS: tuple[Format, ...] = ("csv", "tsv", "parquet", "jsonl", "json", "excel")
# Formats that are compressed already.
_PACKED_FORMATS = ("parquet", "excel")
# Formats whose folders are one table.
_FOLDER_FORMATS: tuple[Format, ...] = ("parquet", "arrow")


def read_table(path: str | os.PathLike[str], *, no_header: bool = False, skip_bad_rows: bool = False) -> Any:
    r"""Read a table from a file.

    Parameters
    ----------
    path : str or path
        A file of CSV, TSV, JSON lines, a JSON array, Parquet, Arrow or Feather, an Excel workbook, or an SQLite
        database; or a folder of Parquet or Arrow files, such as a Hugging Face dataset. Name a table or a sheet after
        two colons: "shop.sqlite::reviews". Files of text may be compressed: .gz, .bz2, .xz or .zst. The format is
        recognised by the first bytes of a file, and by its name.
    no_header : bool
        Whether the first row of CSV, TSV and Excel is data. Columns are then called "column 1", "column 2" and so on.
    skip_bad_rows : bool
        Whether to skip rows of CSV, TSV and JSON that cannot be read, with a warning that counts them.

    Returns
    -------
    pyarrow.Table
        Numbers, booleans, dates and times have their types; "", NA, NaN, null and ? are missing. Dates such as
        03/04/2024, whose order of day and month is unknown, are text. Repeated names get a number: "x (2)".

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from mixsearch.table import read_table
    >>> path = Path(mkdtemp(), "shops.csv")
    >>> _ = path.write_text("shop,stars\nRome,4\nOslo,5\n", encoding="utf-8")
    >>> read_table(path).column_names
    ['shop', 'stars']
    """
    import_pyarrow("Tables in files")
    sources = _find_files(os.fspath(path))
    for note in sources.notes:
        warn_user(note)
    table = read_arrow_table(sources.paths, sources.format, no_header=no_header, skip_bad_rows=skip_bad_rows)
    if table.num_rows == 0 or table.num_columns == 0:
        raise SearchError(
            "{file!r} has {n_columns} "
            + pluralize(table.num_columns, "column")
            + ", but no rows. Check that it is the right file.",
            code="no_rows",
            file=str(path),
            n_columns=table.num_columns,
        )
    return table


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a table to a file, completely or not at all.

    Parameters
    ----------
    table : pyarrow.Table, pyarrow.RecordBatchReader, DataFrame or mapping from names to columns
        The table. A reader is never loaded as a whole.
    path : str or path
        A file .csv, .tsv, .parquet, .jsonl, .json or .xlsx. It is replaced if it exists. All but Parquet and Excel may
        be compressed: .gz, .bz2, .xz or .zst. In CSV and Excel, nested values become JSON. Text that begins with "="
        is text in Excel, too.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import pyarrow as pa
    >>> from mixsearch.table import read_table, write_table
    >>> path = mkdtemp() + "/shops.parquet"
    >>> write_table(pa.table({"shop": ["Rome", "Oslo"], "stars": [4, 5]}), path)
    >>> read_table(path).num_rows
    2
    """
    file = Path(path)
    format = _find_written_format(file)
    arrow = import_pyarrow("Tables in files")
    if not isinstance(table, arrow.RecordBatchReader):
        table = (table if isinstance(table, arrow.Table) else arrow.table(table)).to_reader()
    with explain_os_errors("write to", file), write_atomically(file) as temporary:
        if format == "parquet":
            _write_parquet(table, temporary)
        elif format == "excel":
            write_workbook(temporary, [Sheet("Table", table.schema.names, _list_rows(table))])
        else:
            with _create(temporary) as stream:
                if format in ("csv", "tsv"):
                    _write_csv(table, stream, "\t" if format == "tsv" else ",")
                else:
                    _write_json(table, stream, format)


def _write_parquet(rows: Any, file: Path) -> None:
    from pyarrow import parquet

    with parquet.ParquetWriter(file, rows.schema) as writer:
        for batch in rows:
            writer.write_batch(batch)


def _write_csv(rows: Any, stream: Any, delimiter: str) -> None:
    from pyarrow import csv

    schema = flatten_types(rows.schema.empty_table()).schema
    with csv.CSVWriter(stream, schema, write_options=csv.WriteOptions(delimiter=delimiter)) as writer:
        for batch in rows:
            writer.write_batch(flatten_types(batch))


def _list_rows(rows: Any) -> Iterator[Sequence[Any]]:
    for batch in rows:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _find_files(path: str) -> SourceFiles:
    """Return the files of one table."""
    if Path(path).is_dir() and not any(Path(path).iterdir()):
        raise _make_folder_error(path)
    sources = find_sources(path, None)
    if sources.root is not None and sources.format not in _FOLDER_FORMATS:
        raise _make_folder_error(path)
    if get_size(sources.paths[0]) == 0:
        raise SearchError("{file!r} is empty. Check that it is the right file.", code="empty_file", file=path)
    if sources.format not in TABLE_FORMATS:
        raise SearchError(
            "{file!r} is not in a known format of tables. Use {formats}; the name of a text file must "
            "end in .csv, .tsv, .jsonl or .json.",
            code="unknown_format",
            file=path,
            formats=", ".join(TABLE_FORMATS),
        )
    return sources


def _make_folder_error(path: str) -> SearchError:
    return SearchError(
        "{file!r} is a folder without Parquet or Arrow files, but one table is needed. Name a file.",
        code="file_is_folder",
        file=path,
    )


def _find_written_format(file: Path) -> Format:
    format = guess_by_name(file)
    is_compressed = file.suffix.lower() in COMPRESSION_SUFFIXES
    if format not in _WRITTEN_FORMATS or (format in _PACKED_FORMATS and is_compressed):
        raise SearchError(
            "Cannot write a table to {file!r}: the name must end in {suffixes}; all but Parquet and Excel may "
            "also be compressed ({compressions}).",
            code="unknown_format",
            file=str(file),
            suffixes=", ".join(suffix for suffix, each in FORMAT_BY_SUFFIX.items() if each in _WRITTEN_FORMATS),
            compressions=", ".join(COMPRESSION_SUFFIXES),
        )
    return format


def _create(file: Path) -> Any:
    """Open a file for bytes that are compressed if its name has the suffix of a compression."""
    if file.suffix.lower() == ".xz":
        return lzma.open(file, "wb")
    arrow = import_pyarrow("Tables in files")
    return arrow.output_stream(str(file), compression="detect")


def _write_json(rows: Any, stream: Any, format: Format) -> None:
    is_list = format == "json"
    stream.write(b"[\n" if is_list else b"")
    is_first = True
    for batch in rows:
        for record in batch.to_pylist():
            separator = "" if is_first else ",\n" if is_list else "\n"
            is_first = False
            stream.write((separator + to_json(record)).encode())
    stream.write(b"\n]\n" if is_list else b"\n")
