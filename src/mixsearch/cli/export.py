"""`mixsearch export`: the documents of an index as a table, also with their membership in some topics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli import console
from mixsearch.cli.options import HintsOption, IndexArgument, JsonOption, split_list
from mixsearch.cli.queries import read_questions
from mixsearch.cli.topic import report_topics
from mixsearch.io.tables import write_table
from mixsearch.topics.answers import answer_questions, frame_documents, name_answers
from mixsearch.topics.index import open_index

HELP = """The table has a row for each document of the index: row (in the files that
were indexed, from 0), id if documents have names, the columns that were kept,
and text. With --topics or --hints, it also has a column for each topic: the
membership of each document.

Examples:

  mixsearch export reviews.index -o documents.parquet
  mixsearch export reviews.index --topics sushi,pizza -o labelled.xlsx
  mixsearch export reviews.index --hints topics.txt -o labelled.parquet

The name of the file ends in .parquet, .csv, .tsv, .jsonl, .json or .xlsx; all
but .parquet and .xlsx may be compressed, as in .csv.gz. A bad hint does not
stop the others. --json prints an object: written, n_documents, topics, failed
(hint, error)."""


def export(
    path: IndexArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write. It is replaced if it exists.")
    ],
    topics: Annotated[
        list[str] | None,
        typer.Option(metavar="WORDS", help="Words separated by commas; each is the hint of one topic."),
    ] = None,
    hints: HintsOption = None,
    as_json: JsonOption = False,
) -> None:
    words, index = split_list(topics or ()), open_index(path)
    wanted = bool(words) or hints is not None
    questions = read_questions(words, hints=hints, each=bool(words)) if wanted else []
    with console.show_status("Searching"):
        answers = answer_questions(index, questions)
        named = name_answers(answers)
        write_table(frame_documents(index, named, text=True), output)
    facts = {"n_documents": index.n_documents, "topics": list(named)}
    report_topics(output, facts, answers, as_json=as_json)
