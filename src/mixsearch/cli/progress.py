"""Progress bars on a terminal: one for each step, with its rate and the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from mixsearch.cli.console import stderr_console
from mixsearch.cli.units import format_bytes, format_count


class _AmountColumn(ProgressColumn):
    """The amount done, and the total if it is known."""

    def render(self, task: Task) -> Text:
        unit = task.fields["unit"]
        done = _amount(task.completed, unit)
        whole = "" if task.total is None or task.finished else f" of {_amount(task.total, unit)}"
        return Text(f"{done}{whole}{'' if unit == 'bytes' else f' {unit}'}")


class _RateColumn(ProgressColumn):
    """The amount per second."""

    def render(self, task: Task) -> Text:
        speed = task.completed / task.finished_time if task.finished_time else task.speed
        return Text("" if not speed else f"{_amount(speed, task.fields['unit'])}/s", style="dim")


def _amount(n: float, unit: str) -> str:
    return format_bytes(n) if unit == "bytes" else format_count(n)


class _Steps:
    """The bars, each added when its step starts."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bars: dict[str, TaskID] = {}

    def __call__(self, step: str, done: int, total: int | None, unit: str) -> None:
        if step not in self._bars:
            self.finish()
            self._bars[step] = self._progress.add_task(step, total=total, unit=unit)
        self._progress.update(self._bars[step], completed=done, total=total)

    def finish(self) -> None:
        """Fill the bars of all steps so far; the last report of a step may come before its end."""
        for task in self._progress.tasks:
            if not task.finished:
                whole = task.completed if task.total is None else task.total
                self._progress.update(task.id, completed=whole, total=whole)


@contextmanager
def show_progress() -> Iterator[Callable[[str, int, int | None, str], None]]:
    """Yield a callback for a step, the amount done, the total and the unit; it prints on a terminal only."""
    console = stderr_console()
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
