"""`mixsearch community`: the nodes of a graph in the same community as a few of them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mixsearch.cli.console import (
    check_output,
    describe,
    describe_for_json,
    print_json,
    print_notes,
    record_warnings,
    report_errors,
    stderr_console,
    stdout_console,
)
from mixsearch.cli.options import split_list
from mixsearch.cli.render import print_facts
from mixsearch.cli.table_options import (
    READING,
    JsonOption,
    NoHeaderOption,
    OutputOption,
    TableArgument,
)
from mixsearch.community import Community, CommunitySearch
from mixsearch.display import plain_chance
from mixsearch.errors import SearchError
from mixsearch.graph.links import Graph, read_links
from mixsearch.io.tables import read_table, write_table
from mixsearch.options import CommunityOptions
from mixsearch.table.tables import get_values

N_LISTED = 10  # typical nodes

HELP = """Find the community of a graph that a few nodes belong to.

The table has one row for each link, with the names of its two nodes in the
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
written. An error is printed there too: {"error": {"code": ..., "message":
..., "fields": {...}}}

Exit codes: 0 success, 1 bad table or nodes, 2 usage error."""


def community(
    table: TableArgument,
    examples: Annotated[list[str], typer.Option("--examples", metavar="NODES", help="Names of a few members.")],
    not_examples: Annotated[
        list[str] | None, typer.Option("--not-examples", metavar="NODES", help="Names of nodes that are not members.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of one end. Default: the first.", rich_help_panel=READING),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column of the other end. Default: the second.", rich_help_panel=READING
        ),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of weights.", rich_help_panel=READING)
    ] = None,
    *,
    search: CommunityOptions,
    no_header: NoHeaderOption = False,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the community of a graph that a few nodes belong to."""
    with report_errors(as_json=as_json):
        check_output(output, table)
        positive, negative = list(split_list(examples)), list(split_list(not_examples or ()))
        with record_warnings() as warned, stderr_console().status("Finding communities"):
            opened = read_table(table, no_header=no_header)
            graph = _read_graph(opened, source, target, weight)
            fitted = CommunitySearch(search.n_components).fit(graph)
            found = fitted.search(positive, negative)
        answer = {
            "table": str(table),
            "n_nodes": len(graph.names),
            "n_links": graph.n_links,
            "examples": positive,
            "not_examples": negative,
            "n_components": fitted.n_components_,
            **_describe(found, positive),
        }
        if output is not None:
            write_table(found.to_frame(), output)
            stderr_console().print(f"Written: {output}", markup=False, soft_wrap=True)
        if as_json:
            written = [] if output is None else [str(output)]
            print_json(answer | {"warnings": list(map(describe_for_json, warned)), "written": written})
        else:
            print_facts(stdout_console(), _list_facts(answer))
        print_notes(map(describe, warned))


def _read_graph(opened: Any, source: str | None, target: str | None, weight: str | None) -> Graph:
    """Return the graph of a table of links."""
    others = [name for name in opened.columns if name not in (source, target, weight)]
    ends = [name or (others.pop(0) if others else "") for name in (source, target)]
    if not all(ends):
        raise SearchError(
            "A table of links needs two columns of nodes, but this one has {columns}.",
            code="no_columns",
            columns=", ".join(opened.columns),
        )
    names = [[None if value is None else str(value) for value in get_values(opened, name)] for name in ends]
    return read_links(names[0], names[1], None if weight is None else get_values(opened, weight))


def _describe(found: Community, examples: list[str]) -> dict[str, Any]:
    """Return the answer as JSON has it."""
    frame = found.to_frame().sort("score", descending=True, maintain_order=True)
    best = frame.select("node", "membership").head(N_LISTED + len(examples)).to_dicts()
    return {
        "method": found.method,
        "reason": found.reason,
        "n_members": len(found.members),
        "check": {"sentence": str(found.check).replace("rows", "nodes"), "ranks": list(map(int, found.check.ranks))},
        "is_probability": found.is_probability,
        "typical_nodes": [row for row in best if row["node"] not in examples][:N_LISTED],
    }


def _list_facts(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the answer as lines for people."""
    return [
        ("examples", ", ".join(answer["examples"])),
        ("graph", f"{answer['n_nodes']:,} nodes, {answer['n_links']:,} links"),
        ("method", answer["reason"]),
        ("members", f"about {answer['n_members']:,}"),
        ("check", answer["check"]["sentence"]),
        *(("node", _format_node(row, answer["is_probability"])) for row in answer["typical_nodes"]),
    ]


def _format_node(row: dict[str, Any], is_probability: bool) -> str:
    return f"{row['node']}  {plain_chance(row['membership'])}" if is_probability else str(row["node"])
