"""Columns of the documents of an index, such as dates and places, read when they are used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow, take_rows
from mixsearch.errors import SearchError
from mixsearch.index.column_file import FACT, ID, NEED, ROW, StoredColumn, read_segment
from mixsearch.storage.reader import Folder
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
    def table(self) -> Any:
        """The columns as a pyarrow.Table, one row per document."""
        return self._read_all(None)

    def select(self, names: Sequence[str]) -> Any:
        """Return some columns of all documents; the others are not read."""
        if "table" in self.__dict__ or not set(names) <= set(self.names):
            return self.table
        return self._read_all(list(dict.fromkeys(names)))

    def _read_all(self, names: list[str] | None) -> Any:
        arrow = import_pyarrow(NEED)
        if not self.names:
            raise SearchError(
                "The index '{path}' has no columns other than the texts. Build it again from a table with columns.",
                code="no_columns",
                path=str(self._folder.path),
            )
        tables = [self._read(segment, names) for segment in read_segments(self._folder)]
        return arrow.concat_tables(tables, promote_options="permissive").combine_chunks()

    @property
    def kept(self) -> list[StoredColumn]:
        """The columns kept from the input, without the row and the name of each document."""
        return [column for column in self.described if column.role != ID]

    def list_values(self, indices: Array) -> list[dict[str, Any]]:
        """Return the values of the kept columns of some documents."""
        names = [column.name for column in self.kept]
        if not names:
            return [{} for _ in indices]
        values: list[dict[str, Any]] = self.take(indices, names).to_pylist()
        return values

    def take(self, indices: Array, names: Sequence[str] | None = None) -> Any:
        """Return the columns of some documents."""
        if len(indices) <= _FEW_ROWS and "table" not in self.__dict__:
            return self._take_few(np.asarray(indices), self.names if names is None else list(names))
        table = self.table if names is None else self.select(names).select(list(names))
        return take_rows(table, indices)

    def _take_few(self, indices: Array, names: list[str]) -> Any:
        """Return columns of a few documents, in their order, of which only the rows stored with them are read."""
        arrow = import_pyarrow(NEED)
        parts, positions = [], []
        for segment in read_segments(self._folder):
            own = np.flatnonzero((indices >= segment.first) & (indices < segment.first + segment.n_documents))
            if len(own):
                parts.append(self._read(segment, names, indices[own] - segment.first))
                positions.append(own)
        table = arrow.concat_tables(parts, promote_options="permissive")
        for name in set(names) - set(table.column_names):  # a column that other documents have
            table = table.append_column(name, arrow.nulls(len(table)))
        return take_rows(table.select(names), np.argsort(np.concatenate(positions)))

    def _read(self, segment: Segment, names: list[str] | None, rows: Array | None = None) -> Any:
        """Return columns of the documents of a segment, or of some of them."""
        table = read_segment(self._folder, segment, names, rows)
        if table is None:
            # Documents without columns, such as plain text that was added: values are missing.
            known = np.asarray(self._folder[segment.place("documents/rows")])
            table = import_pyarrow(NEED).table({ROW: known if rows is None else known[rows]})
        return table


def to_plain(value: Any) -> Any:
    """Return a value of a column as JSON has it: dates and times as text, what is not a number as None."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
