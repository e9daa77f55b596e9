"""Shared by all commands: answers, notes, progress, JSON, figures, exit codes, and next steps after errors."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.status import Status
from rich.table import Table
from rich.text import Text

from mixsearch.cli.unexpected import explain_unexpected
from mixsearch.display import pluralize
from mixsearch.errors import Coded, Option, SearchError, SearchWarning

if TYPE_CHECKING:
    from mixsearch.topics.storage import Growth

EXIT_ERROR, EXIT_STOPPED = 1, 130
# The base class of usage errors, which has no public name in all versions of Typer.
USAGE_ERROR: Any = next(each for each in typer.BadParameter.__mro__ if each.__name__ == "ClickException")
# How much is printed besides answers and errors: notes and what was written, nothing, or also steps and times.
LEVEL = SimpleNamespace(is_quiet=False, is_verbose=False)
# Characters that a terminal obeys, of which tabs and ends of lines are harmless.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
# Arguments of the library that are positional here, or options that are given once for each item.
_OTHER_NAMES = {
    "source": "SOURCE",
    "path": "INDEX",
    "indexes": "INDEX",
    "words": "WORD",
    "image": "IMAGE",
    "table": "TABLE",
    "not_seeds": "--not-seed",
    "seeds": "--seed",
    "hosts": "--allow-host",
    "ids": "--id",
    # With values. Many commands read a folder, and few write one.
    "overwrite=True": "the command that made it, such as mixsearch index, and --overwrite",
}
_NAME_WIDTH, _PIPE_WIDTH = 9, 10_000


class SafeConsole(Console):
    """A console that shows control characters of texts instead of sending them to the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object, with control characters as symbols. Colors are added later, so they are kept."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_CONTROLS.sub(_show_control, segment.text), segment.style)


