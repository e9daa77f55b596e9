"""Documents in the rows of tables: CSV and TSV, and files of typed rows."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.detection import guess_delimiter
from mixsearch.data.files.location import File, get_size
from mixsearch.data.files.row_checks import BadRows, check_header, name_columns
from mixsearch.data.files.rows import build_batch, open_parquet, open_rows, read_row_groups
from mixsearch.data.files.signatures import Format
from mixsearch.data.files.streams import name_file, open_file, replace_surrogates, strip_bom
from mixsearch.data.files.types import NUMBERS, NUMBERS_WITH_COMMA, rename_repeated, to_nulls
from mixsearch.display import pluralize
from mixsearch.errors import SearchError
from mixsearch.text.options import limit_chunk_bytes, limit_document_bytes, list_text_columns
from mixsearch.text.read.columns import N_SAMPLE_ROWS, Columns, build_kept, join_texts, take_kept, to_text
from mixsearch.text.read.documents import ChunkLoader, DocumentChunk, ReadState, group_by_size
from mixsearch.text.read.lines import make_encoding_error, make_long_line_error, skip_line

# The largest limit that the parser accepts on every system; its default is shorter than a long article.
_MAX_FIELD = 2**31 - 1
_MAX_BATCH_ROWS = 1 << 20
_N_READ_ROWS = 1 << 10
# Rows in which columns of numbers are looked for.
_N_FIRST_ROWS = 100

# Each row with its first line.
_NumberedRows = list[tuple[int, list[str]]]


def read_csv(path: File | None, state: ReadState, delimiter: str | None = None) -> Iterator[ChunkLoader]:
    """Read a table with a header, delimited by the most frequent of comma, semicolon, tab and bar in the header."""
    csv.field_size_limit(min(_MAX_FIELD, limit_document_bytes(state.options)))
    with open_file(path, state.progress) as file:
        undecoded: list[SearchError] = []
        lines = _decode_lines(file, path, state, undecoded)
        first_line = next(lines, "")
        if not first_line.strip():
            raise SearchError(
                "{file!r} has no header: line 1 must hold the names of the columns.",
                code="no_header",
                file=name_file(path),
            )
        mark = delimiter or guess_delimiter(first_line)
        rows = _read_rows(csv.reader(chain([first_line], lines), delimiter=mark, strict=True), path, state.bad_rows)
        header = next(rows, (1, [""]))
        names = name_columns(len(header[1])) if state.options.no_header else rename_repeated(header[1])
        checked = _check_rows(chain([header] if state.options.no_header else [], rows), names, path, state, undecoded)
        readings = NUMBERS if mark == "," else NUMBERS_WITH_COMMA
        columns: Columns | None = None
        for chunk in group_by_size(checked, limit_chunk_bytes(state.options)):
            if columns is None:
                first = [row for _, row in chunk[:_N_FIRST_ROWS]]
                _note_header(header[1], first, path, state)
                # Every value of a CSV is a string, but a column of numbers does not hold the text.
                strings = _find_text_columns(names, first)
                columns = state.resolve_columns(names, strings, path, partial(_sample_rows, chunk, names, readings))
            yield partial(_load_rows, chunk, names, columns, path, readings)


def read_rows(path: File | None, state: ReadState, format: Format) -> Iterator[ChunkLoader]:
    """Read the columns in use of a file of typed rows."""
    if path is None:
        raise _make_input_error(format)
    limit, start = limit_chunk_bytes(state.options), 0
    with open_rows(path, format, no_header=state.options.no_header) as source:
        fields = list(source.schema)
        if state.columns is None and not set(list_text_columns(state.options)) & set(source.schema.names):
            state.notes += [] if source.note is None else [source.note]
        names, strings = [field.name for field in fields], [field.name for field in fields if holds_text(field.type)]
        columns = state.resolve_columns(names, strings, path, partial(_sample_batch, source.schema, source.batches))
        for batch in source.batches(columns.list_available(names), _MAX_BATCH_ROWS):
            for part in _cut(batch, limit):
                yield partial(load_batch, part, columns, start, path)
                start += part.num_rows
    state.progress.add(get_size(path) or 0)


def read_parquet(path: File | None, state: ReadState, span: range | None = None) -> Iterator[ChunkLoader]:
    """Read the columns in use of a Parquet file; with a span, only those of its row groups."""
    if path is None:
        raise _make_input_error("parquet")
    with open_parquet(path) as file:
        fields = list(file.schema_arrow)
        names = rename_repeated([field.name for field in fields])
        strings = [name for name, field in zip(names, fields, strict=True) if holds_text(field.type)]
        read = partial(read_row_groups, file, groups=range(file.num_row_groups))
        columns = state.resolve_columns(names, strings, path, partial(_sample_batch, file.schema_arrow, read))
        yield from _read_batches(file, columns, path, state, span)


def measure_row_groups(file: Any, columns: Columns) -> list[int]:
    """Return the decompressed bytes of the columns in use, of each row group."""
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    return [_sum_bytes([group.column(j) for j in range(group.num_columns)], columns) for group in groups]


def _sum_bytes(chunks: list[Any], columns: Columns) -> int:
    return sum(c.total_uncompressed_size for c in chunks if c.path_in_schema.split(".")[0] in columns.all)


def _make_input_error(format: Format) -> SearchError:
    return SearchError(
        "Files of the format {format} cannot be read from standard input, because they need random access. Name a "
        "file.",
        code="format_on_stdin",
        format=format,
    )


def _read_batches(
    file: Any, columns: Columns, path: File, state: ReadState, span: range | None
) -> Iterator[ChunkLoader]:
    groups = range(file.num_row_groups) if span is None else span
    n_rows = max(file.metadata.num_rows, 1)
    start, size = sum(file.metadata.row_group(group).num_rows for group in range(groups.start)), get_size(path) or 0
    available = columns.list_available(rename_repeated(file.schema_arrow.names))
    # Stored sizes tell little: a text that is repeated is stored once.
    limit = limit_chunk_bytes(state.options)
    parts = (part for batch in read_row_groups(file, available, _N_READ_ROWS, groups) for part in _cut(batch, limit))
    for joined in group_by_size(((part, _measure(part)) for part in parts), limit):
        batch = import_pyarrow("Parquet files").concat_batches(joined)
        state.progress.add(size * (start + batch.num_rows) // n_rows - size * start // n_rows)
        yield partial(load_batch, batch, columns, start, path)
        start += batch.num_rows


def _cut(batch: Any, limit: int) -> Iterator[Any]:
    """Yield parts of a record batch, each of about this number of bytes at most."""
    n_rows = max(1, limit * batch.num_rows // max(_measure(batch), 1))
    yield from (batch.slice(first, n_rows) for first in range(0, batch.num_rows, n_rows))


def _measure(batch: Any) -> int:
    """Return the bytes of a record batch; of texts that are stored once and repeated, with every repetition."""
    from pyarrow import compute

    n_bytes = 0
    for column, field in zip(batch.columns, batch.schema, strict=True):
        if holds_text(field.type) and hasattr(column, "dictionary"):
            lengths = compute.binary_length(column.dictionary)
            n_bytes += compute.sum(lengths.take(column.indices)).as_py() or 0
        else:
            n_bytes += column.nbytes
    return n_bytes


def load_batch(batch: Any, columns: Columns, start: int, path: File | str) -> DocumentChunk:
    """Return the documents of a record batch, whose first row is this row of a file or table."""
    values = [batch.column(name).to_pylist() for name in columns.texts]
    texts = [join_texts(row) for row in zip(*values, strict=True)]
    names = None if columns.id is None else [to_text(value) for value in batch.column(columns.id).to_pylist()]
    n_missing = sum(all(value is None for value in row) for row in zip(*values, strict=True))
    locate = partial(_locate_row, start, path)
    return DocumentChunk(texts, names, locate, take_kept(batch, columns), n_missing)


def _locate_row(start: int, path: File | str, i: int) -> str:
    return f"row {start + i + 1:,} of {name_file(path)!r}"


def _sample_batch(schema: Any, read: Any) -> Any:
    """Return the first rows of all columns but those of bytes, such as images."""
    unique = rename_repeated(schema.names)
    names = [name for name, field in zip(unique, schema, strict=True) if "binary" not in str(field.type)]
    return next(read(names, N_SAMPLE_ROWS), build_batch({name: [] for name in names}, ()))


def holds_text(kind: Any) -> bool:
    """Return whether a type of PyArrow is text."""
    types = import_pyarrow("Parquet files").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _decode_lines(file: BinaryIO, path: File | None, state: ReadState, undecoded: list[SearchError]) -> Iterator[str]:
    """Yield lines. One that cannot be decoded is an error, or noted with its error so that its row is skipped."""
    limit = limit_document_bytes(state.options)
    for number, data in enumerate(iter(partial(file.readline, limit + 1), b""), start=1):
        if len(data) > limit:
            state.bad_rows.add(make_long_line_error(state, number, path))
            skip_line(file)
            continue
        line = strip_bom(data, path) if number == 1 else data
        try:
            yield line.decode(state.options.encoding)
        except UnicodeDecodeError as error:
            reason = make_encoding_error(error, path, number)
            if number == 1:
                raise reason from error
            if not state.bad_rows.are_skipped:
                state.bad_rows.add(reason)
            undecoded.append(reason)
            yield line.decode(state.options.encoding, errors="replace")


def _note_header(header: Sequence[str], rows: Sequence[Sequence[str]], path: File | None, state: ReadState) -> None:
    """Note a first row of the first file that looks like data, unless the user has named one of its columns."""
    is_known = state.columns is not None or set(list_text_columns(state.options)) & set(header)
    note = None if state.options.no_header or is_known else check_header(header, rows, path)
    state.notes += [] if note is None else [note]


def _read_rows(reader: Any, path: File | None, bad_rows: BadRows) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the number of their first line."""
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            bad_rows.add(
                SearchError(
                    "The row that starts in line {line:,} of {file!r} is not valid CSV ({reason}). Look for a "
                    "quotation mark that is not closed or not doubled.",
                    code="invalid_csv",
                    line=line,
                    file=name_file(path),
                    reason=str(error),
                )
            )
            continue
        if row is None:
            return
        yield line, row


