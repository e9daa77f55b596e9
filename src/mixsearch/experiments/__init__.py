"""The paper's figures and tables, each as cases to run, tidy rows, and a picture drawn from the rows alone."""

from mixsearch.experiments.experiment import Case, Experiment, Result
from mixsearch.experiments.registry import EXPERIMENTS, find_experiments
from mixsearch.experiments.rows import Row, Rows, read_rows, write_rows
from mixsearch.experiments.running import Progress, Run, run_experiment

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
    "read_rows",
    "run_experiment",
    "write_rows",
]
