"""`mixsearch find`: the rows of a table that are like a few of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from mixsearch.cli._console import (
    describe,
    describe_for_json,
    load_plots,
    print_json,
    print_notes,
    record_warnings,
    report_errors,
    spell,
    stderr_console,
    stdout_console,
    write_figure,
)
from mixsearch.cli._members import print_members
from mixsearch.cli._table_options import (
    OUTPUT,
    ColumnsOption,
    CovarianceOption,
    EmbedderOption,
    IdOption,
    JsonOption,
    MaxComponentsOption,
    NoHeaderOption,
    NRowsOption,
    OutputOption,
    PlotOption,
    SkipBadRowsOption,
    VectorsOption,
    WithoutOption,
)
from mixsearch.cli._table_rows import parse_rows, split_list
from mixsearch.storage import MANIFEST_NAME
from mixsearch.table import (
    TableComponent,
    TableSearch,
    describe_members,
    read_table,
    write_table,
)

_N_NEXT = 5
# A path that ends so is a saved fit, even if it does not exist.
_SAVED_SUFFIX = ".fit"

HELP = """Find the rows of a table that are like a few of them.

Name rows by their numbers, starting at 0 for the first row after the header,
or, with --id, by their values in a column. Separate several by commas, and
put a value that contains a comma in double quotes.

Examples:

  mixsearch find patients.csv --like 12,40,77
  mixsearch find patients.csv --like 12,40,77 --not-like 5 -o labelled.csv
  mixsearch find patients.csv --id patient_id --like P-17,P-203
  mixsearch find patients.parquet --like 12 --columns age,weight --plot out.png
  mixsearch find patients.csv --like 12,40 --without doctor,notes
  mixsearch find patients.csv --like 12,40 --save patients.fit
  mixsearch find patients.fit --like 3,8
  mixsearch find reviews.parquet --vectors embedding --like-text "good sushi" \\
    --embedder model2vec:minishlab/potion-base-8M

TABLE is a file of CSV, TSV, JSON lines, JSON, Parquet, Arrow, Excel, SQLite or
DuckDB (name a table or a sheet after two colons: shop.sqlite::reviews), a
folder of Parquet or Arrow files, or a folder written by --save, which answers
at once. --output adds two columns: membership, the
probability that a row is a member, and is_member.

--json prints an object: table, n_table_rows, id, like, not_like, like_texts,
not_like_texts, n_members (n, low, high), confidence, verdict, carried_by,
differences (column, members, all_rows, stderr, effect), typical_rows and
ask_next (row, id, membership, values), n_components, covariance, columns,
dropped_columns, warnings, written. An error is printed there too: {"error": {"code": ..., "message":
..., "fields": {...}}}

Exit codes: 0 success, 1 bad table or rows, 2 usage error."""


@dataclass(frozen=True)
class _Outputs:
    table: Path | None
    plot: Path | None
    save: Path | None
    overwrite: bool


def find(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="CSV, TSV, JSON, Parquet, Arrow, Excel, a table of a database (shop.sqlite::reviews), or a saved fit.",
        ),
    ],
    like: Annotated[
        list[str] | None,
        typer.Option("--like", metavar="ROWS", help="Rows that are members: numbers, starting at 0, or ids."),
    ] = None,
    not_like: Annotated[
        list[str] | None, typer.Option("--not-like", metavar="ROWS", help="Rows that are not members.")
    ] = None,
    like_text: Annotated[
        list[str] | None, typer.Option("--like-text", metavar="TEXT", help="A text that describes members.")
    ] = None,
    not_like_text: Annotated[
        list[str] | None, typer.Option("--not-like-text", metavar="TEXT", help="A text that describes others.")
    ] = None,
    id: IdOption = None,
    columns: ColumnsOption = None,
    without: WithoutOption = None,
    no_header: NoHeaderOption = False,
    skip_bad_rows: SkipBadRowsOption = False,
    vectors: VectorsOption = None,
    embedder: EmbedderOption = None,
    covariance: CovarianceOption = "auto",
    max_components: MaxComponentsOption = 15,
    output: OutputOption = None,
    n_rows: NRowsOption = 10,
    as_json: JsonOption = False,
    plot: PlotOption = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Keep the fitted table, so that the next search is quick.", rich_help_panel=OUTPUT
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a fit that was saved before.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Find the rows of a table that are like a few of them."""
    if not like and not like_text:
        raise typer.BadParameter("Name rows with --like, or describe them with --like-text.")
    search = TableSearch(cast(Any, covariance), max_components=max_components, embedder=embedder)
    choice = {
        "columns": split_list(columns) if columns else None,
        "without": split_list(without or ()),
        "id": id,
        "vectors": vectors,
    }
    _check_saved(table, search, choice)
    members, others = split_list(like or ()), split_list(not_like or ())
    outputs = _Outputs(output, plot, save, overwrite)
    with report_errors(as_json=as_json):
        if plot is not None:
            load_plots()
        with record_warnings() as warned:
            with stderr_console().status("Fitting the table"):
                reading = {"no_header": no_header, "skip_bad_rows": skip_bad_rows}
                search = _fit(search, table, choice, reading)
            start = time.perf_counter()
            found = search.search(
                parse_rows(search.table_, members, id),
                not_like=parse_rows(search.table_, others, id),
                like_texts=like_text or (),
                not_like_texts=not_like_text or (),
            )
            answer = describe_members(found, n_rows=n_rows, n_next=min(n_rows, _N_NEXT), id=id)
            seconds = time.perf_counter() - start
        written = _write(search, found, outputs, id)
        if as_json:
            notes = [describe_for_json(warning) for warning in warned]
            print_json({"table": str(table), **answer.as_dict(), "warnings": notes, "written": written})
        else:
            print_members(stdout_console(), answer, seconds)
        print_notes(map(describe, warned))


def _is_saved(table: Path) -> bool:
    return table.suffix == _SAVED_SUFFIX or (table / MANIFEST_NAME).exists()


def _check_saved(table: Path, search: TableSearch, choice: dict[str, Any]) -> None:
    """Refuse options that a saved fit cannot have any more."""
    if not _is_saved(table):
        return
    given = {name: choice[name] for name in ("columns", "without", "vectors")}
    given |= {name: value != getattr(TableSearch(), name) for name, value in search.get_params(deep=False).items()}
    for name, value in given.items():
        if value and name != "embedder":
            owned = "columns" if name == "without" else name.replace("_", " ")
            raise typer.BadParameter(f"A saved fit has its {owned}: leave out {spell(name)}.")


def _fit(search: TableSearch, table: Path, choice: dict[str, Any], reading: dict[str, bool]) -> TableSearch:
    if _is_saved(table):
        return TableSearch.load(table, embedder=search.embedder)
    return search.fit(read_table(table, **reading), **choice)


def _write(search: TableSearch, found: TableComponent, outputs: _Outputs, id: str | None) -> list[str]:
    """Write the requested files, and return their paths."""
    written: list[Any] = []
    if outputs.save is not None:
        search.save(outputs.save, overwrite=outputs.overwrite)
        written.append(outputs.save)
    if outputs.table is not None:
        write_table(found.to_frame(), outputs.table)
        written.append(outputs.table)
    for path in written:
        stderr_console().print(f"Written: {path}", markup=False, soft_wrap=True)
    if outputs.plot is not None:
        write_figure(lambda plots: plots.plot_members(found, id=id), outputs.plot)
        written.append(outputs.plot)
    return list(map(str, written))
