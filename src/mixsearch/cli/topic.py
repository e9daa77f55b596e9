"""`mixsearch topic`: search an index for the topic of a hint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mixsearch import index as indexes
from mixsearch.cli._console import (
    EXIT_ERROR,
    complete_index,
    describe_for_json,
    print_json,
    print_text,
    report_errors,
    stdout_console,
)
from mixsearch.cli._figures import load_plots, write_figure
from mixsearch.cli._groups import GroupOptions, print_groups, read_every
from mixsearch.cli._outcomes import print_messages
from mixsearch.cli._queries import TypedHints, read_queries
from mixsearch.cli._render import print_answer

_HINTS, _SEARCH, _GROUPS, _OUTPUT = "Other hints", "Search", "Groups of documents", "Output"

HELP = """Find the topic that a hint means, with its words and documents.

sushi^2 counts double; "new york" in quotes is one phrase; encrypt* stands
for all words starting with encrypt. Give words to avoid with --not, or
with a minus after two dashes: -- apple -fruit

Examples:

  mixsearch topic reviews.index sushi
  mixsearch topic reviews.index sushi^2 "happy hour" --not pizza --n-words 20
  mixsearch topic reviews.index sushi pizza burger --each --plot food.png
  mixsearch topic reviews.index --text "the driver was late again"
  mixsearch topic reviews.index --hints hints.txt --csv > topics.csv
  mixsearch topic reviews.index sushi --narrower --json
  mixsearch topic reviews.index java --alternative 1
  mixsearch topic reviews.index sushi --where "stars <= 2" --within
  mixsearch topic reviews.index sushi pizza --over date --plot food.png
  mixsearch topic reviews.index sushi pizza --by shop --csv

--csv prints one fact per row: hint, kind (fact, word, related, document,
alternative, warning, error), rank, item, value (probability of a word,
share of a document in the topic, share of the hint for an alternative),
likelier (ratio to the corpus), name, snippet, title, link and date of a
document; with --errors also stderr, and a fact confidence.

With --over and --by, each WORD is a separate topic; --hints names topics
of several words. --csv then prints one row for each topic and group: hint,
column, label, n_documents, share (mean of the documents) with low and high
and with stderr, for comparing groups, n_about (documents about the topic)
with n_about_low and n_about_high, n_holding (documents with the words).

