"""`mixsearch reproduce`: what it does."""

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
from mixsearch.cli._console import aside, print_json, say_notes
from mixsearch.cli._units import show_seconds
from mixsearch.experiments import EXPERIMENTS, Experiment, Progress, Rows, Run, find_experiments, run_experiment
from mixsearch.experiments.data import missing
from mixsearch.plots import save
from mixsearch.storage.disk import explain_os_errors, written_whole


@dataclass(frozen=True, slots=True)
class Wish:
    """How the user wants experiments to be run."""

    folder: Path
    quick: bool
    n_jobs: int | None
    fresh: bool


def list_experiments(*, as_json: bool) -> None:
    """Show every experiment, what of the paper it is and how long it takes."""
    if as_json:
        print_json([_described(experiment) for experiment in EXPERIMENTS])
        return
    console = Console(highlight=False)
    for experiment in EXPERIMENTS:
        full, quick = (show_seconds(round(seconds, -1)) for seconds in experiment.seconds)
        console.print(f"[bold]{experiment.name}[/]  {experiment.shows}; {full}, quick {quick}", soft_wrap=True)
        console.print(Padding(escape(experiment.title), (0, 0, 0, 4)))
        if lacking := missing(experiment.needs):
            console.print(Padding(f"[yellow]{escape(lacking)}[/]", (0, 0, 0, 4)))
    console.print()
    console.print("Run one, or all: [bold]mixsearch reproduce gmm-error --quick[/]")


def run_all(names: Sequence[str], wish: Wish, *, as_json: bool) -> None:
    """Run experiments one after the other and write what they give."""
    experiments = find_experiments(names)
    lacking = {experiment.name: missing(experiment.needs) for experiment in experiments}
    able = [experiment for experiment in experiments if lacking[experiment.name] is None]
    if not able:
        raise SearchError(next(reason for reason in lacking.values() if reason))
    say_notes(f"{name} is left out. {reason}" for name, reason in lacking.items() if reason)
    with explain_os_errors("make the folder", wish.folder):
        wish.folder.mkdir(parents=True, exist_ok=True)
    console, done = aside(), []
    for experiment in able:
        start = perf_counter()
        with _progress(console, experiment) as tell:
            run = Run(__version__, quick=wish.quick, n_jobs=wish.n_jobs, fresh=wish.fresh)
            rows = run_experiment(experiment, wish.folder / f"{experiment.name}.csv", run, tell)
        done.append(_write(experiment, rows, wish.folder) | {"seconds": round(perf_counter() - start, 1)})
        if not as_json:
            _show(done[-1])
    if as_json:
        print_json(done)


def _described(experiment: Experiment) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "shows": experiment.shows,
        "title": experiment.title,
        "claim": experiment.claim,
        "seconds": experiment.seconds[0],
        "quick_seconds": experiment.seconds[1],
        "missing": missing(experiment.needs),
    }


@contextmanager
def _progress(console: Console, experiment: Experiment) -> Iterator[Any]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(experiment.name, total=None, left="")

        def tell(now: Progress) -> None:
            left = f"about {show_seconds(now.seconds_left)} left"
            bar.update(task, completed=now.n_done, total=now.n_cases, left=left, refresh=True)

        yield tell


def _write(experiment: Experiment, rows: Rows, folder: Path) -> dict[str, Any]:
    """Draw the figure and write the table, from the rows."""
    figure, table = folder / f"{experiment.name}.png", folder / f"{experiment.name}.md"
    with explain_os_errors("write", figure):
        save(experiment.draw(rows), figure)
    with explain_os_errors("write", table), written_whole(table) as part:
        part.write_text(_page(experiment, rows), encoding="utf-8")
    paths = {"rows": folder / f"{experiment.name}.csv", "figure": figure, "table": table}
    return {"name": experiment.name, "n_rows": len(rows)} | {name: str(path) for name, path in paths.items()}


def _page(experiment: Experiment, rows: Rows) -> str:
    """The table with what it is of."""
    head = f"# {experiment.title}\n\n{experiment.shows}. The paper's claim: {experiment.claim}\n"
    return f"{head}\n![{experiment.name}]({experiment.name}.png)\n\n{experiment.table(rows)}"


def _show(done: dict[str, Any]) -> None:
    Console(highlight=False).print(
        f"[bold]{done['name']}[/]  {done['n_rows']:,} rows in {show_seconds(done['seconds'])}: "
        f"{escape(done['figure'])}, {escape(done['table'])}, {escape(done['rows'])}",
        soft_wrap=True,
    )
