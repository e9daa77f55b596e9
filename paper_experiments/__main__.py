"""Run the paper's experiments: `python -m paper_experiments [NAME ...] [--quick]`; without a name, all of them.

An experiment NAME writes NAME.csv (tidy rows: one number each, with its setting, seed, method and metric), NAME.png and
NAME.md. A run that was stopped resumes where it stopped. `--page` runs nothing: it draws the figures of
docs/results/paper-experiments.md again and writes its tables anew, both from the rows in docs/results.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from time import perf_counter

from paper_experiments import (
    gaussians,
    hints,
    labels,
    lda,
    parallel,
    regressions,
    segmentation,
    solvers,
    subspaces,
    theory,
    topics,
)
from paper_experiments.corpora import VARIABLE, find_missing
from paper_experiments.experiment import Experiment, Rows, read_rows, run_experiment
from paper_experiments.figures import write_picture

# In the order of the paper.
EXPERIMENTS: tuple[Experiment, ...] = (
    gaussians.ERRORS,
    gaussians.RARE,
    gaussians.SPEED,
    lda.ERRORS,
    subspaces.ERRORS,
    subspaces.SPEED,
    topics.COMPARISON,
    segmentation.SEGMENTS,
    gaussians.SENSITIVITY,
    regressions.ERRORS,
    labels.LABELS,
    hints.REHINT,
    theory.THEORY,
    hints.HINTS_EXPERIMENT,
    hints.RANDOM,
    parallel.PARALLEL,
    solvers.SOLVERS,
)
DOCS = Path(__file__).parents[1] / "docs"
PAGE, ROWS, FIGURES = DOCS / "results" / "paper-experiments.md", DOCS / "results", DOCS / "pictures" / "results"
# The text chunk of a PNG with the checksum of the rows that it shows.
ROWS_KEY = "Rows"


def compute_checksum(path: Path) -> str:
    """Return the SHA-256 of a file of rows."""
    return sha256(path.read_bytes()).hexdigest()


def draw_figure(experiment: Experiment, rows: Path, figure: Path) -> None:
    """Draw the figure of a file of rows, whose checksum the figure carries."""
    write_picture(figure, experiment.draw(read_rows(rows)), **{ROWS_KEY: compute_checksum(rows)})


def format_block(experiment: Experiment, rows: Rows) -> str:
    """Return the table of an experiment on the page, between its marks."""
    table = (experiment.page or experiment.table)(rows).strip()
    how = "quick" if next(iter(rows)).quick else "full"
    return f"<!-- rows: {experiment.name}, {how} -->\n\n{table}\n\n<!-- end -->"


def split_page(page: str, name: str) -> tuple[str, str, str]:
    """Return what stands before the table of an experiment, the table with its marks, and what stands after it."""
    start = page.index(f"<!-- rows: {name}, ")
    end = page.index("<!-- end -->", start) + len("<!-- end -->")
    return page[:start], page[start:end], page[end:]


def write_page(experiments: Sequence[Experiment]) -> None:
    """Draw the figures of the page and write its tables, both from the stored rows."""
    os.environ.pop(VARIABLE, None)  # photos must not be shown
    for experiment in experiments:
        rows = ROWS / f"{experiment.name}.csv"
        draw_figure(experiment, rows, FIGURES / f"{experiment.name}.png")
        before, _, after = split_page(PAGE.read_text(encoding="utf-8"), experiment.name)
        PAGE.write_text(before + format_block(experiment, read_rows(rows)) + after, encoding="utf-8")


def run(experiment: Experiment, options: argparse.Namespace) -> None:
    """Run an experiment and write its rows, figure and table."""

    def report(n_done: int, n_cases: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{experiment.name}: {n_done} of {n_cases} cases")

    start, path = perf_counter(), options.output / f"{experiment.name}.csv"
    rows = run_experiment(
        experiment, path, quick=options.quick, n_jobs=options.n_jobs, fresh=options.fresh, on_progress=report
    )
    draw_figure(experiment, path, path.with_suffix(".png"))
    head = f"# {experiment.title}\n\n{experiment.shows}. The paper's claim: {experiment.claim}\n"
    text = f"{head}\n![{experiment.name}]({experiment.name}.png)\n\n{experiment.table(rows)}"
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    sys.stdout.write(f"\r{experiment.name}: {len(rows):,} rows in {perf_counter() - start:.0f} s, {path}\n")


def list_experiments() -> None:
    """Print every experiment, what it shows of the paper and how long it takes."""
    for each in EXPERIMENTS:
        full, quick = each.seconds
        sys.stdout.write(f"{each.name}  {each.shows}; {full:.0f} s, quick {quick:.0f} s\n    {each.title}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run experiments, list them, or write the page of results."""
    parser = argparse.ArgumentParser(prog="python -m paper_experiments", description=__doc__.partition("\n")[0])
    names = [experiment.name for experiment in EXPERIMENTS]
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of experiments; all without a name")
    parser.add_argument("--list", action="store_true", help="list the experiments and run none")
    parser.add_argument("--quick", action="store_true", help="run fewer cases: about a tenth of the time")
    parser.add_argument("--output", "-o", type=Path, default=Path("build/paper"), help="folder for rows and figures")
    parser.add_argument("--data", type=Path, help=f"folder of texts and images; by default {VARIABLE}")
    parser.add_argument("--n-jobs", type=int, help="number of processes; times are always measured alone")
    parser.add_argument("--fresh", action="store_true", help="run finished cases again")
    parser.add_argument("--page", action="store_true", help="write figures and tables of the page of results, run none")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(names):
        parser.error(f"unknown experiments: {', '.join(sorted(unknown))}; choose from {', '.join(names)}")
    chosen = [each for each in EXPERIMENTS if not options.names or each.name in options.names]
    if options.list:
        return list_experiments()
    if options.page:
        return write_page(chosen)
    if options.data is not None:
        os.environ[VARIABLE] = str(options.data)
    options.output.mkdir(parents=True, exist_ok=True)
    for experiment in chosen:
        if lacking := find_missing(experiment.required_files):
            sys.stderr.write(f"{experiment.name} is left out. {lacking}\n")
        else:
            run(experiment, options)
    return None


if __name__ == "__main__":
    main()
