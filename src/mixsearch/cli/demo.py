"""`mixsearch demo`: topics in the docstrings on this computer, then one Gaussian of a mixture, and a figure of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape

from mixsearch import __version__
from mixsearch.cli._console import report_errors, stdout_console
from mixsearch.cli._demo_gaussian import show_gaussian
from mixsearch.cli._demo_topics import show_topics
from mixsearch.cli._docstrings import export_docstrings, name_program, print_line
from mixsearch.datasets import GaussianMixtureData
from mixsearch.errors import Option, SearchError
from mixsearch.gaussian import GaussianComponent
from mixsearch.topics import Topic

# The last one has two meanings in this corpus, random generators and random variables, so its runner-up is close.
DEFAULT_WORDS = ("socket", "email", "fourier", "eigenvalues", "clustering", "random")

HELP = """Find topics in the docstrings on this computer, then one Gaussian of ten.

Nothing is downloaded.

Examples:

  mixsearch demo
  mixsearch demo thread spline "random seed" --output figures
  mixsearch demo --export docstrings.jsonl

Exit codes: 0 success, 1 unknown words or packages, 2 usage error."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """The hints to search for, and the folder of the figures."""

    hints: tuple[str, ...]  # each a word, or several separated by blanks
    output: Path
    n_components: int
    n_words: int
    packages: tuple[str, ...] | None


def demo(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORD",
            help=f"Words to find topics for; quote several to use them together. Default: {', '.join(DEFAULT_WORDS)}.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", file_okay=False, metavar="FOLDER", help="Folder for the figures; created if missing."
        ),
    ] = Path("mixsearch-demo"),
    n_components: Annotated[
        int,
        typer.Option("--n-components", "-k", min=1, metavar="N", help="Number of topics: more of them are narrower."),
    ] = 60,
    n_words: Annotated[int, typer.Option(min=1, metavar="N", help="Number of words to show of each topic.")] = 12,
    packages: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Read only these packages, separated by commas: email,http,logging. Default: the standard library "
            "and the scientific packages.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            metavar="FILE",
            help="Only write the docstrings to this file as JSON lines with name and text, for mixsearch index.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Find topics in the docstrings on this computer, then one Gaussian of ten."""
    chosen = tuple(packages.replace(",", " ").split()) if packages else None
    console = stdout_console()
    with report_errors():
        if export is not None:
            export_docstrings(console, export, chosen)
            return
        options = DemoOptions(tuple(words or DEFAULT_WORDS), output, n_components, n_words, chosen)
        with _prepare_folder(output):
            _run(console, options)


def _run(console: Console, options: DemoOptions) -> None:
    console.print(f"[bold]mixsearch {__version__}[/]: one component of a mixture from a small hint")
    _heading(console, "Topics in the docstrings of this Python installation")
    topics = show_topics(console, options.hints, options.n_components, options.n_words, options.packages)
    _heading(console, "One Gaussian of ten, from one labelled sample")
    data, found = show_gaussian(console)
    _write_figures(console, options.output, topics, data, found)
    console.print(f"\nTry your own words: [bold]{escape(name_program())} demo thread kernel[/]")
    console.print(f"Or your own texts: [bold]{escape(name_program())} index reviews.csv[/]")


@contextmanager
def _prepare_folder(folder: Path) -> Iterator[None]:
    """Create the folder before any work is done; remove it if it stays empty."""
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SearchError(
            "Cannot create the folder '{path}': {reason}. Choose another with {argument}.",
            code="cannot_write",
            path=str(folder),
            reason=error.strerror or str(error),
            argument=Option("output"),
        ) from error
    try:
        yield
    finally:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()


def _heading(console: Console, text: str) -> None:
    console.print()
    console.rule(f"[bold]{text}[/]", align="left", style="dim")


def _write_figures(
    console: Console,
    folder: Path,
    topics: dict[str, Topic],
    data: GaussianMixtureData,
    found: GaussianComponent,
) -> None:
    _heading(console, "Figures")
    try:
        from mixsearch.plots import plot_component, plot_topics, save_figure
    except ImportError as error:
        print_line(console, f"[yellow]{escape(str(error))}[/]")
        return
    first = np.where(np.arange(len(data.X)) == 0, 1, -1)
    for name, figure in (("topics.png", plot_topics(topics)), ("gaussian.png", plot_component(found, data.X, first))):
        console.print(f"  {escape(str(save_figure(figure, folder / name)))}", soft_wrap=True)
