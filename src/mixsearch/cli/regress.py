"""`mixsearch regress`: the line that a few rows of a table lie on, in a mixture of lines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mixsearch import RegressionComponent
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
from mixsearch.cli._figures import load_plots, write_figure
from mixsearch.cli._render import print_facts
from mixsearch.cli._table_options import (
    SEARCH,
    IdOption,
    JsonOption,
    NComponentsOption,
    NoHeaderOption,
    NRowsOption,
    OutputOption,
    PlotOption,
    SkipBadRowsOption,
    TableArgument,
)
from mixsearch.cli._table_rows import check_apart, parse_rows, split_list
from mixsearch.cli._units import format_share
from mixsearch.display import give_or_take, plain_chance, plain_number
from mixsearch.rows import NumberedRows, describe_line, find_line, name_rows, take_numbers
from mixsearch.table import read_table, with_columns, write_table

HELP = """Find the line that a few rows of a table lie on, among several lines.

Rows of a table may follow different lines: the price of a flat depends on its
area in one way here and in another way there, and no column says which. Name
a few rows of one line; the answer is that line, y = intercept + coefficients,
with standard errors, and how many rows follow it.

Name rows by their numbers, starting at 0 for the first row after the header,
or, with --id, by their values in a column. Separate several by commas.

Examples:

  mixsearch regress sales.csv --y price --x area,rooms --like 3,8,11
  mixsearch regress sales.csv --y price --x area --like 3,8 --plot lines.png
  mixsearch regress sales.csv --y price --x area --id flat --like A7,B2 -k 3
  mixsearch regress sales.csv --y price --x area --like 3,8 -o members.csv

If the columns of --x differ between the lines, they help decide which line a
row follows, and the answer says so. --no-joint uses the lines alone.

Rows without a number in --y or --x are left out. --output adds a column
membership, the probability that a row follows the line.

--json prints an object: table, y, x, id, like, n_table_rows, n_rows,
n_left_out, n_components, joint, coefficients and intercept (value, stderr),
weight (value, stderr), n_members (n, low, high), noise (standard deviation),
confidence, verdict, typical_rows and doubtful_rows (row, id, membership, y,
predicted), warnings, written. An error is printed there too:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad table or rows, 2 usage error."""


def regress(
    table: TableArgument,
    y: Annotated[str, typer.Option("--y", metavar="COLUMN", help="The column that the line predicts.")],
    x: Annotated[list[str], typer.Option("--x", metavar="NAMES", help="The columns that it predicts from.")],
    like: Annotated[
        list[str], typer.Option("--like", metavar="ROWS", help="Rows of the line: numbers, starting at 0, or ids.")
    ],
    id: IdOption = None,
    no_header: NoHeaderOption = False,
    skip_bad_rows: SkipBadRowsOption = False,
    n_components: NComponentsOption = "auto",
    joint: Annotated[
        bool | None,
        typer.Option(
            "--joint/--no-joint",
            help="Whether the columns of --x differ between lines. [default: if the rows show it]",
            show_default=False,
            rich_help_panel=SEARCH,
        ),
    ] = None,
    output: OutputOption = None,
    n_rows: NRowsOption = 5,
    as_json: JsonOption = False,
    plot: PlotOption = None,
) -> None:
    """Find the line that a few rows lie on."""
    features = split_list(x)
    if not features:
        raise typer.BadParameter("Name at least one column with --x.")
    with report_errors(as_json=as_json):
        if plot is not None:
            load_plots()
        check_apart(y, features, "y", "x")
        with record_warnings() as warned, stderr_console().status("Fitting lines"):
            opened = read_table(table, no_header=no_header, skip_bad_rows=skip_bad_rows)
            positions = parse_rows(opened, split_list(like), id)
            rows = take_numbers(opened, {"x": features, "y": [y]}, positions, id)
            found = find_line(rows, n_components, "auto" if joint is None else joint)
        notes = [name_rows(warning, rows) for warning in warned]
        answer = {"table": str(table), "y": y, "x": features, "id": id, **describe_line(found, rows, features, n_rows)}
        written = _write(found, rows, [*features, y], output, plot)
        if as_json:
            print_json(answer | {"warnings": list(map(describe_for_json, notes)), "written": written})
        else:
            print_facts(stdout_console(), _list_facts(answer, rows))
        print_notes(map(describe, notes))


def _list_facts(answer: dict[str, Any], rows: NumberedRows) -> list[tuple[str, str]]:
    """Return the answer as lines for people."""
    y, members, n = answer["y"], answer["n_members"], answer["n_rows"]
    share = format_share(answer["weight"]["value"])
    lines = "one line for all rows" if answer["n_components"] == 1 else f"one of {answer['n_components']}"
    if answer["joint"]:
        lines += f", between which {', '.join(answer['x'])} differ{'s'[len(answer['x']) > 1 :]}"
    facts = [
        ("like", rows.name_examples()),
        ("line", lines),
        *(("coefficient", f"{name}  {_give(each)}") for name, each in answer["coefficients"].items()),
        ("intercept", _give(answer["intercept"])),
        ("noise", f"{plain_number(answer['noise'])} (standard deviation of {y} around the line)"),
        ("members", f"{members['n']:,} ({members['low']:,} to {members['high']:,}) of {n:,} rows, {share}"),
        ("confidence", f"{plain_chance(answer['confidence'])}: {answer['verdict']}"),
    ]
    for name, shown in (("row", answer["typical_rows"]), ("doubtful", answer["doubtful_rows"])):
        for row in shown:
            values = f"{y} {plain_number(row['y'])}, predicted {plain_number(row['predicted'])}"
            facts.append((name, f"{row.get('id', row['row'])}  {plain_chance(row['membership'])}  {values}"))
    if answer["n_left_out"]:
        columns = ", ".join([y, *answer["x"]])
        facts.append(("left out", f"{answer['n_left_out']:,} rows that lack a number in {columns}"))
    return facts


def _give(estimate: dict[str, float | None]) -> str:
    value, stderr = estimate["value"], estimate["stderr"]
    return give_or_take(float(value or 0.0), np.inf if stderr is None else stderr)


def _write(
    found: RegressionComponent, rows: NumberedRows, names: list[str], output: Path | None, plot: Path | None
) -> list[str]:
    """Write the requested files, and return their paths."""
    X, y = rows.values[:, :-1], rows.values[:, -1]
    if output is not None:
        write_table(with_columns(rows.table, {"membership": rows.spread(found.membership(X, y))}), output)
        stderr_console().print(f"Written: {output}", markup=False, soft_wrap=True)
    if plot is not None:
        write_figure(lambda plots: plots.plot_regression(found, X, y, rows.labels, names), plot)
    return [str(path) for path in (output, plot) if path is not None]
