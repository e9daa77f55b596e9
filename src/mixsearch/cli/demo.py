"""The demo: topics in the docstrings on this computer, then one Gaussian of a mixture, and a picture of each."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np
from rich import box
from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from sklearn.feature_extraction.text import (
    ENGLISH_STOP_WORDS,
    CountVectorizer,
)

from mixsearch import GaussianSearch, SearchError, TopicSearch, WeakHintWarning, __version__
from mixsearch._typing import Array, Sparse
from mixsearch.core.separation import verdict
from mixsearch.data.threads import one_blas_thread
from mixsearch.datasets import DocstringCorpus, GaussianMixtureData, load_docstrings, make_gaussian_mixture
from mixsearch.datasets.docstrings import DEFAULT_PACKAGES
from mixsearch.display import plain_chance, plain_number
from mixsearch.gaussian import GaussianComponent
from mixsearch.index import build_index
from mixsearch.text import CorpusOptions
from mixsearch.topics import Topic

# The last one has two meanings in this corpus, random generators and random variables: its runner-up is close.
DEFAULT_WORDS = ("socket", "email", "fourier", "eigenvalues", "clustering", "random")

# What docstrings say of every subject: their headings, their types, their markup and the names of their packages.
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
_LEAST_TEXTS = 10  # of a word
_MOST_TEXTS = 0.2  # of a word, as a part of all: half of that would lose "matrix" where few packages are installed

_N_DOCUMENTS = 3
_DOUBTFUL = 1.5  # the separation below which the runner-up is shown as well
_DEVIATION = 2.0

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the demo is asked to do."""

    hints: tuple[str, ...]  # words, or several of them with blanks between
    output: Path
    n_components: int
    n_words: int
    packages: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class _Answer:
    topic: Topic
    is_weak: bool
    seconds: float


def run_demo(console: Console, options: DemoOptions) -> None:
    """Search, show and draw."""
    with _folder_for_pictures(options.output):
        _run(console, options)


def export_docstrings(console: Console, path: Path, packages: Sequence[str] | None) -> None:
    """Write the docstrings to a file of JSON lines, as a corpus to try the other commands on."""
    try:
        _write_docstrings(console, path, packages)
    except OSError as error:
        raise SearchError(f"{path} cannot be written: {error.strerror}. Name another file with --export.") from error
    command = f"{_command()} index {path} --text text --id name --stop-words english"
    _say(console, f"Wrote {escape(str(path))}; next: [bold]{escape(command)}[/]")


def index_docstrings(console: Console, folder: Path) -> Path:
    """An index of the docstrings, in a folder."""
    texts = folder / "docstrings.jsonl"
    _write_docstrings(console, texts, None)
    # As `mixsearch index` counts words where it is not told otherwise.
    reading = CorpusOptions(text="text", id="name", stop_words="english", min_df=5, max_df=0.3, max_words=100_000)
    built, seconds = _timed(lambda: build_index(texts, folder / "docstrings.index", reading=reading))
    _say(console, f"Indexed [bold]{built.n_words:,}[/] words in {seconds:.1f} s")
    return built.path


def _write_docstrings(console: Console, path: Path, packages: Sequence[str] | None) -> None:
    corpus = _read_corpus(console, packages)
    with path.open("w", encoding="utf-8") as out:
        out.writelines(
            json.dumps({"name": name, "text": text}) + "\n"
            for name, text in zip(corpus.names, corpus.texts, strict=True)
        )


def _run(console: Console, options: DemoOptions) -> None:
    console.print(f"[bold]mixsearch {__version__}[/]: one component of a mixture from a small hint")
    topics = _show_topics(console, options)
    data, found = _show_gaussian(console)
    _write_pictures(console, options.output, topics, data, found)
    console.print(f"\nTry words of your own: [bold]{escape(_command())} demo thread kernel[/]")
    console.print(f"Or texts of your own: [bold]{escape(_command())} index reviews.csv[/]")


def _command() -> str:
    """What to type to run this program again: its name, or its path where the shell would not find it."""
    return "mixsearch" if shutil.which("mixsearch") else sys.argv[0]


@contextmanager
def _folder_for_pictures(folder: Path) -> Iterator[None]:
    """A folder that can be written to before any work is done, and is not left behind empty."""
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SearchError(
            f"The folder {folder} cannot be made: {error.strerror}. Name another with --output."
        ) from error
    try:
        yield
    finally:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


