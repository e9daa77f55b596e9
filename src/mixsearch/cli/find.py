"""`mixsearch find`: the rows of a table that are like a few of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer
from rich.cells import cell_len
from rich.text import Text

from mixsearch._typing import Array
from mixsearch.cli import console
from mixsearch.cli.audit import audit_file, list_audit
from mixsearch.cli.options import (
    AuditOption,
    JsonOption,
    NAuditOption,
    NoHeaderOption,
    OutputOption,
    PlotOption,
    TableArgument,
    split_list,
)
from mixsearch.display import give_or_take, plain_number
from mixsearch.io.tables import read_table, write_table
from mixsearch.options import TableOptions
from mixsearch.table.component import TableComponent, describe_count, describe_membership, describe_rows
from mixsearch.table.differences import ColumnDifference
from mixsearch.table.rows import find_rows
from mixsearch.table.search import TableSearch
from mixsearch.table.tables import get_values

HELP = """Name rows by their numbers, starting at 0 for the first row after the header,
or, with --id, by their values in a column. Separate several by commas, and
put a value that contains a comma in double quotes.

Examples:

  mixsearch find patients.csv --examples 12,40,77
  mixsearch find patients.csv --examples 12,40,77 --not-examples 5 -o labelled.csv
  mixsearch find patients.csv --id patient_id --examples P-17,P-203
  mixsearch find patients.parquet --examples 12 --columns age,weight --plot out.png
  mixsearch find patients.csv --examples 12,40 --without doctor,notes
  mixsearch find patients.csv --examples 12,40,77 --audit audit.csv

A folder of Parquet or Arrow files is one table. --output adds three columns:
score, membership (the probability that a row is a member; from fewer than
three examples, its rank) and is_member.

--audit writes rows to judge: write yes or no in the column member and run the
same command again. It then prints precision, recall and the number of
members with 95% intervals. --n-audit 80 adds rows.

