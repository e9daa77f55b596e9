"""What every command owes its caller: errors as one sentence, exit codes, notes beside the output, paths completed."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from mixsearch import SearchError
from mixsearch.storage.manifest import MANIFEST_NAME

EXIT_ERROR, EXIT_STOPPED = 1, 130

# Arguments of the library that are options here, and by which name.
_OPTIONS = {
    **{name: f"--{name.replace('_', '-')}" for name in ("text", "id", "format", "encoding", "vocabulary", "memory")},
    **{name: f"--{name.replace('_', '-')}" for name in ("token_pattern", "stop_words", "ngrams", "strip_tags")},
    **{name: f"--{name.replace('_', '-')}" for name in ("min_df", "max_df", "max_words", "drop_duplicates")},
    **{name: f"--{name}" for name in ("overwrite", "scheduler", "alpha0", "moments", "weights", "metric", "damping")},
    **{"n_components": "--components", "n_jobs": "--jobs", "random_state": "--seed", "tmp_dir": "--tmp-dir"},
}
_WITH_VALUE = re.compile(rf"(?<![\w'\"-])({'|'.join(_OPTIONS)})=(True\b|(?=[\s.,;:)]|$))?")
_BY_NAME = re.compile(rf"(?<![\w'\"-])({'|'.join(name for name in _OPTIONS if '_' in name)})\b(?!=)")


def as_typed(sentence: str) -> str:
    """A sentence of the library with its arguments called as the command line has them."""
    named = _WITH_VALUE.sub(lambda found: _OPTIONS[found[1]] + ("" if found[2] is not None else "="), sentence)
    return _BY_NAME.sub(lambda found: _OPTIONS[found[1]], named)


def aside() -> Console:
    """Where everything goes that is not the answer."""
    return Console(stderr=True, highlight=False)


def say_error(sentence: str) -> None:
    """One sentence in red."""
    aside().print(Text(as_typed(sentence), style="red"), soft_wrap=True)


def say_notes(notes: Iterable[str]) -> None:
    """What the user should know, beside the output."""
    for note in notes:
        aside().print(Text.assemble(("Note: ", "yellow"), as_typed(note)), soft_wrap=True)


def print_json(value: Any) -> None:
    """A value as JSON, alone on standard output."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def errors_as_sentences(stopped: str = "Stopped.") -> Iterator[None]:
    """End with a sentence and the right code where data, a hint or the user ask for it."""
    try:
        yield
    except SearchError as error:
        say_error(str(error))
        raise typer.Exit(EXIT_ERROR) from error
    except KeyboardInterrupt as error:
        aside().print(stopped)
        raise typer.Exit(EXIT_STOPPED) from error


@contextmanager
def warnings_as_notes() -> Iterator[list[str]]:
    """The warnings of the library, kept for the reader instead of printed with a line of code."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield notes
    notes.extend(dict.fromkeys(str(warning.message) for warning in heard))


def complete_index(incomplete: str) -> list[str]:
    """Folders that hold an index, and those on the way there."""
    start, name = os.path.split(incomplete)
    try:
        folders = sorted(each for each in Path(start or ".").iterdir() if each.is_dir() and each.name.startswith(name))
    except OSError:
        return []
    shown = [each for each in folders if name.startswith(".") or not each.name.startswith(".")]
    paths = [(os.path.join(start, each.name), (each / MANIFEST_NAME).exists()) for each in shown]
    return [path for path, found in paths if found] or [path + os.sep for path, _ in paths]
