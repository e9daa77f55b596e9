"""Tables in files, in batches of bounded size: read by Polars, and by Python where a row may be bad, to say which."""

from __future__ import annotations

import csv
import json
import logging
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, cast

import polars as pl

from mixsearch.data.machine import available_memory
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.io.files import NAMES, Format, guess_delimiter
from mixsearch.io.streams import (
    BadRows,
    Block,
    File,
    Reading,
    check_archive,
    count_byte,
    make_encoding_error,
    make_length_error,
    make_row_error,
    make_unreadable_error,
    open_stream,
    read_blocks,
)
from mixsearch.io.types import DATES, MISSING_MARKS, NUMBERS, NUMBERS_WITH_COMMA, limit_dates, make_series, remove_marks
from mixsearch.io.values import rename_repeated, replace_surrogates

# Rows that are in memory at a time, of files that know their types.
_BATCH_ROWS = 1 << 12
_N_FIRST_ROWS, _MAX_NAME = 100, 120
_MAX_QUOTED, _MAX_LISTED = 80, 20
# Values that are nested more deeply are refused.
_MAX_DEPTH = 100
# Memory that an array of JSON takes, in times its size.
_JSON_GROWTH = 10
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) != 'sqlite_'"
_LONE_SURROGATE = re.compile(rb"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F])")
Schema = Mapping[str, Any]


class Batch(NamedTuple):
    """Rows of a file, and where they are."""

    load: Callable[[Schema | None], pl.DataFrame]  # parses all columns, or those of a schema; on any thread
    place: str
    frame: pl.DataFrame | None = None  # if they are parsed already


def read_batches(file: File, format: Format, reading: Reading) -> Iterator[Batch]:
    """Yield the rows of a file in batches, in order. Columns of CSV are text."""
    reading.readings = DATES
    if format in ("csv", "tsv"):
        yield from _read_csv(file, reading, "\t" if format == "tsv" else None)
    elif format == "jsonl":
        with open_stream(file, reading.progress) as stream:
            for block in read_blocks(stream, file, reading):
                yield Batch(partial(_parse_jsonl, block, file, reading), block.describe(file))
    elif format == "json":
        yield from _read_json(file, reading)
    elif file.path is None:
        raise SearchError(
            "Files of the format {format} cannot be read from standard input, because they need random access. Name a "
            "file.",
            code="format_on_stdin",
            format=format,
        )
    else:
        readers = {"parquet": _read_parquet, "arrow": _read_arrow, "excel": _read_excel, "sqlite": _read_sqlite}
        with _explain_errors(file, format):
            n_rows = 0
            for frame in readers[format](file, reading):
                limited = limit_dates(frame)
                yield Batch(partial(_select, limited), f"after row {n_rows:,} of {str(file)!r}", limited)
                n_rows += frame.height
        reading.progress.done += file.n_bytes


def _select(frame: pl.DataFrame, schema: Schema | None) -> pl.DataFrame:
    return frame if schema is None else frame.select(name for name in schema if name in frame.columns)


@contextmanager
def _explain_errors(file: File, format: Format) -> Iterator[None]:
    """Turn what a library raises for a damaged file into an error that names the file."""
    try:
        yield
    except SearchError:
        raise
    # Libraries raise errors of every kind, and Polars panics, which is not an `Exception`.
    except (Exception, pl.exceptions.PanicException) as error:
        raise make_unreadable_error(file, error, NAMES[format]) from error


def _read_csv(file: File, reading: Reading, delimiter: str | None) -> Iterator[Batch]:
    """Read a table that is delimited by the most frequent of comma, semicolon, tab and bar in its first line."""
    with open_stream(file, reading.progress) as stream:
        blocks = read_blocks(stream, file, reading, b'"')
        first = next(blocks, Block(b"", 1))
        start = first.data.lstrip(b"\r\n")
        if not start.strip():
            raise SearchError("{file!r} is empty. Check that it is the right file.", code="empty_file", file=str(file))
        lines = list(islice(decode_lines(Block(start, first.first_line), file, []), 20 * _N_FIRST_ROWS))
        mark = delimiter or guess_delimiter(lines[0])
        reader = csv.reader(lines, delimiter=mark)
        try:
            header, n_lines, *rows = next(reader), reader.line_num, *islice(reader, _N_FIRST_ROWS)
        except csv.Error as error:
            raise make_row_error("invalid_csv", file, reader.line_num or 1, reason=str(error)) from error
        names = rename_repeated([""] * len(header) if reading.no_header else header)
        reading.readings = NUMBERS if mark == "," else NUMBERS_WITH_COMMA
        if not reading.no_header:
            reading.notes += _check_header(header, rows, file)
            n_bytes = sum(len(line) for line in start.split(b"\n", n_lines)[:n_lines]) + n_lines
            n_blank = first.data[: len(first.data) - len(start)].count(b"\n")
            first = Block(start[n_bytes:], first.first_line + n_blank + n_lines, first.is_last)
        for block in chain([first], blocks):
            yield Batch(partial(_parse_csv, block, file, names, mark, reading), block.describe(file))


