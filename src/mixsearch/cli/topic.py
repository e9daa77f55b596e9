"""`mixsearch topic`: its options."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mixsearch.cli._console import complete_index, report_errors
from mixsearch.cli._queries import Typed, read_queries
from mixsearch.cli._topic_report import Wanted, run_topic
from mixsearch.index import AnswerOptions

_HINTS, _SEARCH, _OUTPUT = "Other hints", "The search", "Output"

HELP = """Find the topic that a hint means, with its words and documents.

A word may have a weight, sushi^2; a phrase is one quoted argument,
"new york"; encrypt* stands for all words that begin so. Words to avoid
go with --not, or with a minus after two dashes: -- apple -fruit

Examples:

  mixsearch topic reviews.index sushi
  mixsearch topic reviews.index sushi^2 "happy hour" --not pizza --top 20
  mixsearch topic reviews.index sushi pizza burger --each --plot food.png
  mixsearch topic reviews.index --text "the driver was late again"
  mixsearch topic reviews.index --hints hints.txt --csv > topics.csv
  mixsearch topic reviews.index sushi --narrower --json

--csv has one fact per row: hint, kind (fact, word, related, document,
alternative, warning, error), rank, item, value (of a word its
probability, of a document its share of the topic, of an alternative its
share of the hint), likelier (than in the corpus, times), name, snippet;
with --errors also stderr, and a fact confidence.

Exit codes: 0 found, 1 a hint or the index is not as needed, 2 the
command is not. Of many hints each is answered that can be."""


def topic(
    path: Annotated[
        Path, typer.Argument(metavar="INDEX", help="As mixsearch index made it.", autocompletion=complete_index)
    ],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Words, phrases and patterns; together they are one hint."),
    ] = None,
    avoided: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="WORD", help="A word that the topic should avoid; may be given again."),
    ] = None,
    each: Annotated[bool, typer.Option("--each", help="Every WORD is a hint of its own.")] = False,
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="A text that is about the topic; may be given again.", rich_help_panel=_HINTS
        ),
    ] = None,
    text_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with such a text; - for standard input.", rich_help_panel=_HINTS),
    ] = None,
    like: Annotated[
        list[int] | None,
        typer.Option(
            metavar="ROW",
            help="The row of a document that is about it, as shown with documents; may be given again.",
            rich_help_panel=_HINTS,
        ),
    ] = None,
    hints: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="One hint per line, 'sushi -pizza' or 'name: sushi -pizza'; - for standard input.",
            rich_help_panel=_HINTS,
        ),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(
            "--components",
            "-k",
            min=1,
            metavar="N",
            help="How many of the fitted topics to use: fewer make broader ones. By default as the hint needs.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    broader: Annotated[
        int,
        typer.Option(
            "--broader", count=True, help="Half as many; twice, a quarter.", show_default=False, rich_help_panel=_SEARCH
        ),
    ] = 0,
    narrower: Annotated[
        int,
        typer.Option("--narrower", count=True, help="Twice as many.", show_default=False, rich_help_panel=_SEARCH),
    ] = 0,
    no_closer: Annotated[
        bool,
        typer.Option(
            "--no-closer", help="The estimate of moments alone, without a closer look.", rich_help_panel=_SEARCH
        ),
    ] = False,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="Words to show.", rich_help_panel=_OUTPUT)] = 10,
    documents: Annotated[int, typer.Option(min=0, metavar="N", help="Documents to show.", rich_help_panel=_OUTPUT)] = 5,
    by: Annotated[
        Literal["typical", "probability"], typer.Option(help="Which words come first.", rich_help_panel=_OUTPUT)
    ] = "typical",
    errors: Annotated[
        bool,
        typer.Option(
            "--errors",
            help="Add standard errors, and the chance that this is the topic meant. Reads all documents: seconds where "
            "they are many.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON: an object, or a list of them for many hints.", rich_help_panel=_OUTPUT)
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="A table, as said above.", rich_help_panel=_OUTPUT)] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw a picture as well: png, svg or pdf.", rich_help_panel=_OUTPUT),
    ] = None,
) -> None:
    """Find the topic that a hint means."""
    if as_json and as_csv:
        raise typer.BadParameter("Give --json or --csv, not both.")
    if components is not None and (broader or narrower):
        raise typer.BadParameter("Give --components, or --broader and --narrower, not both.")
    with report_errors(as_json=as_json):
        typed = Typed(words or (), avoided or (), text or (), text_file, like or (), hints, each)
        search: dict[str, Any] = {"n_components": components or "enough", "narrower": narrower - broader}
        search["refine"] = False if no_closer else None
        queries = [replace(query, **search) for query in read_queries(typed)]
        options = AnswerOptions(n_words=top, n_documents=documents, by=by, errors=errors, confidence=errors)
        shown_as: Literal["text", "json", "csv"] = "json" if as_json else "csv" if as_csv else "text"
        as_list = each or hints is not None
        run_topic(path, queries, options, Wanted(shown_as, as_list, plot, errors))
