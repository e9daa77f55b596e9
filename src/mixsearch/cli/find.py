"""`mixsearch find`: the rows of a table that are like a few of them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli.audit import audit_file, list_audit
from mixsearch.cli.console import (
    check_output,
    describe,
    describe_for_json,
    load_plots,
    print_json,
    print_notes,
    record_warnings,
    report_errors,
    stderr_console,
    stdout_console,
    write_figure,
)
from mixsearch.cli.members import print_members
from mixsearch.cli.options import split_list
from mixsearch.cli.table_options import (
    AuditOption,
    JsonOption,
    NAuditOption,
    NoHeaderOption,
    OutputOption,
    PlotOption,
    TableArgument,
)
from mixsearch.cli.table_rows import parse_rows
from mixsearch.io.tables import read_table, write_table
from mixsearch.options import TableOptions
from mixsearch.table.component import TableComponent
from mixsearch.table.search import TableSearch

HELP = """Find the rows of a table that are like a few of them.

Name rows by their numbers, starting at 0 for the first row after the header,
or, with --id, by their values in a column. Separate several by commas, and
put a value that contains a comma in double quotes.

Examples:

  mixsearch find patients.csv --examples 12,40,77
  mixsearch find patients.csv --examples 12,40,77 --not-examples 5 -o labelled.csv
  mixsearch find patients.csv --id patient_id --examples P-17,P-203
  mixsearch find patients.parquet --examples 12 --columns age,weight --plot out.png
  mixsearch find patients.csv --examples 12,40 --without doctor,notes
  mixsearch find patients.csv --examples 12,40,77 --audit audit.csv

TABLE is a file of CSV, TSV, JSON lines, JSON, Parquet, Arrow, Excel or SQLite
(name a table or a sheet after two colons: shop.sqlite::reviews), or a folder
of Parquet or Arrow files. --output adds three columns: score, membership
(the probability that a row is a member; from fewer than three examples, its
rank) and is_member.

--audit writes rows to judge: write yes or no in the column member and run the
same command again. It then prints precision, recall and the number of
members with 95% intervals. --n-audit 80 adds rows.

--json prints an object: table, n_table_rows, id, examples, not_examples,
n_members, is_probability, check, ranks, differences (column, members, others,
stderr, effect, missing, missing_others), missing, typical_rows (row, id,
membership, values), columns, dropped_columns, warnings, written, audit. An
error is printed there too: {"error": {"code": ..., "message": ..., "fields":
{...}}}

Exit codes: 0 success, 1 bad table or rows, 2 usage error."""


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
    as_json: JsonOption = False,
    plot: PlotOption = None,
    audit: AuditOption = None,
    n_audit: NAuditOption = 40,
) -> None:
    """Find the rows of a table that are like a few of them."""
    id = search.id
    positive, negative = split_list(examples), split_list(not_examples or ())
    with report_errors(as_json=as_json):
        check_output(output, table)
        if plot is not None:
            load_plots()
        with record_warnings() as warned:
            with stderr_console().status("Fitting the table"):
                frame = read_table(table, no_header=no_header)
                fitted = TableSearch().fit(frame, **vars(search))
            start = time.perf_counter()
            found = fitted.search(parse_rows(frame, positive, id), not_examples=parse_rows(frame, negative, id))
            seconds = time.perf_counter() - start
        audited = None if audit is None else audit_file(found, frame, audit, n_audit, id)
        written = _write(found, output, plot)
        if as_json:
            notes = [describe_for_json(warning) for warning in warned]
            described = audited and audited.to_dict()
            answer = {"table": str(table), **found.as_dict()}
            print_json(answer | {"warnings": notes, "written": written, "audit": described})
        else:
            print_members(stdout_console(), found, seconds)
            for line in list_audit(audit, audited):
                stdout_console().print(line, markup=False, soft_wrap=True)
        print_notes(map(describe, warned))


def _write(found: TableComponent, output: Path | None, plot: Path | None) -> list[str]:
    """Write the requested files, and return their paths."""
    written = []
    if output is not None:
        write_table(found.to_frame(), output)
        stderr_console().print(f"Written: {output}", markup=False, soft_wrap=True)
        written.append(str(output))
    if plot is not None:
        write_figure(lambda plots: plots.plot_members(found), plot)
        written.append(str(plot))
    return written
