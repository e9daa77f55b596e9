"""`mixsearch index`: build a topic index from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mixsearch.cli.console import report_errors
from mixsearch.cli.index_report import run_index
from mixsearch.cli.units import parse_frequency, parse_keep
from mixsearch.io.files import FORMATS, Format
from mixsearch.text.options import DEFAULT_MAX_DF, DEFAULT_MIN_DF, CorpusOptions
from mixsearch.topics.build import IndexOptions
from mixsearch.topics.tuning import TUNING

_READING, _WORDS = "Reading", "Words"

HELP = """Build an index of texts. Search it with [bold]mixsearch topic[/].

Reads JSON lines, JSON, CSV, TSV, Parquet, Arrow, Excel, tables of SQLite
databases, text files, folders of them; files may be compressed (gz, zst). The suffix of a file decides its format.

Examples:

  mixsearch index reviews.csv --text review --id review_id
  mixsearch index reviews.parquet --text review --keep date,shop,stars
  mixsearch index 'news/*.jsonl.gz' -o news.index
  mixsearch index mails/ -o mails.index --drop-duplicates
  mixsearch index shop.sqlite::reviews --text review
  zcat logs.gz | mixsearch index - -o logs.index --n-components 50

With --json, an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad data or options, 2 usage error, 130 stopped
by Ctrl-C. An index appears when it is complete, or not at all."""


def index(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Files, a folder, a quoted pattern, or - for standard input.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="The folder of the index. Default: the name of the source with .index, in the current folder.",
            show_default=False,
        ),
    ] = None,
    n_components: Annotated[
        int,
        typer.Option("--n-components", "-k", min=1, metavar="N", help="Number of directions to compare documents in."),
    ] = TUNING.n_components,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing index.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the text; repeat to join several. Default: detected.",
            rich_help_panel=_READING,
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column with the names of documents. Default: a unique one such as id or title.",
            rich_help_panel=_READING,
        ),
    ] = None,
    keep: Annotated[
        str,
        typer.Option(
            metavar="COLUMN,...|auto|none",
            help="Columns to keep for filters, timelines and lists. auto keeps up to 50 of at most 300 characters on "
            "average.",
            rich_help_panel=_READING,
        ),
    ] = "auto",
    format: Annotated[
        Format | None,
        typer.Option(
            metavar="NAME",
            help=f"Format of the files: {', '.join(FORMATS)}. Default: by their content and name.",
            rich_help_panel=_READING,
        ),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of text files.", rich_help_panel=_READING)] = "utf-8",
    skip_bad_rows: Annotated[
        bool,
        typer.Option(
            "--skip-bad-rows",
            help="Skip rows of CSV and JSON that cannot be read, and count them.",
            rich_help_panel=_READING,
        ),
    ] = False,
    drop_duplicates: Annotated[
        bool,
        typer.Option("--drop-duplicates", help="Leave out near copies of earlier documents.", rich_help_panel=_READING),
    ] = False,
    keep_texts: Annotated[
        bool,
        typer.Option(
            "--keep-texts/--no-keep-texts",
            help="Store the texts. Without them the index is smaller, but answers have no snippets.",
            rich_help_panel=_READING,
        ),
    ] = True,
    min_df: Annotated[
        Any,
        typer.Option(
            parser=parse_frequency,
            metavar="N",
            help="Keep words that occur in at least this many documents; 0.01 is a share of them. Default: "
            f"{DEFAULT_MIN_DF}, fewer in a small corpus.",
            show_default=False,
            rich_help_panel=_WORDS,
        ),
    ] = None,
    max_df: Annotated[
        Any,
        typer.Option(
            parser=parse_frequency,
            metavar="N",
            help="Keep words that occur in at most this many documents; 0.3 is a share of them. Default: "
            f"{DEFAULT_MAX_DF}.",
            show_default=False,
            rich_help_panel=_WORDS,
        ),
    ] = None,
    stop_words: Annotated[
        str,
        typer.Option(
            metavar="auto|none|LANGUAGE",
            help="Words that are not features: the frequent stop words of the languages that occur, none, or those of "
            "a language such as en.",
            rich_help_panel=_WORDS,
        ),
    ] = "auto",
    phrases: Annotated[
        bool,
        typer.Option(
            "--phrases/--no-phrases",
            help="Also count pairs that mean more than their words ('machine translation').",
            rich_help_panel=_WORDS,
        ),
    ] = True,
) -> None:
    """Build an index of texts."""
    with report_errors(as_json=as_json, stopped="Stopped. No index was written; an existing one is unchanged."):
        options = IndexOptions(n_components=n_components, overwrite=overwrite)
        reading = CorpusOptions(
            text=text or None,
            id=id,
            keep=parse_keep(keep),
            format=format,
            encoding=encoding,
            skip_bad_rows=skip_bad_rows,
            drop_duplicates=drop_duplicates,
            keep_texts=keep_texts,
            min_df=min_df,
            max_df=max_df,
            stop_words=None if stop_words == "none" else stop_words,
            phrases=phrases,
        )
        run_index(source, output, options, reading, as_json=as_json)
