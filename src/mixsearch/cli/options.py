"""Parameters of commands: made from the options of the library, and those that several commands have."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from pathlib import Path
from time import perf_counter
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from mixsearch import __version__
from mixsearch.cli import console
from mixsearch.options import list_options

Convert = Callable[[Any], Any]
_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def expand_options(command: Callable[..., None], stopped: str = "Stopped.") -> Callable[..., None]:
    """Return a command that has a parameter for each option, in place of a parameter that is a dataclass of options.

    It reports errors, and Ctrl-C as `stopped`. Like all commands, it has --quiet and --verbose.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, dict[str, Convert]]] = {}
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            made = make_parameters(kind, parameter.name.capitalize())
            groups[parameter.name] = kind, {each.name: convert for each, convert in made}
            parameters += [each for each, _ in made]
        else:
            parameters.append(parameter.replace(annotation=kind, kind=_KEYWORD))
    parameters += [inspect.Parameter(name, _KEYWORD, default=False, annotation=kind) for name, kind in LEVELS.items()]

    def run(**given: Any) -> None:
        console.LEVEL.is_quiet |= given.pop("quiet")
        console.LEVEL.is_verbose |= given.pop("verbose")
        start = perf_counter()
        with console.report_errors(as_json=given.get("as_json", False), stopped=stopped):
            for name, (kind, converters) in groups.items():
                typed = [(field, convert, given.pop(field)) for field, convert in converters.items()]
                given[name] = kind(
                    **{field: convert(value) for field, convert, value in typed if value not in (None, [])}
                )
            command(**given)
        if console.LEVEL.is_verbose:
            console.stderr_console().print(f"{perf_counter() - start:.1f} s, mixsearch {__version__}")

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def make_parameters(options: Any, panel: str) -> list[tuple[inspect.Parameter, Convert]]:
    """Make a parameter of the command line for each option of a dataclass, each with how to read what is typed."""
    kinds = get_type_hints(options)
    made: list[tuple[inspect.Parameter, Convert]] = []
    for each, facts in list_options(options):
        kind, default, convert = adapt_kind(kinds[each.name], each.default)
        name = each.name.replace("_", "-")
        names = [f"--{name}" + f"/--no-{name}" * (default is True), *([f"-{facts.flag}"] if facts.flag else [])]
        described: dict[str, Any] = {"help": facts.help, "metavar": facts.metavar, "rich_help_panel": panel}
        if facts.ge is not None and convert is not _read_number:
            described |= {"min": facts.ge, "max": facts.le}
        annotation: Any = Annotated[kind, typer.Option(*names, **described)]
        made.append((inspect.Parameter(each.name, _KEYWORD, default=default, annotation=annotation), convert))
    return made


def adapt_kind(kind: Any, default: Any) -> tuple[Any, Any, Convert]:
    """Return the type and the default of a parameter of the command line, and how to read what is typed."""
    choices = [get_origin(choice) or choice for choice in get_args(kind) if choice is not NoneType]
    if get_origin(kind) is tuple:
        return (list[int] | None, None, tuple) if int in choices else (list[str] | None, None, split_list)
    if Sequence in choices:
        return list[str] | None, None, _read_names
    if len(choices) > 1 and get_origin(kind) is not Literal:
        return str if default is not None else str | None, default, _read_number
    return kind, default, _keep


def _keep(value: Any) -> Any:
    return value


def _read_number(text: str) -> int | float | str:
    """Return a number, or the text if it is not one: the library says what it may be."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _read_names(typed: Sequence[str]) -> str | tuple[str, ...] | None:
    """Return names; one alone as it is, since it may be a word such as auto, and none for none."""
    names = split_list(typed)
    return names if len(names) != 1 else None if names == ("none",) else names[0]


def split_list(typed: Iterable[str]) -> tuple[str, ...]:
    """Return the values of lists that are separated by commas; double quotes protect a comma."""
    lists = csv.reader(typed, skipinitialspace=True)
    return tuple(dict.fromkeys(value.strip() for each in lists for value in each if value.strip()))


# ---- Parameters of several commands ---------------------------------------------------------------------------------

OUTPUT = "Output"
# The help of `mixsearch` describes them.
LEVELS = {
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", hidden=True)],
    "verbose": Annotated[bool, typer.Option("--verbose", "-v", hidden=True)],
}
IndexArgument = Annotated[
    Path, typer.Argument(metavar="INDEX", help="Folder made by mixsearch index.", autocompletion=console.complete_index)
]
TableArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, JSON, Parquet, Arrow, Excel, or a table of a database: shop.sqlite::reviews; - for CSV or "
        "JSON lines on standard input.",
    ),
]
HintsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A file with one hint per line, 'sushi -pizza' or 'name: sushi -pizza'; - for standard input.",
    ),
]
NoHeaderOption = Annotated[bool, typer.Option("--no-header", help="The first row of CSV or Excel is data.")]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json",
        help='Print JSON, also of an error: {"error": {"code": ..., "message": ..., "fields": {...}}}.',
        rich_help_panel=OUTPUT,
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a table with the memberships: .csv, .parquet, .jsonl, .xlsx.",
        rich_help_panel=OUTPUT,
    ),
]
PlotOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw a figure: .png, .svg or .pdf.", rich_help_panel=OUTPUT)
]
AuditOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Judge the answer: the first run writes what to judge to this CSV, the next run reads it.",
        rich_help_panel=OUTPUT,
    ),
]
NAuditOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Number of lines in the file of --audit.", rich_help_panel=OUTPUT)
]
