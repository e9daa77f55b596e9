"""The work of `mixsearch topic`: ask the index, and hand the replies to whoever shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import typer
from rich.console import Console

from mixsearch.cli._console import EXIT_ERROR, describe, print_error, print_json, print_notes
from mixsearch.cli._figures import load_plots, write_figure
from mixsearch.cli._render import show_reply
from mixsearch.index import AnswerOptions, Outcome, Query, answer_queries, open_index, to_csv

As = Literal["text", "json", "csv"]


@dataclass(frozen=True)
class Wanted:
    """How the replies are wanted."""

    shown_as: As = "text"
    as_list: bool = False  # also where there is one reply
    plot: Path | None = None
    errors: bool = False  # beside the numbers


def run_topic(path: Path, queries: Sequence[Query], options: AnswerOptions, wanted: Wanted) -> None:
    """Search an index and show what was found; a hint that finds nothing leaves the others alone."""
    if wanted.plot is not None:
        load_plots()
    replies = answer_queries(open_index(path), queries, options)
    failed = [reply.error for reply in replies if reply.error is not None]
    if len(replies) == len(failed) == 1:
        raise failed[0]
    _show(replies, wanted)
    _say_notes(replies)
    found = [reply for reply in replies if reply.topic is not None]
    if wanted.plot is not None and found:
        write_figure(lambda plots: _draw(plots, found, wanted.errors), wanted.plot)
    if failed:
        raise typer.Exit(EXIT_ERROR)


def _show(replies: Sequence[Outcome], wanted: Wanted) -> None:
    if wanted.shown_as == "json":
        listed = [reply.as_dict() for reply in replies]
        print_json(listed if wanted.as_list else listed[0])
    elif wanted.shown_as == "csv":
        typer.echo(to_csv(replies, errors=wanted.errors), nl=False)
    else:
        console = Console(highlight=False)
        for number, reply in enumerate(replies):
            if number and not console.is_terminal:
                console.print()
            show_reply(console, reply)


def _say_notes(replies: Sequence[Outcome]) -> None:
    for reply in replies:
        lead = f"{reply.query.name}: " if len(replies) > 1 else ""
        if reply.error is not None:
            print_error(f"{lead}{describe(reply.error)}")
        elif reply.answer is not None:
            print_notes(f"{lead}{describe(warning)}" for warning in reply.warnings)


def _draw(plots: Any, replies: Sequence[Outcome], errors: bool) -> Any:
    if len(replies) == 1:
        return plots.plot_topic(replies[0].topic, errors=errors)
    topics: dict[str, Any] = {}
    for reply in replies:
        name, again = reply.query.name, 2
        while name in topics:
            name, again = f"{reply.query.name} ({again})", again + 1
        topics[name] = reply.topic
    return plots.plot_topics(topics, errors=errors)
