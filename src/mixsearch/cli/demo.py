"""`mixsearch demo`: topics in the docstrings on this computer, one Gaussian of a mixture, figures, and files to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import scipy.sparse as sp
import typer
from rich import box
from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from sklearn.datasets import load_wine
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from mixsearch import __version__
from mixsearch._typing import Array, Sparse
from mixsearch.cli.console import describe, load_plots, record_warnings, report_errors, stdout_console
from mixsearch.cli.docstrings import export_docstrings, measure, name_program, print_line, read_docstrings
from mixsearch.cli.units import format_share
from mixsearch.confidence import verdict
from mixsearch.core.extraction import DOUBTFUL_SEPARATION
from mixsearch.datasets import make_communities, make_landscape, make_reviews
from mixsearch.datasets.docstrings import DocstringCorpus
from mixsearch.datasets.mixtures import GaussianMixtureData, make_gaussian_mixture
from mixsearch.display import plain_number
from mixsearch.errors import Option, SearchError, WeakHintWarning
from mixsearch.gaussian import GaussianComponent, GaussianSearch
from mixsearch.image.files import make_pillow_image
from mixsearch.machine import one_blas_thread
from mixsearch.table import write_table
from mixsearch.topics.component import Topic
from mixsearch.topics.search import TopicSearch

# The last one has two meanings in this corpus, random generators and random variables, so its runner-up is close.
DEFAULT_WORDS = ("socket", "email", "fourier", "eigenvalues", "clustering", "random")

HELP = """Find topics in the docstrings on this computer, then one Gaussian of ten.

Figures of both and example files for other commands are written to a folder.
Nothing is downloaded.

Examples:

  mixsearch demo
  mixsearch demo thread spline "random seed" --output figures
  mixsearch demo --export docstrings.jsonl

Exit codes: 0 success, 1 unknown words or packages, 2 usage error."""
# Words of docstrings on every subject: headings, types, markup and names of packages.
_BOILERPLATE = """
    also arg args argument arguments array arraylike arrays attribute attributes axis bool boolean class classes data
    default defaults deprecated dict dictionary dtype example examples false float function functions given guide import
    input inputs instance instances int integer keyword kwargs like list lists method methods module name names ndarray
    new none note notes number obj object objects optional output param parameter parameters print raise raised raises
    ref reference references return returned returns see self set shape specified str string strings support supported
    true tuple type types use used user uses using value values version versionadded versionchanged warning warnings
    frac math joblib matplotlib networkx numpy pandas plt pyplot python scipy skimage sklearn statsmodels sympy
