"""`mixsearch demo`: topics in the docstrings on this computer, one Gaussian of a mixture, figures, and files to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import scipy.sparse as sp
import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from sklearn.datasets import load_wine

from mixsearch import __version__
from mixsearch._typing import Array
from mixsearch.cli.console import describe, load_plots, record_warnings, report_errors, stdout_console
from mixsearch.cli.docstrings import export_docstrings, measure, name_program, print_line, read_docstrings
from mixsearch.datasets import make_communities, make_landscape, make_reviews
from mixsearch.datasets.mixtures import GaussianMixtureData, make_gaussian_mixture
from mixsearch.display import plain_number
from mixsearch.errors import Option, SearchError
from mixsearch.gaussian import GaussianComponent, GaussianSearch
from mixsearch.image.files import make_pillow_image
from mixsearch.table import write_table
from mixsearch.topics.topic import Topic
from mixsearch.topics.topic_search import TopicSearch

DEFAULT_WORDS = ("socket", "email", "fourier", "eigenvalues", "clustering", "random")

HELP = """Find topics in the docstrings on this computer, then one Gaussian of ten.

Figures of both and example files for other commands are written to a folder.
Nothing is downloaded.

Examples:

  mixsearch demo
  mixsearch demo thread spline "random seed" --output figures
  mixsearch demo --export docstrings.jsonl

Exit codes: 0 success, 1 unknown words or packages, 2 usage error."""
_N_DOCUMENTS = 3
_DEVIATION = 2.0


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """The hints to search for, and the folder of the figures."""

    hints: tuple[str, ...]  # each a word, or several separated by blanks
    output: Path
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
            "--output",
            "-o",
            file_okay=False,
            metavar="FOLDER",
            help="Folder for the figures and example files; created if missing.",
        ),
    ] = Path("mixsearch-demo"),
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
        options = DemoOptions(tuple(words or DEFAULT_WORDS), output, chosen)
        with _prepare_folder(output):
            _run(console, options)


def _run(console: Console, options: DemoOptions) -> None:
    console.print(f"[bold]mixsearch {__version__}[/]: one component of a mixture from a small hint")
    _heading(console, "Topics in the docstrings of this Python installation")
    topics = show_topics(console, options.hints, options.packages)
    _heading(console, "One Gaussian of ten, from one labelled sample")
    data, found = show_gaussian(console)
    _write_figures(console, options.output, topics, data, found)
    _write_examples(console, options.output)


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
        plots = load_plots()
    except SearchError as error:
        print_line(console, f"[yellow]{escape(str(error))}[/]")
        return
    first = np.where(np.arange(len(data.X)) == 0, 1, -1)
    drawn = {"topic.png": plots.plot_topic(next(iter(topics.values())))}
    drawn["gaussian.png"] = plots.plot_component(found, data.X, first)
    for name, axes in drawn.items():
        axes.figure.savefig(folder / name, dpi=150)
        console.print(f"  {escape(str(folder / name))}", soft_wrap=True)


def _write_examples(console: Console, folder: Path) -> None:
    """Write a corpus, a table, an image and a graph, and show commands to try on them."""
    _heading(console, "Files to try")
    make_reviews(3_000, random_state=0).to_csv(folder / "reviews.csv")
    wine = load_wine()
    write_table(dict(zip(wine.feature_names, wine.data.T, strict=True)), folder / "wine.csv")
    make_pillow_image(make_landscape(random_state=0).image).save(folder / "landscape.png")
    links = sp.triu(make_communities(1_000, 4, mean_degree=12, signal=3, random_state=0).adjacency).tocoo()
    write_table({"source": links.row, "target": links.col}, folder / "links.csv")
    program = escape(name_program())
    for command in (
        f"index {folder / 'reviews.csv'} --text text -o {folder / 'reviews.index'}",
        f"topic {folder / 'reviews.index'} sushi --over date",
        f"find {folder / 'wine.csv'} --examples 0,10,20",
        f"segment {folder / 'landscape.png'} --seed sky=108,48 --seed meadow=54,168 --seed lake=223,177"
        f" -o {folder / 'segments.png'}",
        f"community {folder / 'links.csv'} --examples 14,15,16",
    ):
        console.print(f"  {program} {escape(command)}", soft_wrap=True, highlight=False)


def show_topics(console: Console, hints: Sequence[str], packages: Sequence[str] | None) -> dict[str, Topic]:
    """Print the topic of each hint, a word or several with blanks between them; return the topics by hint."""
    corpus = read_docstrings(console, packages)
    search, seconds = measure(lambda: TopicSearch().fit(corpus.texts))
    n_words_counted = len(search.vocabulary_.words or ())
    print_line(console, f"Counted and compared [bold]{n_words_counted:,}[/] words in {seconds:.1f} s")
    print_line(console, "Every search below uses this one fit.")
    topics = {}
    for hint in dict.fromkeys(hints):
        try:
            with record_warnings():
                topic, seconds = measure(partial(search.search, hint))
        except SearchError as error:
            print_line(console, f"[yellow]{escape(describe(error))}[/]")
            continue
        console.print(_panel(hint, topic, corpus.names, seconds))
        topics[hint] = topic
    if not topics:
        raise SearchError("None of the words occurs in the docstrings. Try a suggested word.", code="unknown_word")
    return topics


def _panel(hint: str, topic: Topic, names: Sequence[str], seconds: float) -> Panel:
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    facts.add_row("", topic.sentence)
    facts.add_row("words", escape(", ".join(word.word for word in topic.words())))
    if topic.alternatives:
        facts.add_row("meanings", escape("; ".join(map(str, topic.alternatives))))
    for line, (row, _) in enumerate(topic.documents(_N_DOCUMENTS)):
        facts.add_row("" if line else "documents", escape(names[row]))
    return Panel(
        facts,
        box=box.ROUNDED,
        border_style="dim",
        title=f"[bold not dim]{escape(hint)}[/]",
        title_align="left",
        subtitle=f"{1000 * seconds:.0f} ms",
        subtitle_align="right",
    )


def show_gaussian(console: Console) -> tuple[GaussianMixtureData, GaussianComponent]:
    """Find the component of one labelled sample; return the mixture and the component."""
    data = make_gaussian_mixture(10_000, 100, 10, deviation=_DEVIATION, random_state=0)
    n_samples, n_features = data.X.shape
    print_line(console, f"{n_samples:,} samples in {n_features} dimensions, standard deviation {_DEVIATION:g}")
    search, fit_seconds = measure(lambda: GaussianSearch(len(data.weights)).fit(data.X))
    found, seconds = measure(lambda: search.search(examples=data.X[:1], refine=True))
    console.print(_errors(data, found))
    truth = data.weights[data.labels[0]]
    print_line(console, f"Weight {found.weight:.3f} ± {found.stderr.weight:.3f} (truth {truth:.3f})")
    print_line(console, f"Separation {plain_number(found.separation)}: the lead over the next component")
    print_line(console, f"Fitted in {1000 * fit_seconds:.0f} ms, searched in {1000 * seconds:.0f} ms")
    return data, found


def _errors(data: GaussianMixtureData, found: GaussianComponent) -> Table:
    """Return a table of the distances of four estimates of the center from the truth."""
    target = data.labels[0]
    members = data.X[data.labels == target]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0))
    table.add_column("estimate of the center")
    table.add_column("distance to the truth", justify="right")
    for name, center, style in (
        ("the labelled sample itself", data.X[0], ""),
        ("the search, from that one label", found.moment_estimate.center, ""),
        ("the search, refined", found.center, "bold green"),
        (f"the average of all {len(members):,} members, from every label", members.mean(axis=0), ""),
    ):
        table.add_row(name, f"{_distance(center, data.centers[target]):.2f}", style=style)
    return table


def _distance(a: Array, b: Array) -> float:
    return float(np.linalg.norm(a - b))
