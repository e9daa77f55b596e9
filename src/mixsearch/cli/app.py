"""The commands: each in a module of its own, which is imported when it is run, so that help waits for none of them."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from mixsearch import __version__
from mixsearch.cli import console

# The commands in the order of the help, each with the first line of the HELP of its module.
COMMANDS = {
    "index": "Build an index of texts, to search with mixsearch topic.",
    "topic": "Find the topic of some words or documents: its words, its documents, its share.",
    "overview": "List the largest topics of an index.",
    "info": "Show the contents of an index, how it was built, and its size.",
    "report": "Write some topics to one HTML file to share.",
    "export": "Write the documents of an index to a table, with their membership in topics.",
    "add": "Add documents to an index, or fit it again.",
    "remove": "Remove documents from an index, with their texts and columns.",
    "find": "Find the rows of a table that are like a few of them.",
    "community": "Find the community of a graph that a few nodes belong to.",
    "segment": "Segment an image, from one pixel of each segment.",
    "serve": "Open a page to search texts, tables and images.",
    "demo": "Find a topic, rows of a table and a segment of an image on this computer.",
    "doctor": "Show versions, cores, fonts and optional packages, and how to get what is missing.",
}
HELP = """Find one component of a mixture from a small hint: a word, an example, a pixel.

Examples:

  mixsearch demo
  mixsearch index reviews.csv --text review
  mixsearch topic reviews.index sushi
  mixsearch find patients.csv --examples 12,40,77
  mixsearch community edges.csv --examples alice,bob
  mixsearch segment photo.jpg --seed 120,80 --seed 300,200 -o out.png
  mixsearch serve reviews.index

mixsearch COMMAND --help describes each command."""
EPILOG = """-q prints answers and errors only, -v also steps and times.
Exit codes: 0 success, 1 error, 2 wrong usage, 130 stopped by Ctrl-C."""


def load_command(name: str) -> Any:
    """Import a command, with its options."""
    from mixsearch.cli.options import expand_options

    module = import_module(f"mixsearch.cli.{name}")
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    help = f"{COMMANDS[name]}\n\n{module.HELP}"
    stopped = getattr(module, "STOPPED", "Stopped.")
    alone.command(name, help=help, epilog=EPILOG)(expand_options(getattr(module, name), stopped))
    return typer.main.get_command(alone)


class LazyGroup(TyperGroup):
    """A group that lists its commands by name and first line, and imports the one that is run."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands = {
            name: TyperCommand(name, help=line, rich_markup_mode="rich") for name, line in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command to run or to complete, with its options."""
        name, found, rest = super().resolve_command(ctx, args)
        with console.report_errors():  # Ctrl-C also while packages are imported
            return name, None if found is None else load_command(str(found.name)), rest

    def main(self, args: Any = None, *more: Any, **options: Any) -> Any:
        """Run a command and end with its exit code; wrong usage is one line, like every other error."""
        try:
            exit_code = super().main(args, *more, **(options | {"standalone_mode": False}))
        except console.USAGE_ERROR as error:
            exit_code = console.report_usage(error, as_json="--json" in (sys.argv if args is None else args))
        sys.exit(exit_code or 0)


app = typer.Typer(
    cls=LazyGroup,
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mixsearch {__version__}")
        raise typer.Exit


@app.callback(help=HELP)
def mixsearch(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print answers and errors only; also after COMMAND.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print also steps and times; also after COMMAND.")
    ] = False,
) -> None:
    """Find one component of a mixture from a small hint."""
    console.LEVEL.is_quiet, console.LEVEL.is_verbose = quiet, verbose
