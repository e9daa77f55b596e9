"""`mixsearch index`: build a topic index from files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from rich.text import Text

from mixsearch.cli import console
from mixsearch.cli.info import list_facts
from mixsearch.cli.options import JsonOption
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.io.files import strip_compression_suffix
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.build import Built, IndexOptions, build_index
from mixsearch.topics.index import open_index

HELP = """Reads JSON lines, JSON, CSV, TSV, Parquet, Arrow, Excel, tables of SQLite
databases, text files, folders of them; files may be compressed (gz, zst). The
suffix of a file decides its format; on standard input, CSV and JSON lines are
recognised. The text column is found, or named by --text. An index appears
when it is complete, or not at all.

Examples:

  mixsearch index reviews.csv --text review --id review_id
  mixsearch index reviews.parquet --text review --keep date,shop,stars
  mixsearch index 'news/*.jsonl.gz' -o news.index
  mixsearch index mails/ -o mails.index
  mixsearch index shop.sqlite::reviews --text review
  zcat logs.gz | mixsearch index - -o logs.index --n-components 50"""
STOPPED = "Stopped. No index was written; an existing one is unchanged."
_COUNTS = ("n_documents", "n_empty", "n_missing", "n_words", "n_features", "n_nonzeros")


def index(
    source: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE", help="Files, a folder, a quoted pattern, or - for standard input."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="The folder of the index. Default: the name of the source with .index, in the current folder.",
        ),
    ] = None,
    *,
    options: IndexOptions,
    reading: CorpusOptions,
    as_json: JsonOption = False,
) -> None:
    target = output or name_index(source[0])
    for folder in map(Path, source):
        if folder.is_dir() and target.resolve().is_relative_to(folder.resolve()):
            raise SearchError(
                "The index '{path}' would lie inside its source, the folder '{source}'. Choose another folder with "
                "{argument}.",
                code="index_inside_source",
                path=str(target),
                source=str(folder),
                argument=Option("output"),
            )
    start = perf_counter()
    with console.show_progress() as on_progress, console.record_warnings() as warned:
        sources = source[0] if len(source) == 1 else source
        built = build_index(sources, target, options, reading, on_progress=on_progress)
    report_built(built, perf_counter() - start, warned, as_json=as_json)


def name_index(source: str) -> Path:
    """Return the name of a source with the suffix of an index, in the current folder."""
    path = Path("texts" if source == "-" else source)
    if any(letter in path.name for letter in "*?["):
        path = path.parent
    named = path if path.name else path.resolve()
    stem = named.name if named.is_dir() else Path(strip_compression_suffix(named)).stem
    return Path(f"{stem or 'texts'}.index")


def report_built(built: Built, seconds: float, warned: Sequence[SearchWarning], *, as_json: bool) -> None:
    """Print the summary of an index that was built, and a command that searches it."""
    opened = open_index(built.path)
    words = [starter.word for starter in opened.starters(1)]
    command, warnings = shlex.join(["mixsearch", "topic", str(built.path), *words]), (*built.notes, *warned)
    if as_json:
        columns = [asdict(column) for column in opened.columns.described]
        counts = {name: getattr(built, name) for name in (*_COUNTS, "n_components", "n_bytes")}
        sizes = {"bytes_per_document": round(built.n_bytes / built.n_documents, 1), "seconds": round(seconds, 3)}
        notes = [console.describe_for_json(warning) for warning in warnings]
        console.print_json(
            {"index": str(built.path), "columns": columns, "next": command, **counts, **sizes, "warnings": notes}
        )
        return
    more = ("time", f"{seconds:.1f} s"), ("next", Text(command, style="bold"))
    console.print_facts([*list_facts(opened.contents()), *more])
    console.print_notes(warnings)
