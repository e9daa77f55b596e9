"""Run experiments with their progress shown, and write a figure and a table of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from mixsearch import SearchError, __version__
from mixsearch.cli._console import print_json, print_notes, stderr_console, stdout_console
from mixsearch.cli._units import format_seconds
from mixsearch.experiments import (
    EXPERIMENTS,
    Experiment,
    Progress,
    Rows,
    Run,
    find_experiments,
    find_missing,
    run_experiment,
)
from mixsearch.plots import save_figure
from mixsearch.storage import explain_os_errors, write_atomically


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run experiments, and the folder for their results."""

    folder: Path
    quick: bool
    n_jobs: int | None
    fresh: bool


def list_experiments(*, as_json: bool) -> None:
    """Print every experiment, what it shows of the paper and how long it takes."""
    if as_json:
        print_json([_describe_experiment(experiment) for experiment in EXPERIMENTS])
        return
    console = stdout_console()
    for experiment in EXPERIMENTS:
        full, quick = (format_seconds(round(seconds, -1)) for seconds in experiment.seconds)
        console.print(f"[bold]{experiment.name}[/]  {experiment.shows}; {full}, quick {quick}", soft_wrap=True)
        console.print(Padding(escape(experiment.title), (0, 0, 0, 4)))
        if lacking := find_missing(experiment.required_files):
            console.print(Padding(f"[yellow]{escape(lacking)}[/]", (0, 0, 0, 4)))
    console.print()
    console.print("Run one, or all of them: [bold]mixsearch reproduce gmm-error --quick[/]")


def run_experiments(names: Sequence[str], options: RunOptions, *, as_json: bool) -> None:
    """Run experiments one after the other and write their results."""
    experiments = find_experiments(names)
    lacking = {experiment.name: find_missing(experiment.required_files) for experiment in experiments}
    able = [experiment for experiment in experiments if lacking[experiment.name] is None]
    if not able:
        raise SearchError(next(reason for reason in lacking.values() if reason))
    print_notes(f"{name} is left out. {reason}" for name, reason in lacking.items() if reason)
    with explain_os_errors("make the folder", options.folder):
        options.folder.mkdir(parents=True, exist_ok=True)
    console, done = stderr_console(), []
    for experiment in able:
        start = perf_counter()
        with _show_progress(console, experiment) as on_progress:
            run = Run(__version__, quick=options.quick, n_jobs=options.n_jobs, fresh=options.fresh)
            rows = run_experiment(experiment, options.folder / f"{experiment.name}.csv", run, on_progress)
        done.append(_write(experiment, rows, options.folder) | {"seconds": round(perf_counter() - start, 1)})
        if not as_json:
            _print_result(done[-1])
    if as_json:
        print_json(done)


def _describe_experiment(experiment: Experiment) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "shows": experiment.shows,
        "title": experiment.title,
        "claim": experiment.claim,
        "seconds": experiment.seconds[0],
        "quick_seconds": experiment.seconds[1],
        "missing": find_missing(experiment.required_files),
    }


@contextmanager
def _show_progress(console: Console, experiment: Experiment) -> Iterator[Any]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(experiment.name, total=None, left="")

        def on_progress(now: Progress) -> None:
            left = f"about {format_seconds(now.seconds_left)} left"
            bar.update(task, completed=now.n_done, total=now.n_cases, left=left, refresh=True)

        yield on_progress


def _write(experiment: Experiment, rows: Rows, folder: Path) -> dict[str, Any]:
    """Draw the figure and write the table; return the paths."""
    figure, table = folder / f"{experiment.name}.png", folder / f"{experiment.name}.md"
    with explain_os_errors("write", figure):
        save_figure(experiment.draw(rows), figure)
    with explain_os_errors("write", table), write_atomically(table) as part:
        part.write_text(_format_page(experiment, rows), encoding="utf-8")
    paths = {"rows": folder / f"{experiment.name}.csv", "figure": figure, "table": table}
    return {"name": experiment.name, "n_rows": len(rows)} | {name: str(path) for name, path in paths.items()}


def _format_page(experiment: Experiment, rows: Rows) -> str:
    """Return the table under its title, with the paper's claim."""
    head = f"# {experiment.title}\n\n{experiment.shows}. The paper's claim: {experiment.claim}\n"
    return f"{head}\n![{experiment.name}]({experiment.name}.png)\n\n{experiment.table(rows)}"


def _print_result(done: dict[str, Any]) -> None:
    stdout_console().print(
        f"[bold]{done['name']}[/]  {done['n_rows']:,} rows in {format_seconds(done['seconds'])}: "
        f"{escape(done['figure'])}, {escape(done['table'])}, {escape(done['rows'])}",
        soft_wrap=True,
    )