def _check_rows(
    rows: Iterator[tuple[int, list[str]]],
    names: Sequence[str],
    path: File | None,
    state: ReadState,
    undecoded: list[SearchError],
) -> Iterator[tuple[tuple[int, list[str]], int]]:
    """Yield rows that have a value for each column, with their sizes."""
    for line, row in rows:
        if undecoded:
            # The lines of this row: the parser has asked for no other yet.
            state.bad_rows.add(undecoded[0])
            undecoded.clear()
            continue
        if row and len(row) != len(names):
            state.bad_rows.add(
                SearchError(
                    "Line {line:,} of {file!r} has {n_values} "
                    + pluralize(len(row), "value")
                    + ", but the header has {n_columns}. Quote the values that contain the delimiter.",
                    code="wrong_row_length",
                    line=line,
                    file=name_file(path),
                    n_values=len(row),
                    n_columns=len(names),
                )
            )
            continue
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
    chunk: _NumberedRows, names: Sequence[str], columns: Columns, path: File | None, readings: Sequence[str]
) -> DocumentChunk:
    indices = [names.index(name) for name in columns.texts]
    texts = [replace_surrogates(join_texts([row[index] for index in indices])) for _, row in chunk]
    ids = None if columns.id is None else [row[names.index(columns.id)] for _, row in chunk]
    found = {name: names.index(name) for name in columns.kept if name in names}
    values = {name: to_nulls([row[index] for _, row in chunk]) for name, index in found.items()}
    kept = build_kept(values, columns, len(chunk), readings)
    return DocumentChunk(texts, ids, lambda i: f"line {chunk[i][0]:,} of {name_file(path)!r}", kept)


def _sample_rows(chunk: _NumberedRows, names: Sequence[str], readings: Sequence[str]) -> Any:
    rows = [row for _, row in chunk[:N_SAMPLE_ROWS]]
    return build_batch({name: to_nulls([row[i] for row in rows]) for i, name in enumerate(names)}, readings)
