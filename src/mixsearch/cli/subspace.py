"""`mixsearch subspace`: the rows of a table in the same subspace as a few of them."""

from __future__ import annotations

from typing import Annotated, Any, cast

import numpy as np
import typer

from mixsearch.cli._console import (
    describe,
    describe_for_json,
    print_json,
    print_notes,
    record_warnings,
    report_errors,
    stderr_console,
    stdout_console,
)
from mixsearch.cli._render import print_facts
from mixsearch.cli._table_options import (
    SEARCH,
    ColumnsOption,
    IdOption,
    JsonOption,
    NComponentsOption,
    NoHeaderOption,
    NRowsOption,
    OutputOption,
    SkipBadRowsOption,
    TableArgument,
)
from mixsearch.cli._table_rows import parse_rows, split_list
from mixsearch.cli._units import format_share, parse_components
from mixsearch.display import plain_chance, plain_number, pluralize
from mixsearch.errors import CenteredWarning, SearchError
from mixsearch.rows import (
    NumberedRows,
    describe_subspace,
    find_subspace,
    name_rows,
    scale_columns,
    take_numbers,
)
from mixsearch.table import list_numeric_columns, read_table, with_columns, write_table

_MAX_LOADINGS = 5
_CARRIED_BY = {"mixture": "the mixture of subspaces", "self-expression": "rows that express each other"}

HELP = """Find the rows of a table in the same subspace as a few of them.

Rows may lie near a few lines, planes or larger subspaces through one point:
in each, the columns move together in another way, as the coordinates of
points of one moving body do. Name a few rows of one subspace, at least as
many as it has dimensions.

Name rows by their numbers, starting at 0 for the first row after the header,
or, with --id, by their values in a column. Separate several by commas.

Examples:

  mixsearch subspace tracks.csv --like 0,4,9
  mixsearch subspace tracks.csv --like 0,4,9 --dim 3 -k 2 -o members.csv
  mixsearch subspace tracks.csv --id track --like A1,A7,B3 --columns x1,y1,x2,y2

All columns of numbers are used, unless --columns names them. They are scaled
to the same deviation if their deviations differ more than tenfold. Rows that
lack a number are left out. If rows predict each other better than a
mixture of subspaces does, the answer comes from those predictions. --output adds a column
membership, the probability that a row is in the subspace.

--json prints an object: table, id, like, columns, left_out_columns, scaled,
n_table_rows, n_rows, n_left_out, n_components, dim, centered, basis
(variance, loadings), noise (standard deviation), weight (value, stderr),
n_members (n, low, high), carried_by (mixture, or self-expression, without
standard errors), confidence, verdict, typical_rows and doubtful_rows
(row, id, membership), warnings, written. An error is printed there too:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad table or rows, 2 usage error."""


def subspace(
    table: TableArgument,
    like: Annotated[
        list[str], typer.Option("--like", metavar="ROWS", help="Rows of the subspace: numbers, starting at 0, or ids.")
    ],
    id: IdOption = None,
    columns: ColumnsOption = None,
    dim: Annotated[
        str,
        typer.Option(
            "--dim",
            metavar="N",
            help="Dimension of the subspaces, or auto: each has its own.",
            parser=parse_components,
            rich_help_panel=SEARCH,
        ),
    ] = "auto",
    n_components: NComponentsOption = "auto",
    center: Annotated[
        bool | None,
        typer.Option(
            "--center/--no-center",
            help="Subspaces contain the mean of all rows, or zero. Default: the mean, if it is not near zero.",
            show_default=False,
            rich_help_panel=SEARCH,
        ),
    ] = None,
    scale: Annotated[
        bool | None,
        typer.Option(
            "--scale/--no-scale",
            help="Scale columns to the same deviation. Default: if these differ more than tenfold.",
            show_default=False,
            rich_help_panel=SEARCH,
        ),
    ] = None,
    no_header: NoHeaderOption = False,
    skip_bad_rows: SkipBadRowsOption = False,
    output: OutputOption = None,
    n_rows: NRowsOption = 5,
    as_json: JsonOption = False,
) -> None:
    """Find the rows in the same subspace as a few of them."""
    wanted = split_list(columns or ())
    with report_errors(as_json=as_json):
        with record_warnings() as read_warned:
            opened = read_table(table, no_header=no_header, skip_bad_rows=skip_bad_rows)
        used = wanted or [name for name in list_numeric_columns(opened) if name != id]
        if not used:
            raise SearchError("{file!r} has no columns of numbers.", code="no_columns", file=str(table))
        rows = take_numbers(opened, {"columns": used}, parse_rows(opened, split_list(like), id), id)
        X, is_scaled = scale_columns(rows.values, scale)
        with record_warnings() as warned, stderr_console().status("Fitting subspaces"):
            found = find_subspace(X, rows, n_components, cast(Any, dim), "auto" if center is None else center)
        # The answer itself says through which point subspaces go.
        searched = [name_rows(each, rows) for each in warned if not isinstance(each, CenteredWarning)]
        notes = [*read_warned, *searched]
        membership = found.membership(X)
        others = [] if wanted else [name for name in opened.column_names if name not in (*used, id)]
        answer = {
            "table": str(table),
            "id": id,
            "columns": used,
            "left_out_columns": others,
            "scaled": is_scaled,
            **describe_subspace(found, rows, used, membership, n_rows),
        }
        if output is not None:
            write_table(with_columns(opened, {"membership": rows.spread(membership)}), output)
            stderr_console().print(f"Written: {output}", markup=False, soft_wrap=True)
        if as_json:
            written = [] if output is None else [str(output)]
            print_json(answer | {"warnings": list(map(describe_for_json, notes)), "written": written})
        else:
            print_facts(stdout_console(), _list_facts(answer, rows))
        print_notes(map(describe, notes))


def _list_facts(answer: dict[str, Any], rows: NumberedRows) -> list[tuple[str, str]]:
    """Return the answer as lines for people."""
    members, k = answer["n_members"], answer["n_components"]
    interval = "" if members["low"] is None else f" ({members['low']:,} to {members['high']:,})"
    count = f"{members['n']:,}{interval} of {answer['n_rows']:,} rows"
    scaled = ", scaled to the same deviation" if answer["scaled"] else ""
    facts = [
        ("like", rows.name_examples()),
        ("dimension", f"{answer['dim']} of {len(answer['columns'])} columns{scaled}"),
        ("through", "the mean of the rows" if answer["centered"] else "zero"),
        ("subspaces", f"{k}" if k > 1 else "1: all rows are in it"),
        ("members", f"{count}, {format_share(answer['weight']['value'])}"),
        ("carried by", _CARRIED_BY[answer["carried_by"]]),
        ("confidence", f"{plain_chance(answer['confidence'])}: {answer['verdict']}"),
        *(("direction", _format_axis(axis)) for axis in answer["basis"]),
        ("noise", f"{plain_number(answer['noise'])} (standard deviation of each column)"),
    ]
    for name, shown in (("row", answer["typical_rows"]), ("doubtful", answer["doubtful_rows"])):
        facts += [(name, f"{row.get('id', row['row'])}  {plain_chance(row['membership'])}") for row in shown]
    if answer["n_left_out"]:
        lacking = pluralize(answer["n_left_out"], "row that lacks", "rows that lack")
        facts.append(("left out", f"{answer['n_left_out']:,} {lacking} a number"))
    if answer["left_out_columns"]:
        facts.append(("left out", f"columns without numbers: {', '.join(answer['left_out_columns'])}"))
    return facts


def _format_axis(axis: dict[str, Any]) -> str:
    """Return the columns with the largest loadings, and the deviation of the rows along the direction."""
    largest = sorted(axis["loadings"].items(), key=lambda item: -abs(item[1]))
    listed = ", ".join(f"{name} {loading:+.2f}" for name, loading in largest[:_MAX_LOADINGS])
    more = f", {len(largest) - _MAX_LOADINGS} smaller" if len(largest) > _MAX_LOADINGS else ""
    return f"{listed}{more} (deviation {plain_number(np.sqrt(axis['variance']))})"
