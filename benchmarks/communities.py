"""One community from three members: average precision and F1 of all other nodes, compared with simple methods.

Graphs are planted (block models, LFR), or come with packages: nearest neighbours in tables, who imports whom, who
refers to whom in "See Also"; labels are the subpackages. Packages that are not installed are left out. "chosen" graphs
(every other one) decided between the block model and PageRank by their closure: the links between nodes with a common
neighbour, relative to those that communities explain. The others are for reporting. Louvain ranks the nodes of the
cluster with most examples first, each by PageRank.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import networkx
import numpy as np
import scipy.sparse as sp
from measuring import print_table
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import average_precision_score, f1_score
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import scale

from mixsearch import CommunitySearch
from mixsearch.community import fit_block_model, measure_closure, search_block_model
from mixsearch.datasets import make_communities
from mixsearch.graph.links import read_graph
from mixsearch.graph.members import find_members
from mixsearch.graph.pagerank import PageRank
from mixsearch.graph.tuning import TUNING

N_EXAMPLES, N_SEARCHES = 3, 6
METHODS = ("mixsearch", "block model", "PageRank", "Louvain")
PACKAGES = ("matplotlib", "networkx", "skimage", "hypothesis", "distributed", "polars", "graphql", "dask", "fontTools",
            "numpy", "schemathesis", "sphinx", "pandas", "scipy", "sklearn")  # fmt: skip
PLANTED: tuple[dict[str, Any], ...] = (
    {"n_nodes": 1000, "n_components": 4, "mean_degree": 20, "signal": 4},
    {"n_nodes": 400, "n_components": 2, "mean_degree": 10, "signal": 4},
    {"n_nodes": 2000, "n_components": 4, "mean_degree": 20, "signal": 2},
    {"n_nodes": 2000, "n_components": 2, "mean_degree": 10, "signal": 2},
    {"n_nodes": 2000, "n_components": 10, "mean_degree": 30, "signal": 2},
    {"n_nodes": 2000, "n_components": 4, "mean_degree": 20, "signal": 2, "weights": [0.1, 0.2, 0.3, 0.4]},
    {"n_nodes": 1500, "n_components": 6, "mean_degree": 20, "signal": 3, "degree_exponent": 2.7},
    {"n_nodes": 2000, "n_components": 4, "mean_degree": 20, "signal": 2, "degree_exponent": 2.7},
)


class Labelled(NamedTuple):
    """A graph and the community of each node."""

    kind: str
    name: str
    adjacency: Any
    labels: np.ndarray


def planted_graphs() -> Iterator[Labelled]:
    for seed, options in enumerate(PLANTED):
        data = make_communities(random_state=70 + seed, **options)
        yield Labelled("planted", ", ".join(map(str, options.values())), data.adjacency, data.labels)
    for mixing in (0.1, 0.2, 0.3, 0.4):
        graph = networkx.LFR_benchmark_graph(
            600, 2.7, 1.5, mixing, average_degree=10, max_degree=60, min_community=30, max_community=120, seed=20
        )
        graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
        groups = sorted({tuple(sorted(graph.nodes[node]["community"])) for node in graph})
        labels = np.array([next(i for i, group in enumerate(groups) if node in group) for node in range(600)])
        adjacency = networkx.to_scipy_sparse_array(graph, nodelist=range(600), dtype=float)
        yield Labelled("planted", f"LFR, mixing {mixing}", sp.csr_array(adjacency), labels)


def real_graphs() -> Iterator[Labelled]:
    for load in (load_digits, load_iris, load_wine):
        table = load()
        near = kneighbors_graph(scale(table.data), 10)
        yield Labelled("real", f"neighbours in {load.__name__[5:]}", sp.csr_array(near.maximum(near.T)), table.target)
    for kind, read, min_size in (("imports", read_imports, 12), ("See Also", read_references, 15)):
        for package in filter(importlib.util.find_spec, PACKAGES):
            graph = keep_large(*read(package), min_size)
            if graph is not None:
                yield Labelled("real", f"{kind} of {package}", *graph)


def parse(package: str) -> Iterator[tuple[tuple[str, ...], ast.Module]]:
    """Yield the place of each module in a package and its syntax tree."""
    root = Path(importlib.util.find_spec(package).origin).parent  # type: ignore[union-attr, arg-type]
    for path in sorted(root.rglob("*.py")):
        if "tests" not in path.parts:
            yield path.relative_to(root.parent).with_suffix("").parts, ast.parse(path.read_text(encoding="utf-8"))


def link(names: list[str], mentions: Iterable[Iterable[str]]) -> sp.csr_array:
    """Link each item with those that it mentions."""
    places = {name: place for place, name in enumerate(names)}
    pairs = [(i, places[name]) for i, mentioned in enumerate(mentions) for name in mentioned if name in places]
    rows, columns = np.array(pairs, dtype=int).reshape(-1, 2).T
    graph = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(names),) * 2)
    graph = sp.csr_array(graph.maximum(graph.T))
    graph.setdiag(0)
    graph.eliminate_zeros()
    graph.data[:] = 1
    return graph


def keep_large(graph: sp.csr_array, subpackages: list[str], min_size: int) -> tuple[sp.csr_array, np.ndarray] | None:
    """Keep the linked nodes of subpackages of at least some size."""
    subset, names = np.arange(len(subpackages)), np.array(subpackages)
    for _ in range(4):
        sizes = Counter(names[subset].tolist())
        linked = np.asarray(graph[subset][:, subset].sum(axis=1)) > 0
        subset = subset[linked & np.array([sizes[name] >= min_size for name in names[subset].tolist()], dtype=bool)]
    labels = np.unique(names[subset], return_inverse=True)[1]
    return (sp.csr_array(graph[subset][:, subset]), labels) if labels.max(initial=0) else None


def read_imports(package: str) -> tuple[sp.csr_array, list[str]]:
    modules = list(parse(package))
    names = [".".join(parts).removesuffix(".__init__") for parts, _ in modules]
    mentions = [[name for node in ast.walk(tree) for name in list_imports(node, parts)] for parts, tree in modules]
    return link(names, mentions), [parts[1] for parts, _ in modules]


def list_imports(node: ast.AST, parts: tuple[str, ...]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = parts[: len(parts) - node.level] if node.level else ()
    module = ".".join([*base, *([node.module] if node.module else [])])
    return [module, *(f"{module}.{alias.name}" for alias in node.names)]


def read_references(package: str) -> tuple[sp.csr_array, list[str]]:
    items = [
        (node.name, parts[1], set(re.findall(r"[A-Za-z_]\w+", match[1])))
        for parts, tree in parse(package)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and (match := re.search(r"See Also\n-+\n(.*?)(\n\s*\n|\Z)", ast.get_docstring(node) or "", re.DOTALL))
    ]
    return link([name for name, _, _ in items], [used for _, _, used in items]), [place for _, place, _ in items]


def measure(graph: Labelled) -> tuple[float, dict[str, tuple[float, float]]]:
    """Compute the closure, and the mean average precision and F1 of each method in searches for random communities."""
    rng, none = np.random.default_rng(0), np.empty(0, dtype=int)
    search, links = CommunitySearch().fit(graph.adjacency), read_graph(graph.adjacency).adjacency
    log_posterior, walk = fit_block_model(links, search.n_components_), PageRank(links, TUNING.restart)
    linked, expected = measure_closure(links, np.exp(log_posterior))
    is_linked = np.diff(links.indptr) > 0
    clusters = np.zeros(len(graph.labels), dtype=int)
    partition = networkx.community.louvain_communities(networkx.from_scipy_sparse_array(graph.adjacency), seed=0)
    for cluster, nodes in enumerate(partition):
        clusters[list(nodes)] = cluster
    large = rng.permutation(np.flatnonzero(np.bincount(graph.labels[is_linked]) > 2 * N_EXAMPLES))
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS}
    for community in np.resize(large, N_SEARCHES):
        examples = rng.choice(np.flatnonzero((graph.labels == community) & is_linked), N_EXAMPLES, replace=False)
        others = np.setdiff1d(np.arange(len(graph.labels)), examples)
        truth = graph.labels[others] == community
        found = search.search(examples=examples)
        pagerank = find_members(walk, examples, none)
        model = search_block_model(log_posterior, examples, none)
        cluster = clusters == np.bincount(clusters[examples]).argmax()
        answers = {
            "mixsearch": (found.scores, np.isin(np.arange(len(clusters)), found.members)),
            "block model": (np.nan_to_num(model.scores), model.membership > 0.5),  # infinite for one community
            "PageRank": (pagerank.scores, pagerank.membership > 0.5),
            "Louvain": (cluster + pagerank.scores / (2 * pagerank.scores.max()), cluster),
        }
        for name, (scores, members) in answers.items():
            f1 = f1_score(truth, members[others], zero_division=0)
            results[name].append((average_precision_score(truth, scores[others]), f1))
    means = {name: tuple(np.mean(rows, axis=0).tolist()) for name, rows in results.items()}
    return linked / expected, means


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    warnings.simplefilter("ignore")
    rows, means = [], {}
    for number, graph in enumerate(chain(planted_graphs(), real_graphs())):
        (closure, results), half = measure(graph), "reported" if number % 2 else "chosen"
        rows.append([half, graph.name, f"{closure:.2f}", *(f"{results[name][0]:.3f}" for name in METHODS)])
        means.setdefault((graph.kind, half), []).append([results[name] for name in METHODS])
    print_table("Average precision of each graph", ["half", "graph", "closure", *METHODS], rows)
    rows = [
        [f"{kind}, {half} ({len(values)})", *(f"{a:.3f} / {b:.3f}" for a, b in np.mean(values, axis=0))]
        for (kind, half), values in sorted(means.items())
    ]
    print_table("Average precision / F1", ["graphs", *METHODS], rows)


if __name__ == "__main__":
    main()
