"""An answer on a terminal, and in a pipe: the same facts, there with boxes and bars, here a line for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from mixsearch.cli._units import format_share
from mixsearch.display import plain_chance, plain_number
from mixsearch.index import Answer, Outcome, TopicWord, TypicalDocument

_BAR = 20
_NAME = 12


def show_reply(console: Console, reply: Outcome) -> None:
    """Show what was found."""
    if reply.answer is None:
        return
    if console.is_terminal:
        console.print(_panel(reply.answer, reply.seconds))
        return
    for line in _lines(reply.answer):
        console.print(line, markup=False, soft_wrap=True)


def show_facts(console: Console, facts: Iterable[tuple[str, str | Text]]) -> None:
    """Names and values: in two columns on a terminal, a line for each in a pipe."""
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


def _panel(answer: Answer, seconds: float) -> Panel:
    body = Table.grid(padding=(0, 2))
    body.add_column(style="dim", no_wrap=True)
    body.add_column(overflow="fold")
    for name, value in _facts(answer):
        body.add_row(name, Text(value, style=_style(name, answer)))
    for rank, line in enumerate(_others(answer)):
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
    """One fact on each line, named by its first word."""
    yield _line("topic", answer.hint)
    for name, value in _facts(answer):
        yield _line(name, value)
    for words in _others(answer):
        yield _line("could mean", words)
    width = max((len(word.word) for word in answer.words), default=0)
    wide = max([6, *(len(_probability(word)) for word in answer.words)])
    for word in answer.words:
        likelier = f"{_times(word.likelier)} as likely as in the corpus"
        yield _line("word", f"{word.word:<{width}}  {_probability(word):>{wide}}  {likelier}")
    for related in answer.related_words:
        yield _line("related", f"{related.word}  {_times(related.likelier)}")
    for document in answer.documents:
        yield _line(
            "document", "  ".join(filter(None, [_called(document), format_share(document.share), document.snippet]))
        )


def _line(name: str, value: str) -> str:
    return f"{name:<{_NAME}}{value}"


def _facts(answer: Answer) -> list[tuple[str, str]]:
    facts = [
        ("weight", f"{format_share(answer.weight, answer.weight_stderr)} of the corpus"),
        ("separation", f"{plain_number(answer.lead)}: {answer.verdict}"),
        ("components", f"{answer.n_components} of {answer.n_fitted}"),
    ]
    if answer.confidence is not None:
        facts.insert(2, ("confidence", f"{plain_chance(answer.confidence)} that this is the topic that the hint means"))
    return facts


def _style(name: str, answer: Answer) -> str:
    doubts = {"separation": answer.has_small_lead, "confidence": answer.has_low_confidence}
    return "" if name not in doubts else "yellow" if doubts[name] else "green"


def _probability(word: TopicWord) -> str:
    return format_share(word.probability, word.probability_stderr)


def _others(answer: Answer) -> list[str]:
    """What else the hint could mean, where that is in doubt."""
    if not answer.is_doubtful:
        return []
    return [
        f"{', '.join(other.words)} ({format_share(other.share_of_hint)} of the hint)" for other in answer.alternatives
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
    pieces = [Text.assemble(each.word, (f" {_times(each.likelier)}", "dim")) for each in answer.related_words]
    return Text(", ").join(pieces)


def _documents(answer: Answer) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    words = [word.word for word in answer.words]
    for document in answer.documents:
        told = Text(_called(document), style="bold" if document.snippet else "")
        if document.snippet:
            told.append("  ")
            told.append(_lit(document.snippet, words))
        table.add_row(format_share(document.share), told)
    return table


def _called(document: TypicalDocument) -> str:
    return f"{document.row}" if document.name is None else f"{document.row} {document.name}"


def _lit(snippet: str, words: Iterable[str]) -> Text:
    """A snippet with the words of the topic set off."""
    text = Text(snippet, style="not bold")
    pattern = "|".join(rf"\b{re.escape(word)}\b" for word in sorted(words, key=len, reverse=True))
    if pattern:
        text.highlight_regex(re.compile(pattern, re.IGNORECASE), "bold cyan")
    return text
