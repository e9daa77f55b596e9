"""Tidy rows in a CSV file: one number each, with everything it depends on."""

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

# The columns of every row. Those of the setting come after the first.
FIRST, LAST = "experiment", ("seed", "method", "metric", "target", "value", "note", "version", "quick")


@dataclass(frozen=True, slots=True)
class Row:
    """One number and what it depends on.

    Attributes
    ----------
    experiment : str
        The name of the experiment.
    setting : mapping of str to value
        The parameters of the dataset.
    seed : int
        The seed of the dataset.
    method : str
        The name of the method.
    metric : str
        The name of the metric.
    target : str
        Which component, labeled word or image.
    value : float
        The number.
    note : str
        What a table shows next to the number.
    version : str
        The version of the package.
    quick : bool
        Whether the run was quick.
    """

    experiment: str
    setting: Mapping[str, Value]
    seed: int
    method: str
    metric: str
    target: str
    value: float
    note: str
    version: str
    quick: bool

    def cell(self, column: str) -> Any:
        """Return the value of a column.

        Parameters
        ----------
        column : str
            A column of the setting, or one that every row has.

        Returns
        -------
        value
        """
        return self.setting[column] if column in self.setting else getattr(self, column)


class Rows:
    """Rows that can be filtered.

    Parameters
    ----------
    rows : iterable of Row
        The rows.

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
        """Select rows by the values of columns.

        Parameters
        ----------
        **columns
            The value of each column.

        Returns
        -------
        Rows
        """
        wanted = columns.items()
        return type(self)(row for row in self if all(row.cell(name) == value for name, value in wanted))

    def levels(self, column: str) -> list[Any]:
        """Return the distinct values of a column, in order of appearance.

        Parameters
        ----------
        column : str
            The name of the column.

        Returns
        -------
        list
        """
        return list(dict.fromkeys(row.cell(column) for row in self))

    @property
    def values(self) -> Array:
        """The values, (n,)."""
        return np.array([row.value for row in self], dtype=np.float64)

    @property
    def mean(self) -> float:
        """The mean of the values; NaN if there are none."""
        return float(self.values.mean()) if len(self) else float("nan")

    @property
    def median(self) -> float:
        """The median of the values; NaN if there are none."""
        return float(np.median(self.values)) if len(self) else float("nan")

    @property
    def stderr(self) -> float:
        """The standard error of the mean; NaN for fewer than two values."""
        return float(self.values.std(ddof=1) / np.sqrt(len(self))) if len(self) > 1 else float("nan")


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write the rows of one experiment to a CSV file.

    Parameters
    ----------
    path : Path
        The file.
    rows : iterable of Row
        Rows with the same setting columns.
    """
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
    """Read the rows of an experiment.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Rows
    """
    with explain_os_errors("read", path), path.open(newline="", encoding="utf-8") as lines:
        reader = csv.DictReader(lines)
        columns = reader.fieldnames or ()
        absent = [name for name in (FIRST, *LAST) if name not in columns]
        if absent:
            raise SearchError(
                "'{path}' has no column {column!r}, so it isn't a file of an experiment.",
                code="not_an_experiment",
                path=str(path),
                column=absent[0],
            )
        return Rows(map(_parse_row, reader))


def _parse_row(cells: Mapping[str, str]) -> Row:
    return Row(
        experiment=cells["experiment"],
        setting={name: _parse_value(cell) for name, cell in cells.items() if name != FIRST and name not in LAST},
        seed=int(cells["seed"]),
        method=cells["method"],
        metric=cells["metric"],
        target=cells["target"],
        value=float(cells["value"]),
        note=cells["note"],
        version=cells["version"],
        quick=cells["quick"] == "True",
    )


def _parse_value(cell: str) -> Value:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell
