"""`mixsearch topic`: search an index for the topic of a hint, also over time and by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from mixsearch.cli import console
from mixsearch.cli.options import (
    OUTPUT,
    AuditOption,
    HintsOption,
    IndexArgument,
    JsonOption,
    NAuditOption,
    OutputOption,
    PlotOption,
)
from mixsearch.cli.queries import read_questions
from mixsearch.display import pluralize
from mixsearch.options import GroupOptions, SearchOptions

if TYPE_CHECKING:
    from mixsearch.topics.answers import Answer
    from mixsearch.topics.groups import TopicGroups
    from mixsearch.topics.index import TopicIndex

HELP = """sushi^2 counts double; "new york" in quotes is one phrase, and so are words
side by side that the index knows as a phrase; encrypt* stands for all words
starting with encrypt. Give words that no document of the topic contains with
--not, or with a minus after two dashes: -- apple -fruit

Examples:

  mixsearch topic reviews.index sushi
  mixsearch topic reviews.index sushi "pickled ginger" --not pizza
  mixsearch topic reviews.index sushi pizza coffee --each
  mixsearch topic reviews.index --text "the driver was late again"
  mixsearch topic reviews.index --documents 12 --documents 40 --documents 7
  mixsearch topic reviews.index sushi --narrower 1 --json
  mixsearch topic reviews.index sushi --meaning 1
  mixsearch topic reviews.index sushi --where "stars <= 2" -o documents.csv
  mixsearch topic reviews.index sushi pizza --over date --by city
  mixsearch topic reviews.index sushi --audit audit.csv

With --over and --by, each WORD is a separate topic; --hints names topics of
several words. -o writes all documents with their membership, or the groups.

--audit writes documents to judge: write yes or no in the column member and
run the same command again. It then prints precision, recall and the number
of members with 95% intervals, and so do --over and --by for groups.

--json prints an object, or a list with --each or --hints: hint, sentence,
n_members, share, n_containing, match, check, words, alternatives, documents,
warnings, audit; with --over or --by, the groups, each with n_members. With
several hints, a bad one does not stop the others."""
_BAR = 24
_MAX_AUDITED = 1000  # characters of a document


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
        list[str] | None, typer.Option("--text", metavar="TEXT", help="A text about the topic; repeat for several.")
    ] = None,
    hints: HintsOption = None,
    *,
    search: SearchOptions,
    groups: GroupOptions,
    n_documents: Annotated[
        int,
        typer.Option(
            "--n-documents", "-n", min=0, metavar="N", help="Number of documents to show.", rich_help_panel=OUTPUT
        ),
    ] = 5,
    output: OutputOption = None,
    plot: PlotOption = None,
    audit: AuditOption = None,
    n_audit: NAuditOption = 40,
    as_json: JsonOption = False,
) -> None:
    # Here, so that help and completion need no numbers.
    from mixsearch.topics.answers import answer_questions, describe_topic, frame_documents, name_answers
    from mixsearch.topics.index import open_index

    is_grouped = groups.over is not None or groups.by is not None
    if groups.every is not None and not is_grouped:
        raise typer.BadParameter("--every needs --over or --by.")
    is_each = each or (is_grouped and bool(words))
    questions = read_questions(
        words or (), avoid=avoid or (), texts=text or (), hints=hints, each=is_each, search=search
    )
    if audit is not None and len(questions) > 1:
        raise typer.BadParameter(f"--audit judges one topic, got {len(questions)}.")
    if plot is not None:
        if len(questions) > 1 and not is_grouped:
            raise typer.BadParameter(f"--plot draws one topic, got {len(questions)}. Add --over or --by for several.")
        console.load_plots()
    with console.show_status("Searching"):
        index = open_index(path)
        answers = answer_questions(index, questions)
    topics, failed = name_answers(answers), [answer.error for answer in answers if answer.error is not None]
    if failed and not topics and hints is None:
        raise failed[0]
    audited = "" if audit is None else _judge(index, answers[0].topic, audit, n_audit)
    if is_grouped:
        grouped = index.group(topics, **vars(groups), where=search.where)
        console.print_json(grouped.to_dict()) if as_json else print_groups(grouped)
    else:
        described = [
            describe_topic(index, answer.topic, name=answer.question.name, n_documents=n_documents)
            if answer.topic is not None
            else {"hint": answer.question.name, "error": answer.error and console.describe_for_json(answer.error)}
            for answer in answers
        ]
        if as_json:
            console.print_json(described if each or hints is not None else described[0])
        else:
            print_answers(described)
    if audited and not as_json:
        console.stdout_console().print(audited, markup=False, soft_wrap=True)
    print_messages(answers)
    if output is not None:
        from mixsearch.io.tables import write_table

        write_table(grouped.to_frame() if is_grouped else frame_documents(index, topics, is_sorted=True), output)
        console.print_written(output)
    if plot is not None and topics:
        console.write_figure(
            lambda plots: plots.plot_groups(grouped) if is_grouped else plots.plot_topic(*topics.values()), plot
        )
    if failed:
        raise typer.Exit(console.EXIT_ERROR)


def _judge(index: TopicIndex, found: Any, file: Path, n: int) -> str:
    """Judge the documents of a topic by a file, and return the line that says how the audit stands."""
    from mixsearch.cli.audit import audit_file, list_audit

    def show(rows: Sequence[int]) -> list[dict[str, Any]]:
        return [
            {"name": document.name, "text": (document.text or "")[:_MAX_AUDITED], **document.columns}
            for document in index.documents(rows)
        ]

    n_known = len(found.hint.documents) + len(found.hint.not_documents)
    return list_audit(file, audit_file(found, file, n, found.n_documents - n_known, show))


def print_messages(answers: Sequence[Answer]) -> None:
    """Print the errors and warnings of questions."""
    for answer in answers:
        prefix = f"{answer.question.name}: " if len(answers) > 1 else ""
        if answer.error is not None:
            console.print_error(console.describe(answer.error), answer.error.code, prefix)
        console.print_notes(f"{prefix}{console.describe(warning)}" for warning in answer.warnings)


def report_topics(output: Path, facts: dict[str, Any], answers: Sequence[Answer], *, as_json: bool) -> None:
    """Print what was written of some topics, and the errors of the others, which end the command with its code."""
    errors = {answer.question.name: answer.error for answer in answers if answer.error is not None}
    if as_json:
        failed = [{"hint": name, "error": console.describe_for_json(error)} for name, error in errors.items()]
        console.print_json({"written": str(output), **facts, "failed": failed})
    print_messages(answers)
    counts = (facts.get("n_documents", 0), "document"), (len(facts["topics"]), "topic")
    console.print_written(output, "".join(f", {n:,} {pluralize(n, noun)}" for n, noun in counts if n))
    if errors:
        raise typer.Exit(console.EXIT_ERROR)


def print_answers(answers: Sequence[dict[str, Any]]) -> None:
    """Print answers: for each a sentence, words on one line, other meanings, documents."""
    terminal = console.stdout_console()
    for answer in answers:
        for line in list_lines(answer):
            terminal.print(line, soft_wrap=not terminal.is_terminal)


def list_lines(answer: dict[str, Any]) -> Iterator[Text]:
    """Yield the lines of an answer."""
    if "error" in answer:
        return
    words = [word["word"] for word in answer["words"]]
    yield Text(answer["hint"], style="bold")
    if answer["read_as"].replace('"', "") not in ("", answer["hint"].replace('"', "")):
        yield Text(f"Read as: {answer['read_as']}", style="dim")
    yield Text(answer["sentence"])
    if answer["match"] is not None:
        yield Text(f"{answer['check'][:1].upper()}{answer['check'][1:]}.", style="dim")
    if words:
        yield Text.assemble(("Words: ", "dim"), ", ".join(words))
    if answer["alternatives"]:
        meanings = (
            f"{i}) {', '.join(each['words'])} ({each['share']:.0%})" for i, each in enumerate(answer["alternatives"])
        )
        yield Text.assemble(("Meanings: ", "dim"), "; ".join(meanings), ("  choose one with --meaning", "dim"))
    for document in answer["documents"]:
        yield _list_document(document, words)
    yield Text("")


def _list_document(document: dict[str, Any], words: Sequence[str]) -> Text:
    """Return one line of a document: its row, name and date, and the part of the text that shows why."""
    from mixsearch.topics.answers import find_words

    label = document["title"] or document["name"] or ""
    date = f" ({document['date']})" if label and document["date"] else document["date"] or ""
    line = Text.assemble((f"{document['row']:>7} ", "dim"), (f"{label}{date}  " if label or date else "", "bold"))
    snippet = Text(document["snippet"] or "")
    for start, end in find_words(snippet.plain, words):
        snippet.stylize("cyan", start, end)
    return line.append(snippet)


def print_groups(groups: TopicGroups) -> None:
    """Print how many documents of each group belong to topics."""
    from mixsearch.topics.topic import format_about

    columns = [column for column in (groups.over, groups.by) if column is not None]
    for grouped in groups.topics:
        line = Text.assemble((grouped.hint, "bold"), f"  about {format_about(grouped.n_members)} documents")
        console.stdout_console().print(line, soft_wrap=True)
        is_judged = any(group.estimate is not None for group in grouped.groups)
        judged = [">share by judgements (95%)"] if is_judged else []
        table = console.make_table(*columns, ">documents", ">members", ">share", *judged, "")
        largest = max((group.share or 0 for group in grouped.groups), default=0)
        for group in grouped.groups:
            share = "" if group.share is None else f"{group.share:.1%}"
            if is_judged and group.estimate is not None:
                judged = [f"{group.estimate:.1%} ({group.low:.1%} to {group.high:.1%})"]
            names = [Text(each) for each in (group.label, group.series) if each is not None]
            bar = Text("█" * round(_BAR * (group.share or 0) / largest) if largest else "", style="blue")
            table.add_row(*names, f"{group.n_documents:,}", format_about(group.n_members), share, *judged, bar)
        console.print_table(table)
    if groups.n_missing:
        documents = pluralize(groups.n_missing, "document has", "documents have")
        console.print_notes([f"{groups.n_missing:,} {documents} no value in {' or '.join(map(repr, columns))}."])
