"""Tidy rows: one number each, with all that it depends on, in a CSV file that any program reads."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.storage import explain_os_errors, write_atomically

Value = str | int | float

# The columns that every row has; those of its setting stand between the first and the others.
FIRST, LAST = "experiment", ("seed", "method", "metric", "of", "value", "note", "version", "quick")


@dataclass(frozen=True, slots=True)
class Row:
    """One number and what it depends on."""

    experiment: str
    setting: Mapping[str, Value]
    seed: int
    method: str
    metric: str
    of: str  # which component, labelled word or picture
    value: float
    note: str
    version: str
    quick: bool

    def cell(self, column: str) -> Any:
        """The value of a column of the setting, or of one that every row has."""
        return self.setting[column] if column in self.setting else getattr(self, column)


class Rows:
    """Rows that can be narrowed down.

    Examples
    --------
    >>> rows = Rows([Row("e", {"n": n}, 0, "m", "error", "", 1 / n, "", "1", False) for n in (2, 4)])
    >>> rows.levels("n"), rows.where(n=4).mean
    ([2, 4], 0.25)
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = tuple(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def where(self, **columns: Any) -> Self:
        """The rows whose columns have these values."""
        wanted = columns.items()
        return type(self)(row for row in self if all(row.cell(name) == value for name, value in wanted))

    def levels(self, column: str) -> list[Any]:
        """The different values of a column, in the order in which they come."""
        return list(dict.fromkeys(row.cell(column) for row in self))

    @property
    def values(self) -> Array:
        """The numbers, (n,)."""
        return np.array([row.value for row in self], dtype=np.float64)

    @property
    def mean(self) -> float:
        """Of the numbers; NaN where there is none."""
        return float(self.values.mean()) if len(self) else float("nan")

    @property
    def median(self) -> float:
        """Of the numbers; NaN where there is none."""
        return float(np.median(self.values)) if len(self) else float("nan")

    @property
    def stderr(self) -> float:
        """Of the mean; NaN where there are fewer than two numbers."""
        return float(self.values.std(ddof=1) / np.sqrt(len(self))) if len(self) > 1 else float("nan")


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows of one experiment to a file, whole or not at all."""
    listed = list(rows)
    with (
        explain_os_errors("write", path),
        write_atomically(path) as part,
        part.open("w", newline="", encoding="utf-8") as lines,
    ):
        writer = csv.writer(lines)
        writer.writerow([FIRST, *(listed[0].setting if listed else ()), *LAST])
        writer.writerows(
            [row.experiment, *row.setting.values(), *(getattr(row, name) for name in LAST)] for row in listed
        )


def read_rows(path: Path) -> Rows:
    """Read what an experiment wrote."""
    with explain_os_errors("read", path), path.open(newline="", encoding="utf-8") as lines:
        reader = csv.DictReader(lines)
        columns = reader.fieldnames or ()
        lacking = [name for name in (FIRST, *LAST) if name not in columns]
        if lacking:
            raise SearchError(f"{path} has no column {lacking[0]!r}: it holds no rows of an experiment.")
        return Rows(map(_row, reader))


def _row(cells: Mapping[str, str]) -> Row:
    return Row(
        experiment=cells["experiment"],
        setting={name: _value(cell) for name, cell in cells.items() if name != FIRST and name not in LAST},
        seed=int(cells["seed"]),
        method=cells["method"],
        metric=cells["metric"],
        of=cells["of"],
        value=float(cells["value"]),
        note=cells["note"],
        version=cells["version"],
        quick=cells["quick"] == "True",
    )


def _value(cell: str) -> Value:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell
