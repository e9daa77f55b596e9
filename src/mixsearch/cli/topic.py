"""`mixsearch topic`: search an index for the topic of a hint, also over time and by group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixsearch.cli.console import (
    EXIT_ERROR,
    IndexArgument,
    describe,
    describe_for_json,
    load_plots,
    print_error,
    print_json,
    print_notes,
    report_errors,
    stderr_console,
    stdout_console,
    write_figure,
)
from mixsearch.cli.queries import TypedHints, read_questions
from mixsearch.display import pluralize
from mixsearch.options import GroupOptions, SearchOptions

if TYPE_CHECKING:
    from mixsearch.topics.answers import Answer
    from mixsearch.topics.groups import GroupedTopic, TopicGroups

_HINTS, _OUTPUT = "Other hints", "Output"

HELP = """Find the topic that a hint means, with its words and documents.

sushi^2 counts double; "new york" in quotes is one phrase, and so are words
side by side that the index knows as a phrase; encrypt* stands for all words
starting with encrypt. Give words that no document of the topic contains with
--not, or with a minus after two dashes: -- apple -fruit

Examples:

  mixsearch topic reviews.index sushi
  mixsearch topic reviews.index sushi "happy hour" --not pizza
  mixsearch topic reviews.index sushi pizza burger --each --plot food.png
  mixsearch topic reviews.index --text "the driver was late again"
  mixsearch topic reviews.index --documents 12 --documents 40 --documents 7
  mixsearch topic reviews.index sushi --narrower 1 --json
  mixsearch topic reviews.index java --meaning 1
  mixsearch topic reviews.index sushi --where "stars <= 2" -o documents.csv
  mixsearch topic reviews.index sushi pizza --over date --by shop

With --over and --by, each WORD is a separate topic; --hints names topics of
several words. -o writes all documents with their membership.

