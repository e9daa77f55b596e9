"""`mixsearch reproduce`: run the paper's experiments.

The experiments draw figures, so they are imported only when the command runs: matplotlib is optional.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli._console import load_plots, report_errors

HELP = """Run the paper's experiments: rows, a figure and a table for each.

Without a name, list the experiments, what each shows and how long it
takes. A run that was stopped resumes where it stopped.

Examples:

  mixsearch reproduce
  mixsearch reproduce gmm-error --quick
  mixsearch reproduce all --quick --data data/
  mixsearch reproduce topics-text segmentation --data data/ -o results

An experiment NAME writes NAME.csv (tidy rows: one number each, with its
setting, seed, method and metric), NAME.png and NAME.md. With --json, an
error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 an experiment cannot run, 2 usage error,
130 stopped by Ctrl-C; finished cases are kept."""


def _complete_names() -> list[str]:
    from mixsearch.experiments import EXPERIMENTS

    return [*(experiment.name for experiment in EXPERIMENTS), "all"]


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Names of experiments, or all.", autocompletion=_complete_names),
    ] = None,
    list_only: Annotated[bool, typer.Option("--list", help="List the experiments, and run none.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Run fewer cases: about a tenth of the time.")] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", file_okay=False, metavar="FOLDER", help="Folder for rows and figures.")
    ] = Path("mixsearch-paper"),
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            file_okay=False,
            metavar="FOLDER",
            help="Folder with the texts and images that some experiments need. Default: MIXSEARCH_DATA.",
            show_default=False,
        ),
    ] = None,
    n_jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of processes. Default: one per core. Times are always measured alone.",
            show_default=False,
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run finished cases again.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list, or what was written, as JSON.")] = False,
) -> None:
    """Run the paper's experiments."""
    with report_errors(as_json=as_json, stopped="Stopped. Finished cases are kept; the same command resumes."):
        load_plots()
        from mixsearch.cli._experiments import RunOptions, list_experiments, run_experiments

        if data is not None:
            os.environ["MIXSEARCH_DATA"] = str(data)
        if list_only or not names:
            list_experiments(as_json=as_json)
        else:
            run_experiments(names, RunOptions(output, quick=quick, n_jobs=n_jobs, fresh=fresh), as_json=as_json)
