"""Options that the commands about rows of a table share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsearch.cli.units import parse_components

SEARCH, READING, OUTPUT = "Search", "Reading", "Output"

IdOption = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="The column that names the rows.", rich_help_panel=SEARCH)
]
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
SkipBadRowsOption = Annotated[
    bool,
    typer.Option("--skip-bad-rows", help="Skip rows that cannot be read, and count them.", rich_help_panel=READING),
]
ColumnsOption = Annotated[
    list[str] | None, typer.Option("--columns", metavar="NAMES", help="Use only these columns.", rich_help_panel=SEARCH)
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="NAMES", help="Leave out these columns.", rich_help_panel=SEARCH),
]
NRowsOption = Annotated[
    int, typer.Option(min=0, metavar="N", help="Number of typical rows to show.", rich_help_panel=OUTPUT)
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
AuditByOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Audit each value of a column, too.", rich_help_panel=OUTPUT)
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
NComponentsOption = Annotated[
    str,
    typer.Option(
        "--n-components",
        "-k",
        metavar="N",
        help="Number of components, or auto.",
        parser=parse_components,
        rich_help_panel=SEARCH,
    ),
]