def _show_control(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"


def stdout_console() -> Console:
    """Return the console for the answer; in a pipe, lines are as long as they need to be."""
    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def stderr_console() -> Console:
    """Return the console for everything that is neither an answer nor an error."""
    return SafeConsole(stderr=True, highlight=False, quiet=LEVEL.is_quiet)


# ---- Errors, warnings, and what was written -------------------------------------------------------------------------


def describe(coded: Coded) -> str:
    """Return the sentence of an error or a warning, with arguments as the command line spells them."""
    return coded.describe(lambda name: _OTHER_NAMES.get(name, f"--{name.replace('_', '-')}"))


def describe_for_json(coded: Coded) -> dict[str, Any]:
    """Return an error or a warning as JSON has it."""
    return coded.as_dict() | {"message": describe(coded)}


def print_error(sentence: str, code: str, prefix: str = "") -> None:
    """Print a sentence in red with the code of the error."""
    terminal = SafeConsole(stderr=True, highlight=False)
    terminal.print(Text.assemble((f"{prefix}{sentence}", "red"), (f" [{code}]", "dim")), soft_wrap=True)


def print_notes(notes: Iterable[Coded | str]) -> None:
    """Print notes for the user, apart from the output."""
    for note in notes:
        sentence = note if isinstance(note, str) else describe(note)
        stderr_console().print(Text.assemble(("Note: ", "yellow"), sentence), soft_wrap=True)


def print_written(path: str | Path, facts: str = "") -> None:
    """Print the path of a file that was written."""
    stderr_console().print(f"Written: {path}{facts}", markup=False, soft_wrap=True)


@contextmanager
def report_errors(*, as_json: bool = False, stopped: str = "Stopped.") -> Iterator[None]:
    """Turn an error or Ctrl-C into one sentence and an exit code; with `as_json`, the error is also JSON."""
    try:
        yield
    except KeyboardInterrupt as error:
        SafeConsole(stderr=True).print(stopped)
        raise typer.Exit(EXIT_STOPPED) from error
    except (typer.Exit, typer.Abort, BrokenPipeError, USAGE_ERROR):
        raise
    except Exception as error:
        coded = add_next_step(error) if isinstance(error, SearchError) else explain_unexpected(error)
        if as_json:
            print_json({"error": describe_for_json(coded)})
        print_error(describe(coded), coded.code)
        raise typer.Exit(EXIT_ERROR) from error


def report_usage(error: Any, *, as_json: bool) -> int:
    """Print wrong usage in one line, and return the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return int(error.exit_code)
    command = "mixsearch" if error.ctx is None else error.ctx.command_path
    message = f"{error.format_message()} See {command} --help."
    if as_json:
        print_json({"error": {"code": "wrong_usage", "fields": {}, "message": message}})
    print_error(message, "wrong_usage")
    return int(error.exit_code)


@contextmanager
def record_warnings() -> Iterator[list[SearchWarning]]:
    """Collect the warnings of the library, from every thread, instead of printing each with a line of code."""
    collected: list[SearchWarning] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SearchWarning)
        yield collected
    messages = {str(each.message): each.message for each in caught}
    collected.extend(message for message in messages.values() if isinstance(message, SearchWarning))


def add_next_step(error: SearchError) -> SearchError:
    """Return an error about the path of an index with the next step, if there is one; any other as it is."""
    path = Path(str(error.fields.get("path")))
    if error.code == "folder_foreign" and path.is_file():
        command = f"mixsearch index {shlex.quote(str(path))}"
        return error.append("To make an index of the file: {command}", command=command)
    if error.code == "folder_missing":
        names = {each.name: str(each) for each in _list_indexes(path.parent)}
        nearest = [names[name] for name in get_close_matches(path.name, names, n=3, cutoff=0)]
        if nearest:
            error = error.append("Did you mean {nearest}?", nearest=" or ".join(f"'{each}'" for each in nearest))
        return error.append("To build an index: {command}", command="mixsearch index SOURCE")
    return error


def complete_index(incomplete: str) -> list[str]:
    """Return the indexes that a path may become, or the folders on the way to one."""
    start, name = os.path.split(incomplete)
    found = [os.path.join(start, each.name) for each in _list_indexes(Path(start or ".")) if each.name.startswith(name)]
    if found:
        return found
    with suppress(OSError):
        folders = sorted(each.name for each in Path(start or ".").iterdir() if each.is_dir())
        return [os.path.join(start, each, "") for each in folders if each.startswith(name)]
    return []


def _list_indexes(folder: Path) -> list[Path]:
    from mixsearch.io.disk import MANIFEST_NAME  # most commands need not wait for it

    with suppress(OSError):
        return sorted(each for each in folder.iterdir() if (each / MANIFEST_NAME).exists())
    return []


def check_output(output: Path | None, source: str | Path) -> None:
    """Raise an error where an output would replace the file that is read."""
    path = Path(str(source).partition("::")[0])
    if output is not None and output.exists() and path.exists() and output.samefile(path):
        raise SearchError(
            "{argument} would replace '{path}', which is read. Choose another file.",
            code="output_is_input",
            argument=Option("output"),
            path=str(output),
        )


# ---- Answers --------------------------------------------------------------------------------------------------------


def print_json(value: Any) -> None:
    """Print a value as JSON, alone on standard output."""
    is_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    text = json.dumps(value, indent=2, ensure_ascii=not is_unicode, allow_nan=False)
    # JSON escapes only the control characters below the blank.
    typer.echo(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_facts(facts: Iterable[tuple[str, str | Text]]) -> None:
    """Print names and values in two columns."""
    table = make_table("", "")
    table.show_header, table.columns[0].style, table.columns[0].min_width = False, "dim", _NAME_WIDTH
    for name, value in facts:
        table.add_row(name, Text(value) if isinstance(value, str) else value)
    print_table(table)


def make_table(*headers: str) -> Table:
    """Make a table without lines; a header that starts with > is that of numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for header in headers:
        is_right = header.startswith(">")
        table.add_column(Text(header.removeprefix(">")), justify="right" if is_right else "left", overflow="fold")
    return table


def print_table(table: Table) -> None:
    """Print a table; in a pipe, without blanks at the end of lines."""
    console = stdout_console()
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def describe_growth(growth: Growth, path: Path) -> list[str]:
    """Return the advice to fit an index again, with its reason; empty if there is no need."""
    if growth.reason is None:
        return []
    changed = growth.n_added + growth.n_removed
    reasons = {
        "new_words": f"{growth.new_words:.0%} of the words of the added texts are new to the index",
        "changed": f"{changed:,} {pluralize(changed, 'document was', 'documents were')} added or removed since the "
        f"index was fitted to {growth.n_fitted:,}",
    }
    command = shlex.join(["mixsearch", "add", str(path), "--refit"])
    return [f"Fit the index again: {reasons[growth.reason]}. Run: {command}"]


def format_bytes(n: float) -> str:
    """Format bytes with a unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:,.3g} TB"


def show_status(doing: str) -> Status:
    """Show on a terminal that a command is at work."""
    return stderr_console().status(f"{doing} ...")


@contextmanager
def show_progress() -> Iterator[Callable[[str, int, int | None, str], None]]:
    """Yield a callback for a step, the amount done, the total and the unit; bars are shown on a terminal only."""
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn  # a search has no bars

    console = stderr_console()
    columns = (TextColumn("{task.description:<14}"), BarColumn(bar_width=20), TextColumn("{task.fields[amount]}"))
    remaining = TimeRemainingColumn(compact=True, elapsed_when_finished=True)
    is_shown = console.is_terminal and not console.quiet
    with Progress(*columns, remaining, console=console, disable=not is_shown) as progress:
        bars: dict[str, TaskID] = {}

        def finish() -> None:  # the last report of a step may come before its end
            for task in progress.tasks[-1:]:
                progress.update(task.id, total=task.total or task.completed, completed=task.total or task.completed)
                if LEVEL.is_verbose and not is_shown:
                    console.print(f"{task.description}: {task.fields['amount']}, {task.elapsed:.1f} s")

        def on_progress(step: str, done: int, total: int | None, unit: str) -> None:
            if step not in bars:
                finish()
                bars[step] = progress.add_task(step, total=total, amount="")
            amount = format_bytes(done) if unit == "bytes" else f"{done:,} {unit}"
            progress.update(bars[step], completed=done, total=total, amount=amount)

        yield on_progress
        finish()


# ---- Figures --------------------------------------------------------------------------------------------------------


def load_plots() -> Any:
    """Import `mixsearch.show.plots`, which needs no screen."""
    from mixsearch.show import plots  # first, since it says what to install

    import_module("matplotlib").use("agg")
    return plots


def write_figure(draw: Callable[[Any], Any], path: Path) -> None:
    """Draw with `mixsearch.show.plots`, save the figure and print its path."""
    from mixsearch.io.disk import write_atomically  # most commands draw nothing

    plots = load_plots()
    try:
        with record_warnings() as warned, write_atomically(path) as temporary:
            draw(plots).figure.savefig(temporary, format=path.suffix[1:] or "png", dpi=150)
    except SearchError:
        raise
    except (OSError, ValueError) as error:  # matplotlib raises ValueError for a format that it does not know
        reason = getattr(error, "strerror", None) or str(error)
        raise SearchError(
            "Cannot write the figure '{path}': {reason}.", code="cannot_write", path=str(path), reason=reason
        ) from error
    print_notes(warned)
    print_written(path)