"""
_LETTERS = r"\b[^\W\d_]{3,}\b"
_MIN_DF = 10
_MAX_DF = 0.2  # half of it would lose "matrix" if few packages are installed

_N_DOCUMENTS = 3
_DEVIATION = 2.0


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
            "--output",
            "-o",
            file_okay=False,
            metavar="FOLDER",
            help="Folder for the figures and example files; created if missing.",
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


@dataclass(frozen=True, slots=True)
class _Answer:
    topic: Topic
    is_weak: bool
    seconds: float


def show_topics(
    console: Console, hints: Sequence[str], n_components: int, n_words: int, packages: Sequence[str] | None
) -> dict[str, Topic]:
    """Print the topic of each hint, a word or several with blanks between them; return the topics by hint."""
    corpus = read_docstrings(console, packages)
    search = _fit_corpus(console, corpus, n_components)
    topics = {}
    for hint in dict.fromkeys(hint.lower() for hint in hints):
        try:
            answer = _search(search, hint)
        except SearchError as error:
            print_line(console, f"[yellow]{escape(describe(error))}[/]")
            continue
        console.print(_panel(hint, answer, corpus.names, n_words))
        topics[hint] = answer.topic
    if not topics:
        raise SearchError("None of the words occurs in the docstrings. Try a suggested word.", code="unknown_word")
    return topics


def _fit_corpus(console: Console, corpus: DocstringCorpus, n_components: int) -> TopicSearch:
    (counts, vocabulary), seconds = measure(lambda: _count_words(corpus.texts))
    print_line(
        console, f"Counted [bold]{len(vocabulary):,}[/] words, {counts.nnz:,} non-zero counts, in {seconds:.1f} s"
    )
    with record_warnings() as warned:
        search, seconds = measure(lambda: TopicSearch(n_components).fit(counts, vocabulary=vocabulary))
    n_documents = f"{len(search.kept_rows_):,}"
    print_line(console, f"Fitted [bold]{search.n_components_}[/] topics to {n_documents} documents in {seconds:.1f} s")
    for warning in warned:
        print_line(console, f"[dim]{escape(describe(warning))}[/]", indent=4)
    print_line(console, "Every search below uses this one fit.")
    return search


def _count_words(texts: Sequence[str]) -> tuple[Sparse, list[str]]:
    """Return the counts, (n, d), and the words of their columns."""
    vectorizer = CountVectorizer(
        token_pattern=_LETTERS,
        stop_words=sorted(ENGLISH_STOP_WORDS.union(_BOILERPLATE.split())),
        min_df=_MIN_DF,
        max_df=_MAX_DF,
    )
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError as error:
        raise SearchError(
            "{n} docstrings are too few: no word occurs in at least {min_df} of them without being common. Add more "
            "packages with {argument}.",
            code="too_few_documents",
            n=len(texts),
            min_df=_MIN_DF,
            argument=Option("packages"),
        ) from error
    return counts, vectorizer.get_feature_names_out().tolist()


def _search(search: TopicSearch, hint: str) -> _Answer:
    # A search is too short to be shared: on a busy machine the cores would wait for each other.
    with one_blas_thread, record_warnings() as warned:
        topic, seconds = measure(lambda: search.search(words=hint.split()))
    return _Answer(topic, any(isinstance(warning, WeakHintWarning) for warning in warned), seconds)


def _panel(hint: str, answer: _Answer, names: Sequence[str], n_words: int) -> Panel:
    topic = answer.topic
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    facts.add_row("words", _words(topic, n_words, set(hint.split())))
    facts.add_row("separation", format_separation(topic.separation))
    if topic.separation < DOUBTFUL_SEPARATION and topic.alternatives:
        facts.add_row("weak hint" if answer.is_weak else "runner-up", _runner_up(answer))
    facts.add_row("weight", f"{format_share(topic.weight)} of the corpus")
    for line, (row, share) in enumerate(topic.documents(_N_DOCUMENTS)):
        facts.add_row("" if line else "documents", f"{escape(names[row])} [dim]{format_share(share)}[/]")
    return Panel(
        facts,
        box=box.ROUNDED,
        border_style="dim",
        title=f"[bold not dim]{escape(hint)}[/]",
        title_align="left",
        subtitle=f"{1000 * answer.seconds:.0f} ms",
        subtitle_align="right",
    )


def _words(topic: Topic, n_words: int, hint: set[str]) -> Columns:
    words = (
        f"[dim]{100 * probability:.1f}%[/] [{'bold' if word in hint else 'default'}]{escape(word)}[/]"
        for word, probability in topic.top_words(n_words)
    )
    return Columns(words, padding=(0, 2), equal=True)


def format_separation(separation: float) -> str:
    """Return a separation with its verdict, in a colour."""
    style = "green" if separation >= DOUBTFUL_SEPARATION else "yellow"
    return f"{plain_number(separation)}: [{style}]{verdict(separation)}[/]"


def _runner_up(answer: _Answer) -> str:
    words = ", ".join(escape(word) for word, _ in answer.topic.alternatives[0].top_words(6))
    return f"it could also mean {words}; a more specific word would decide" if answer.is_weak else words


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
    print_line(console, f"Separation {format_separation(found.separation)}")
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
