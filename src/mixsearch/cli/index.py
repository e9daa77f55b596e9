"""`mixsearch index`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mixsearch.cli._console import errors_as_sentences
from mixsearch.cli._index_report import run_index
from mixsearch.cli._units import parse_bytes, parse_components, parse_frequency
from mixsearch.index import DEFAULT_COMPONENTS, IndexOptions
from mixsearch.text import FORMATS, CorpusOptions, Format

_READING, _WORDS, _WORK, _ADVANCED = "Reading", "Words", "Work", "Advanced: the fit"

HELP = """Make an index of texts or word counts, to be searched with [bold]mixsearch topic[/].

Reads JSON lines, CSV, TSV, Parquet, text files, or counts as docword,
Matrix Market or npz files; any of them compressed (gz, bz2, xz, zst).

Examples:

  mixsearch index reviews.csv --text review --id review_id
  mixsearch index 'news/*.jsonl.gz' -o news.index --stop-words english
  mixsearch index mails/ -o mails.index --strip-tags --drop-duplicates near
  zcat logs.gz | mixsearch index - -o logs.index --components 50
  mixsearch index docword.kos.txt.gz --vocabulary vocab.kos.txt
  mixsearch index 's3://bucket/reviews/*.parquet' --scheduler tcp://host:8786 -o shared/reviews.index

Exit codes: 0 done, 1 the data are not as needed, 2 the command is not,
130 stopped with Ctrl-C. An index appears when it is whole, or not at all."""


def index(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Files, a folder, a pattern in quotes, URLs of them such as s3://, or - for standard input.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Where the index goes. By default the source's name with .index, in the current folder.",
            show_default=False,
        ),
    ] = None,
    components: Annotated[
        Any,
        typer.Option(
            "--components",
            "-k",
            parser=parse_components,
            metavar="N|auto",
            help=f"How many topics to fit; a search may use fewer. By default {DEFAULT_COMPONENTS}; with auto, as many "
            "as the documents show.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an index that is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of the text; give it again to join several. Found by itself where it is clear.",
            rich_help_panel=_READING,
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="The column that names documents.", rich_help_panel=_READING),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            metavar="NAME", help=f"Where the file name does not tell: {', '.join(FORMATS)}.", rich_help_panel=_READING
        ),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of text files.", rich_help_panel=_READING)] = "utf-8",
    vocabulary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="One word per line, for ready-made counts.", rich_help_panel=_READING),
    ] = None,
    drop_duplicates: Annotated[
        Literal["exact", "near"] | None,
        typer.Option(help="Leave out documents that repeat an earlier one.", rich_help_panel=_READING),
    ] = None,
    no_texts: Annotated[
        bool,
        typer.Option("--no-texts", help="Keep no texts: smaller, but no snippets.", rich_help_panel=_READING),
    ] = False,
    min_df: Annotated[
        Any,
        typer.Option(
            parser=parse_frequency,
            metavar="N",
            help="Count words of at least so many documents; a share of them with a point.",
            rich_help_panel=_WORDS,
        ),
    ] = "5",
    max_df: Annotated[
        Any,
        typer.Option(
            parser=parse_frequency,
            metavar="N",
            help="Count words of at most so many documents: the common words of any language are above 0.3.",
            rich_help_panel=_WORDS,
        ),
    ] = "0.3",
    max_words: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep only the most frequent words.", rich_help_panel=_WORDS)
    ] = 100_000,
    stop_words: Annotated[
        str | None,
        typer.Option(
            metavar="english|FILE", help="Words to leave out; one per line in a file.", rich_help_panel=_WORDS
        ),
    ] = None,
    ngrams: Annotated[
        int, typer.Option(min=1, metavar="N", help="2 counts pairs such as 'new york' as well.", rich_help_panel=_WORDS)
    ] = 1,
    token_pattern: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX", help="What a word is. By default two letters or digits, or more.", rich_help_panel=_WORDS
        ),
    ] = None,
    strip_tags: Annotated[
        bool, typer.Option("--strip-tags", help="Leave out HTML tags.", rich_help_panel=_WORDS)
    ] = False,
    keep_case: Annotated[
        bool, typer.Option("--keep-case", help="Tell 'Apple' from 'apple'.", rich_help_panel=_WORDS)
    ] = False,
    memory: Annotated[
        Any,
        typer.Option(
            parser=parse_bytes,
            metavar="SIZE",
            help="What the work may take, about: 500MB, 2GiB. By default half of the machine's.",
            show_default=False,
            rich_help_panel=_WORK,
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="The Dask scheduler whose workers do the work, such as tcp://host:8786; they must see the files. With "
            "local, a worker for each core of this machine.",
            show_default=False,
            rich_help_panel=_WORK,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Threads that count; one for each core by default.", rich_help_panel=_WORK),
    ] = None,
    tmp_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            exists=True,
            file_okay=False,
            help="For temporary files, instead of where TMPDIR says.",
            rich_help_panel=_WORK,
        ),
    ] = None,
    alpha0: Annotated[
        float,
        typer.Option(help="Near 0 documents have one topic, above 1 they mix many.", rich_help_panel=_ADVANCED),
    ] = 0.01,
    moments: Annotated[
        Literal["auto", "distinct", "plugin"],
        typer.Option(help="Unbiased for whole counts, or the paper's plug-in.", rich_help_panel=_ADVANCED),
    ] = "auto",
    weights: Annotated[
        Literal["length", "uniform"],
        typer.Option(help="The say of a document: its length, or one each.", rich_help_panel=_ADVANCED),
    ] = "length",
    metric: Annotated[
        float,
        typer.Option(help="Measure a word in units of its frequency to this power.", rich_help_panel=_ADVANCED),
    ] = 0.25,
    damping: Annotated[
        bool, typer.Option("--damping/--no-damping", help="Count c as log2(1 + c).", rich_help_panel=_ADVANCED)
    ] = True,
    seed: Annotated[int, typer.Option(help="Of the eigen-solver.", rich_help_panel=_ADVANCED)] = 0,
) -> None:
    """Make an index of texts or word counts."""
    with errors_as_sentences("Stopped. No index was written; one that was there is as it was."):
        fit = {"alpha0": alpha0, "moments": moments, "weights": weights, "metric": metric, "damping": damping}
        options = IndexOptions(
            n_components=components, search={**fit, "random_state": seed}, memory=memory, overwrite=overwrite
        )
        reading = CorpusOptions(
            text=text or None,
            id=id,
            format=format,
            encoding=encoding,
            vocabulary=vocabulary,
            drop_duplicates=drop_duplicates,
            keep_texts=not no_texts,
            min_df=min_df,
            max_df=max_df,
            max_words=max_words,
            stop_words=stop_words,
            ngrams=(1, ngrams),
            token_pattern=token_pattern,
            strip_tags=strip_tags,
            lowercase=not keep_case,
            memory=max(options.memory_part, 1),
            tmp_dir=tmp_dir,
            n_jobs=jobs,
        )
        run_index(sources, output, options, reading, scheduler=scheduler, as_json=as_json)
