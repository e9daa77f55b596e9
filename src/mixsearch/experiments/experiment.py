"""What an experiment is: settings times seeds, methods times metrics, and a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mixsearch.experiments.rows import Rows, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Case:
    """One unit of work and of progress: a setting and a seed. Workers receive it."""

    setting: Mapping[str, Value]
    seed: int


@dataclass(frozen=True, slots=True)
class Result:
    """One number that a case gave."""

    method: str
    metric: str
    value: float
    of: str = ""  # which component, labelled word or picture
    note: str = ""  # what a table shows beside the number


@dataclass(frozen=True, slots=True)
class Experiment:
    """One figure or table of the paper.

    Attributes
    ----------
    name : str
        As the user types it.
    shows : str
        Which figure or table of the paper.
    title : str
        What is compared, in a line.
    claim : str
        What the paper says that one sees.
    cases : callable
        From whether the run is a quick one to the cases: a quick run costs a tenth and gives the same picture.
    run : callable
        From a case to its results; a function of a module, since other processes import it.
    draw, table : callable
        From the rows to a figure, and to a table in markdown.
    seconds : pair of float
        About how long all cases take on two cores, in full and quick.
    alone : bool
        Whether times are measured, so that one case must wait for the other.
    needs : tuple of str
        Files below the folder of real data. A pattern counts if any file is like it.
    """

    name: str
    shows: str
    title: str
    claim: str
    cases: Callable[[bool], Sequence[Case]]
    run: Callable[[Case], Iterable[Result]]
    draw: Callable[[Rows], Figure]
    table: Callable[[Rows], str]
    seconds: tuple[float, float]
    alone: bool = False
    needs: tuple[str, ...] = ()


def cases_of(settings: Iterable[Mapping[str, Value]], n_seeds: int) -> list[Case]:
    """Every setting with every seed, the seeds outermost: a run that is stopped has something of every setting."""
    listed = list(settings)
    return [Case(setting, seed) for seed in range(n_seeds) for setting in listed]
