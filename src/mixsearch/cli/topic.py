"""`mixsearch topic`: search an index for the topic of a hint, also over time and by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixsearch import index as indexes
from mixsearch.cli.console import (
    EXIT_ERROR,
    IndexArgument,
    describe_for_json,
    load_plots,
    print_json,
    print_messages,
    print_notes,
    print_text,
    report_errors,
    stdout_console,
    write_figure,
)
from mixsearch.cli.queries import TypedHints, read_queries
from mixsearch.cli.render import print_answer
from mixsearch.cli.units import format_share
from mixsearch.display import pluralize

if TYPE_CHECKING:
    from mixsearch.index.compare import Outcome
    from mixsearch.index.groups import GroupedTopic, GroupShare, TopicGroups

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
_BAR = 24
_HEADER = ("documents", "share", "95% interval", "about it", "with words")


@dataclass(frozen=True)
class _Output:
    """How to print the answers."""

    format: Literal["text", "json", "csv"]
    as_list: bool  # print a JSON list even if it has one item
    plot: Path | None
    errors: bool


def topic(
    path: IndexArgument,
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
        write_figure(lambda plots: _draw(plots, found), output.plot)
    if failed:
        raise typer.Exit(EXIT_ERROR)


def _run_groups(path: Path, queries: Sequence[indexes.Query], options: GroupOptions, output: _Output) -> None:
    """Search and print the shares of the topics in groups; an error of one query does not stop the others."""
    from mixsearch.index.compare import name_outcomes

    if output.plot is not None:
        load_plots()
    index = indexes.open_index(path)
    outcomes = indexes.answer_queries(index, queries, indexes.AnswerOptions(n_words=1, n_documents=0, n_related=0))
    failed = [outcome.error for outcome in outcomes if outcome.error is not None]
    if len(outcomes) == len(failed):
        raise failed[0]
    found = indexes.group_topics(index, name_outcomes(outcomes), **vars(options))
    print_groups(found, output.format)
    print_messages(outcomes)
    if output.plot is not None:
        write_figure(lambda plots: plots.plot_groups(found), output.plot)
    if failed:
        raise typer.Exit(EXIT_ERROR)


def _print_outcomes(outcomes: Sequence[Outcome], output: _Output) -> None:
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


def _describe_outcome(outcome: Outcome) -> dict[str, Any]:
    if outcome.error is not None:
        return {"hint": outcome.query.name, "error": describe_for_json(outcome.error)}
    return outcome.as_dict() | {"warnings": [describe_for_json(warning) for warning in outcome.warnings]}


def _draw(plots: Any, outcomes: Sequence[Outcome]) -> Any:
    from matplotlib.figure import Figure

    n_rows = -(-len(outcomes) // 3)
    figure = Figure(figsize=(4.5 * min(len(outcomes), 3), 3.5 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, min(len(outcomes), 3), squeeze=False).flat
    for axes, outcome in zip(panels, outcomes, strict=False):
        plots.plot_topic(outcome.topic, 10, ax=axes)
    for axes in panels:  # those that are left
        axes.set_axis_off()
    return figure


@dataclass(frozen=True)
class GroupOptions:
    """Which groups of documents to show, as `group_topics` takes them."""

    over: str | None
    by: str | None
    every: str | float | None
    where: str | None


def read_every(every: str | None) -> str | float | None:
    """Return the width of ranges as a number, or the name of a period unchanged."""
    try:
        return None if every is None else float(every)
    except ValueError:
        return every


def print_groups(found: TopicGroups, style: Literal["text", "json", "csv"]) -> None:
    """Print the shares of topics in groups."""
    if style == "json":
        print_json(found.as_dict())
    elif style == "csv":
        print_text(found.to_csv())
    else:
        _print_tables(stdout_console(), found)
        if found.n_missing:
            documents = pluralize(found.n_missing, "document has", "documents have")
            print_notes([f"{found.n_missing:,} {documents} no value in column {found.column!r}."])


def _print_tables(console: Console, found: TopicGroups) -> None:
    for position, topic in enumerate(found.topics):
        if not console.is_terminal:
            if position:
                console.print()
            for line in _list_lines(topic, found.column):
                console.print(line, markup=False, soft_wrap=True)
            continue
        console.print(_make_table(topic, found.column))


def _list_lines(topic: GroupedTopic, column: str) -> Iterator[str]:
    yield f"topic       {topic.hint}: {', '.join(topic.words)}"
    width = max([len(column), *(len(group.label) for group in topic.groups)])
    rows = [(column, *_HEADER), *((group.label, *_list_cells(group)) for group in topic.groups)]
    for label, documents, share, interval, about, holding in rows:
        line = f"{label:<{width}}  {documents:>9}  {share:>15}  {interval:<18}  {about:>8}  {holding:>10}"
        yield line.rstrip()


def _make_table(topic: GroupedTopic, column: str) -> Table:
    title = Text.assemble((topic.hint, "bold"), (f"  {', '.join(topic.words)}", "dim"))
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, title=title, title_justify="left")
    table.add_column(column, overflow="fold")
    for name in _HEADER:
        table.add_column(name, justify="right")
    table.add_column("", no_wrap=True, style="blue")
    longest = max((group.share or 0.0 for group in topic.groups), default=0.0)
    for group in topic.groups:
        bar = "█" * round(_BAR * (group.share or 0.0) / longest) if longest > 0 else ""
        table.add_row(Text(group.label), *_list_cells(group), bar)
    return table


def _list_cells(group: GroupShare) -> tuple[str, str, str, str, str]:
    """Return what is known of a group; nothing but 0 documents for an empty one."""
    share = "" if group.share is None else format_share(group.share, group.stderr)
    is_known = group.low is not None and group.high is not None
    interval = f"{format_share(group.low or 0.0)} to {format_share(group.high or 0.0)}" if is_known else ""
    about = "" if group.n_about is None else f"{group.n_about:,.0f}"
    holding = "" if group.n_holding is None else f"{group.n_holding:,}"
    return f"{group.n_documents:,}", share, interval, about, holding
