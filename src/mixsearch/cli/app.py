"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from mixsearch import __version__
from mixsearch.cli import index, info, reproduce, segment, serve, topic
from mixsearch.cli._console import errors_as_sentences
from mixsearch.cli.demo import DEFAULT_WORDS, DemoOptions, export_docstrings, run_demo

HELP = """Find one component of a mixture from a small hint: a word, an example, a direction.

Examples:

  mixsearch index reviews.csv --text review
  mixsearch topic reviews.index sushi
  mixsearch serve reviews.index
  mixsearch info reviews.index
  mixsearch segment photo.jpg --seed 120,80 --seed 300,200 -o out.png
  mixsearch demo socket fourier
  mixsearch reproduce gmm-error --quick

mixsearch COMMAND --help tells more of each."""

app = typer.Typer(
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


app.command(help=index.HELP)(index.index)
app.command(help=topic.HELP)(topic.topic)
app.command(help=info.HELP)(info.info)
app.command("segment", help=segment.HELP)(segment.segment_picture)
app.command(help=serve.HELP)(serve.serve)
app.command(help=reproduce.HELP)(reproduce.reproduce)


@app.command()
def demo(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Words to find topics for; quote several to use them together. "
            f"By default {', '.join(DEFAULT_WORDS)}.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option(file_okay=False, help="The folder for the pictures, made where it is missing.")
    ] = Path("mixsearch-demo"),
    components: Annotated[
        int, typer.Option(min=1, help="How many topics the corpus has: more make narrower ones.")
    ] = 60,
    top: Annotated[int, typer.Option(min=1, help="How many words of each topic to show.")] = 12,
    packages: Annotated[
        str | None,
        typer.Option(
            help="Read these packages only, separated by commas: email,http,logging. "
            "By default the standard library and the scientific packages.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            help="Only write the docstrings to this file, one JSON object with name and text a line, "
            "for [bold]mixsearch index[/bold].",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Find topics in the docstrings on this computer, then one Gaussian of ten. Nothing is downloaded.

    Example: [bold]mixsearch demo thread spline "random seed" --output pictures[/bold]
    """
    chosen = tuple(packages.replace(",", " ").split()) if packages else None
    with errors_as_sentences():
        if export is not None:
            export_docstrings(Console(highlight=False), export, chosen)
            return
        run_demo(
            Console(highlight=False),
            DemoOptions(
                hints=tuple(words or DEFAULT_WORDS),
                output=output,
                n_components=components,
                n_words=top,
                packages=chosen,
            ),
        )
