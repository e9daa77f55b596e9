"""Uploaded tables, with what was fitted to them; what fits is imported when used, so that a server starts fast."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mixsearch.errors import SearchError, SearchWarning, collect_warnings
from mixsearch.machine import on_one_core
from mixsearch.web.cache import LRUCache
from mixsearch.web.files import FileStore
from mixsearch.web.processes import call_in_process
from mixsearch.web.schemas import AnswerWarning
from mixsearch.web.settings import Limits
from mixsearch.web.table_schemas import TableColumn, TableInfo

if TYPE_CHECKING:
    from mixsearch.table.search import TableSearch

EXAMPLE = "example"
_ARROW = "table.arrow"
# Tables in memory, and fits and answers.
_N_TABLES, _N_FITS, _N_FOUND = 4, 8, 16

Result = TypeVar("Result")


@dataclass(frozen=True)
class OpenTable:
    """A table that was read."""

    key: str
    name: str
    table: Any
    warnings: tuple[dict[str, Any], ...] = ()

    @cached_property
    def info(self) -> TableInfo:
        """The contents of the table."""
        from mixsearch.table.tables import get_column

        columns = {name: get_column(self.table, name) for name in self.table.columns}
        return TableInfo(
            table=self.key,
            name=self.name,
            n_rows=self.table.height,
            columns=[
                TableColumn(
                    name=name, kind=column.kind, is_numeric=column.kind == "number", n_missing=int(column.missing.sum())
                )
                for name, column in columns.items()
            ],
            warnings=[AnswerWarning(**each) for each in self.warnings],
        )


class TableStore:
    """The uploaded tables, and an example that is always there."""

    def __init__(self, files: FileStore, limits: Limits) -> None:
        self._files, self._limits = files, limits
        self._tables: LRUCache[str, OpenTable] = LRUCache(_N_TABLES)
        self._fits: LRUCache[Hashable, tuple[TableSearch, list[SearchWarning]]] = LRUCache(_N_FITS)
        self._found: LRUCache[Hashable, Any] = LRUCache(_N_FOUND)

    def open(self, key: str) -> OpenTable:
        """Return a table; it is read at its first use."""
        if key == EXAMPLE:
            return make_example()
        file = self._files.get(key)  # also if it is in memory: it stays the last to be removed
        return self._tables.get_or_compute(key, lambda: self._read(key, file.name, file.folder))

    def fit(
        self, key: str, columns: tuple[str, ...], without: tuple[str, ...] = ()
    ) -> tuple[TableSearch, list[SearchWarning]]:
        """Return a table that is fitted to some of its columns, or to all, and the warnings of the fit."""
        from mixsearch.table.search import TableSearch

        table = self.open(key).table

        def compute() -> tuple[TableSearch, list[SearchWarning]]:
            with collect_warnings() as warnings:
                search = TableSearch().fit(table, columns=columns or None, without=without)
            return search, list(warnings)

        return self._fits.get_or_compute((key, columns, without), compute)

    def find(self, key: str, request: Hashable, find: Callable[[], Result]) -> tuple[Result, list[SearchWarning]]:
        """Return the answer to a request to a table, and its warnings; both are computed once."""

        def compute() -> tuple[Result, list[SearchWarning]]:
            with collect_warnings() as warnings, on_one_core():
                found = find()
            return found, list({str(each): each for each in warnings}.values())

        found: tuple[Result, list[SearchWarning]] = self._found.get_or_compute((key, request), compute)
        return found

    def _read(self, key: str, name: str, folder: Path) -> OpenTable:
        import polars as pl

        warnings = call_in_process(self._limits.timeout, _read_to_arrow, folder, name, self._limits.max_cells)
        table = pl.read_ipc(folder / _ARROW)
        return OpenTable(key, name, table, tuple(warnings))


def _read_to_arrow(name: str, max_cells: int) -> list[dict[str, Any]]:
    """Read a table and write it as an Arrow file, in a worker process; return the warnings."""
    from mixsearch.io.tables import read_table

    with collect_warnings() as warnings:
        table = read_table(name)
    if table.height * table.width > max_cells:
        raise SearchError(
            "{name!r} has {n_rows:,} rows and {n_columns:,} columns, but at most {max_cells:,} values are allowed. Use "
            "mixsearch find on the command line.",
            code="table_too_large",
            name=name,
            n_rows=table.height,
            n_columns=table.width,
            max_cells=max_cells,
        )
    table.write_ipc(_ARROW)
    return [each.as_dict() for each in warnings]


@cache
def make_example() -> OpenTable:
    """Return a table to try the page with: 178 wines of three growers, without their names."""
    import polars as pl
    from sklearn.datasets import load_wine

    wines = load_wine()
    return OpenTable(EXAMPLE, "wine.csv", pl.DataFrame(wines.data, schema=wines.feature_names))
