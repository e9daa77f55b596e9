"""One community from three members, compared with other methods: accuracy and time on generated and labelled graphs.

    python benchmarks/communities.py [--quick] [--only METHOD] [--trust] [--large NODES]

Needs igraph (``pip install igraph``) for Leiden and networkx for Louvain; methods that are missing are left out.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from sklearn.neighbors import kneighbors_graph

from mixsearch import CommunitySearch
from mixsearch.datasets import make_communities

N_KNOWN = 3


class Labelled(NamedTuple):
    """A graph and the community of each node."""

    name: str
    adjacency: Any
    labels: np.ndarray
    has_spectral: bool = True  # scikit-learn's takes too long otherwise


Method = Callable[[Any, int, np.random.Generator], Callable[[np.ndarray], np.ndarray]]


def by_mixsearch(adjacency: Any, k: int, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    search = CommunitySearch(k).fit(adjacency)
    return lambda known: search.search(examples=known).membership > 0.5


def by_mixsearch_auto(adjacency: Any, k: int, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    search = CommunitySearch().fit(adjacency)
    return lambda known: search.search(examples=known).membership > 0.5


def pagerank(adjacency: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Return personalised PageRank over degree as a function of the known members."""
    degrees = np.maximum(np.asarray(adjacency.sum(axis=1)), 1e-12)
    steps = sp.csr_array(adjacency @ sp.diags_array(1 / degrees))

    def rank(known: np.ndarray) -> np.ndarray:
        start = np.zeros(len(degrees))
        start[known] = 1 / len(known)
        visits = start
        for _ in range(60):
            visits = 0.15 * start + 0.85 * (steps @ visits)
        return visits / degrees

    return rank


