"""Documents in the rows of tables: CSV, TSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

from mixsearch.errors import SearchError
from mixsearch.text.read.columns import Columns, as_text, join_texts
from mixsearch.text.read.documents import Documents, Load, Reading, file_name, gather, repair
from mixsearch.text.read.files import File, RemoteFile, size_of
from mixsearch.text.read.lines import decode, without_bom
from mixsearch.text.read.sources import load_arrow, open_bytes

_DELIMITERS = ",;\t|"
# As much as the parser can count on every system; its own limit is less than a long article.
_LONGEST_FIELD = 2**31 - 1


def read_csv(path: File | None, reading: Reading) -> Iterator[Load]:
    """A table with a header; the delimiter is the likeliest of comma, semicolon, tab and bar."""
    csv.field_size_limit(_LONGEST_FIELD)
    with open_bytes(path, reading.progress) as file:
        lines = _decoded_lines(file, reading.options.encoding, path)
        header = next(lines, "")
        if not header.strip():
            raise SearchError(f"Found no header in {file_name(path)}, needed the names of the columns in line 1.")
        rows = csv.reader(chain([header], lines), delimiter=_delimiter(header, reading.options.format), strict=True)
        names = next(rows)
        # Every value of a CSV is a string, but a column of numbers is not what a text is looked for in.
        columns: Columns | None = None
        for block in gather(_checked_rows(rows, names, path), reading.options.block_bytes):
            if columns is None:
                columns = reading.settle_columns(names, _text_columns(names, [row for _, row in block[:100]]), path)
            yield partial(_load_rows, block, names, columns, path)


def read_parquet(path: File | None, reading: Reading, span: range | None = None) -> Iterator[Load]:
    """A Parquet file, of which only the columns in use are read; with a span, only those of its row groups."""
    if path is None:
        raise SearchError("Found Parquet on standard input, needed a file: Parquet is read from its end.")
    with opened_parquet(path) as file:
        fields = list(file.schema_arrow)
        strings = [field.name for field in fields if _holds_text(field.type)]
        columns = reading.settle_columns([field.name for field in fields], strings, path)
        yield from _read_batches(file, columns, path, reading, span)


@contextmanager
def opened_parquet(path: File) -> Iterator[Any]:
    """A Parquet file of PyArrow's; what breaks on the way is said with its name."""
    arrow = load_arrow("Parquet files")
    from pyarrow import parquet

    try:
        with ExitStack() as stack:
            # PyArrow opens files of this machine itself.
            source = stack.enter_context(path.open("rb")) if isinstance(path, RemoteFile) else path
            yield stack.enter_context(parquet.ParquetFile(source))
    except (arrow.ArrowException, OSError) as error:
        raise SearchError(f"Could not read {file_name(path)} as Parquet: {error}. Is the file whole?") from error


def _read_batches(file: Any, columns: Columns, path: File, reading: Reading, span: range | None) -> Iterator[Load]:
    groups = range(file.num_row_groups) if span is None else span
    n_rows, n_bytes = max(file.metadata.num_rows, 1), max(sum(group_bytes(file, columns)), 1)
    rows_per_batch = min(max(1, reading.options.block_bytes * n_rows // n_bytes), 1 << 20)
    start, size = sum(file.metadata.row_group(group).num_rows for group in range(groups.start)), size_of(path) or 0
    for batch in file.iter_batches(batch_size=rows_per_batch, row_groups=list(groups), columns=columns.all):
        reading.progress.add(size * (start + batch.num_rows) // n_rows - size * start // n_rows)
        yield partial(_load_batch, batch, columns, start, path)
        start += batch.num_rows


def group_bytes(file: Any, columns: Columns) -> list[int]:
    """Bytes of the columns in use of each row group, decompressed."""
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    return [_bytes_of([group.column(j) for j in range(group.num_columns)], columns) for group in groups]


def _bytes_of(chunks: list[Any], columns: Columns) -> int:
    return sum(c.total_uncompressed_size for c in chunks if c.path_in_schema.split(".")[0] in columns.all)


def _load_batch(batch: Any, columns: Columns, start: int, path: File) -> Documents:
    values = [batch.column(name).to_pylist() for name in columns.texts]
    texts = [join_texts(row) for row in zip(*values, strict=True)]
    names = None if columns.id is None else [as_text(value) for value in batch.column(columns.id).to_pylist()]
    return Documents(texts, names, lambda i: f"row {start + i + 1:,} of {file_name(path)}")


def _holds_text(kind: Any) -> bool:
    types = load_arrow("Parquet files").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _decoded_lines(file: BinaryIO, encoding: str, path: File | None) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        yield decode(without_bom(line, path) if number == 1 else line, encoding, path, number)


def _delimiter(header: str, format: str | None) -> str:
    return "\t" if format == "tsv" else max(_DELIMITERS, key=header.count)


def _checked_rows(rows: Any, names: Sequence[str], path: File | None) -> Iterator[tuple[tuple[int, list[str]], int]]:
    """Rows with the number of their first line, and their sizes."""
    while True:
        line = rows.line_num + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise SearchError(
                f"Found a broken row that starts in line {line:,} of {file_name(path)} ({error}): look for a quotation "
                "mark that is not closed or not doubled."
            ) from error
        if row is None:
            return
        if row and len(row) != len(names):
            raise SearchError(
                f"Found {len(row)} values in line {line:,} of {file_name(path)}, needed {len(names)} as in the header: "
                "quote the values that contain the delimiter."
            )
        # One column that is empty looks like no row at all, but it is one.
        if row or len(names) == 1:
            yield (line, row or [""]), sum(map(len, row))


def _text_columns(names: Sequence[str], rows: Sequence[list[str]]) -> list[str]:
    values = zip(*rows, strict=True)
    return [name for name, column in zip(names, values, strict=True) if not all(map(_is_number, column))]


def _is_number(value: str) -> bool:
    try:
        float(value or 0)
    except ValueError:
        return False
    return True


def _load_rows(
    block: list[tuple[int, list[str]]], names: Sequence[str], columns: Columns, path: File | None
) -> Documents:
    places = [names.index(name) for name in columns.texts]
    texts = [repair(join_texts([row[place] for place in places])) for _, row in block]
    ids = None if columns.id is None else [row[names.index(columns.id)] for _, row in block]
    return Documents(texts, ids, lambda i: f"line {block[i][0]:,} of {file_name(path)}")
