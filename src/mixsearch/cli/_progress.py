"""One bar for each step of a long work, with its rate and the time left, where somebody is looking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from mixsearch.cli._console import aside
from mixsearch.cli._units import show_bytes, show_count


class _AmountColumn(ProgressColumn):
    """How much is done, of how much."""

    def render(self, task: Task) -> Text:
        unit = task.fields["unit"]
        done = _amount(task.completed, unit)
        whole = "" if task.total is None or task.finished else f" of {_amount(task.total, unit)}"
        return Text(f"{done}{whole}{'' if unit == 'bytes' else f' {unit}'}")


class _RateColumn(ProgressColumn):
    """How much in a second."""

    def render(self, task: Task) -> Text:
        speed = task.completed / task.finished_time if task.finished_time else task.speed
        return Text("" if not speed else f"{_amount(speed, task.fields['unit'])}/s", style="dim")


def _amount(n: float, unit: str) -> str:
    return show_bytes(n) if unit == "bytes" else show_count(n)


class _Steps:
    """The bars, made as the steps begin."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bars: dict[str, TaskID] = {}

    def __call__(self, step: str, done: int, total: int | None, unit: str) -> None:
        if step not in self._bars:
            self.finish()
            self._bars[step] = self._progress.add_task(step, total=total, unit=unit)
        self._progress.update(self._bars[step], completed=done, total=total)

    def finish(self) -> None:
        """Nothing is left to do in the steps so far, however their last report had it."""
        for task in self._progress.tasks:
            if not task.finished:
                whole = task.completed if task.total is None else task.total
                self._progress.update(task.id, completed=whole, total=whole)


@contextmanager
def steps_shown() -> Iterator[Callable[[str, int, int | None, str], None]]:
    """What to call with a step, how much is done, of how much, and the unit; silent where nobody looks."""
    console = aside()
    columns = (
        TextColumn("{task.description:<14}"),
        BarColumn(bar_width=20),
        _AmountColumn(),
        _RateColumn(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        steps = _Steps(progress)
        yield steps
        steps.finish()
