"""One community from three members, compared with simple methods: average precision, F1, and time on large graphs.

    python benchmarks/communities.py [--large NODES]

Graphs are planted (block models, LFR), or come with packages: who imports whom, who names whom, who refers to whom in
"See Also", whose docstrings have similar words; labels are the subpackages. Packages that are not installed are left
out. Methods that cluster a graph rank the nodes of the cluster with most examples first, each by PageRank.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import networkx
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score, f1_score
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import scale

from mixsearch import CommunitySearch
from mixsearch.datasets import make_communities
from mixsearch.graph.pagerank import PageRank

N_EXAMPLES, N_SEARCHES = 3, 6
IMPORTS = ("matplotlib", "networkx", "skimage", "hypothesis", "distributed", "polars", "graphql", "dask", "fontTools",
           "numpy", "schemathesis", "sphinx", "pandas", "scipy", "sklearn")  # fmt: skip
NAMES = ("sklearn", "matplotlib", "networkx", "skimage", "mypy", "polars")
REFERENCES = ("scipy", "sklearn", "pandas", "numpy", "networkx")
DOCSTRINGS = ("numpy", "polars", "matplotlib")


class Labelled(NamedTuple):
    """A graph and the community of each node."""

    kind: str
    name: str
    adjacency: Any
    labels: np.ndarray


# ---- Graphs ---------------------------------------------------------------------------------------------------------


def planted_graphs() -> Iterator[Labelled]:
    settings: list[dict[str, Any]] = [
        {"n_nodes": 400, "n_components": 2, "mean_degree": 10, "signal": 4},
        {"n_nodes": 1000, "n_components": 4, "mean_degree": 20, "signal": 4},
        {"n_nodes": 2000, "n_components": 2, "mean_degree": 10, "signal": 2},
        {"n_nodes": 2000, "n_components": 4, "mean_degree": 20, "signal": 2},
        {"n_nodes": 2000, "n_components": 4, "mean_degree": 20, "signal": 2, "weights": [0.1, 0.2, 0.3, 0.4]},
        {"n_nodes": 2000, "n_components": 10, "mean_degree": 30, "signal": 2},
        {"n_nodes": 2000, "n_components": 4, "mean_degree": 20, "signal": 2, "degree_exponent": 2.7},
        {"n_nodes": 1500, "n_components": 6, "mean_degree": 20, "signal": 3, "degree_exponent": 2.7},
        {"n_nodes": 2000, "n_components": 5, "mean_degree": 40, "signal": 1.5},
    ]
    for seed, options in enumerate(settings):
        data = make_communities(random_state=70 + seed, **options)
        options["degrees"] = "power law" if options.pop("degree_exponent", None) else "Poisson"
        name = ", ".join(f"{key} {value}" for key, value in options.items())
        yield Labelled("block models", name, data.adjacency, data.labels)
    for mixing in (0.1, 0.3, 0.4):
        graph = networkx.LFR_benchmark_graph(
            600, 2.7, 1.5, mixing, average_degree=10, max_degree=60, min_community=30, max_community=120, seed=20
        )
        graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
        groups = sorted({tuple(sorted(graph.nodes[node]["community"])) for node in graph})
        labels = np.array([next(i for i, group in enumerate(groups) if node in group) for node in range(600)])
        adjacency = networkx.to_scipy_sparse_array(graph, nodelist=range(600), dtype=float)
        yield Labelled("LFR graphs", f"mixing {mixing}", sp.csr_array(adjacency), labels)


def real_graphs() -> Iterator[Labelled]:
    club = networkx.karate_club_graph()
    officers = np.array([club.nodes[node]["club"] == "Officer" for node in club], dtype=int)
    yield Labelled("people", "karate club", sp.csr_array(networkx.to_scipy_sparse_array(club, weight=None)), officers)
    for load in (load_digits, load_iris, load_wine):
        table = load()
        near = kneighbors_graph(scale(table.data), 10)
        yield Labelled("10 nearest neighbours", load.__name__[5:], sp.csr_array(near.maximum(near.T)), table.target)
    for kind, packages, read, min_size in (
        ("imports", IMPORTS, read_imports, 12),
        ("names in bodies", NAMES, read_names, 25),
        ("See Also", REFERENCES, read_references, 15),
        ("similar docstrings", DOCSTRINGS, read_docstrings, 60),
    ):
        for package in packages:
            if importlib.util.find_spec(package):
                graph = keep_large(*read(package), min_size)
                if graph is not None:
                    yield Labelled(kind, package, *graph)


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
    kept = np.arange(len(subpackages))
    names = np.array(subpackages)
    for _ in range(4):
        sizes = Counter(names[kept].tolist())
        linked = np.asarray(graph[kept][:, kept].sum(axis=1)) > 0
        kept = kept[linked & np.array([sizes[name] >= min_size for name in names[kept].tolist()])]
        if not len(kept):
            return None
    labels = np.unique(names[kept], return_inverse=True)[1]
    return (sp.csr_array(graph[kept][:, kept]), labels) if labels.max() else None


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


def read_names(package: str) -> tuple[sp.csr_array, list[str]]:
    items = [
        (node.name, parts[1], {getattr(each, "id", getattr(each, "attr", "")) for each in ast.walk(node)})
        for parts, tree in parse(package)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    n_defined = Counter(name for name, _, _ in items)
    unique = [name if n_defined[name] == 1 else "" for name, _, _ in items]
    return link(unique, [used - {""} for _, _, used in items]), [place for _, place, _ in items]


def list_docstrings(package: str) -> list[tuple[str, str, str]]:
    return [
        (node.name, parts[1], ast.get_docstring(node) or "")
        for parts, tree in parse(package)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


def read_references(package: str) -> tuple[sp.csr_array, list[str]]:
    sections = [
        (name, place, re.search(r"See Also\n-+\n(.*?)(\n\s*\n|\Z)", text, re.DOTALL))
        for name, place, text in list_docstrings(package)
    ]
    found = [(name, place, set(re.findall(r"[A-Za-z_]\w+", match[1]))) for name, place, match in sections if match]
    return link([name for name, _, _ in found], [used for _, _, used in found]), [place for _, place, _ in found]


def read_docstrings(package: str) -> tuple[sp.csr_array, list[str]]:
    long = [(place, text) for _, place, text in list_docstrings(package) if len(text) >= 200]
    words = TfidfVectorizer(min_df=3, max_df=0.3, sublinear_tf=True).fit_transform([text for _, text in long])
    near = kneighbors_graph(words, 10)
    return sp.csr_array(near.maximum(near.T)), [place for place, _ in long]


# ---- Methods --------------------------------------------------------------------------------------------------------

Find = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray | None]]  # examples -> scores, and members if it has any


def by_mixsearch(adjacency: Any, k: int) -> Find:
    search = CommunitySearch().fit(adjacency)

    def find(examples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = search.search(examples=examples)
        return found.scores, np.isin(np.arange(len(found.scores)), found.members)

    return find


def by_pagerank(adjacency: Any, k: int) -> Find:
    pagerank = PageRank(sp.csr_array(adjacency), 0.15)
    return lambda examples: (pagerank.from_nodes(examples).sum(axis=1), None)


def by_clusters(clusters: np.ndarray, adjacency: Any) -> Find:
    pagerank = PageRank(sp.csr_array(adjacency), 0.15)

    def find(examples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        members = clusters == np.bincount(clusters[examples]).argmax()
        visits = pagerank.from_nodes(examples).sum(axis=1)
        return members + visits / (2 * visits.max()), members

    return find


def by_louvain(adjacency: Any, k: int) -> Find:
    clusters = np.zeros(adjacency.shape[0], dtype=int)
    graph = networkx.from_scipy_sparse_array(adjacency)
    for cluster, nodes in enumerate(networkx.community.louvain_communities(graph, seed=0)):
        clusters[list(nodes)] = cluster
    return by_clusters(clusters, adjacency)


def by_spectra(adjacency: Any, k: int) -> Find:
    """Cluster the rows of the top eigenvectors of the regularised Laplacian, with the true number of clusters."""
    degrees = np.asarray(adjacency.sum(axis=1))
    root = sp.diags_array(1 / np.sqrt(degrees + degrees.mean()))
    _, vectors = eigsh(sp.csr_array(root @ adjacency @ root), k, which="LA", v0=np.ones(len(degrees)))
    rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return by_clusters(KMeans(k, n_init=5, random_state=0).fit_predict(rows), adjacency)


METHODS = {
    "mixsearch": by_mixsearch,
    "PageRank": by_pagerank,
    "Louvain": by_louvain,
    "spectra, k given": by_spectra,
}

# ---- Tables ---------------------------------------------------------------------------------------------------------


def measure(graph: Labelled) -> dict[str, tuple[float, float]]:
    """Compute the mean average precision and F1 of each method over searches for random communities."""
    rng = np.random.default_rng(0)
    k = len(np.unique(graph.labels))
    sizes = np.bincount(graph.labels[np.diff(graph.adjacency.indptr) > 0], minlength=k)
    large = rng.permutation(np.flatnonzero(sizes > 2 * N_EXAMPLES))
    queries = []
    for community in np.resize(large, N_SEARCHES):
        members = np.flatnonzero((graph.labels == community) & (np.diff(graph.adjacency.indptr) > 0))
        queries.append((community, rng.choice(members, N_EXAMPLES, replace=False)))
    results = {}
    for name, method in METHODS.items():
        find, rows = method(graph.adjacency, k), []
        for community, examples in queries:
            scores, members = find(examples)
            others = np.setdiff1d(np.arange(len(scores)), examples)
            truth = graph.labels[others] == community
            f1 = np.nan if members is None else f1_score(truth, members[others], zero_division=0)
            rows.append((average_precision_score(truth, scores[others]), f1))
        results[name] = tuple(np.mean(rows, axis=0).tolist())
    return results


def report(graphs: Iterable[Labelled]) -> None:
    """Print one row for each graph, and the means by kind."""
    print(f"| graph (nodes, communities) | {' | '.join(METHODS)} |\n| --- |{' --- |' * len(METHODS)}")
    by_kind: dict[str, list[dict[str, tuple[float, float]]]] = {}
    for graph in graphs:
        results = measure(graph)
        by_kind.setdefault(graph.kind, []).append(results)
        shape = f"{len(graph.labels):,}, {len(np.unique(graph.labels))}"
        row = " | ".join(f"{precision:.3f}" for precision, _ in results.values())
        print(f"| {graph.kind}: {graph.name} ({shape}) | {row} |", flush=True)
    print(f"\n| mean average precision / F1 | {' | '.join(METHODS)} |\n| --- |{' --- |' * len(METHODS)}")
    for kind, rows in by_kind.items():
        means = [np.mean([row[name] for row in rows], axis=0) for name in METHODS]
        cells = [f"{a:.3f}" if np.isnan(b) else f"{a:.3f} / {b:.3f}" for a, b in means]
        print(f"| {kind} ({len(rows)}) | {' | '.join(cells)} |")


def measure_large(n_nodes: int) -> None:
    """Print the CPU time on ten links for each node."""
    data = make_communities(n_nodes, 10, mean_degree=20, signal=2.0, random_state=0)
    start = time.process_time()
    search = CommunitySearch().fit(data.adjacency)
    fitted = time.process_time()
    found = search.search(examples=data.known(0, N_EXAMPLES))
    searched = time.process_time()
    accuracy = np.mean((found.membership > 0.5) == (data.labels == 0))
    print(
        f"{data.adjacency.nnz // 2:,} links, CPU time: fit {fitted - start:.1f} s, search {searched - fitted:.2f} s; "
        f"accuracy {accuracy:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", type=int, metavar="NODES", help="only one graph of ten times as many links")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.large:
        measure_large(options.large)
        return
    report(chain(planted_graphs(), real_graphs()))


if __name__ == "__main__":
    main()
