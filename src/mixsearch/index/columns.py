"""Columns of the documents of an index, such as dates and places, read when they are used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.index.column_file import FACT, ID, ROW, TABLE, StoredColumn, read_segment
from mixsearch.io.disk import damage_error
from mixsearch.io.folder import Folder
from mixsearch.io.tables import concat
from mixsearch.topics.segments import Segment, read_segments

# As many documents are read without the others.
_FEW_ROWS = 100


class Columns:
    """The columns of all documents of an index, in the order of the corpus."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    @property
    def described(self) -> list[StoredColumn]:
        """The names and types of the columns, without reading them or listing the row of each document."""
        return [column for column in self._stored if column.name != ROW]

    @property
    def names(self) -> list[str]:
        """The names of the columns, that of the rows too."""
        return [column.name for column in self._stored]

    @property
    def _stored(self) -> list[StoredColumn]:
        return [StoredColumn(**column) for column in self._folder.facts.get(FACT, [])]

    def find(self, role: str) -> str | None:
        """Return the first column of a role, if there is one."""
        return next((column.name for column in self.described if column.role == role), None)

    @cached_property
    def table(self) -> pl.DataFrame:
        """The columns as a data frame, one row per document."""
        return self._read_all(None)

    def select(self, names: Sequence[str]) -> pl.DataFrame:
        """Read some columns of all documents; all columns if one of the names is unknown."""
        if "table" in self.__dict__ or not set(names) <= set(self.names):
            return self.table
        return self._read_all(list(dict.fromkeys(names)))

    def _read_all(self, names: list[str] | None) -> pl.DataFrame:
        if not self.names:
            raise SearchError(
                "The index '{path}' has no columns other than the texts. Build it again from a table with columns.",
                code="no_columns",
                path=str(self._folder.path),
            )
        return concat([self._read(segment, names) for segment in read_segments(self._folder)])

    @property
    def kept(self) -> list[StoredColumn]:
        """The columns kept from the input, without the row and the name of each document."""
        return [column for column in self.described if column.role != ID]

    def list_values(self, indices: Array) -> list[dict[str, Any]]:
        """Return the values of the kept columns of some documents."""
        names = [column.name for column in self.kept]
        return self.take(indices, names).to_dicts() if names else [{} for _ in indices]

    def take(self, indices: Array, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Read the columns of some documents; of a few, only the rows stored with them are read."""
        rows, chosen = np.asarray(indices), self.names if names is None else list(names)
        if "table" in self.__dict__ or not 0 < len(rows) <= _FEW_ROWS:
            return (self.table if names is None else self.select(chosen))[chosen][rows]
        parts, positions = [], []
        for segment in read_segments(self._folder):
            inside = np.flatnonzero((rows >= segment.first) & (rows < segment.first + segment.n_documents))
            if len(inside):
                parts.append(self._read(segment, chosen, rows[inside] - segment.first))
                positions.append(inside)
        frame = concat(parts)
        absent = [pl.lit(None).alias(name) for name in chosen if name not in frame.columns]  # others have them
        return frame.with_columns(absent)[chosen][np.argsort(np.concatenate(positions))]

    def _read(self, segment: Segment, names: list[str] | None, rows: Array | None = None) -> pl.DataFrame:
        """Read columns of the documents of a segment, or of some of them."""
        if (name := segment.place(TABLE)) not in self._folder.tables:
            # Documents without columns, such as plain text that was added.
            known = np.asarray(self._folder[segment.place("documents/rows")])
            return pl.DataFrame({ROW: known if rows is None else known[rows]})
        if (n_rows := len(self._folder.table(name))) != segment.n_documents:
            raise damage_error(
                "'{path}' is damaged: it has columns of {n_rows:,} documents, not {n_documents:,}.",
                path=str(self._folder.path),
                n_rows=n_rows,
                n_documents=segment.n_documents,
            )
        frame = read_segment(self._folder, segment, names, rows)
        assert frame is not None
        return frame


def to_plain(value: Any) -> Any:
    """Return a value of a column as JSON has it: dates and times as text, what is not a number as None."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
