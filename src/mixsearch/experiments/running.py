"""Run the cases of an experiment, keep every result as soon as it is there, and tell how far it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from joblib import Parallel, delayed

from mixsearch.data.threads import n_cores
from mixsearch.experiments.experiment import Case, Experiment, Result
from mixsearch.experiments.rows import Row, Rows, Value, read_rows, write_rows


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    n_done: int
    n_cases: int
    seconds_left: float  # from what the cases so far took; before the first, from what they usually do


@dataclass(frozen=True, slots=True)
class Run:
    """How an experiment is run.

    Attributes
    ----------
    version : str
        Of the package, which goes into every row.
    quick : bool
        At a tenth of the cost.
    n_jobs : int, optional
        Processes, one for each core by default; always one where times are measured.
    fresh : bool
        Run every case again, also those whose rows are there.
    """

    version: str
    quick: bool = False
    n_jobs: int | None = None
    fresh: bool = False


def run_experiment(
    experiment: Experiment, path: Path, run: Run, on_progress: Callable[[Progress], None] | None = None
) -> Rows:
    """Run the cases that have no rows in a file yet, and return the rows of all.

    Parameters
    ----------
    experiment : Experiment
    path : Path
        The file of rows, written anew after each case: a run that was stopped goes on from there. Rows of another
        version, or of a quick run where this is a full one, are not its own and are replaced.
    run : Run
    on_progress : callable, optional
        Told at the start and after each case.
    """
    cases = list(experiment.cases(run.quick))
    done = {} if run.fresh else _done(path, cases, run)
    left = [case for case in cases if _key(case.setting, case.seed) not in done]
    start, usual = perf_counter(), experiment.seconds[run.quick] * len(left) / len(cases)

    def tell(n_new: int) -> None:
        spent = perf_counter() - start
        expected = spent * (len(left) - n_new) / n_new if n_new else usual
        if on_progress is not None:
            on_progress(Progress(len(cases) - len(left) + n_new, len(cases), expected))

    tell(0)
    for n_new, (case, rows) in enumerate(_finished(experiment, left, run), 1):
        done[_key(case.setting, case.seed)] = rows
        write_rows(path, _in_order(done, cases))
        tell(n_new)
    return Rows(_in_order(done, cases))


Key = tuple[Any, ...]


def _key(setting: Mapping[str, Value], seed: int) -> Key:
    return (*setting.items(), seed)


def _done(path: Path, cases: Iterable[Case], run: Run) -> dict[Key, list[Row]]:
    """The rows of an earlier run that this one would give again, by their cases."""
    wanted = {_key(case.setting, case.seed) for case in cases}
    found: dict[Key, list[Row]] = {}
    for row in read_rows(path) if path.exists() else ():
        key = _key(row.setting, row.seed)
        if key in wanted and (row.version, row.quick) == (run.version, run.quick):
            found.setdefault(key, []).append(row)
    return found


def _in_order(done: Mapping[Key, list[Row]], cases: Iterable[Case]) -> list[Row]:
    return [row for case in cases for row in done.get(_key(case.setting, case.seed), ())]


def _finished(experiment: Experiment, cases: list[Case], run: Run) -> Iterator[tuple[Case, list[Row]]]:
    """Each case with its rows, as soon as they are there."""
    n_jobs = 1 if experiment.alone else min(run.n_jobs or n_cores(), max(len(cases), 1))
    calls = (delayed(_results)(experiment.run, case) for case in cases)
    for case, results in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls):
        yield case, [_row(experiment.name, case, result, run) for result in results]


def _results(work: Callable[[Case], Iterable[Result]], case: Case) -> tuple[Case, list[Result]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # weak hints are a part of what is measured
        return case, list(work(case))


def _row(experiment: str, case: Case, result: Result, run: Run) -> Row:
    return Row(
        experiment=experiment,
        setting=case.setting,
        seed=case.seed,
        method=result.method,
        metric=result.metric,
        of=result.of,
        value=float(result.value),
        note=result.note,
        version=run.version,
        quick=run.quick,
    )
