"""`mixsearch community`: the nodes of a graph in the same community as a few of them."""

from __future__ import annotations

import math
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
from mixsearch.cli.render import print_facts
from mixsearch.cli.table_options import (
    OUTPUT,
    READING,
    JsonOption,
    NComponentsOption,
    NoHeaderOption,
    OutputOption,
    SkipBadRowsOption,
    TableArgument,
)
from mixsearch.cli.table_rows import split_list
from mixsearch.cli.units import format_share
from mixsearch.community.component import Community
from mixsearch.community.graph import Graph, graph_from_links
from mixsearch.community.search import CommunitySearch
from mixsearch.confidence import MIN_LISTED_CONFIDENCE, verdict_by_confidence
from mixsearch.display import plain_chance, plain_number
from mixsearch.errors import HintError, Option, SearchError
from mixsearch.io.tables import read_table, write_table
from mixsearch.table.tables import get_numbers, get_values

HELP = """Find the community of a graph that a few nodes belong to.

The table has one row for each link, with the names of its two nodes in the
first two columns, or in those of --source and --target. The direction of a
link does not matter. Links of a node to itself are left out; repeated links
count once, unless --weight names a column of weights, which are added up.

Examples:

  mixsearch community edges.csv --like alice,bob
  mixsearch community edges.csv --like alice,bob -k 5 -o members.csv
  mixsearch community mails.parquet --source from --target to --weight n --like 17

--output writes one row for each node: node, membership, which is the
probability that it is a member, and is_member.

--json prints an object: table, n_nodes, n_links, like, n_components,
detectable (whether the links show communities at all), n_members (n, low,
high), weight (value, stderr), inside (links between members, relative to a
graph of the same degrees without communities), confidence, verdict,
typical_nodes (node, membership), warnings, written. An error is printed there
too: {"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad table or nodes, 2 usage error."""


def community(
    table: TableArgument,
    like: Annotated[list[str], typer.Option("--like", metavar="NODES", help="Names of a few members.")],
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
    n_components: NComponentsOption = "auto",
    no_header: NoHeaderOption = False,
    skip_bad_rows: SkipBadRowsOption = False,
    output: OutputOption = None,
    n_nodes: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of typical nodes to show.", rich_help_panel=OUTPUT)
    ] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find the community of a graph that a few nodes belong to."""
    with report_errors(as_json=as_json):
        check_output(output, table)
        nodes = split_list(like)
        if not nodes:
            raise HintError("{argument} names no node.", code="no_nodes_named", argument=Option("like"))
        with record_warnings() as warned, stderr_console().status("Finding communities"):
            graph = _read_graph(
                read_table(table, no_header=no_header, skip_bad_rows=skip_bad_rows), source, target, weight
            )
            search: Any = CommunitySearch(n_components)  # type: ignore[arg-type]
            found = search.fit(graph).search(examples=nodes)
            answer = {"table": str(table), **_describe(found, graph, nodes, n_nodes)}
        if output is not None:
            write_table(found.to_columns(), output)
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
    weights = None if weight is None else get_numbers(opened, [weight], "weight")[:, 0]
    return graph_from_links(names[0], names[1], weights)


def _describe(found: Community, graph: Graph, nodes: list[str], n_nodes: int) -> dict[str, Any]:
    """Return the answer as JSON has it."""
    low, high = found.n_members_interval
    stderr = float(found.stderr.weight) if found.is_detectable else math.nan
    return {
        "n_nodes": graph.n_nodes,
        "n_links": graph.n_links,
        "like": nodes,
        "n_components": len(found.scores),
        "detectable": found.is_detectable,
        "n_members": {"n": round(found.n_members), "low": round(low), "high": round(high)},
        "weight": {"value": float(found.weight), "stderr": stderr if math.isfinite(stderr) else None},
        "inside": float(found.inside),
        "confidence": found.confidence,
        "verdict": verdict_by_confidence(found.confidence)[0],
        "typical_nodes": [{"node": node, "membership": chance} for node, chance in found.typical(n_nodes)]
        if found.is_detectable
        else [],
    }


def _list_facts(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the answer as lines for people."""
    members = answer["n_members"]
    graph = [
        ("like", ", ".join(answer["like"])),
        ("graph", f"{answer['n_nodes']:,} nodes, {answer['n_links']:,} links"),
    ]
    if not answer["detectable"]:
        return [*graph, ("communities", "none that the links could show")]
    return [
        *graph,
        ("communities", f"{answer['n_components']}"),
        (
            "members",
            f"{members['n']:,} ({members['low']:,} to {members['high']:,}), {format_share(answer['weight']['value'])}",
        ),
        ("links inside", f"{plain_number(round(answer['inside'], 2))} times as many as without communities"),
        ("confidence", f"{plain_chance(answer['confidence'])}: {answer['verdict']}"),
        *_list_nodes(answer),
    ]


def _list_nodes(answer: dict[str, Any]) -> list[tuple[str, str]]:
    if answer["typical_nodes"] and answer["confidence"] < MIN_LISTED_CONFIDENCE:
        return [("nodes", "not listed: this is hardly the community meant (--output and --json have its nodes)")]
    return [("node", f"{row['node']}  {plain_chance(row['membership'])}") for row in answer["typical_nodes"]]