def by_pagerank(adjacency: Any, k: int, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    """Rank nodes by personalised PageRank over degree, and take as many as a community has on average."""
    rank, n = pagerank(adjacency), adjacency.shape[0]

    def find(known: np.ndarray) -> np.ndarray:
        members = np.zeros(n, dtype=bool)
        members[np.argsort(-rank(known))[: n // k]] = True
        return members

    return find


def cluster_of(clusters: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the cluster with most of the known members."""
    return lambda known: clusters == np.bincount(clusters[known]).argmax()


def by_spectral_clustering(adjacency: Any, k: int, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    matrix = sp.csr_matrix(adjacency)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return cluster_of(SpectralClustering(k, affinity="precomputed", random_state=0).fit_predict(matrix))


def by_regularised_spectra(adjacency: Any, k: int, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    """Cluster the rows of the top eigenvectors of the regularised Laplacian."""
    degrees = np.asarray(adjacency.sum(axis=1))
    scale = sp.diags_array(1 / np.sqrt(degrees + degrees.mean()))
    _, vectors = eigsh(sp.csr_array(scale @ adjacency @ scale), k, which="LA", v0=np.ones(len(degrees)))
    rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return cluster_of(KMeans(k, n_init=5, random_state=0).fit_predict(rows))


def by_leiden(adjacency: Any, k: int, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    import igraph

    upper = sp.triu(adjacency, k=1).tocoo()
    graph = igraph.Graph(adjacency.shape[0], np.column_stack([upper.row, upper.col]).tolist())
    found = graph.community_leiden("modularity", weights=upper.data.tolist(), n_iterations=10)
    return cluster_of(np.array(found.membership))


def by_louvain(adjacency: Any, k: int, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    import networkx

    graph = networkx.from_scipy_sparse_array(adjacency)
    clusters = np.zeros(adjacency.shape[0], dtype=int)
    for cluster, nodes in enumerate(networkx.community.louvain_communities(graph, seed=0)):
        clusters[list(nodes)] = cluster
    return cluster_of(clusters)


METHODS: dict[str, tuple[Method, str]] = {
    "mixsearch": (by_mixsearch, "numpy"),
    "mixsearch, auto": (by_mixsearch_auto, "numpy"),
    "personalised PageRank": (by_pagerank, "numpy"),
    "spectral clustering": (by_spectral_clustering, "sklearn"),
    "regularised spectra": (by_regularised_spectra, "numpy"),
    "Leiden": (by_leiden, "igraph"),
    "Louvain": (by_louvain, "networkx"),
}


def block_models(quick: bool) -> Iterator[Labelled]:
    size = 2000 if quick else 5000
    cases = {
        "k=2, degree 10": {"n_components": 2, "mean_degree": 10},
        "k=4, degree 20": {"n_components": 4, "mean_degree": 20},
        "k=10, degree 30": {"n_components": 10, "mean_degree": 30},
        "k=4, unequal": {"n_components": 4, "mean_degree": 20, "weights": [0.1, 0.2, 0.3, 0.4]},
        "k=4, power law": {"n_components": 4, "mean_degree": 20, "degree_exponent": 2.7},
    }
    for name, options in cases.items():
        data = make_communities(size, signal=2.0, random_state=1, **options)
        yield Labelled(f"block model, {name}", data.adjacency, data.labels, has_spectral=name == "k=4, degree 20")


def labelled_graphs() -> Iterator[Labelled]:
    if importlib.util.find_spec("networkx"):
        import networkx

        club = networkx.karate_club_graph()
        labels = np.array([club.nodes[node]["club"] == "Officer" for node in club], dtype=int)
        yield Labelled(
            "karate club", sp.csr_array(networkx.to_scipy_sparse_array(club, weight=None, dtype=float)), labels
        )
    digits = load_digits()
    near = kneighbors_graph(digits.data, 10)
    yield Labelled("digits, 10 nearest neighbours", sp.csr_array(near.maximum(near.T)), digits.target)
    for package in ("scipy", "sklearn"):
        yield imports_of(package)


def imports_of(package: str, min_modules: int = 30) -> Labelled:
    """Return which modules of a package import each other; its labels are the subpackages."""
    root = Path(importlib.util.find_spec(package).origin).parent  # type: ignore[union-attr, arg-type]
    files = {path: path.relative_to(root.parent).with_suffix("").parts for path in sorted(root.rglob("*.py"))}
    places = {".".join(parts).removesuffix(".__init__"): place for place, parts in enumerate(files.values())}
    rows, columns = [], []
    for place, (path, parts) in enumerate(files.items()):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for name in _imported(node, parts[:-1]):
                if name in places and places[name] != place:
                    rows.append(place)
                    columns.append(places[name])
    once = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(files),) * 2).tocsr()
    adjacency = sp.csr_array(once.maximum(once.T))
    adjacency.data[:] = 1.0
    subpackages = np.array([parts[1] for parts in files.values()])
    common = [name for name, n in zip(*np.unique(subpackages, return_counts=True), strict=True) if n >= min_modules]
    kept = np.flatnonzero(np.isin(subpackages, common) & (np.asarray(adjacency.sum(axis=1)) > 0))
    labels = np.searchsorted(common, subpackages[kept])
    return Labelled(f"imports of {package}", sp.csr_array(adjacency[kept][:, kept]), labels)


def _imported(node: ast.AST, package: tuple[str, ...]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = package[: len(package) - node.level + 1] if node.level else ()
    module = ".".join([*base, *([node.module] if node.module else [])])
    return [module, *(f"{module}.{alias.name}" for alias in node.names)]


def compare(graph: Labelled, only: str = "") -> None:
    """Print accuracy, F1 and seconds of every method, or of those of one name, over communities and known members."""
    labels, adjacency = graph.labels, graph.adjacency
    k = len(np.unique(labels))
    n_trials = max(40 // k, 3)
    print(f"\n{graph.name}: {len(labels):,} nodes, {adjacency.nnz // 2:,} links, {k} communities")
    print("| method | accuracy | F1 | s for all | ms a search |\n| --- | --- | --- | --- | --- |")
    degrees = np.diff(adjacency.indptr)
    for name, (method, package) in METHODS.items():
        is_too_slow = name == "spectral clustering" and not graph.has_spectral
        if only not in name or is_too_slow or not importlib.util.find_spec(package):
            continue
        rng = np.random.default_rng(0)
        start = time.perf_counter()
        find = method(adjacency, k, rng)
        fitted = time.perf_counter() - start
        scores, first, others = [], 0.0, []
        for community in range(k):
            pool = np.flatnonzero((labels == community) & (degrees > 0))
            for _ in range(n_trials):
                known = rng.choice(pool, min(N_KNOWN, len(pool)), replace=False)
                start = time.perf_counter()
                found = find(known)
                taken = time.perf_counter() - start
                first = first or taken
                others.append(taken)
                rest = np.setdiff1d(np.arange(len(labels)), known)
                truth = labels[rest] == community
                scores.append((np.mean(found[rest] == truth), f1_score(truth, found[rest], zero_division=0)))
        accuracy, f1 = np.mean(scores, axis=0)
        print(
            f"| {name} | {accuracy:.3f} | {f1:.3f} | {fitted + first:.2f} | {1000 * np.median(others):.1f} |",
            flush=True,
        )


def measure_trust() -> None:
    """Print how often communities are claimed where there are none, and the coverage of intervals."""
    nothing: list[dict[str, Any]] = [
        {"n_nodes": 1000, "n_components": 2, "mean_degree": 3, "signal": 0.0},
        {"n_nodes": 1000, "n_components": 2, "mean_degree": 20, "signal": 0.0},
        {"n_nodes": 300, "n_components": 2, "mean_degree": 8, "signal": 0.0},
        {"n_nodes": 1000, "n_components": 3, "mean_degree": 10, "signal": 0.0, "degree_exponent": 2.5},
        {"n_nodes": 1000, "n_components": 3, "mean_degree": 10, "signal": 0.0, "degree_exponent": 3.0},
        {"n_nodes": 1000, "n_components": 4, "mean_degree": 20, "signal": 0.0, "degree_exponent": 2.5},
        {"n_nodes": 3000, "n_components": 4, "mean_degree": 20, "signal": 0.0, "degree_exponent": 2.5},
        {"n_nodes": 3000, "n_components": 2, "mean_degree": 10, "signal": 0.5},
        {"n_nodes": 3000, "n_components": 4, "mean_degree": 10, "signal": 0.8},
    ]
    print("| graph below the threshold | claimed, of 20 |\n| --- | --- |")
    for options in nothing:
        claimed = 0
        for seed in range(20):
            data = make_communities(random_state=100 + seed, **options)
            search = CommunitySearch(options["n_components"]).fit(data.adjacency)
            claimed += search.search(examples=data.known(0, N_KNOWN)).is_detectable
        print(f"| {options} | {claimed} |", flush=True)
    for signal in (2.0, 4.0):
        errors, alone, weights = [], [], []
        for seed in range(12):
            data = make_communities(3000, 3, mean_degree=15, signal=signal, random_state=seed)
            search = CommunitySearch(3).fit(data.adjacency)
            for community in range(3):
                found = search.search(examples=data.known(community, 10))
                truth = np.mean(data.labels == community)
                errors.append((found.weight - truth) / found.stderr.weight)
                alone.append((found.weight - truth) * 3000 / np.sqrt(np.sum(found.membership * (1 - found.membership))))
                weights.append((found.moment_estimate.weight, truth))
        moments, truths = np.mean(weights, axis=0)
        print(
            f"signal {signal:g}: intervals hold the number of members in {np.mean(np.abs(errors) < 1.96):.0%}, those "
            f"from single nodes alone in {np.mean(np.abs(alone) < 1.96):.0%}; weight of moments alone {moments:.3f} "
            f"for {truths:.3f}",
            flush=True,
        )


def measure_large(n_nodes: int) -> None:
    """Print the CPU time, the peak memory and the accuracy on ten links for each node."""
    data = make_communities(n_nodes, 10, mean_degree=20, signal=2.0, random_state=0)
    before = peak_memory()
    start = time.process_time()
    search = CommunitySearch(10).fit(data.adjacency)
    fitted = time.process_time()
    found = search.search(examples=data.known(0, N_KNOWN))
    searched = time.process_time()
    search.search(examples=data.known(1, N_KNOWN))
    again = time.process_time()
    accuracy = np.mean((found.membership > 0.5) == (data.labels == 0))
    print(
        f"{data.adjacency.nnz // 2:,} links, CPU time: fit {fitted - start:.1f} s, first search "
        f"{searched - fitted:.1f} s, second {again - searched:.1f} s; peak memory {peak_memory():.1f} GB "
        f"({before:.1f} GB to draw the graph); accuracy {accuracy:.3f}"
    )


def peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller block models")
    parser.add_argument("--only", default="", metavar="METHOD", help="only methods whose name contains this")
    parser.add_argument("--large", type=int, metavar="NODES", help="only one graph of ten times as many links")
    parser.add_argument("--trust", action="store_true", help="only what is claimed: detection, intervals")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.trust:
        measure_trust()
        return
    if options.large:
        measure_large(options.large)
        return
    for graph in (*block_models(options.quick), *labelled_graphs()):
        compare(graph, options.only)


if __name__ == "__main__":
    main()
