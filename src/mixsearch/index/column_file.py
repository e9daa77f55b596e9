"""The file of the columns of a segment: Parquet, with the row and the name of each document before what was kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow, take_rows
from mixsearch.errors import SearchError
from mixsearch.io.values import rename_repeated
from mixsearch.storage.reader import Folder
from mixsearch.storage.writer import FolderWriter
from mixsearch.text.read.columns import summarize_columns
from mixsearch.topics.segments import Segment, place_in

FILE = "documents.parquet"
# Columns of the file before those that were kept: the row of a document in the input, and its name.
ROW, ID = "row", "id"
# The fact that describes them.
FACT = "columns"
# Rows that are written together, and that are read to get one of them.
_GROUP_ROWS = 10_000
# What an error says if PyArrow is missing.
NEED = "Columns of documents"


@dataclass(frozen=True)
class StoredColumn:
    """A column of the documents of an index."""

    name: str
    kind: str
    role: str | None


class ColumnWriter:
    """Writes the columns of the documents of a segment as Parquet."""

    def __init__(self, out: FolderWriter, segment: str = "") -> None:
        self._out, self._segment = out, segment
        self._batches: list[Any] = []

    def append(self, rows: Array, names: Sequence[str] | None, columns: Any) -> None:
        """Add documents."""
        self._batches.append(number_rows(rows, names, columns))

    def close(self) -> None:
        """Write the file."""
        if not self._batches:
            return
        arrow = import_pyarrow(NEED)
        write_columns(self._out, arrow.concat_tables(self._batches, promote_options="permissive"), self._segment)


def number_rows(rows: Array, names: Sequence[str] | None, columns: Any) -> Any:
    """Return a table of columns with the rows and names of their documents before them."""
    arrow = import_pyarrow(NEED)
    known = {ROW: arrow.array(np.asarray(rows, dtype=np.int64))}
    if names is not None:
        known[ID] = arrow.array(names, arrow.string())
    labels = rename_repeated([*known, *columns.schema.names])
    return arrow.table([*known.values(), *columns.columns], names=labels)


def write_columns(out: FolderWriter, table: Any, segment: str = "") -> None:
    """Write a table of columns as the file of a segment, and describe the columns that are new."""
    from pyarrow import parquet

    with out.file(place_in(segment, FILE)) as path:
        parquet.write_table(table, path, compression="zstd", row_group_size=_GROUP_ROWS)
    known = {column["name"] for column in out.facts.get(FACT, [])}
    new = [column for column in _describe(table) if column.name not in known]
    out.facts[FACT] = [*out.facts.get(FACT, []), *map(asdict, new)]


def _describe(table: Any) -> list[StoredColumn]:
    sample = table.slice(0, 2000).combine_chunks().to_batches()
    roles = {each.name: each.role for each in summarize_columns(sample[0])} if sample else {}
    roles |= {ROW: None, ID: "id"}
    return [StoredColumn(field.name, str(field.type), roles.get(field.name)) for field in table.schema]


def read_segment(
    folder: Folder, segment: Segment, names: Sequence[str] | None = None, rows: Array | None = None
) -> Any | None:
    """Return the table of a segment, or some of its columns and rows; None if its documents have no columns.

    Columns that it does not have are left out, and the row of each document is always there.
    """
    name = segment.place(FILE)
    if name not in folder.files:
        return None
    file = _open_file(folder, name)
    stored = file.schema_arrow.names
    columns = stored if names is None else [ROW, *(each for each in names if each in stored and each != ROW)]
    if rows is None:
        return file.read(columns)
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    groups = np.searchsorted(starts, rows, side="right") - 1
    needed = np.unique(groups)
    # Where the rows are among those of the groups that are read.
    first = np.cumsum([0, *(sizes[group] for group in needed[:-1])])
    indices = first[np.searchsorted(needed, groups)] + rows - starts[groups]
    return take_rows(file.read_row_groups(needed.tolist(), columns), indices)


def _open_file(folder: Folder, name: str) -> Any:
    arrow = import_pyarrow(NEED)
    from pyarrow import parquet

    return parquet.ParquetFile(arrow.BufferReader(arrow.py_buffer(folder.file(name))))


def drop_known(table: Any) -> Any:
    """Return a table of columns without the rows and names of its documents."""
    return table.drop_columns([name for name in (ROW, ID) if name in table.column_names])


def read_schema(folder: Folder) -> Any:
    """Return the types of the columns of the documents of a fit; None if they have no columns."""
    return _open_file(folder, FILE).schema_arrow if FILE in folder.files else None


def check_schema(schema: Any, added: Any) -> None:
    """Raise if columns of documents to add have types that those of the index cannot take."""
    arrow = import_pyarrow(NEED)
    for field in added:
        if schema is None or field.name not in schema.names:
            continue
        known = schema.field(field.name).type
        try:
            merge_types(known, field.type)
        except arrow.ArrowException as error:
            raise SearchError(
                "Column {column!r} holds {found} in the documents to add, but {known} in the index. Convert it, or "
                "leave it out.",
                code="column_type_changed",
                column=field.name,
                found=str(field.type),
                known=str(known),
            ) from error


def merge_types(one: Any, other: Any) -> Any:
    """Return the type that holds the values of two."""
    arrow = import_pyarrow(NEED)
    schemas = [arrow.schema([("x", kind)]) for kind in (one, other)]
    return arrow.unify_schemas(schemas, promote_options="permissive").field(0).type
