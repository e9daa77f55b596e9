"""The columns of the documents of a segment: the row and the name of each document, and what was kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.io.folder import Folder, FolderWriter
from mixsearch.io.tables import concat
from mixsearch.io.types import describe_type
from mixsearch.io.values import rename_repeated
from mixsearch.text.columns import summarize_columns
from mixsearch.topics.segments import Segment, place_in

TABLE = "columns"
# Columns before those that were kept: the row of a document in the input, and its name.
ROW, ID = "row", "id"
# The fact that describes them.
FACT = "columns"
# Kinds of values that can be in one column.
_ALIKE = ({"integer", "number"}, {"date", "datetime"})


@dataclass(frozen=True)
class StoredColumn:
    """A column of the documents of an index."""

    name: str
    kind: str
    role: str | None


class ColumnWriter:
    """Writes the columns of the documents of a segment."""

    def __init__(self, out: FolderWriter, segment: str = "") -> None:
        self._out, self._segment = out, segment
        self._frames: list[pl.DataFrame] = []

    def append(self, rows: Array, names: Sequence[str] | None, columns: pl.DataFrame) -> None:
        """Add documents."""
        self._frames.append(number_rows(rows, names, columns))

    def close(self) -> None:
        """Write the table, and describe the columns that are new."""
        if not self._frames:
            return
        frame = concat(self._frames)
        self._out.save_frame(place_in(self._segment, TABLE), frame)
        known = {column["name"] for column in self._out.facts.get(FACT, [])}
        new = [asdict(column) for column in _describe(frame) if column.name not in known]
        self._out.facts[FACT] = [*self._out.facts.get(FACT, []), *new]


def number_rows(rows: Array, names: Sequence[str] | None, columns: pl.DataFrame) -> pl.DataFrame:
    """Put the rows and names of documents before their columns."""
    known = [pl.Series(ROW, np.asarray(rows, dtype=np.int64))]
    if names is not None:
        known.append(pl.Series(ID, names, dtype=pl.String))
    series = [*known, *columns.get_columns()]
    labels = rename_repeated([each.name for each in series])
    return pl.DataFrame([each.alias(label) for each, label in zip(series, labels, strict=True)])


def _describe(frame: pl.DataFrame) -> list[StoredColumn]:
    roles = {summary.name: summary.role for summary in summarize_columns(frame)} | {ROW: None, ID: "id"}
    return [StoredColumn(name, describe_type(kind), roles.get(name)) for name, kind in frame.schema.items()]


def read_segment(
    folder: Folder, segment: Segment, names: Sequence[str] | None = None, rows: Array | None = None
) -> pl.DataFrame | None:
    """Read the table of a segment, or some of its columns and rows; None if its documents have no columns.

    Columns that it does not have are left out, and the row of each document is always there.
    """
    if segment.place(TABLE) not in folder.tables:
        return None
    table, columns = folder.table(segment.place(TABLE)), None if names is None else (ROW, *names)
    return table.collect(columns) if rows is None else table.take(rows, columns)


def drop_known(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop the rows and names of documents from their columns."""
    return frame.drop(ROW, ID, strict=False)


def read_schema(folder: Folder) -> Mapping[str, pl.DataType]:
    """Return the types of the columns of the documents of a fit."""
    return folder.table(TABLE).take([]).schema if TABLE in folder.tables else {}


def check_schema(schema: Mapping[str, pl.DataType], added: Mapping[str, pl.DataType]) -> None:
    """Raise if columns of documents to add have types that those of the index cannot take."""
    for name, kind in added.items():
        found, known = describe_type(kind), describe_type(schema.get(name, kind))
        if known != found and "null" not in (known, found) and not any({known, found} <= kinds for kinds in _ALIKE):
            raise SearchError(
                "Column {column!r} holds {found} in the documents to add, but {known} in the index. Convert it, or "
                "leave it out.",
                code="column_type_changed",
                column=name,
                found=found,
                known=known,
            )
