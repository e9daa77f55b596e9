"""Read a table from a file, and write one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from mixsearch.errors import SearchError, warn_user
from mixsearch.io.disk import explain_os_errors, write_atomically
from mixsearch.io.files import FORMAT_BY_SUFFIX, TABLE_FORMATS, Format, find_files, guess_by_name
from mixsearch.io.frames import to_polars
from mixsearch.io.read import Rows, open_rows
from mixsearch.io.streams import COMPRESSION_SUFFIXES, File, Reading, create_stream
from mixsearch.io.types import find_types, flatten
from mixsearch.io.workbook import write_workbook
from mixsearch.machine import available_memory, compute_parts, is_dask

_WRITTEN_FORMATS: tuple[Format, ...] = ("csv", "tsv", "parquet", "jsonl", "json", "excel")
# Formats that are compressed already.
_PACKED_FORMATS = ("parquet", "excel")


def read_table(path: str | os.PathLike[str], *, no_header: bool = False, skip_bad_rows: bool = False) -> pl.DataFrame:
    r"""Read a table from a file.

    Parameters
    ----------
    path : str or path
        A file of CSV, TSV, JSON lines, a JSON array, Parquet or Arrow, an Excel workbook, or an SQLite database; or a
        folder of such files. Name a table or a sheet after two colons: "shop.sqlite::reviews". Files may be compressed:
        .gz or .zst. The suffix of a file is that of its format.
    no_header : bool
        Whether the first row of CSV, TSV and Excel is data. Columns are then called "column 1", "column 2" and so on.
    skip_bad_rows : bool
        Whether to skip rows of CSV, TSV and JSON that cannot be read, with a warning that counts them.

    Returns
    -------
    polars.DataFrame
        Numbers, booleans, dates and times have their types; "", NA, NaN, null and ? are missing. Dates such as
        03/04/2024, whose order of day and month is unknown, are text. Repeated names get a number: "x (2)".

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from mixsearch.table import read_table
    >>> path = Path(mkdtemp(), "shops.csv")
    >>> _ = path.write_text("shop,stars\nRome,4\nOslo,5\n", encoding="utf-8")
    >>> read_table(path).columns
    ['shop', 'stars']
    """
    sources = find_files(path, is_table=True)
    if sources.format not in TABLE_FORMATS:
        raise SearchError(
            "{file!r} is not in a known format of tables. The name of a file must end in {suffixes}.",
            code="unknown_format",
            file=str(path),
            suffixes=", ".join(FORMAT_BY_SUFFIX),
        )
    for note in sources.notes:
        warn_user(note)
    table = concat(_read_file(file, sources.format, no_header, skip_bad_rows) for file in sources.files)
    if not table.height or not table.width:
        raise SearchError(
            "{file!r} has columns ({n_columns}), but no rows. Check that it is the right file.",
            code="no_rows",
            file=str(path),
            n_columns=table.width,
        )
    return table


def concat(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of tables one after another, with all columns; values without a type in common become text."""
    listed = list(frames) or [pl.DataFrame()]
    try:
        return pl.concat(listed, how="diagonal_relaxed", rechunk=False)
    except pl.exceptions.PolarsError:
        return pl.concat([flatten(frame) for frame in listed], how="diagonal_relaxed", rechunk=False)


def collect_dask(table: Any) -> Any:
    """Collect a Dask array or frame in the memory of this process; return any other table as it is."""
    if not is_dask(table):
        return table
    return concat(map(to_polars, compute_parts(table))) if hasattr(table, "columns") else table.compute()


def _read_file(file: File, format: Format, no_header: bool, skip_bad_rows: bool) -> pl.DataFrame:
    reading = Reading(no_header=no_header, skip_bad_rows=skip_bad_rows)
    with open_rows(file, format, reading) as rows:
        table = _collect(rows, file, is_text=format in ("csv", "tsv"))
    for note in reading.list_notes():
        warn_user(note)
    return find_types(table, reading.readings)


def _collect(rows: Rows, file: File, *, is_text: bool) -> pl.DataFrame:
    """Return all rows; columns of text that begin with numbers are parsed as such, if all of their values are."""
    kinds = find_types(rows.sample, ["boolean", "integer", "number"]).schema if is_text else {}
    numbers = {name: kind for name, kind in kinds.items() if kind == pl.Float64}
    try:
        return concat(_limit(rows.read(numbers or None), file))
    except pl.exceptions.PolarsError:
        return concat(_limit(rows.read(None), file))


def _limit(frames: Iterator[pl.DataFrame], file: File) -> Iterator[pl.DataFrame]:
    """Yield frames as long as all of them fit into memory: the system would end the process without a word."""
    limit, n_bytes = available_memory(), file.n_bytes
    for frame in frames:
        n_bytes += int(frame.estimated_size())
        if n_bytes > limit:
            raise SearchError(
                "The table of {file!r} takes more than {limit:,} bytes, which is all the memory that this machine has, "
                "or its container allows. Leave out rows or columns.",
                code="table_too_large",
                file=str(file),
                limit=limit,
            )
        yield frame


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a table to a file, completely or not at all.

    Parameters
    ----------
    table : DataFrame, pyarrow.Table, mapping from names to columns, or iterator of polars.DataFrame
        The table. Frames of an iterator are written one after another, and never in memory together.
    path : str or path
        A file .csv, .tsv, .parquet, .jsonl, .json or .xlsx. It is replaced if it exists. All but Parquet and Excel may
        be compressed: .gz or .zst. In CSV and Excel, nested values become JSON. Text that begins with "="
        is text in Excel, too.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.table import read_table, write_table
    >>> path = mkdtemp() + "/shops.parquet"
    >>> write_table({"shop": ["Rome", "Oslo"], "stars": [4, 5]}, path)
    >>> read_table(path).height
    2
    """
    file = Path(path)
    format = _find_written_format(file)
    frames = table if isinstance(table, Iterator) else iter([to_polars(table)])
    with explain_os_errors("write to", file), write_atomically(file) as temporary:
        if format == "parquet":
            first = next(frames)
            source = pl.io.plugins.register_io_source(lambda *_: chain([first], frames), schema=first.schema)
            source.sink_parquet(temporary)
        elif format == "excel":
            write_workbook(temporary, [("Table", concat(frames))])
        else:
            with create_stream(temporary) as stream:
                _write_text(frames, stream, format)


def _write_text(frames: Iterator[pl.DataFrame], stream: Any, format: Format) -> None:
    if format == "json":
        _make_plain(concat(frames)).write_json(stream)
    for number, frame in enumerate(frames):
        if format == "jsonl":
            _make_plain(frame).write_ndjson(stream)
        else:
            flatten(frame).write_csv(stream, include_header=number == 0, separator="\t" if format == "tsv" else ",")


def _make_plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Return values that JSON has: Polars writes no bytes, and decimals as text."""
    return frame.cast({pl.Binary: pl.String, pl.Decimal: pl.Float64}, strict=False)


def _find_written_format(file: Path) -> Format:
    format = guess_by_name(file)
    is_compressed = file.suffix.lower() in COMPRESSION_SUFFIXES
    if format not in _WRITTEN_FORMATS or (format in _PACKED_FORMATS and is_compressed):
        raise SearchError(
            "Cannot write a table to {file!r}: the name must end in {suffixes}; all but Parquet and Excel may "
            "also be compressed ({compressions}).",
            code="unknown_format",
            file=str(file),
            suffixes=", ".join(suffix for suffix, kind in FORMAT_BY_SUFFIX.items() if kind in _WRITTEN_FORMATS),
            compressions=", ".join(COMPRESSION_SUFFIXES),
        )
    return format


def quote_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before text that a spreadsheet would read as a formula."""
    text = pl.col(pl.String)
    return frame.with_columns(pl.when(text.str.contains(r"^[=+\-@\t\r]")).then("'" + text).otherwise(text).name.keep())
