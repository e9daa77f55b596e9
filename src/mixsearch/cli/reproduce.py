"""`mixsearch reproduce`: its options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli._console import errors_as_sentences
from mixsearch.cli._figures import load_plots

HELP = """Run the paper's experiments again: rows, a figure and a table of each.

Without a name, lists the experiments, what each shows and how long it
takes. A run that was stopped goes on where it was.

Examples:

  mixsearch reproduce
  mixsearch reproduce gmm-error --quick
  mixsearch reproduce all --quick --data data/
  mixsearch reproduce topics-text segmentation --data data/ -o results

Every experiment NAME leaves NAME.csv (tidy rows: one number each, with
its setting, seed, method and metric), NAME.png and NAME.md.

Exit codes: 0 done, 1 an experiment cannot run, 2 the command is not as
needed, 130 stopped with Ctrl-C: what was done is kept."""


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Experiments, or all of them: all.", autocompletion=lambda: _names()),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The same pictures at about a tenth of the cost.")] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", file_okay=False, metavar="FOLDER", help="Where rows and figures go.")
    ] = Path("mixsearch-paper"),
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            file_okay=False,
            metavar="FOLDER",
            help="Real texts and pictures, for the experiments that need them. By default what MIXSEARCH_DATA names.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Processes; one for each core by default. Times are always measured alone.", show_default=False
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do again also what is done already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written, or the list, as JSON.")] = False,
) -> None:
    """Run the paper's experiments again."""
    with errors_as_sentences("Stopped. What was done is kept: the same command goes on from there."):
        load_plots()
        from mixsearch.cli._experiments import Wish, list_experiments, run_all

        if data is not None:
            os.environ["MIXSEARCH_DATA"] = str(data)
        if not names:
            list_experiments(as_json=as_json)
        else:
            run_all(names, Wish(output, quick=quick, n_jobs=jobs, fresh=fresh), as_json=as_json)


def _names() -> list[str]:
    from mixsearch.experiments import EXPERIMENTS

    return [*(experiment.name for experiment in EXPERIMENTS), "all"]
