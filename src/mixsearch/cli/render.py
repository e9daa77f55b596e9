"""Print an answer, facts and advice: a panel with bars on a terminal, one line per fact in a pipe."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from mixsearch.cli.units import format_share
from mixsearch.display import plain_chance, plain_number, pluralize

if TYPE_CHECKING:
    from mixsearch.index.answer import Answer, TopicWord, TypicalDocument
    from mixsearch.index.column_file import StoredColumn
    from mixsearch.index.growth import Growth

_BAR = 20
_NAME = 12


def print_answer(console: Console, answer: Answer, seconds: float) -> None:
    """Print an answer and, on a terminal, how long the search took."""
    if console.is_terminal:
        console.print(_panel(answer, seconds))
        return
    for line in _lines(answer):
        console.print(line, markup=False, soft_wrap=True)


def print_facts(console: Console, facts: Iterable[tuple[str, str | Text]]) -> None:
    """Print names and values: in two columns on a terminal, one line each in a pipe."""
    if not console.is_terminal:
        for name, value in facts:
            console.print(_line(name, str(value)), markup=False, soft_wrap=True)
        return
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True, min_width=_NAME - 1)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(name, Text(value) if isinstance(value, str) else value)
    console.print(table)


def list_columns(columns: Iterable[StoredColumn]) -> str:
    """Return the names of columns with what they hold."""
    return ", ".join(f"{column.name} ({column.role or column.kind})" for column in columns)


def _panel(answer: Answer, seconds: float) -> Panel:
    body = Table.grid(padding=(0, 2))
    body.add_column(style="dim", no_wrap=True)
    body.add_column(overflow="fold")
    for name, value in _facts(answer):
        body.add_row(name, Text(value, style=_style(name, answer)))
    for rank, line in enumerate(_list_alternatives(answer)):
        body.add_row("" if rank else "could mean", line)
    if answer.words:
        body.add_row("words", _bars(answer.words))
    if answer.related_words:
        body.add_row("related", _related(answer))
    if answer.documents:
        body.add_row("documents", _documents(answer))
    return Panel(
        body,
        box=box.ROUNDED,
        border_style="dim",
        title=Text(answer.hint, style="bold not dim"),
        title_align="left",
        subtitle=f"{1000 * seconds:,.0f} ms",
        subtitle_align="right",
    )


def _lines(answer: Answer) -> Iterator[str]:
    """Yield one line per fact, which starts with the name of the fact."""
    yield _line("topic", answer.hint)
    for name, value in _facts(answer):
        yield _line(name, value)
    for words in _list_alternatives(answer):
        yield _line("could mean", words)
    width = max((len(word.word) for word in answer.words), default=0)
    digits = max([6, *(len(_probability(word)) for word in answer.words)])
    for word in answer.words:
        likelier = f"{_times(word.likelier)} as likely as in {_name_whole(answer)}"
        yield _line("word", f"{word.word:<{width}}  {_probability(word):>{digits}}  {likelier}")
    for related in answer.related_words:
        yield _line("related", f"{related.word}  {_times(related.likelier)}")
    for document in answer.documents:
        yield _line(
            "document", "  ".join(filter(None, [_label(document), format_share(document.share), document.snippet]))
        )


def _line(name: str, value: str) -> str:
    return f"{name:<{_NAME - 1}} {value}"


def _facts(answer: Answer) -> list[tuple[str, str]]:
    weight = ("weight", f"{format_share(answer.weight, answer.weight_stderr)} of {_name_whole(answer)}")
    counts = [] if answer.n_about is None else [("about it", _count(answer))]
    counts = [*_describe_filter(answer), *counts]
    components = ("components", f"{answer.n_components} of {answer.n_fitted}")
    lead = plain_number(answer.lead)
    if answer.confidence is None:
        return [weight, *counts, ("separation", f"{lead}: {answer.verdict}"), components]
    confidence = ("confidence", f"{plain_chance(answer.confidence)}: {answer.verdict}")
    return [weight, *counts, confidence, ("separation", lead), components]


def _name_whole(answer: Answer) -> str:
    return "the documents that match" if answer.within else "the corpus"


def _describe_filter(answer: Answer) -> list[tuple[str, str]]:
    if answer.n_matching is None:
        return []
    documents = pluralize(answer.n_matching, "document matches", "documents match")
    return [("filter", f"{answer.where}: {answer.n_matching:,} {documents}")]


def _count(answer: Answer) -> str:
    """Return how many documents are about the topic, and how many contain the words of the hint."""
    low, n, high = (f"{each:,.0f}" for each in (answer.n_about_low, answer.n_about, answer.n_about_high))
    about = f"{n} {'document' if n == '1' else 'documents'} ({low} to {high})"
    if answer.n_holding is None:
        return about
    # A document that has one of several words matches; of a phrase, it must have all.
    is_one = answer.hint.isalnum()
    verbs, what = (("contains", "contain"), "the word") if is_one else (("matches", "match"), "the words")
    return f"{about}; {answer.n_holding:,} {pluralize(answer.n_holding, *verbs)} {what}"


def _style(name: str, answer: Answer) -> str:
    doubts = {"separation" if answer.confidence is None else "confidence": answer.is_doubtful}
    return "" if name not in doubts else "yellow" if doubts[name] else "green"


def _probability(word: TopicWord) -> str:
    return format_share(word.probability, word.probability_stderr)


def _list_alternatives(answer: Answer) -> list[str]:
    """Return what else the hint could mean, if the answer is doubtful."""
    if not answer.is_doubtful:
        return []
    return [
        f"{', '.join(other.words)} ({format_share(other.share_of_hint)} of the hint, --alternative {other.rank})"
        for other in answer.alternatives
    ]


def _times(likelier: float) -> str:
    return f"{plain_number(likelier)}×"


def _bars(words: Iterable[TopicWord]) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", overflow="fold")
    table.add_column("probability", justify="right", style="dim")
    table.add_column("times likelier", justify="right", style="dim")
    table.add_column("", no_wrap=True, style="blue")
    longest = max(word.probability for word in words)
    for word in words:
        length = round(_BAR * word.probability / longest) if longest > 0 else 0
        table.add_row(Text(word.word), _probability(word), _times(word.likelier), "█" * length)
    return table


def _related(answer: Answer) -> Text:
    words = [Text.assemble(each.word, (f" {_times(each.likelier)}", "dim")) for each in answer.related_words]
    return Text(", ").join(words)


def _documents(answer: Answer) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    words = [word.word for word in answer.words]
    for document in answer.documents:
        line = Text(_label(document), style="bold" if document.snippet else "")
        if document.snippet:
            line.append("  ")
            line.append(_highlight(document.snippet, words))
        table.add_row(format_share(document.share), line)
    return table


def _label(document: TypicalDocument) -> str:
    """Return the row of a document with its title, or else its name, and its date."""
    date = None if document.date is None else f"({document.date})"
    return " ".join(filter(None, [str(document.row), document.title or document.name, date]))


def _highlight(snippet: str, words: Iterable[str]) -> Text:
    """Return a snippet with the words of the topic highlighted."""
    from mixsearch.index.description import find_words

    text = Text(snippet, style="not bold")
    for start, end in find_words(snippet, words):
        text.stylize("bold cyan", start, end)
    return text


def describe_growth(growth: Growth, path: Path) -> list[str]:
    """Return the advice to refit the topics, with its reason; empty if there is no need."""
    if growth.reason is None:
        return []
    changed = growth.n_added + growth.n_removed
    reasons = {
        "outside": "the added documents have a topic that the index cannot represent",
        "new_words": f"{growth.new_words:.0%} of the words of the added texts are new to the index",
        "changed": f"{changed:,} {pluralize(changed, 'document was', 'documents were')} added or removed since the "
        f"topics were fitted to {growth.n_fitted:,}",
    }
    return [f"Refit the topics: {reasons[growth.reason]}. Run: {shlex.join(['mixsearch', 'refresh', str(path)])}"]