--json prints an object, or a list with --each or --hints: hint, sentence,
n_members, share, n_containing, match, check, words, alternatives, documents,
warnings; with --over or --by, the groups, each with n_members. An error is
printed there too: {"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad hint or index, 2 usage error. With several
hints, a bad one does not stop the others."""


def topic(
    path: IndexArgument,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Words, phrases and patterns; together they are one hint."),
    ] = None,
    avoid: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="WORD", help="A word that leaves documents out; repeat for several."),
    ] = None,
    each: Annotated[bool, typer.Option("--each", help="Search for each WORD separately.")] = False,
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text", metavar="TEXT", help="A text about the topic; repeat for several.", rich_help_panel=_HINTS
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
    *,
    search: SearchOptions,
    groups: GroupOptions,
    n_documents: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of documents to show.", rich_help_panel=_OUTPUT)
    ] = 5,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Also write all documents with their membership, or the groups: csv, parquet, xlsx or jsonl.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw a figure: png, svg or pdf.", rich_help_panel=_OUTPUT),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=_OUTPUT)] = False,
) -> None:
    """Find the topic that a hint means."""
    # Here, so that help and completion need no numbers.
    from mixsearch.topics.answers import answer_questions, describe_topic, frame_documents, name_answers
    from mixsearch.topics.index import open_index

    is_grouped = groups.over is not None or groups.by is not None
    if groups.every is not None and not is_grouped:
        raise typer.BadParameter("--every needs --over or --by.")
    is_each = each or (is_grouped and bool(words))
    typed = TypedHints(words or (), avoid or (), text or (), search, hints, is_each)
    with report_errors(as_json=as_json):
        if plot is not None:
            load_plots()
        index = open_index(path)
        questions = read_questions(typed)
        answers = answer_questions(index, questions)
        failed = [answer.error for answer in answers if answer.error is not None]
        if len(failed) == len(answers) and (is_grouped or len(answers) == 1) and hints is None:
            raise failed[0]
        if is_grouped:
            grouped = index.group(name_answers(answers), **vars(groups), where=search.where)
            print_json(grouped.to_dict()) if as_json else print_groups(stdout_console(), grouped)
            frame, draw = grouped.to_frame, lambda plots: plots.plot_groups(grouped)
        else:
            described = [
                _describe_error(answer)
                if answer.topic is None
                else describe_topic(index, answer.topic, name=answer.question.name, n_documents=n_documents)
                for answer in answers
            ]
            if as_json:
                print_json(described if each or hints is not None else described[0])
            else:
                for answer in described:
                    print_answer(stdout_console(), answer)
            frame = lambda: frame_documents(index, name_answers(answers), is_sorted=True)  # noqa: E731
            draw = lambda plots: _draw(plots, answers)  # noqa: E731
        print_messages(answers)
        if output is not None:
            _write(frame(), output)
        if plot is not None:
            write_figure(draw, plot)
        if failed:
            raise typer.Exit(EXIT_ERROR)


def _describe_error(answer: Answer) -> dict[str, Any]:
    assert answer.error is not None
    return {"hint": answer.question.name, "error": describe_for_json(answer.error)}


def print_messages(answers: Sequence[Answer]) -> None:
    """Print the errors and warnings of questions."""
    for answer in answers:
        prefix = f"{answer.question.name}: " if len(answers) > 1 else ""
        if answer.error is not None:
            print_error(f"{prefix}{describe(answer.error)}")
        print_notes(f"{prefix}{describe(warning)}" for warning in answer.warnings)


def _write(frame: Any, output: Path) -> None:
    from mixsearch.io.tables import write_table

    write_table(frame, output)
    stderr_console().print(f"Written: {output}", markup=False, soft_wrap=True)


def _draw(plots: Any, answers: Sequence[Answer]) -> Any:
    from matplotlib.figure import Figure

    topics = [answer.topic for answer in answers if answer.topic is not None]
    n_columns = min(len(topics), 3)
    n_rows = -(-len(topics) // n_columns)
    figure = Figure(figsize=(4.5 * n_columns, 3.5 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False).flat
    for axes, found in zip(panels, topics, strict=False):
        plots.plot_topic(found, 10, ax=axes)
    for axes in panels:  # those that are left
        axes.set_axis_off()
    return figure


# ---- Answers for people ---------------------------------------------------------------------------------------------


def print_answer(console: Console, answer: dict[str, Any]) -> None:
    """Print one answer: a sentence, words on one line, other meanings, documents."""
    for line in list_lines(answer):
        console.print(line, soft_wrap=not console.is_terminal)


def list_lines(answer: dict[str, Any]) -> Iterator[Text]:
    """Yield the lines of an answer."""
    if "error" in answer:
        return
    yield Text(answer["hint"], style="bold")
    if answer["read_as"] not in ("", answer["hint"]):
        yield Text(f"Read as {answer['read_as']}.", style="dim")
    yield Text(answer["sentence"])
    if answer["match"] is not None:
        yield Text(f"{_capitalize(answer['check'])}.", style="dim")
    if answer["words"]:
        yield Text.assemble(("Words: ", "dim"), ", ".join(word["word"] for word in answer["words"]))
    if answer["alternatives"]:
        meanings = (
            f"{i}) {', '.join(each['words'])} ({each['share']:.0%})" for i, each in enumerate(answer["alternatives"])
        )
        yield Text.assemble(("Meanings: ", "dim"), "; ".join(meanings), ("  choose one with --meaning", "dim"))
    for document in answer["documents"]:
        yield _list_document(document, [word["word"] for word in answer["words"]])
    yield Text("")


def _capitalize(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _list_document(document: dict[str, Any], words: Iterable[str]) -> Text:
    """Return one line of a document: its row, name and date, and the part of the text that shows why."""
    from mixsearch.topics.answers import find_words

    label = document["title"] or document["name"] or ""
    date = f" ({document['date']})" if label and document["date"] else document["date"] or ""
    line = Text.assemble((f"{document['row']:>7} ", "dim"), (f"{label}{date}  " if label or date else "", "bold"))
    snippet = document["snippet"]
    if snippet:
        highlighted = Text(snippet)
        for start, end in find_words(snippet, words):
            highlighted.stylize("cyan", start, end)
        line.append(highlighted)
    return line


_BAR = 24


def print_groups(console: Console, groups: TopicGroups) -> None:
    """Print how many documents of each group belong to topics."""
    from mixsearch.topics.topic import format_about

    is_crossed = groups.by is not None and groups.over is not None
    for grouped in groups.topics:
        what = (
            "share of the documents of each group"
            if is_crossed
            else f"about {format_about(grouped.n_members)} documents"
        )
        console.print(Text.assemble((grouped.hint, "bold"), f"  {what}"), soft_wrap=True)
        console.print(_cross(grouped) if is_crossed else _make_table(grouped, groups))
    if groups.n_missing:
        documents = pluralize(groups.n_missing, "document has", "documents have")
        columns = " or ".join(repr(column) for column in (groups.over, groups.by) if column is not None)
        print_notes([f"{groups.n_missing:,} {documents} no value in {columns}."])


def _make_table(grouped: GroupedTopic, groups: TopicGroups) -> Table:
    from mixsearch.topics.topic import format_about

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(str(groups.over or groups.by))
    for header in ("documents", "about it", "share", "with the words"):
        table.add_column(header, justify="right")
    table.add_column("")
    largest = max((group.share or 0 for group in grouped.groups), default=0)
    for group in grouped.groups:
        share = "" if group.share is None else f"{group.share:.1%}"
        bar = "█" * round(_BAR * (group.share or 0) / largest) if largest else ""
        containing = "" if group.n_containing is None else f"{group.n_containing:,}"
        counts = (f"{group.n_documents:,}", format_about(group.n_members), share, containing)
        table.add_row(Text(group.label), *counts, Text(bar, style="blue"))
    return table


def _cross(grouped: GroupedTopic) -> Table:
    """Return a table of shares: groups of one column down, of the other across."""
    series = list(dict.fromkeys(str(group.series) for group in grouped.groups))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    for name in series:
        table.add_column(Text(name), justify="right")
    rows: dict[str, list[str]] = {}
    for group in grouped.groups:
        rows.setdefault(group.label, []).append("" if group.share is None else f"{group.share:.1%}")
    for label, shares in rows.items():
        table.add_row(Text(label), *shares)
    return table
