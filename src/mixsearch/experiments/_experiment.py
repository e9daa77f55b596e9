"""An experiment: dataset x method x metric, with a figure and a table of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mixsearch.experiments._rows import Rows, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Case:
    """One unit of work: a setting and a seed.

    Attributes
    ----------
    setting : mapping of str to value
        The parameters of the dataset.
    seed : int
        The seed of the dataset.
    """

    setting: Mapping[str, Value]
    seed: int


@dataclass(frozen=True, slots=True)
class Result:
    """One number of a case.

    Attributes
    ----------
    method : str
        The name of the method.
    metric : str
        The name of the metric.
    value : float
        The number.
    target : str
        Which component, labeled word or image, if there are several.
    note : str
        What a table shows next to the number.
    """

    method: str
    metric: str
    value: float
    target: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One figure or table of the paper.

    Attributes
    ----------
    name : str
        The name on the command line.
    shows : str
        The figure or table of the paper.
    title : str
        What is compared, in one line.
    claim : str
        What the paper concludes.
    cases : callable
        From `quick` to the cases. A quick run costs a tenth and gives a similar figure.
    run : callable
        From a case to its results. A function of a module, since worker processes import it.
    draw : callable
        From the rows to a figure.
    table : callable
        From the rows to a table in markdown.
    seconds : pair of float
        The approximate time of all cases on two cores, in full and quick.
    sequential : bool
        Whether cases run one after the other because times are measured.
    required_files : tuple of str
        Patterns of files below the data folder. Each must match at least one file.
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
    sequential: bool = False
    required_files: tuple[str, ...] = ()


def make_cases(settings: Iterable[Mapping[str, Value]], n_seeds: int) -> list[Case]:
    """Combine every setting with every seed, seeds outermost, so that a stopped run has results of every setting.

    Parameters
    ----------
    settings : iterable of mapping
    n_seeds : int

    Returns
    -------
    list of Case
    """
    listed = list(settings)
    return [Case(setting, seed) for seed in range(n_seeds) for setting in listed]
