"""The paper's figures and tables: each is a set of cases, tidy rows of results, and a figure drawn from the rows."""

from mixsearch.experiments._data import find_missing
from mixsearch.experiments._experiment import Case, Experiment, Result
from mixsearch.experiments._registry import EXPERIMENTS, find_experiments
from mixsearch.experiments._rows import Row, Rows, read_rows, write_rows
from mixsearch.experiments._run import Progress, Run, run_experiment

__all__ = [
    "EXPERIMENTS",
    "Case",
    "Experiment",
    "Progress",
    "Result",
    "Row",
    "Rows",
    "Run",
    "find_experiments",
    "find_missing",
    "read_rows",
    "run_experiment",
    "write_rows",
]
