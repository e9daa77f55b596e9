"""Shared by all commands: messages, figures, JSON, exit codes, next steps after errors, the argument of an index."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import SequenceMatcher
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from mixsearch.cli.unexpected import explain_unexpected
from mixsearch.errors import Coded, Option, SearchError, SearchWarning, StorageError

EXIT_ERROR, EXIT_STOPPED = 1, 130
# What Typer deals with itself; its base class of usage errors has no public name in all versions.
_PASSED_ON: tuple[type[BaseException], ...] = (
    *(typer.Exit, typer.Abort, BrokenPipeError),
    *(each for each in typer.BadParameter.__mro__ if each.__name__ == "ClickException"),
)
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
    "examples": "--like",
    "not_seeds": "--not-seed",
    "seeds": "--seed",
    "hosts": "--allow-host",
    "ids": "--id",
    # With values. Many commands read a folder, and few write one.
    "overwrite=True": "the command that made it, such as mixsearch index, and --overwrite",
}
# Indexes with a similar name that an error lists.
_MAX_LISTED = 3


def spell(name: str) -> str:
    """Return the name of an argument of the library as the command line spells it."""
    return _OTHER_NAMES.get(name, f"--{name.replace('_', '-')}")


def describe(coded: Coded) -> str:
    """Return the sentence of an error or a warning, with arguments as the command line spells them."""
    return coded.describe(spell)


def describe_for_json(coded: Coded) -> dict[str, Any]:
    """Return an error or a warning as JSON has it."""
    return coded.as_dict() | {"message": describe(coded)}


class SafeConsole(Console):
    """A console that shows control characters of texts instead of sending them to the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object, with control characters as symbols. Colors are added later, so they are kept."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(show_controls(segment.text), segment.style)


def show_controls(text: str) -> str:
    r"""Replace control characters, but tabs and ends of lines, by symbols: a document must not command a terminal."""
    return _CONTROLS.sub(_show_control, text)


def _show_control(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"


def stdout_console() -> Console:
    """Return the console for the answer."""
    return SafeConsole(highlight=False)


def stderr_console() -> Console:
    """Return the console for everything that is not the answer."""
    return SafeConsole(stderr=True, highlight=False)


def print_error(sentence: str) -> None:
    """Print one sentence in red."""
    stderr_console().print(Text(sentence, style="red"), soft_wrap=True)


def print_notes(sentences: Iterable[str]) -> None:
    """Print notes for the user, apart from the output."""
    for sentence in sentences:
        stderr_console().print(Text.assemble(("Note: ", "yellow"), sentence), soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a value as JSON, alone on standard output."""
    is_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    text = json.dumps(value, indent=2, ensure_ascii=not is_unicode, allow_nan=False)
    # JSON escapes only the control characters below the blank.
    typer.echo(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


@contextmanager
def report_errors(*, as_json: bool = False, stopped: str = "Stopped.") -> Iterator[None]:
    """Turn an error or Ctrl-C into one sentence and an exit code; with `as_json`, the error is also JSON."""
    try:
        yield
    except SearchError as error:
        _print_coded(add_next_step(error), as_json=as_json)
        raise typer.Exit(EXIT_ERROR) from error
    except KeyboardInterrupt as error:
        stderr_console().print(stopped)
        raise typer.Exit(EXIT_STOPPED) from error
    except _PASSED_ON:
        raise
    except Exception as error:
        _print_coded(explain_unexpected(error), as_json=as_json)
        raise typer.Exit(EXIT_ERROR) from error


def _print_coded(error: Coded, *, as_json: bool) -> None:
    if as_json:
        print_json({"error": describe_for_json(error)})
    print_error(describe(error))


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


def complete_index(incomplete: str) -> list[str]:
    """Return the folders that hold an index, or those on the way to one."""
    from mixsearch.io.folder import MANIFEST_NAME  # other commands need not wait for it

    start, name = os.path.split(incomplete)
    try:
        folders = sorted(each for each in Path(start or ".").iterdir() if each.is_dir() and each.name.startswith(name))
    except OSError:
        return []
    shown = [each for each in folders if name.startswith(".") or not each.name.startswith(".")]
    paths = [(os.path.join(start, each.name), (each / MANIFEST_NAME).exists()) for each in shown]
    return [path for path, found in paths if found] or [path + os.sep for path, _ in paths]


def add_next_step(error: SearchError) -> SearchError:
    """Return an error about the path of an index with the next step, if there is one; any other as it is."""
    if error.code == "folder_foreign":
        path = Path(str(error.fields["path"]))
        if path.is_file() and _has_documents(path):
            command = f"mixsearch index {shlex.quote(str(path))}"
            return error.append("To make an index of the file: {command}", command=command)
    if error.code == "folder_missing":
        nearest = _find_nearest(Path(str(error.fields["path"])))
        if nearest:
            return error.append("Did you mean {nearest}?", nearest=" or ".join(f"'{each}'" for each in nearest))
    return error


def _has_documents(path: Path) -> bool:
    """Return whether a file holds rows or texts."""
    from mixsearch.io.files import find_files  # other commands need not wait for it

    with suppress(SearchError, OSError):
        return find_files(path).n_bytes > 0
    return False


def _find_nearest(path: Path) -> list[Path]:
    """Return the indexes next to a path, those with the most similar names first."""
    from mixsearch.io.folder import MANIFEST_NAME

    try:
        found = [each for each in path.parent.iterdir() if each != path and (each / MANIFEST_NAME).exists()]
    except OSError:
        return []
    found.sort(key=lambda each: (-SequenceMatcher(None, path.name, each.name).ratio(), each.name))
    return list(islice(filter(_is_index, found), _MAX_LISTED))


def _is_index(folder: Path) -> bool:
    from mixsearch.io.folder import open_folder

    with suppress(StorageError):
        open_folder(folder)
        return True
    return False


def load_plots() -> Any:
    """Import `mixsearch.show.plots`, or raise an error that says what to install."""
    try:
        from mixsearch.show import plots

        matplotlib: Any = import_module("matplotlib")
        matplotlib.use("agg")  # pyplot must not look for a screen
    except ImportError as error:
        raise SearchError("{reason}.", code="extra_missing", reason=str(error), extra="cli") from error
    return plots


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
    print_notes(map(describe, warned))
    stderr_console().print(f"Figure: {path}", markup=False, soft_wrap=True)


IndexArgument = Annotated[
    Path, typer.Argument(metavar="INDEX", help="Folder made by mixsearch index.", autocompletion=complete_index)
]