--json prints an object, or a list with --each or --hints. An error is
printed there too: {"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad hint or index, 2 usage error. With several
hints, a bad one does not stop the others."""


@dataclass(frozen=True)
class _Output:
    """How to print the answers."""

    format: Literal["text", "json", "csv"]
    as_list: bool  # print a JSON list even if it has one item
    plot: Path | None
    errors: bool


def topic(
    path: Annotated[
        Path,
        typer.Argument(metavar="INDEX", help="Folder made by mixsearch index.", autocompletion=complete_index),
    ],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Words, phrases and patterns; together they are one hint."),
    ] = None,
    avoid: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="WORD", help="A word that the topic should avoid; repeat for several."),
    ] = None,
    each: Annotated[bool, typer.Option("--each", help="Search for each WORD separately.")] = False,
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text", metavar="TEXT", help="A text about the topic; repeat for several.", rich_help_panel=_HINTS
        ),
    ] = None,
    documents: Annotated[
        list[int] | None,
        typer.Option(
            "--documents",
            metavar="ROW",
            help="Row of a document about the topic, as shown with documents; repeat for several.",
            rich_help_panel=_HINTS,
        ),
    ] = None,
    not_documents: Annotated[
        list[int] | None,
        typer.Option(
            "--not-documents",
            metavar="ROW",
            help="Row of a document that is not about the topic; repeat for several.",
            rich_help_panel=_HINTS,
        ),
    ] = None,
    hints: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file with one hint per line, 'sushi -pizza' or 'name: sushi -pizza'; - for standard input.",
            rich_help_panel=_HINTS,
        ),
    ] = None,
    n_components: Annotated[
        int | None,
        typer.Option(
            "--n-components",
            "-k",
            min=1,
            metavar="N",
            help="How many of the fitted topics to use; fewer give broader topics. Default: as the hint needs.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    broader: Annotated[
        int,
        typer.Option(
            "--broader",
            count=True,
            help="Use half as many; repeat for a quarter.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = 0,
    narrower: Annotated[
        int,
        typer.Option(
            "--narrower",
            count=True,
            help="Use twice as many; repeat for four times.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = 0,
    refine: Annotated[
        bool | None,
        typer.Option(
            "--refine/--no-refine",
            help="Refine the moment estimate by EM. Default: if the hint allows it.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="FILTER",
            help='List and count only documents whose columns match, such as "stars <= 2 and date >= 2024-01-01".',
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    within: Annotated[
        bool,
        typer.Option(
            "--within", help="Also search for the topic within the documents that match.", rich_help_panel=_SEARCH
        ),
    ] = False,
    n_words: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of words to show.", rich_help_panel=_OUTPUT)
    ] = 10,
    n_documents: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of documents to show.", rich_help_panel=_OUTPUT)
    ] = 5,
    sort_by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="List the documents about the topic by a column.", rich_help_panel=_OUTPUT),
    ] = None,
    descending: Annotated[
        bool, typer.Option("--descending", help="List the largest values first.", rich_help_panel=_OUTPUT)
    ] = False,
    over: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Show the topics over a column of dates or numbers.", rich_help_panel=_GROUPS
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Show the topics by the values of a column.", rich_help_panel=_GROUPS),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="PERIOD",
            help="year, quarter, month, week or day for dates; a width for numbers. Default: from the values.",
            show_default=False,
            rich_help_panel=_GROUPS,
        ),
    ] = None,
    alternative: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Describe another topic that the hint could mean, by its number; 0 for the one found.",
            rich_help_panel=_OUTPUT,
        ),
    ] = 0,
    errors: Annotated[
        bool,
        typer.Option(
            "--errors",
            help="Add standard errors and the probability that the hint means this topic. Reads all documents.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=_OUTPUT)] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a table.", rich_help_panel=_OUTPUT)] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw a figure: png, svg or pdf.", rich_help_panel=_OUTPUT),
    ] = None,
) -> None:
    """Find the topic that a hint means."""
    if as_json and as_csv:
        raise typer.BadParameter("Use either --json or --csv.")
    if n_components is not None and (broader or narrower):
        raise typer.BadParameter("Use either --n-components or --broader and --narrower.")
    if over is not None and by is not None:
        raise typer.BadParameter("Use either --over or --by.")
    if every is not None and over is None and by is None:
        raise typer.BadParameter("--every needs --over or --by.")
    is_grouped = over is not None or by is not None
    is_each = each or (is_grouped and bool(words))
    typed = TypedHints(words or (), avoid or (), text or (), documents or (), not_documents or (), hints, is_each)
    with report_errors(as_json=as_json):
        search: dict[str, Any] = {
            "n_components": n_components or "enough",
            "narrower": narrower - broader,
            "refine": refine,
            "where": where,
            "within": within,
        }
        queries = [replace(query, **search) for query in read_queries(typed)]
        options = indexes.AnswerOptions(
            n_words=n_words,
            n_documents=n_documents,
            sort_by=sort_by,
            descending=descending,
            alternative=alternative,
            errors=errors,
            confidence=errors,
        )
        output = _Output("json" if as_json else "csv" if as_csv else "text", each or hints is not None, plot, errors)
        if is_grouped:
            _run_groups(path, queries, GroupOptions(over, by, read_every(every), where), output)
        else:
            _run(path, queries, options, output)


def _run(path: Path, queries: Sequence[indexes.Query], options: indexes.AnswerOptions, output: _Output) -> None:
    """Search and print the answers; an error of one query does not stop the others."""
    if output.plot is not None:
        load_plots()
    outcomes = indexes.answer_queries(indexes.open_index(path), queries, options)
    failed = [outcome.error for outcome in outcomes if outcome.error is not None]
    if len(outcomes) == len(failed) == 1 and not output.as_list:
        raise failed[0]
    _print_outcomes(outcomes, output)
    print_messages(outcomes)
    found = [outcome for outcome in outcomes if outcome.topic is not None]
    if output.plot is not None and found:
        write_figure(lambda plots: _draw(plots, found, output.errors), output.plot)
    if failed:
        raise typer.Exit(EXIT_ERROR)


def _run_groups(path: Path, queries: Sequence[indexes.Query], options: GroupOptions, output: _Output) -> None:
    """Search and print the shares of the topics in groups; an error of one query does not stop the others."""
    if output.plot is not None:
        load_plots()
    index = indexes.open_index(path)
    outcomes = indexes.answer_queries(index, queries, indexes.AnswerOptions(n_words=1, n_documents=0, n_related=0))
    failed = [outcome.error for outcome in outcomes if outcome.error is not None]
    if len(outcomes) == len(failed):
        raise failed[0]
    found = indexes.group_topics(index, indexes.name_outcomes(outcomes), **vars(options))
    print_groups(found, output.format)
    print_messages(outcomes)
    if output.plot is not None:
        write_figure(lambda plots: plots.plot_groups(found), output.plot)
    if failed:
        raise typer.Exit(EXIT_ERROR)


def _print_outcomes(outcomes: Sequence[indexes.Outcome], output: _Output) -> None:
    if output.format == "json":
        listed = [_describe_outcome(outcome) for outcome in outcomes]
        print_json(listed if output.as_list else listed[0])
    elif output.format == "csv":
        print_text(indexes.to_csv(outcomes, errors=output.errors))
    else:
        console = stdout_console()
        for position, outcome in enumerate(outcomes):
            if position and not console.is_terminal:
                console.print()
            if outcome.answer is not None:
                print_answer(console, outcome.answer, outcome.seconds)


def _describe_outcome(outcome: indexes.Outcome) -> dict[str, Any]:
    if outcome.error is not None:
        return {"hint": outcome.query.name, "error": describe_for_json(outcome.error)}
    return outcome.as_dict() | {"warnings": [describe_for_json(warning) for warning in outcome.warnings]}


def _draw(plots: Any, outcomes: Sequence[indexes.Outcome], errors: bool) -> Any:
    if len(outcomes) == 1:
        return plots.plot_topic(outcomes[0].topic, errors=errors)
    return plots.plot_topics(indexes.name_outcomes(outcomes), errors=errors)
