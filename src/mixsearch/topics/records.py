"""Names, texts and columns of the documents of an index, read when they are asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.errors import Option, SearchError
from mixsearch.io.column_names import make_unknown_error
from mixsearch.io.disk import damage_error
from mixsearch.io.folder import Folder, FolderWriter
from mixsearch.io.parquet import TEXT, Texts
from mixsearch.io.tables import concat
from mixsearch.io.types import describe_type
from mixsearch.io.values import rename_repeated
from mixsearch.text.columns import summarize_columns

# Files of a segment, and the fact that describes the columns.
TEXTS, COLUMNS = "texts", "columns"
# Columns before those that were kept: the row of a document in the input, and its name.
ROW, ID = "row", "id"
# The column of texts in memory: others do not begin with a blank.
_TEXT = " text"
# As many documents are read without the others.
_FEW_DOCUMENTS = 100
# Filters whose documents are remembered.
_N_MASKS = 32
# Kinds of values that can be in one column.
_ALIKE = ({"integer", "number"}, {"date", "datetime"})


class Document(NamedTuple):
    """A document of the corpus."""

    row: int
    name: str | None
    text: str
    columns: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class StoredColumn:
    """A column of the documents of an index."""

    name: str
    kind: str
    role: str | None


# ---- Writing --------------------------------------------------------------------------------------------------------


def make_records(
    rows: Array, texts: Sequence[str], names: Sequence[str] | None, columns: pl.DataFrame | None
) -> pl.DataFrame:
    """Make a table of documents: their rows in the input, names, columns, and texts under a name that no column has."""
    series = [pl.Series(ROW, rows, dtype=pl.Int64)]
    series += [] if names is None else [pl.Series(ID, names, dtype=pl.String)]
    series += [] if columns is None else columns.get_columns()
    labels = rename_repeated([each.name for each in series])
    listed = [each.alias(label) for each, label in zip(series, labels, strict=True)]
    return pl.DataFrame([*listed, pl.Series(_TEXT, texts, dtype=pl.String)])


def write_records(out: FolderWriter, segment: str, chunks: Iterable[pl.DataFrame]) -> None:
    """Write the records of a segment, as `make_records` makes them, and describe the columns that are new."""
    frames = []
    for records in chunks:
        out.save_texts(f"{segment}/{TEXTS}", records[_TEXT])
        frames.append(records.drop(_TEXT))
    frame = concat(frames)
    out.save_frame(f"{segment}/{COLUMNS}", frame)
    described = out.facts.setdefault(COLUMNS, [])
    names = {ROW, *(column["name"] for column in described)}
    roles = {summary.name: summary.role for summary in summarize_columns(frame)}
    columns = [StoredColumn(name, describe_type(kind), roles.get(name)) for name, kind in frame.schema.items()]
    described += [asdict(column) for column in columns if column.name not in names]


def read_records(folder: Folder, segment: str) -> pl.DataFrame:
    """Read the documents of a segment, as `make_records` makes them."""
    records = folder.table(f"{segment}/{COLUMNS}").collect()
    return records.with_columns(folder.texts(f"{segment}/{TEXTS}").collect()[TEXT].alias(_TEXT))


def check_schema(stored: Mapping[str, pl.DataType], added: Mapping[str, pl.DataType]) -> None:
    """Raise if columns of documents to add have types that those of the index cannot take."""
    for name, kind in added.items():
        types = {describe_type(kind), describe_type(stored.get(name, kind))}
        if len(types - {"null"}) > 1 and not any(types <= kinds for kinds in _ALIKE):
            raise SearchError(
                "Column {column!r} holds {found} in the documents to add, but {stored} in the index. Convert it, or "
                "leave it out.",
                code="column_type_changed",
                column=name,
                found=describe_type(kind),
                stored=describe_type(stored[name]),
            )


# ---- Reading --------------------------------------------------------------------------------------------------------


class Columns:
    """The columns of all documents of an index, in the order of the corpus.

    Parameters
    ----------
    folder : Folder
        The folder of the index.
    segments : sequence of str
        The names of its segments.
    has_names : bool
        Whether the first column has the names of the documents.
    """

    def __init__(self, folder: Folder, segments: Sequence[str], *, has_names: bool) -> None:
        self._folder, self._segments, self._has_names = folder, segments, has_names
        try:
            self.described = [StoredColumn(**column) for column in folder.facts.get(COLUMNS, [])]
            if not all(isinstance(column.name, str) for column in self.described):
                raise TypeError("a name that is not a text")
        except TypeError as error:
            raise damage_error("'{path}' is damaged: its columns are unknown.", path=str(folder.path)) from error
        self._mask = lru_cache(_N_MASKS)(self._compute_mask)

    @property
    def names(self) -> list[str]:
        """The names of the columns, that of the rows too."""
        return [ROW, *(column.name for column in self.described)]

    @property
    def stored(self) -> list[StoredColumn]:
        """The columns kept from the input, without the row and the name of each document."""
        return [column for column in self.described if column.name != ID or not self._has_names]

    def find(self, role: str) -> str | None:
        """Return the first column of a role, if there is one."""
        return next((column.name for column in self.described if column.role == role), None)

    def require(self, name: str) -> str:
        """Return the column of a name, or of a role such as "date"."""
        column = name if name in self.names else self.find(name)
        if column is None:
            raise make_unknown_error(name, [column.name for column in self.described])
        return column

    @cached_property
    def table(self) -> pl.DataFrame:
        """The columns as a data frame, one row per document."""
        return self._read_all(None)

    def select(self, names: Sequence[str]) -> pl.DataFrame:
        """Read some columns of all documents; all columns if one of the names is unknown."""
        if "table" in self.__dict__ or not set(names) <= set(self.names):
            return self.table
        return self._read_all(list(dict.fromkeys(names)))

    def match(self, where: str) -> Array:
        """Return which documents match a filter, (n,)."""
        return self._mask(where)

    def take(self, documents: Array, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Read the columns of some documents, in the given order; of a few, only the rows stored with them."""
        documents, chosen = np.asarray(documents), self.names if names is None else list(names)
        if "table" in self.__dict__ or not 0 < len(documents) <= _FEW_DOCUMENTS:
            return (self.table if names is None else self.select(chosen))[chosen][documents]
        parts, positions, first = [], [], 0
        for segment in self._segments:
            n = len(self._folder[f"{segment}/rows"])
            inside = np.flatnonzero((documents >= first) & (documents < first + n))
            if len(inside):
                parts.append(self._read(segment, chosen, documents[inside] - first))
                positions.append(inside)
            first += n
        return _choose_columns(concat(parts), chosen)[np.argsort(np.concatenate(positions))]

    def read_names(self) -> pl.Series:
        """Read the names of all documents: empty for one without, none if the index has no names."""
        return self.select([ID])[ID].fill_null("") if self._has_names else pl.Series([], dtype=pl.String)

    def list_values(self, documents: Array) -> list[dict[str, Any]]:
        """Return the values of the kept columns of some documents."""
        names = [column.name for column in self.stored]
        return self.take(documents, names).to_dicts() if names else [{} for _ in documents]

    def _read_all(self, names: list[str] | None) -> pl.DataFrame:
        return _choose_columns(concat([self._read(segment, names) for segment in self._segments]), names or self.names)

    def _read(self, segment: str, names: list[str] | None, documents: Array | None = None) -> pl.DataFrame:
        """Read the rows and columns of the documents of a segment, or of some of them."""
        table, n_documents = self._folder.table(f"{segment}/{COLUMNS}"), len(self._folder[f"{segment}/rows"])
        if len(table) != n_documents:
            raise damage_error(
                "'{path}' is damaged: it has columns of {n_rows:,} documents, not {n_documents:,}.",
                path=str(self._folder.path),
                n_rows=len(table),
                n_documents=n_documents,
            )
        chosen = None if names is None else (ROW, *names)  # other columns may be missing here
        return table.collect(chosen) if documents is None else table.take(documents, chosen)

    def _compute_mask(self, where: str) -> Array:
        from mixsearch.io.filters import Filter  # with groups of all kinds, which other searches need not wait for

        condition = Filter(where)
        try:
            mask = condition.mask(self.select(condition.columns))
        except SearchError as error:
            if error.code != "unknown_column":
                raise
            raise error.append("Others are kept with {keep} when the index is made.", keep=Option("keep")) from error
        if not mask.any():
            raise SearchError(
                "None of the {n_documents:,} documents matches the filter '{filter}'. Widen it.",
                code="filter_matches_nothing",
                n_documents=len(mask),
                filter=where,
            )
        mask.setflags(write=False)
        return mask


def _choose_columns(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return some columns; those that no document here has are missing values."""
    return frame.select(pl.col(name) if name in frame.columns else pl.lit(None).alias(name) for name in names)


def open_texts(folder: Folder, segments: Sequence[str]) -> Texts:
    """Return the texts of all documents, in the order of the corpus."""
    texts = folder.texts(*(f"{segment}/{TEXTS}" for segment in segments))
    n_documents = sum(len(folder[f"{segment}/rows"]) for segment in segments)
    if len(texts) != n_documents:
        raise damage_error(
            "'{path}' is damaged: it has {n_texts:,} texts for {n_documents:,} documents.",
            path=str(folder.path),
            n_texts=len(texts),
            n_documents=n_documents,
        )
    return texts


def to_plain(value: Any) -> Any:
    """Return a value of a column as JSON has it: dates and times as text, what is not a number as None."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
