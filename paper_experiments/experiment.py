"""An experiment: its cases, its rows in a CSV file, and a run that saves each case at once."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib import Parallel, cpu_count, delayed
from matplotlib.figure import Figure

from mixsearch import __version__
from mixsearch._typing import Array

Value = str | int | float

# The columns of every row. Those of the setting come after the first.
FIRST, LAST = "experiment", ("seed", "method", "metric", "target", "value", "note", "version", "quick")


@dataclass(frozen=True, slots=True)
class Row:
    """One number and what it depends on."""

    experiment: str
    setting: Mapping[str, Value]  # parameters of the dataset
    seed: int  # seed of the dataset
    method: str
    metric: str
    target: str  # which component, labeled word or image
    value: float  # the number
    note: str  # what a table shows next to the number
    version: str  # version of the package
    quick: bool  # whether the run was quick

    def cell(self, column: str) -> Any:
        """Return the value of a column."""
        return self.setting[column] if column in self.setting else getattr(self, column)


class Rows:
    """Rows that can be filtered."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = tuple(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def where(self, **columns: Any) -> Self:
        """Select rows by the values of columns."""
        wanted = columns.items()
        return type(self)(row for row in self if all(row.cell(name) == value for name, value in wanted))

    def levels(self, column: str) -> list[Any]:
        """Return the distinct values of a column, in order of appearance."""
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
    """Write the rows of one experiment to a CSV file."""
    listed, part = list(rows), path.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow([FIRST, *(listed[0].setting if listed else ()), *LAST])
        writer.writerows(
            [row.experiment, *row.setting.values(), *(getattr(row, name) for name in LAST)] for row in listed
        )
    part.replace(path)


def read_rows(path: Path) -> Rows:
    """Read the rows of an experiment."""
    with path.open(newline="", encoding="utf-8") as lines:
        return Rows(map(_parse_row, csv.DictReader(lines)))


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


@dataclass(frozen=True, slots=True)
class Case:
    """One unit of work: a setting and a seed."""

    setting: Mapping[str, Value]  # parameters of the dataset
    seed: int  # seed of the dataset


@dataclass(frozen=True, slots=True)
class Result:
    """One number of a case."""

    method: str
    metric: str
    value: float  # the number
    target: str = ""  # which component, labeled word or image, if there are several
    note: str = ""  # what a table shows next to the number


@dataclass(frozen=True, slots=True)
class Experiment:
    """One figure or table of the paper."""

    name: str  # name on the command line
    shows: str  # figure or table of the paper
    title: str  # what is compared, in one line
    claim: str  # what the paper concludes
    cases: Callable[[bool], Sequence[Case]]  # from `quick` to the cases; quick costs a tenth
    run: Callable[[Case], Iterable[Result]]  # from a case to its results; a function of a module
    draw: Callable[[Rows], Figure]  # from the rows to a figure
    table: Callable[[Rows], str]  # from the rows to a table in markdown
    seconds: tuple[float, float]  # approximate time of all cases on two cores, in full and quick
    sequential: bool = False  # whether cases run one after the other because times are measured
    required_files: tuple[str, ...] = ()  # patterns of files below the data folder, each with at least one file
    page: Callable[[Rows], str] | None = None  # from the rows to the table of the page, if shorter


def make_cases(settings: Iterable[Mapping[str, Value]], n_seeds: int) -> list[Case]:
    """Combine every setting with every seed, seeds outermost, so that a stopped run has results of every setting."""
    listed = list(settings)
    return [Case(setting, seed) for seed in range(n_seeds) for setting in listed]


def run_experiment(
    experiment: Experiment,
    path: Path,
    *,
    quick: bool = False,
    n_jobs: int | None = None,
    fresh: bool = False,
    on_progress: Callable[[int, int], None] = lambda n_done, n_cases: None,
) -> Rows:
    """Run the cases without saved rows, save the rows after each case, and return the rows of all cases.

    Rows of another version, or of a quick run if this is a full one, are replaced.
    """
    cases = list(experiment.cases(quick))
    done = {} if fresh else _read_done(path, cases, quick)
    left = [case for case in cases if _key(case.setting, case.seed) not in done]
    on_progress(len(cases) - len(left), len(cases))
    n_jobs = 1 if experiment.sequential else min(n_jobs or cpu_count(), max(len(left), 1))
    calls = (delayed(_run_case)(experiment.run, case) for case in left)
    for case, results in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls):
        done[_key(case.setting, case.seed)] = [_make_row(experiment.name, case, result, quick) for result in results]
        write_rows(path, _sort_rows(done, cases))
        on_progress(len(done), len(cases))
    return Rows(_sort_rows(done, cases))


Key = tuple[Any, ...]


def _key(setting: Mapping[str, Value], seed: int) -> Key:
    return (*setting.items(), seed)


def _read_done(path: Path, cases: Iterable[Case], quick: bool) -> dict[Key, list[Row]]:
    """Return the rows of an earlier run with these options, by case."""
    wanted = {_key(case.setting, case.seed) for case in cases}
    found: dict[Key, list[Row]] = {}
    for row in read_rows(path) if path.exists() else ():
        key = _key(row.setting, row.seed)
        if key in wanted and (row.version, row.quick) == (__version__, quick):
            found.setdefault(key, []).append(row)
    return found


def _sort_rows(done: Mapping[Key, list[Row]], cases: Iterable[Case]) -> list[Row]:
    return [row for case in cases for row in done.get(_key(case.setting, case.seed), ())]


def _run_case(work: Callable[[Case], Iterable[Result]], case: Case) -> tuple[Case, list[Result]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # weak hints are part of the experiments
        return case, list(work(case))


def _make_row(experiment: str, case: Case, result: Result, quick: bool) -> Row:
    return Row(
        experiment=experiment,
        setting=case.setting,
        seed=case.seed,
        method=result.method,
        metric=result.metric,
        target=result.target,
        value=float(result.value),
        note=result.note,
        version=__version__,
        quick=quick,
    )