def _parse_csv(
    block: Block, file: File, names: Sequence[str], mark: str, reading: Reading, schema: Schema | None
) -> pl.DataFrame:
    """Return the rows of a block as text, or with the types of a schema if all of its values have them."""
    data = block.data if len(names) == 1 else block.data.rstrip(b"\r\n")
    is_open = block.is_last and data.count(b'"') % 2
    plain = dict.fromkeys(names, pl.String)
    if 0 < len(data) <= reading.limit and not is_open:
        for kinds in ([{**plain, **schema}] if schema else []) + [plain]:
            try:
                frame = pl.read_csv(data, has_header=False, separator=mark, schema=kinds)
            except pl.exceptions.PolarsError:
                continue
            if not _has_short_rows(frame, data, mark):
                return remove_marks(frame)
            break
    rows = list(_check_rows(block, file, names, mark, reading))
    return remove_marks(pl.DataFrame(rows, schema=plain, orient="row"))


def _has_short_rows(frame: pl.DataFrame, data: bytes, mark: str) -> bool:
    """Return whether a row has too few values: Polars fills it up with nulls, where others have a delimiter."""
    if frame.width == 1 or not frame[:, -1].null_count():
        return False
    inside = frame.select(pl.col(pl.String).str.count_matches(mark, literal=True).sum())
    n_inside = sum(inside.row(0)) if inside.width else 0
    return data.count(mark.encode()) != frame.height * (frame.width - 1) + n_inside


def _check_rows(block: Block, file: File, names: Sequence[str], mark: str, reading: Reading) -> Iterator[list[str]]:
    """Yield the rows of a block that are good; others are raised or counted, with their lines."""
    csv.field_size_limit(min(2**31 - 1, reading.limit))
    undecoded: list[SearchError] = []
    reader = csv.reader(decode_lines(block, file, undecoded), delimiter=mark, strict=True)
    while True:
        line, error = block.first_line + reader.line_num, None
        try:
            row = next(reader, None)
        except csv.Error as problem:
            row, error = [], make_row_error("invalid_csv", file, line, reason=str(problem))
            if "field larger" in str(problem):
                error = make_length_error(file, line, reading.limit)
        if row is None:
            return
        if undecoded:
            error = undecoded[0]
            undecoded.clear()
        elif row and len(row) != len(names):
            error = make_row_error("wrong_row_length", file, line, n_values=len(row), n_columns=len(names))
        if error is not None:
            reading.bad_rows.add(error)
        elif row or len(names) == 1:  # in a table with one column, an empty line is an empty value
            yield row or [""]


def decode_lines(block: Block, file: File, undecoded: list[SearchError]) -> Iterator[str]:
    """Yield lines with their ends. The errors of those in another encoding are added to a list."""
    for line, data in enumerate(block.data.removesuffix(b"\n").split(b"\n"), block.first_line):
        try:
            yield data.decode() + "\n"
        except UnicodeDecodeError as error:
            undecoded.append(make_encoding_error(error, file, line))
            yield data.decode(errors="replace") + "\n"


def _check_header(header: Sequence[str], rows: Sequence[Sequence[str]], file: File) -> list[SearchWarning]:
    """Return a note if the first row looks like data: it has a number, a long text, or a value that its column repeats.

    Years, and the numbers that pandas gives to columns without names, are names.
    """
    columns = list(zip(*(row for row in rows if len(row) == len(header) and row != header), strict=True))
    numbers = [name for name in header if _is_number(name)]
    are_names = all(re.fullmatch(r"[12]\d{3}", name) for name in numbers) or numbers == list(
        map(str, range(int(numbers[0] == "1"), len(numbers) + int(numbers[0] == "1")))
    )
    for name, values in zip(header, columns, strict=False):
        given = [value for value in values if value not in MISSING_MARKS]
        is_data = not are_names and all(map(_is_number, given)) if name in numbers else name in given
        if is_data or len(name) > _MAX_NAME:
            return [
                SearchWarning(
                    "Line 1 of {file!r} is read as the names of the columns, but {value!r} looks like data. Set "
                    "{argument} if the file has no header.",
                    code="header_looks_like_data",
                    file=str(file),
                    value=name[: _MAX_QUOTED // 2],
                    argument=Option("no_header"),
                )
            ]
    return []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parse_jsonl(block: Block, file: File, reading: Reading, schema: Schema | None) -> pl.DataFrame:
    """Return the objects of a block; those of a schema that does not fit are read as if there were none."""
    if len(block.data) <= reading.limit and _is_safe(block.data):
        for kinds in (schema, None):
            try:
                return pl.read_ndjson(block.data, schema=kinds, infer_schema_length=None)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
                continue
    undecoded: list[SearchError] = []
    records: list[dict[str, Any]] = []
    for line, text in enumerate(decode_lines(block, file, undecoded), block.first_line):
        if undecoded or len(text) > reading.limit:
            reading.bad_rows.add(undecoded.pop() if undecoded else make_length_error(file, line, reading.limit))
        elif not text.isspace():
            try:
                records.append(_check_record(json.loads(text), text, file, line))
            except SearchError as error:  # which is a ValueError
                reading.bad_rows.add(error)
            except (ValueError, RecursionError) as error:
                fields = {"reason": str(error), "text": text[:_MAX_QUOTED]}
                reading.bad_rows.add(make_row_error("invalid_json", file, line, **fields))
    return make_frame(records)


def _is_safe(data: bytes) -> bool:
    """Return whether Polars reads lines well: none is nested deeply, and no escape is half of a pair of surrogates.

    It takes minutes for a thousand levels, and reads such a half as NUL.
    """
    if _LONE_SURROGATE.search(data):
        return False
    n_openings = count_byte(data, b"[") + count_byte(data, b"{")
    return n_openings <= count_byte(data, b"\n") + _MAX_DEPTH or all(
        line.count(b"[") + line.count(b"{") <= _MAX_DEPTH for line in data.split(b"\n")
    )


def _check_record(record: Any, text: str, file: File, line: int) -> dict[str, Any]:
    """Return an object; a string is one with a text."""
    layer = [record]
    for _ in range(_MAX_DEPTH):
        layer = [inner for value in layer if isinstance(value, list | dict)
                 for inner in (value.values() if isinstance(value, dict) else value)]  # fmt: skip
    if layer:
        raise RecursionError("it is nested too deeply")
    if isinstance(record, str):
        return {"text": record}
    if not isinstance(record, dict):
        raise make_row_error("invalid_record", file, line, text=text[:_MAX_QUOTED])
    return record


def make_frame(records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return records as a table with all of their keys."""
    names = dict.fromkeys(name for record in records for name in record)
    columns = [make_series(replace_surrogates(name), [record.get(name) for record in records]) for name in names]
    return pl.DataFrame(columns)


def _read_json(file: File, reading: Reading) -> Iterator[Batch]:
    """Read the objects of an array, or of one after another, which are in memory as a whole."""
    limit = available_memory() // _JSON_GROWTH
    with open_stream(file, reading.progress) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise SearchError(
            "{file!r} has more than {limit:,} bytes, too many for one JSON value in the memory of this machine. Make "
            "JSON lines of it: jq -c '.[]'.",
            code="table_too_large",
            file=str(file),
            limit=limit,
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise make_encoding_error(error, file, 1) from error
    records = _iterate_values(text, file, reading.bad_rows)
    while batch := list(islice(records, _BATCH_ROWS)):
        lines = "\n".join(map(json.dumps, batch)).encode()
        block = Block(lines, 1)
        yield Batch(partial(_parse_jsonl, block, file, reading), block.describe(file))


def _iterate_values(text: str, file: File, bad_rows: BadRows) -> Iterator[dict[str, Any]]:
    decoder, separator = json.JSONDecoder(), re.compile(r"[\s,]*")
    position, line = cast(re.Match[str], re.match(r"\s*\[?\s*", text)).end(), 1
    is_array, done = "[" in text[:position], 0
    while position < len(text) and not (is_array and text[position] == "]"):
        line, done = line + text.count("\n", done, position), position
        try:
            value, position = decoder.raw_decode(text, position)
            yield _check_record(value, str(value), file, line)
        except SearchError as error:
            bad_rows.add(error)
        except (ValueError, RecursionError) as error:
            line += text.count("\n", done, getattr(error, "pos", done))
            raise make_row_error("invalid_json", file, line, reason=str(error), text="") from error
        position = cast(re.Match[str], separator.match(text, position)).end()
    if is_array and position >= len(text):
        raise make_row_error("invalid_json", file, line, reason="the array has no end", text="")


def _read_parquet(file: File, reading: Reading) -> Iterator[pl.DataFrame]:
    yield from _collect(pl.scan_parquet(cast(Path, file.path), glob=False, hive_partitioning=False), reading)


def _collect(rows: pl.LazyFrame, reading: Reading) -> Iterator[pl.DataFrame]:
    """Yield batches of rows, at least one."""
    if reading.max_rows is not None:  # a stream that is not read to its end would keep the file open
        yield rows.head(reading.max_rows).collect()
        return
    batches = rows.collect_batches(chunk_size=_BATCH_ROWS)
    yield from chain([next(iter(batches), pl.DataFrame(schema=rows.collect_schema()))], batches)


def _read_arrow(file: File, reading: Reading) -> Iterator[pl.DataFrame]:
    path = cast(Path, file.path)
    with path.open("rb") as stream:
        is_file = stream.read(6) == b"ARROW1"
    rows = pl.scan_ipc(path, glob=False, hive_partitioning=False) if is_file else pl.read_ipc_stream(path).lazy()
    yield from _collect(rows, reading)


def _read_excel(file: File, reading: Reading) -> Iterator[pl.DataFrame]:
    """Read a sheet of a workbook: the named one, or the only one with rows."""
    import fastexcel

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it logs every column without values
    check_archive(file)
    book = fastexcel.read_excel(cast(Path, file.path))
    header = None if reading.no_header else 0
    sheets = {name: book.load_sheet(name, header_row=header, schema_sample_rows=None) for name in book.sheet_names}
    title = _choose_table(file, [name for name, sheet in sheets.items() if sheet.width], "sheet")
    frame = sheets[title].to_polars()
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    names = ["" if name.startswith("__UNNAMED__") else name for name in frame.columns]
    kept = [j for j, name in enumerate(names) if name or frame[:, j].null_count() < frame.height]
    frame = frame[:, kept].rename(dict(zip(frame.columns, rename_repeated(names), strict=True)), strict=False)
    if not reading.no_header:
        reading.notes += _check_header(
            frame.columns, frame.head(_N_FIRST_ROWS).cast(pl.String).fill_null("").rows(), file
        )
    whole = [column.name for column in frame.get_columns() if column.dtype == pl.Float64 and (column % 1 == 0).all()]
    yield remove_marks(frame).with_columns(pl.col(whole).cast(pl.Int64))


def _read_sqlite(file: File, _: Reading) -> Iterator[pl.DataFrame]:
    """Read a table of a database: the named one, or the only one."""
    with closing(sqlite3.connect(f"{cast(Path, file.path).absolute().as_uri()}?mode=ro", uri=True)) as database:
        database.text_factory = partial(str, encoding="utf-8", errors="replace")
        tables = [name for (name,) in database.execute(_SQLITE_TABLES)]
        # A name is an identifier: quoted, it cannot be anything else.
        name = _choose_table(file, tables, "table").replace('"', '""')
        with closing(database.execute(f'SELECT * FROM "{name}"')) as cursor:
            names = rename_repeated([column[0] for column in cursor.description])
            for rows in chain([cursor.fetchmany(_BATCH_ROWS)], iter(lambda: cursor.fetchmany(_BATCH_ROWS), [])):
                columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [[]] * len(names)
                yield pl.DataFrame(list(map(make_series, names, columns)))


def _choose_table(file: File, tables: Sequence[str], kind: str) -> str:
    """Return the table to read of a file that may have several; an error lists those there are."""
    if file.table in tables or (file.table is None and len(tables) == 1):
        return file.table or tables[0]
    listed = ", ".join(tables[:_MAX_LISTED]) + (", ..." if len(tables) > _MAX_LISTED else "")
    fields: dict[str, Any] = {"file": str(file.path), "kind": kind, "tables": listed, "table": file.table}
    if not tables:
        raise SearchError("{file!r} has no {kind} with rows.", code="no_tables", **fields)
    if file.table is not None:
        raise SearchError("No {kind} {table!r} in {file!r}. It has: {tables}.", code="table_missing", **fields)
    raise SearchError(
        "{file!r} has {n_tables} {kind}s, but one is needed. Name it, as in {example!r}: {tables}.",
        code="unclear_table",
        n_tables=len(tables),
        example=f"{file.path}::{tables[0]}",
        **fields,
    )
