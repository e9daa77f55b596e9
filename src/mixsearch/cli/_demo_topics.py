"""The first half of the demo: topics in the docstrings of this Python installation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from mixsearch import TopicSearch, WeakHintWarning
from mixsearch._typing import Sparse
from mixsearch.cli._console import describe, record_warnings
from mixsearch.cli._docstrings import measure, print_line, read_docstrings
from mixsearch.cli._units import format_share
from mixsearch.core.separation import DOUBTFUL_SEPARATION, verdict
from mixsearch.data.threads import one_blas_thread
from mixsearch.datasets import DocstringCorpus
from mixsearch.display import plain_number
from mixsearch.errors import Option, SearchError
from mixsearch.topics import Topic

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
