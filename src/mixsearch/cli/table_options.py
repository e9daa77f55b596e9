"""Options that the commands about rows of a table share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

READING, OUTPUT = "Reading", "Output"

TableArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, JSON, Parquet, Arrow, Excel, or a table of a database: shop.sqlite::reviews.",
    ),
]
NoHeaderOption = Annotated[
    bool, typer.Option("--no-header", help="The first row of CSV or Excel is data.", rich_help_panel=READING)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=OUTPUT)]
PlotOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also draw a figure: png, svg or pdf.", rich_help_panel=OUTPUT)
]
AuditOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Rows to judge, as CSV: written, and read when judged.", rich_help_panel=OUTPUT),
]
NAuditOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Number of rows in the file of --audit.", rich_help_panel=OUTPUT)
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a table with the memberships: .csv, .parquet, .jsonl and others.",
        rich_help_panel=OUTPUT,
    ),
]
