"""One community of a real graph from one, three and five members, compared with other methods.

    python benchmarks/community_graphs.py [--chosen]

The method and its constants were chosen on the graphs of ``--chosen``: imports of eleven packages, and nearest
neighbours in three tables and among docstrings. The others are held out: imports of five other packages, nearest
neighbours of digits and of other docstrings, the karate club, LFR graphs and block models with degrees of a power law.
Labels are subpackages, classes and planted communities.

Needs igraph and networkx; packages that are not installed are left out.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from communities import (
    Labelled,
    by_leiden,
    by_louvain,
    by_pagerank,
    by_regularised_spectra,
    by_spectral_clustering,
    imports_of,
    labelled_graphs,
    pagerank,
)
from community_fit import lfr, other_labelled_graphs
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.neighbors import kneighbors_graph

from mixsearch import CommunitySearch
from mixsearch.datasets import make_communities

N_KNOWN = (1, 3, 5)
CHOSEN_PACKAGES = ("matplotlib", "networkx", "skimage", "hypothesis", "distributed")
HELD_OUT_PACKAGES = ("polars", "graphql", "pythainlp")
# Docstrings shorter than this say too little to be near anything.
MIN_CHARACTERS = 200

Find = Callable[[np.ndarray], tuple[np.ndarray, float]]  # known members -> scores, members above .5, and confidence


def by_mixsearch(adjacency: Any, k: int | None) -> Find:
    search = CommunitySearch("auto" if k is None else k).fit(adjacency)

    def find(known: np.ndarray) -> tuple[np.ndarray, float]:
        found = search.search(examples=known)
        return found.membership, found.confidence

    return find


def by_pagerank_sweep(adjacency: Any, k: int | None) -> Find:
    """Take the first nodes of personalised PageRank, up to the least conductance: half of all links at most."""
    rank, strengths, links = pagerank(adjacency), np.asarray(adjacency.sum(axis=1)), adjacency.tocoo()

    def find(known: np.ndarray) -> tuple[np.ndarray, float]:
        scores = rank(known)
        order = np.argsort(-scores, kind="stable")
        places = np.argsort(order)
        added = np.maximum(places[links.row], places[links.col])
        inside = np.cumsum(np.bincount(added, weights=links.data, minlength=len(order)))
        volume = np.cumsum(strengths[order])
        is_allowed = (volume <= volume[-1] / 2) & (np.arange(1, len(order) + 1) > len(known))
        conductance = np.where(is_allowed, 1 - inside / np.maximum(volume, 1e-12), np.inf)
        cut = scores[order[np.argmin(conductance)]]
        return scores / (scores + 0.999 * cut + 1e-300), np.nan

    return find


def by_clusters(method: Any, adjacency: Any, k: int | None) -> Find:
    find = method(adjacency, k, np.random.default_rng(0))
    return lambda known: (find(known).astype(float), np.nan)


METHODS: dict[str, tuple[Callable[[Any, int | None], Find], bool]] = {  # and whether they get the number of communities
    "mixsearch": (by_mixsearch, False),
    "PageRank, sweep cut": (by_pagerank_sweep, False),
    "Louvain": (partial(by_clusters, by_louvain), False),
    "Leiden": (partial(by_clusters, by_leiden), False),
    "mixsearch, k given": (by_mixsearch, True),
    "PageRank, n/k nodes": (partial(by_clusters, by_pagerank), True),
    "spectral clustering": (partial(by_clusters, by_spectral_clustering), True),
    "regularised spectra": (partial(by_clusters, by_regularised_spectra), True),
}


def chosen_graphs() -> Iterator[Labelled]:
    yield from other_labelled_graphs()
    for package in CHOSEN_PACKAGES:
        if importlib.util.find_spec(package):
            yield imports_of(package, min_modules=15)
    yield docstrings_of("matplotlib")


def held_out_graphs() -> Iterator[Labelled]:
    yield from labelled_graphs()
    for package in HELD_OUT_PACKAGES:
        if importlib.util.find_spec(package):
            yield imports_of(package, min_modules=10)
    for package in ("scipy", "numpy", "polars"):
        if importlib.util.find_spec(package):
            yield docstrings_of(package)
    for mixing, seed in ((0.1, 20), (0.3, 21), (0.6, 22)):
        yield Labelled(f"LFR, mixing {mixing}", *lfr(mixing, seed))
    for k, signal in ((3, 2.0), (6, 3.0)):
        data = make_communities(1500, k, mean_degree=20, signal=signal, degree_exponent=2.7, random_state=80 + k)
        yield Labelled(f"block model, k={k}, power law", data.adjacency, data.labels)


def docstrings_of(package: str, min_documents: int = 60) -> Labelled:
    """Return the ten nearest neighbours of each docstring of a package by their words; labels are the subpackages."""
    root = Path(importlib.util.find_spec(package).origin).parent  # type: ignore[union-attr, arg-type]
    texts, subpackages = [], []
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = ast.get_docstring(node) or ""
                if len(text) >= MIN_CHARACTERS:
                    texts.append(text)
                    subpackages.append(path.relative_to(root).parts[0])
    _, labels, counts = np.unique(subpackages, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(counts[labels] >= min_documents)
    words = TfidfVectorizer(min_df=3, max_df=0.3, sublinear_tf=True).fit_transform(np.array(texts, dtype=object)[kept])
    near = kneighbors_graph(words, 10)
    return Labelled(
        f"docstrings of {package}", sp.csr_array(near.maximum(near.T)), np.unique(labels[kept], return_inverse=True)[1]
    )


def measure(graph: Labelled, method: Callable[[Any, int | None], Find], gets_k: bool) -> list[tuple[float, ...]]:
    """Return known members, F1, AUC, size over the true one, and confidence of each search; the seconds come first."""
    labels, rows = graph.labels, []
    k = len(np.unique(labels))
    linked = np.diff(graph.adjacency.indptr) > 0
    start = time.perf_counter()
    find = method(graph.adjacency, k if gets_k else None)
    find(np.flatnonzero(linked)[:1])
    seconds = time.perf_counter() - start
    for n_known in N_KNOWN:
        rng = np.random.default_rng(n_known)
        for community in np.repeat(np.arange(k), max(8 // k, 1)):
            truth = labels == community
            known = rng.choice(np.flatnonzero(truth & linked), n_known, replace=False)
            scores, confidence = find(known)
            rest = np.setdiff1d(np.arange(len(labels)), known)
            f1 = f1_score(truth[rest], scores[rest] > 0.5, zero_division=0)
            size = np.count_nonzero(scores > 0.5) / np.count_nonzero(truth)
            rows.append((seconds, n_known, f1, roc_auc_score(truth[rest], scores[rest]), size, confidence))
    return rows


def report(graphs: list[Labelled]) -> None:
    """Print F1 from three members for each graph and method, and then the means over graphs."""
    rows = {name: [] for name in METHODS}
    print(f"| F1 from three members | {' | '.join(METHODS)} |\n| --- |{' --- |' * len(METHODS)}")
    for graph in graphs:
        shown = []
        for name, (method, gets_k) in METHODS.items():
            table = np.array(measure(graph, method, gets_k))
            rows[name].append(table)
            shown.append(f"{table[table[:, 1] == 3, 2].mean():.2f}")
        k = len(np.unique(graph.labels))
        print(f"| {graph.name} ({len(graph.labels):,} nodes, {k}) | {' | '.join(shown)} |", flush=True)
    print("\n| mean over graphs | F1 from 1, 3, 5 | AUC from 3 | size over the true one | s, first answer |")
    print("| --- | --- | --- | --- | --- |")
    for name, tables in rows.items():
        f1 = [np.mean([table[table[:, 1] == n, 2].mean() for table in tables]) for n in N_KNOWN]
        of_three = [table[table[:, 1] == 3] for table in tables]
        auc = np.mean([table[:, 3].mean() for table in of_three])
        size = np.exp(np.mean([np.log(np.maximum(table[:, 4], 1e-3)).mean() for table in of_three]))
        seconds = np.mean([table[0, 0] for table in tables])
        print(f"| {name} | {' '.join(f'{x:.3f}' for x in f1)} | {auc:.3f} | {size:.2f} | {seconds:.2f} |")
    print("\n| confidence | F1 above .5, of answers | with k given |\n| --- | --- | --- |")
    every = [np.concatenate(rows[name]) for name in ("mixsearch", "mixsearch, k given")]
    for low, high in ((0.95, 1.01), (0.8, 0.95), (0.5, 0.8), (0.0, 0.5)):
        picked = [table[(table[:, 5] >= low) & (table[:, 5] < high), 2] for table in every]
        counts = " | ".join(f"{np.sum(f1 > 0.5)} of {len(f1)}" for f1 in picked)
        print(f"| {low:g} to {min(high, 1):g} | {counts} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chosen", action="store_true", help="the graphs that constants were chosen on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    report(list(chosen_graphs() if options.chosen else held_out_graphs()))


if __name__ == "__main__":
    main()
