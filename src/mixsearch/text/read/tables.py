"""Documents in the rows of tables: CSV, TSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.types import NUMBERS, NUMBERS_WITH_COMMA, rename_repeated, to_nulls
from mixsearch.errors import SearchError
from mixsearch.text.options import limit_chunk_bytes
from mixsearch.text.read.columns import (
    Columns,
    build_batch,
    build_kept,
    join_texts,
    replace_surrogates,
    take_kept,
    to_text,
)
from mixsearch.text.read.documents import (
    ChunkLoader,
    DocumentChunk,
    ReadState,
    group_by_size,
    name_file,
)
from mixsearch.text.read.files import File, RemoteFile, get_size
from mixsearch.text.read.lines import decode, strip_bom
from mixsearch.text.read.sources import open_file
from mixsearch.text.read.summary import N_SAMPLE_ROWS

_DELIMITERS = ",;\t|"
# The largest limit that the parser accepts on every system; its default is shorter than a long article.
_MAX_FIELD = 2**31 - 1
_MAX_BATCH_ROWS = 1 << 20
# Rows in which columns of numbers are looked for.
_N_FIRST_ROWS = 100


def read_csv(path: File | None, state: ReadState) -> Iterator[ChunkLoader]:
    """Read a table with a header, delimited by the most frequent of comma, semicolon, tab and bar in the header."""
    csv.field_size_limit(_MAX_FIELD)
    with open_file(path, state.progress) as file:
        lines = _decode_lines(file, state.options.encoding, path)
        header = next(lines, "")
        if not header.strip():
            raise SearchError(
                "{file!r} has no header: line 1 must hold the names of the columns.",
                code="no_header",
                file=name_file(path),
            )
        delimiter = _guess_delimiter(header, state.options.format)
        rows = csv.reader(chain([header], lines), delimiter=delimiter, strict=True)
        names = rename_repeated(next(rows))
        readings = NUMBERS if delimiter == "," else NUMBERS_WITH_COMMA
        columns: Columns | None = None
        for chunk in group_by_size(_check_rows(rows, names, path), limit_chunk_bytes(state.options)):
            if columns is None:
                # Every value of a CSV is a string, but a column of numbers does not hold the text.
                strings = _find_text_columns(names, [row for _, row in chunk[:_N_FIRST_ROWS]])
                columns = state.resolve_columns(names, strings, path, partial(_sample_rows, chunk, names, readings))
            yield partial(_load_rows, chunk, names, columns, path, readings)


def read_parquet(path: File | None, state: ReadState, span: range | None = None) -> Iterator[ChunkLoader]:
    """Read the columns in use of a Parquet file; with a span, only those of its row groups."""
    if path is None:
        raise SearchError(
            "Parquet cannot be read from standard input, because it is read from its end. Name a file.",
            code="parquet_on_stdin",
        )
    with open_parquet(path) as file:
        fields = list(file.schema_arrow)
        strings = [field.name for field in fields if holds_text(field.type)]
        names = [field.name for field in fields]
        columns = state.resolve_columns(names, strings, path, partial(_sample_batch, file))
        yield from _read_batches(file, columns, path, state, span)


@contextmanager
def open_parquet(path: File) -> Iterator[Any]:
    """Open a Parquet file with PyArrow; errors while it is read name the file."""
    arrow = import_pyarrow("Parquet files")
    from pyarrow import parquet

    try:
        with ExitStack() as stack:
            # PyArrow opens local files itself.
            source = stack.enter_context(path.open("rb")) if isinstance(path, RemoteFile) else path
            yield stack.enter_context(parquet.ParquetFile(source))
    except (arrow.ArrowException, OSError) as error:
        raise SearchError(
            "Cannot read {file!r} as Parquet: {reason}. Check that the file is complete.",
            code="unreadable_file",
            file=name_file(path),
            reason=str(error),
        ) from error


def measure_row_groups(file: Any, columns: Columns) -> list[int]:
    """Return the decompressed bytes of the columns in use, of each row group."""
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    return [_sum_bytes([group.column(j) for j in range(group.num_columns)], columns) for group in groups]


def _sum_bytes(chunks: list[Any], columns: Columns) -> int:
    return sum(c.total_uncompressed_size for c in chunks if c.path_in_schema.split(".")[0] in columns.all)


def _read_batches(
    file: Any, columns: Columns, path: File, state: ReadState, span: range | None
) -> Iterator[ChunkLoader]:
    groups = range(file.num_row_groups) if span is None else span
    n_rows, n_bytes = max(file.metadata.num_rows, 1), max(sum(measure_row_groups(file, columns)), 1)
    rows_per_batch = min(max(1, limit_chunk_bytes(state.options) * n_rows // n_bytes), _MAX_BATCH_ROWS)
    available = columns.list_available(file.schema_arrow.names)
    start, size = sum(file.metadata.row_group(group).num_rows for group in range(groups.start)), get_size(path) or 0
    for batch in file.iter_batches(batch_size=rows_per_batch, row_groups=list(groups), columns=available):
        state.progress.add(size * (start + batch.num_rows) // n_rows - size * start // n_rows)
        yield partial(load_batch, batch, columns, start, path)
        start += batch.num_rows


def load_batch(batch: Any, columns: Columns, start: int, path: File | str) -> DocumentChunk:
    """Return the documents of a record batch, whose first row is this row of a file or table."""
    values = [batch.column(name).to_pylist() for name in columns.texts]
    texts = [join_texts(row) for row in zip(*values, strict=True)]
    names = None if columns.id is None else [to_text(value) for value in batch.column(columns.id).to_pylist()]
    locate = partial(_locate_row, start, path)
    n_missing = sum(all(value is None for value in row) for row in zip(*values, strict=True))
    return DocumentChunk(texts, names, locate, take_kept(batch, columns), n_missing)


def _locate_row(start: int, path: File | str, i: int) -> str:
    return f"row {start + i + 1:,} of {name_file(path)!r}"


def _sample_batch(file: Any) -> Any:
    """Return the first rows of all columns but those of bytes, such as images."""
    names = [field.name for field in file.schema_arrow if "binary" not in str(field.type)]
    empty = file.schema_arrow.empty_table().select(names).to_batches()
    return next(file.iter_batches(batch_size=N_SAMPLE_ROWS, columns=names), empty[0] if empty else None)


def holds_text(kind: Any) -> bool:
    """Return whether a type of PyArrow is text."""
    types = import_pyarrow("Parquet files").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _decode_lines(file: BinaryIO, encoding: str, path: File | None) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        yield decode(strip_bom(line, path) if number == 1 else line, encoding, path, number)


def _guess_delimiter(header: str, format: str | None) -> str:
    return "\t" if format == "tsv" else max(_DELIMITERS, key=header.count)


def _check_rows(rows: Any, names: Sequence[str], path: File | None) -> Iterator[tuple[tuple[int, list[str]], int]]:
    """Yield rows with the number of their first line, and their sizes."""
    while True:
        line = rows.line_num + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise SearchError(
                "The row that starts in line {line:,} of {file!r} is not valid CSV ({reason}). Look for a quotation "
                "mark that is not closed or not doubled.",
                code="invalid_csv",
                line=line,
                file=name_file(path),
                reason=str(error),
            ) from error
        if row is None:
            return
        if row and len(row) != len(names):
            raise SearchError(
                "Line {line:,} of {file!r} has {n_values} values, but the header has {n_columns}. Quote the values "
                "that contain the delimiter.",
                code="wrong_row_length",
                line=line,
                file=name_file(path),
                n_values=len(row),
                n_columns=len(names),
            )
        # In a table with one column, an empty line is an empty value.
        if row or len(names) == 1:
            yield (line, row or [""]), sum(map(len, row))


def _find_text_columns(names: Sequence[str], rows: Sequence[list[str]]) -> list[str]:
    values = zip(*rows, strict=True)
    return [name for name, column in zip(names, values, strict=True) if not all(map(_is_number, column))]


def _is_number(value: str) -> bool:
    try:
        float(value or 0)
    except ValueError:
        return False
    return True


def _load_rows(
    chunk: list[tuple[int, list[str]]],
    names: Sequence[str],
    columns: Columns,
    path: File | None,
    readings: Sequence[str],
) -> DocumentChunk:
    indices = [names.index(name) for name in columns.texts]
    texts = [replace_surrogates(join_texts([row[index] for index in indices])) for _, row in chunk]
    ids = None if columns.id is None else [row[names.index(columns.id)] for _, row in chunk]
    found = {name: names.index(name) for name in columns.kept if name in names}
    values = {name: to_nulls([row[index] for _, row in chunk]) for name, index in found.items()}
    kept = build_kept(values, columns, len(chunk), readings)
    return DocumentChunk(texts, ids, lambda i: f"line {chunk[i][0]:,} of {name_file(path)!r}", kept)


def _sample_rows(chunk: list[tuple[int, list[str]]], names: Sequence[str], readings: Sequence[str]) -> Any:
    rows = [row for _, row in chunk[:N_SAMPLE_ROWS]]
    return build_batch({name: to_nulls([row[i] for row in rows]) for i, name in enumerate(names)}, readings)
