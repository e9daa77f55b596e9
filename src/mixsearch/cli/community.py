"""`mixsearch community`: the nodes of a graph in the same community as a few of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from mixsearch.cli import console
from mixsearch.cli.options import JsonOption, OutputOption, TableArgument, split_list
from mixsearch.community import CommunitySearch
from mixsearch.display import plain_chance
from mixsearch.errors import SearchError
from mixsearch.graph.links import Graph, read_links
from mixsearch.io.tables import read_table, write_table
from mixsearch.options import CommunityOptions, option
from mixsearch.table.tables import get_values

N_LISTED = 10  # typical nodes

HELP = """The table has one row for each link, with the names of its two nodes in the
first two columns, or in those of --source and --target. The direction of a
link does not matter. Links of a node to itself are left out; repeated links
count once, unless --weight names a column of weights, which are added up.

Examples:

  mixsearch community edges.csv --examples alice,bob
  mixsearch community edges.csv --examples alice,bob --not-examples carol
  mixsearch community edges.csv --examples alice,bob -k 5 -o members.csv
  mixsearch community mails.parquet --source from --target to --examples 17

--output writes one row for each node: node, score, membership, which is a
probability or, from fewer than three examples, a rank from 0 to 1, and
is_member.

--json prints an object: table, n_nodes, n_links, examples, not_examples,
method (block model or pagerank), reason, n_components, n_members, check
(sentence, ranks), is_probability, typical_nodes (node, membership), warnings,
written."""


@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """How a table of links is read."""

    source: str | None = option(None, "The column of one end. Default: the first.", metavar="COLUMN")
    target: str | None = option(None, "The column of the other end. Default: the second.", metavar="COLUMN")
    weight: str | None = option(None, "The column of weights.", metavar="COLUMN")
    no_header: bool = option(False, "The first row of CSV or Excel is data.")


def community(
    table: TableArgument,
    examples: Annotated[list[str], typer.Option("--examples", metavar="NODES", help="Names of a few members.")],
    not_examples: Annotated[
        list[str] | None, typer.Option("--not-examples", metavar="NODES", help="Names of nodes that are not members.")
    ] = None,
    *,
    search: CommunityOptions,
    reading: LinkOptions,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    console.check_output(output, table)
    positive, negative = split_list(examples), split_list(not_examples or ())
    with console.record_warnings() as warned, console.show_status("Finding communities"):
        graph = _read_graph(table, reading)
        fitted = CommunitySearch(search.n_components).fit(graph)
        found = fitted.search(list(positive), list(negative))
    frame = found.to_frame().sort("score", descending=True, maintain_order=True)
    best = frame.select("node", "membership").head(N_LISTED + len(positive)).to_dicts()
    check = str(found.check)
    answer: dict[str, Any] = {
        "table": str(table),
        "n_nodes": len(graph.names),
        "n_links": graph.n_links,
        "examples": list(positive),
        "not_examples": list(negative),
        "method": found.method,
        "reason": found.reason,
        "n_components": fitted.n_components_,
        "n_members": len(found.members),
        "check": {"sentence": check.replace("rows", "nodes"), "ranks": list(map(int, found.check.ranks))},
        "is_probability": found.is_probability,
        "typical_nodes": [row for row in best if row["node"] not in positive][:N_LISTED],
        "warnings": list(map(console.describe_for_json, warned)),
        "written": [] if output is None else [str(output)],
    }
    if output is not None:
        write_table(found.to_frame(), output)
        console.print_written(output)
    console.print_json(answer) if as_json else _print_members(answer)
    console.print_notes(warned)


def _read_graph(path: Path, reading: LinkOptions) -> Graph:
    """Return the graph of a table of links."""
    opened = read_table(path, no_header=reading.no_header)
    others = [name for name in opened.columns if name not in (reading.source, reading.target, reading.weight)]
    ends = [name or (others.pop(0) if others else "") for name in (reading.source, reading.target)]
    if not all(ends):
        raise SearchError(
            "A table of links needs two columns of nodes, but this one has {columns}.",
            code="no_columns",
            columns=", ".join(opened.columns),
        )
    names = [[None if value is None else str(value) for value in get_values(opened, name)] for name in ends]
    return read_links(names[0], names[1], None if reading.weight is None else get_values(opened, reading.weight))


def _print_members(answer: dict[str, Any]) -> None:
    terminal, check = console.stdout_console(), answer["check"]["sentence"]
    terminal.print(Text(f"Community of {', '.join(answer['examples'])}", style="bold"))
    count = f"About {answer['n_members']:,} of {answer['n_nodes']:,} nodes with {answer['n_links']:,} links."
    terminal.print(Text(f"{count} {check[:1].upper()}{check[1:]}. {answer['reason']}"))
    table = console.make_table("node", *([">membership"] if answer["is_probability"] else []))
    for row in answer["typical_nodes"]:
        chance = [plain_chance(row["membership"])] if answer["is_probability"] else []
        table.add_row(Text(str(row["node"])), *chance)
    console.print_table(table)