@contextmanager
def _warnings_as_notes() -> Iterator[list[warnings.WarningMessage]]:
    """The warnings of the library, kept for the reader instead of printed with a line of code."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        yield notes


def _say(console: Console, line: str, indent: int = 2) -> None:
    """A line that stays indented where it is wrapped."""
    console.print(Padding(line, (0, 0, 0, indent), expand=False))


def _heading(console: Console, text: str) -> None:
    console.print()
    console.rule(f"[bold]{text}[/]", align="left", style="dim")


def _show_topics(console: Console, options: DemoOptions) -> dict[str, Topic]:
    """The topics found, by their hints."""
    _heading(console, "Topics in the docstrings of this Python installation")
    corpus = _read_corpus(console, options.packages)
    search = _fit_corpus(console, corpus, options.n_components)
    topics = {}
    for hint in dict.fromkeys(hint.lower() for hint in options.hints):
        try:
            answer = _ask(search, hint)
        except SearchError as error:
            _say(console, f"[yellow]{escape(str(error))}[/]")
            continue
        console.print(_panel(hint, answer, corpus.names, options.n_words))
        topics[hint] = answer.topic
    if not topics:
        raise SearchError(
            "None of the words is known, so there is no topic to show. Try one of those that are nearest."
        )
    return topics


def _read_corpus(console: Console, packages: Sequence[str] | None) -> DocstringCorpus:
    columns = (TextColumn("  Reading files"), BarColumn(), MofNCompleteColumn())
    # Without a thread of its own, since the files are read by forked processes.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
        bar = progress.add_task("", total=None)

        def advance(done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total, refresh=True)

        corpus, seconds = _timed(lambda: load_docstrings(packages, on_progress=advance))
    _say(console, f"Read [bold]{len(corpus):,}[/] docstrings in {seconds:.1f} s")
    _say(console, f"[dim]{_origins(corpus.names, packages)}[/]", indent=4)
    return corpus


def _origins(names: Iterable[str], packages: Sequence[str] | None) -> str:
    """How many docstrings are of which package."""
    known = DEFAULT_PACKAGES if packages is None else packages
    tops = (name.partition(".")[0] for name in names)
    counts = Counter(top if top in known else "standard library" for top in tops)
    return ", ".join(f"{package} {count:,}" for package, count in counts.most_common())


def _fit_corpus(console: Console, corpus: DocstringCorpus, n_components: int) -> TopicSearch:
    (counts, vocabulary), seconds = _timed(lambda: _count_words(corpus.texts))
    _say(console, f"Counted [bold]{len(vocabulary):,}[/] words, {counts.nnz:,} non-zero counts, in {seconds:.1f} s")
    with _warnings_as_notes() as notes:
        search, seconds = _timed(lambda: TopicSearch(n_components).fit(counts, vocabulary=vocabulary))
    n_documents = f"{len(search.kept_rows_):,}"
    _say(console, f"Fitted [bold]{search.n_components_}[/] topics to {n_documents} documents in {seconds:.1f} s")
    for note in notes:
        _say(console, f"[dim]{escape(str(note.message))}[/]", indent=4)
    _say(console, "Every search below uses this one fit.")
    return search


def _count_words(texts: Sequence[str]) -> tuple[Sparse, list[str]]:
    """Counts, (n, d), and the words of their columns."""
    vectorizer = CountVectorizer(
        token_pattern=_LETTERS,
        stop_words=sorted(ENGLISH_STOP_WORDS.union(_BOILERPLATE.split())),
        min_df=_LEAST_TEXTS,
        max_df=_MOST_TEXTS,
    )
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError as error:
        raise SearchError(
            f"Found {len(texts):,} docstrings, but no word occurs in {_LEAST_TEXTS} of them without occurring in most. "
            "Name more packages."
        ) from error
    return counts, vectorizer.get_feature_names_out().tolist()


def _ask(search: TopicSearch, hint: str) -> _Answer:
    # A search is too short to be worth sharing: on a busy machine the cores would wait for each other.
    with one_blas_thread, _warnings_as_notes() as notes:
        topic, seconds = _timed(lambda: search.search(words=hint.split()))
    return _Answer(topic, any(issubclass(note.category, WeakHintWarning) for note in notes), seconds)


def _panel(hint: str, answer: _Answer, names: Sequence[str], n_words: int) -> Panel:
    topic = answer.topic
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    facts.add_row("words", _words(topic, n_words, set(hint.split())))
    facts.add_row("separation", _separation(topic.separation))
    if topic.separation < _DOUBTFUL and topic.alternatives:
        facts.add_row("weak hint" if answer.is_weak else "runner-up", _runner_up(answer))
    facts.add_row("weight", f"{_percent(topic.weight)} of the corpus")
    for line, (row, share) in enumerate(topic.documents(_N_DOCUMENTS)):
        facts.add_row("" if line else "documents", f"{escape(names[row])} [dim]{_percent(share)}[/]")
    return Panel(
        facts,
        box=box.ROUNDED,
        border_style="dim",
        title=f"[bold not dim]{escape(hint)}[/]",
        title_align="left",
        subtitle=f"{1000 * answer.seconds:.0f} ms",
        subtitle_align="right",
    )


def _percent(share: float) -> str:
    return f"{plain_number(100 * share)}%"


def _words(topic: Topic, n_words: int, hint: set[str]) -> Columns:
    words = (
        f"[dim]{100 * probability:.1f}%[/] [{'bold' if word in hint else 'default'}]{escape(word)}[/]"
        for word, probability in topic.top_words(n_words)
    )
    return Columns(words, padding=(0, 2), equal=True)


def _separation(separation: float) -> str:
    style = "green" if separation >= _DOUBTFUL else "yellow"
    return f"{plain_number(separation)}: [{style}]{verdict(separation)}[/]"


def _runner_up(answer: _Answer) -> str:
    words = ", ".join(escape(word) for word, _ in answer.topic.alternatives[0].top_words(6))
    return f"it could as well mean {words}; a more specific word would tell" if answer.is_weak else words


def _show_gaussian(console: Console) -> tuple[GaussianMixtureData, GaussianComponent]:
    """A mixture and the component of its first sample, found from that sample alone."""
    data = make_gaussian_mixture(10_000, 100, 10, deviation=_DEVIATION, random_state=0)
    _heading(console, "One Gaussian of ten, from one labelled sample")
    n_samples, n_features = data.X.shape
    _say(console, f"{n_samples:,} samples in {n_features} dimensions, standard deviation {_DEVIATION:g}")
    search, fit_seconds = _timed(lambda: GaussianSearch(len(data.weights)).fit(data.X))
    found, seconds = _timed(lambda: search.search(examples=data.X[:1], refine=True))
    console.print(_errors(data, found))
    truth = data.weights[data.labels[0]]
    _say(console, f"Weight {found.weight:.3f} ± {found.stderr.weight:.3f} (truth {truth:.3f})")
    _say(console, f"Separation {_separation(found.separation)}; confidence {plain_chance(found.confidence)}")
    _say(console, f"Fitted in {1000 * fit_seconds:.0f} ms, searched in {1000 * seconds:.0f} ms")
    return data, found


def _errors(data: GaussianMixtureData, found: GaussianComponent) -> Table:
    """How far four estimates of the center are from the truth."""
    target = data.labels[0]
    members = data.X[data.labels == target]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0))
    table.add_column("estimate of the center")
    table.add_column("distance to the truth", justify="right")
    for name, center, style in (
        ("the labelled sample itself", data.X[0], ""),
        ("the search, from that one label", found.moment_estimate.center, ""),
        ("the same, refined", found.center, "bold green"),
        (f"the average of all {len(members):,} members, from every label", members.mean(axis=0), ""),
    ):
        table.add_row(name, f"{_distance(center, data.centers[target]):.2f}", style=style)
    return table


def _distance(a: Array, b: Array) -> float:
    return float(np.linalg.norm(a - b))


def _write_pictures(
    console: Console,
    folder: Path,
    topics: dict[str, Topic],
    data: GaussianMixtureData,
    found: GaussianComponent,
) -> None:
    _heading(console, "Pictures")
    try:
        from mixsearch.plots import plot_component, plot_topics, save
    except ImportError as error:
        _say(console, f"[yellow]{escape(str(error))}[/]")
        return
    first = np.where(np.arange(len(data.X)) == 0, 1, -1)
    for name, figure in (("topics.png", plot_topics(topics)), ("gaussian.png", plot_component(found, data.X, first))):
        console.print(f"  {escape(str(save(figure, folder / name)))}", soft_wrap=True)
