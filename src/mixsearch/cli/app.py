"""The command line: one command per module."""

from __future__ import annotations

from typing import Annotated

import typer

from mixsearch import __version__
from mixsearch.cli.commands import LazyGroup

HELP = """Find one component of a mixture from a small hint: a word, an example, a direction.

Examples:

  mixsearch index reviews.csv --text review
  mixsearch topic reviews.index sushi
  mixsearch overview reviews.index
  mixsearch serve reviews.index
  mixsearch info reviews.index
  mixsearch report reviews.index --hints topics.txt -o report.html
  mixsearch export reviews.index --topics sushi,pizza -o labelled.parquet
  mixsearch add reviews.index today.csv
  mixsearch find patients.csv --examples 12,40,77
  mixsearch community edges.csv --examples alice,bob
  mixsearch segment photo.jpg --seed 120,80 --seed 300,200 -o out.png
  mixsearch demo socket fourier
  mixsearch doctor

mixsearch COMMAND --help describes each command."""

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
) -> None:
    """Find one component of a mixture from a small hint."""
