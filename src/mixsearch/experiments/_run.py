"""Run the cases of an experiment, save each result at once, and report progress."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from joblib import Parallel, delayed

from mixsearch.data.threads import n_cores
from mixsearch.experiments._experiment import Case, Experiment, Result
from mixsearch.experiments._rows import Row, Rows, Value, read_rows, write_rows


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run.

    Attributes
    ----------
    n_done : int
        The number of finished cases.
    n_cases : int
        The number of all cases.
    seconds_left : float
        Estimated from the finished cases; before the first, from the usual time.
    """

    n_done: int
    n_cases: int
    seconds_left: float


@dataclass(frozen=True, slots=True)
class Run:
    """Options of a run.

    Attributes
    ----------
    version : str
        The version of the package, stored in every row.
    quick : bool
        Run at a tenth of the cost.
    n_jobs : int, optional
        The number of processes, by default one per core; always one if times are measured.
    fresh : bool
        Run every case, even those with saved rows.
    """

    version: str
    quick: bool = False
    n_jobs: int | None = None
    fresh: bool = False


def run_experiment(
    experiment: Experiment, path: Path, run: Run, on_progress: Callable[[Progress], None] | None = None
) -> Rows:
    """Run the cases without saved rows, and return the rows of all cases.

    Parameters
    ----------
    experiment : Experiment
        The experiment to run.
    path : Path
        The file of rows, saved after each case, so that a stopped run can resume. Rows of another version, or of a
        quick run if this is a full one, are replaced.
    run : Run
        The options.
    on_progress : callable, optional
        Called at the start and after each case.

    Returns
    -------
    Rows
    """
    cases = list(experiment.cases(run.quick))
    done = {} if run.fresh else _read_done(path, cases, run)
    left = [case for case in cases if _key(case.setting, case.seed) not in done]
    start, usual = perf_counter(), experiment.seconds[run.quick] * len(left) / len(cases)

    def report(n_new: int) -> None:
        spent = perf_counter() - start
        expected = spent * (len(left) - n_new) / n_new if n_new else usual
        if on_progress is not None:
            on_progress(Progress(len(cases) - len(left) + n_new, len(cases), expected))

    report(0)
    for n_new, (case, rows) in enumerate(_run_cases(experiment, left, run), 1):
        done[_key(case.setting, case.seed)] = rows
        write_rows(path, _sort_rows(done, cases))
        report(n_new)
    return Rows(_sort_rows(done, cases))


Key = tuple[Any, ...]


def _key(setting: Mapping[str, Value], seed: int) -> Key:
    return (*setting.items(), seed)


def _read_done(path: Path, cases: Iterable[Case], run: Run) -> dict[Key, list[Row]]:
    """Return the rows of an earlier run with these options, by case."""
    wanted = {_key(case.setting, case.seed) for case in cases}
    found: dict[Key, list[Row]] = {}
    for row in read_rows(path) if path.exists() else ():
        key = _key(row.setting, row.seed)
        if key in wanted and (row.version, row.quick) == (run.version, run.quick):
            found.setdefault(key, []).append(row)
    return found


def _sort_rows(done: Mapping[Key, list[Row]], cases: Iterable[Case]) -> list[Row]:
    return [row for case in cases for row in done.get(_key(case.setting, case.seed), ())]


def _run_cases(experiment: Experiment, cases: list[Case], run: Run) -> Iterator[tuple[Case, list[Row]]]:
    """Yield each case with its rows when it is finished."""
    n_jobs = 1 if experiment.sequential else min(run.n_jobs or n_cores(), max(len(cases), 1))
    calls = (delayed(_run_case)(experiment.run, case) for case in cases)
    for case, results in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls):
        yield case, [_make_row(experiment.name, case, result, run) for result in results]


def _run_case(work: Callable[[Case], Iterable[Result]], case: Case) -> tuple[Case, list[Result]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # weak hints are part of the experiments
        return case, list(work(case))


def _make_row(experiment: str, case: Case, result: Result, run: Run) -> Row:
    return Row(
        experiment=experiment,
        setting=case.setting,
        seed=case.seed,
        method=result.method,
        metric=result.metric,
        target=result.target,
        value=float(result.value),
        note=result.note,
        version=run.version,
        quick=run.quick,
    )