--json prints an object: table, n_table_rows, id, examples, not_examples,
n_members, is_probability, check, ranks, differences (column, members, others,
stderr, effect, missing, missing_others), missing, typical_rows (row, id,
membership, values), columns, dropped_columns, warnings, written, audit."""
_N_ROWS, _N_COLUMNS, _N_VALUES, _N_LEVELS = 10, 6, 5, 2
_MAX_LETTERS = 24  # of a value
_MIN_EFFECT = 0.2  # standard deviations by which members differ in a column that is shown


def find(
    table: TableArgument,
    examples: Annotated[
        list[str],
        typer.Option("--examples", metavar="ROWS", help="Rows that are members: numbers, starting at 0, or ids."),
    ],
    not_examples: Annotated[
        list[str] | None, typer.Option("--not-examples", metavar="ROWS", help="Rows that are not members.")
    ] = None,
    *,
    search: TableOptions,
    no_header: NoHeaderOption = False,
    output: OutputOption = None,
    plot: PlotOption = None,
    audit: AuditOption = None,
    n_audit: NAuditOption = 40,
    as_json: JsonOption = False,
) -> None:
    id = search.id
    console.check_output(output, table)
    if plot is not None:
        console.load_plots()
    with console.record_warnings() as warned, console.show_status("Fitting the table"):
        frame = read_table(table, no_header=no_header)
        fitted = TableSearch().fit(frame, **vars(search))
        positive, negative = (parse_rows(frame, split_list(rows or ()), id) for rows in (examples, not_examples))
        found = fitted.search(positive, not_examples=negative)
    audited = None
    if audit is not None:
        columns = list(dict.fromkeys([*([id] if id else []), *frame.columns]))
        most = frame.height - len(found.examples) - len(found.not_examples)
        audited = audit_file(found, audit, n_audit, most, lambda rows: frame[list(rows)].select(columns).to_dicts())
    if output is not None:
        write_table(found.to_frame(), output)
        console.print_written(output)
    if plot is not None:
        console.write_figure(lambda plots: plots.plot_members(found), plot)
    if as_json:
        facts = {"table": str(table), "warnings": list(map(console.describe_for_json, warned))}
        written = [str(path) for path in (output, plot) if path is not None]
        console.print_json(facts | found.as_dict() | {"written": written, "audit": audited and audited.to_dict()})
    else:
        print_members(found)
        if audit is not None:
            console.stdout_console().print(list_audit(audit, audited), markup=False, soft_wrap=True)
    console.print_notes(warned)


def parse_rows(table: Any, typed: Sequence[str], id: str | None) -> Array:
    """Return the positions of rows from their numbers or ids, in the order in which they were typed."""
    if id is not None:
        return find_rows(get_values(table, id), typed)
    wrong = next((each for each in typed if not each.isdecimal()), None)
    if wrong is not None:
        raise typer.BadParameter(
            f"{wrong!r} is not the number of a row, which start at 0. If it is an id, name its column with --id."
        )
    return np.array([int(each) for each in typed], dtype=np.intp)


# ---- Answers for people ---------------------------------------------------------------------------------------------


def print_members(found: TableComponent) -> None:
    """Print an answer: a sentence, the check, what distinguishes the members, and typical rows."""
    terminal = console.stdout_console()
    names = ", ".join(_name_row(row) for row in describe_rows(found, found.examples[:_N_ROWS]))
    terminal.print(Text(f"Rows like {names}", style="bold"))
    sentences = describe_count(found.n_members, len(found.scores)), str(found.check)
    terminal.print(Text(" ".join(f"{each[:1].upper()}{each[1:]}." for each in sentences)), soft_wrap=False)
    different = [each for each in found.differences() if abs(each.effect) >= _MIN_EFFECT][:_N_COLUMNS]
    if different:
        columns = console.make_table("column", ">members", ">others", ">standard deviations apart")
        for each in different:
            columns.add_row(Text(each.column), *map(Text, _format_difference(each)), f"{each.effect:+.2f}")
        console.print_table(columns)
    else:
        terminal.print("No column sets them apart.")
    if found.missing_apart():
        terminal.print(Text(f"Missing values: {'; '.join(map(str, found.missing_apart()[:_N_COLUMNS]))}"))
    _print_rows(found, [each.column for each in different])
    if found._search.dropped_columns_:
        dropped = (f"{column} ({reason})" for column, reason in found._search.dropped_columns_.items())
        terminal.print(Text(f"Columns left out: {'; '.join(dropped)}", style="dim"))


def _print_rows(found: TableComponent, different: Sequence[str]) -> None:
    """Print typical rows, with the columns that distinguish members most, as many as there is room for."""
    rows = describe_rows(found, found.typical_rows(_N_ROWS).tolist())
    if not rows:
        return
    names = [name for name in dict.fromkeys([*different, *rows[0]["values"]]) if name != found._search._id]
    cells = {
        "row": [_name_row(row) for row in rows],
        ">membership": [describe_membership(row["membership"], is_probability=found.is_probability) for row in rows],
        **{f">{name}": [_format_value(row["values"][name]) for row in rows] for name in names[:_N_VALUES]},
    }
    ends = np.cumsum([max(map(cell_len, [name, *texts])) + 2 for name, texts in cells.items()])
    shown = list(cells)[: max(2, int(np.searchsorted(ends, console.stdout_console().width, side="right")))]
    table = console.make_table(*shown)
    for line in zip(*(cells[name] for name in shown), strict=True):
        table.add_row(*map(Text, line))
    console.print_table(table)


def _name_row(row: dict[str, Any]) -> str:
    return f"{row['row']}" if row["id"] is None else f"{row['id']} (row {row['row']})"


def _format_value(value: Any) -> str:
    if value is None or value != value:
        return "–"
    text = plain_number(value) if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}…"


def _format_difference(each: ColumnDifference) -> list[str]:
    """Return the mean of the members and that of the other rows, with as many decimals."""
    means = each.members, each.others
    if each.stderr is None:
        levels = list(each.members)[:_N_LEVELS]
        return [", ".join(f"{level} {shares.get(level, 0.0):.0%}" for level in levels) for shares in means]
    if isinstance(each.members, int | float):
        members, others = (give_or_take(mean, each.stderr) for mean in means)
        return [members, others.partition(" ±")[0]]
    return [f"{each.members:%Y-%m-%d} ± {each.stderr:.0f} days", f"{each.others:%Y-%m-%d}"]
