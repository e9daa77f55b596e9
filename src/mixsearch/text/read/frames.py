"""Documents in memory: the rows of a data frame, or the strings of a Series, a list or a generator."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.location import is_remote, split_table
from mixsearch.data.files.rows import build_batch
from mixsearch.data.files.types import rename_repeated
from mixsearch.text.options import limit_chunk_bytes
from mixsearch.text.read.columns import N_SAMPLE_ROWS
from mixsearch.text.read.documents import ChunkLoader, ReadState
from mixsearch.text.read.tables import holds_text, load_batch

TABLE = "the table"
_NEED = "Data frames"
# Strings of a list that are looked at to learn whether they are texts or the names of files.
_N_FIRST = 100
_MAX_PATH = 4096


def is_frame(source: Any) -> bool:
    """Return whether a source is a table: of pandas, Polars, Arrow, DuckDB, or a mapping from names to columns."""
    if isinstance(source, Mapping):
        return True
    has_columns = any(hasattr(source, name) for name in ("collect_schema", "columns", "schema"))
    return has_columns and any(hasattr(source, name) for name in ("__arrow_c_stream__", "iloc", "collect"))


def list_frame_columns(frame: Any) -> list[str]:
    """Return the names of the columns of a table as `read_frame` names them. No row is read: a stream has each once."""
    if isinstance(frame, Mapping):
        return list(map(str, frame))
    if hasattr(frame, "iloc"):
        return list(read_pandas(frame.iloc[:0]).schema.names)
    if hasattr(frame, "collect_schema"):  # of Polars
        return list(frame.collect_schema().names())
    return list(frame.schema.names if hasattr(frame, "schema") else frame.columns)  # of Arrow or DuckDB


def are_texts(source: Any) -> bool:
    """Return whether a source has texts, not names of files: an array, a Series, an iterator, or a list of them.

    A list of strings holds texts if none of the first is a file, a pattern of files or a URL, and one has a blank.
    """
    if isinstance(source, str | os.PathLike) or not isinstance(source, Iterable):
        return False
    if not isinstance(source, list | tuple):
        return True
    first = source[:_N_FIRST]
    if any(isinstance(item, os.PathLike) for item in first):
        return False
    strings = [item for item in first if isinstance(item, str)]
    if len(strings) < len(first):
        return True
    return any(len(text.split()) > 1 for text in strings) and not any(map(_names_files, strings))


def read_frame(source: Any, state: ReadState) -> Iterator[ChunkLoader]:
    """Read the documents of a data frame or of another table in memory, batch by batch."""
    batches = _list_batches(source)
    first = next(batches, None)
    if first is None:
        return
    strings = [field.name for field in first.schema if holds_text(field.type)]
    sample = partial(first.slice, 0, N_SAMPLE_ROWS)
    columns = state.resolve_columns(first.schema.names, strings, TABLE, sample)
    start, size = 0, limit_chunk_bytes(state.options)
    for batch in chain([first], batches):
        n_rows = max(1, batch.num_rows * size // max(batch.nbytes, 1))
        for offset in range(0, batch.num_rows, n_rows):
            part = batch.slice(offset, n_rows)
            yield partial(load_batch, part, columns, start, TABLE)
            start += part.num_rows


def _list_batches(source: Any) -> Iterator[Any]:
    """Yield the rows of a table as record batches, at least one; those of a stream are read as they are needed."""
    arrow = import_pyarrow(_NEED)
    if isinstance(source, Mapping):
        yield _plain(build_batch({str(name): list(column) for name, column in source.items()}, ()))
        return
    if hasattr(source, "iloc"):
        yield _plain(read_pandas(source))
        return
    if not hasattr(source, "__arrow_c_stream__"):  # a query of Polars that has not run
        source = source.collect()
    reader = arrow.RecordBatchReader.from_stream(source)
    filled = (batch for batch in reader if batch.num_rows)
    yield _plain(next(filled, None) or arrow.RecordBatch.from_pydict(reader.schema.empty_table().to_pydict()))
    yield from map(_plain, filled)


def read_pandas(frame: Any) -> Any:
    """Return a data frame of pandas as a record batch, with the levels of its index that have a name."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index(level=[name for name in frame.index.names if name is not None])
    arrow = import_pyarrow(_NEED)
    names = rename_repeated(list(map(str, frame.columns)))
    columns = {name: _read_series(frame.iloc[:, i], arrow) for i, name in enumerate(names)}
    return arrow.RecordBatch.from_pydict(columns)


def _read_series(series: Any, arrow: Any) -> Any:
    try:
        column = arrow.array(series, from_pandas=True)
    except (arrow.ArrowException, OverflowError, UnicodeEncodeError):
        # Values without a common type become text.
        values = [None if missing else value for value, missing in zip(series, series.isna(), strict=True)]
        return build_batch({"": values}, ()).column(0)
    return column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column


def _plain(batch: Any) -> Any:
    """Return a record batch whose texts and categories have one type, whichever package they come from."""
    for index, field in enumerate(batch.schema):
        batch = batch.set_column(index, field.name, _plain_column(batch.column(index)))
    return batch


def _plain_column(column: Any) -> Any:
    types = import_pyarrow(_NEED).types
    if types.is_dictionary(column.type):
        return _plain_column(column.dictionary).take(column.indices)
    is_text = types.is_large_string(column.type) or types.is_string_view(column.type)
    return column.cast("string") if is_text else column


def _names_files(text: str) -> bool:
    if len(text) > _MAX_PATH or "\n" in text:
        return False
    text, _ = split_table(text)
    return (
        (is_remote(text) and " " not in text)
        or os.path.exists(text)
        or (glob.has_magic(text) and bool(glob.glob(text)))
    )
