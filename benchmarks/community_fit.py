"""Whether a sure community is the right one: on graphs that follow a block model and on graphs that do not.

    python benchmarks/community_fit.py

The limit of links between neighbours and the power of the agreement with a random walk were chosen on the first two
groups: block models with hubs, power laws and members of two communities, LFR graphs, imports of six packages and
nearest neighbours in three tables. The third group, that of the documentation, was only looked at afterwards.
Needs networkx for LFR graphs; packages that are not installed are left out.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from communities import N_KNOWN, Labelled, imports_of, labelled_graphs
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import f1_score
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import scale

from mixsearch import CommunitySearch
from mixsearch.community.search import NOT_BLOCK_TRUST
from mixsearch.datasets import make_communities

POWERS = (0, 1, 2, 3)
PACKAGES = ("dask", "fontTools", "numpy", "schemathesis", "sphinx", "pandas")


class Answer(NamedTuple):
    """One search."""

    confidence: float  # before links between neighbours are looked at
    is_explained: bool  # whether communities explain the links between neighbours
    agreement: float  # with a random walk; 1 if they do
    is_right: bool  # F1 above one half

    def claimed(self, power: int) -> float:
        """Return the confidence, lowered by a power of the agreement; 0 leaves out the check."""
        return self.confidence * (1 if self.is_explained or not power else NOT_BLOCK_TRUST) * self.agreement**power


def synthetic_graphs() -> Iterator[Labelled]:
    for seed, size in enumerate((400, 1000, 2000)):
        for options in (
            {"n_components": 2, "mean_degree": 10},
            {"n_components": 4, "mean_degree": 20},
            {"n_components": 10, "mean_degree": 30},
            {"n_components": 4, "mean_degree": 20, "degree_exponent": 2.7},
        ):
            data = make_communities(size, signal=4.0, random_state=70 + seed, **options)
            yield Labelled(f"block model, {options}, {size} nodes", data.adjacency, data.labels)
        for name, options in (
            ("overlapping", {}),
            ("overlapping, with hubs", {"n_hubs": 20}),
            ("overlapping, power law", {"degree_exponent": 2.5}),
        ):
            yield Labelled(name, *overlapping(seed, **options))
        if importlib.util.find_spec("networkx"):
            for mixing in (0.2, 0.4):
                yield Labelled(f"LFR, mixing {mixing}", *lfr(mixing, seed))


def overlapping(seed: int, *, n_hubs: int = 0, degree_exponent: float | None = None) -> tuple[sp.csr_array, np.ndarray]:
    """Draw a graph of five communities in which 15% of the nodes are members of two."""
    n, k, degree, strength = 1000, 5, 15, 0.45
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    shares = np.eye(k)[labels]
    both = rng.random(n) < 0.15
    shares[both] = (shares[both] + np.eye(k)[rng.integers(k, size=both.sum())]) / 2
    propensity = np.ones(n) if degree_exponent is None else (1 - rng.random(n)) ** (-1 / (degree_exponent - 1))
    propensity[rng.choice(n, n_hubs, replace=False)] *= 15
    rates = np.outer(propensity, propensity) * (1 - strength + strength * k * shares @ shares.T)
    upper = np.triu(rng.random((n, n)) < rates * degree * n / rates.sum(), k=1)
    return sp.csr_array((upper | upper.T).astype(float)), labels


def lfr(mixing: float, seed: int) -> tuple[sp.csr_array, np.ndarray]:
    import networkx

    graph = networkx.LFR_benchmark_graph(
        600, 2.7, 1.5, mixing, average_degree=10, max_degree=60, min_community=30, max_community=120, seed=seed
    )
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    groups = {tuple(sorted(graph.nodes[node]["community"])) for node in graph}
    labels = np.zeros(len(graph), dtype=int)
    for number, group in enumerate(sorted(groups)):
        labels[list(group)] = number
    return sp.csr_array(networkx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), dtype=float)), labels


def other_labelled_graphs() -> Iterator[Labelled]:
    for package in PACKAGES:
        if importlib.util.find_spec(package):
            yield imports_of(package, min_modules=15)
    for load in (load_iris, load_wine, load_breast_cancer):
        table = load()
        near = kneighbors_graph(scale(table.data), 10)
        yield Labelled(
            f"{load.__name__.removeprefix('load_')}, 10 nearest", sp.csr_array(near.maximum(near.T)), table.target
        )


def search_all(graph: Labelled) -> tuple[float, list[Answer]]:
    """Return the ratio of links between neighbours to what communities explain, and answers from three members each."""
    k, rng, answers, ratio = len(np.unique(graph.labels)), np.random.default_rng(1), [], np.nan
    search = CommunitySearch(k).fit(graph.adjacency)
    linked = np.diff(graph.adjacency.indptr) > 0
    for community in np.repeat(np.arange(k), 6 if k < 8 else 3):
        truth = graph.labels == community
        pool = np.flatnonzero(truth & linked)
        if len(pool) <= N_KNOWN:
            continue
        known = rng.choice(pool, N_KNOWN, replace=False)
        found = search.search(examples=known)
        if not found.is_detectable or found._refined is None:
            continue
        closure = search._measure_closure(found)
        ratio = closure.ratio
        agreement = 1.0 if closure.is_explained else search._agree_with_walk(found, truth_of(known, len(truth)))
        rest = np.setdiff1d(np.arange(len(truth)), known)
        is_right = f1_score(truth[rest], found.membership[rest] > 0.5, zero_division=0) > 0.5
        before = found.confidence / max(found._trust, 1e-12)
        answers.append(Answer(before, closure.is_explained, agreement, bool(is_right)))
    return ratio, answers


def truth_of(known: np.ndarray, n: int) -> np.ndarray:
    members = np.zeros(n)
    members[known] = 1.0
    return members


def report(name: str, graphs: Iterator[Labelled]) -> None:
    print(f"\n{name}\n| graph | neighbours linked, times explained | right, of sure ones before | and now |")
    print("| --- | --- | --- | --- |")
    everything = []
    for graph in graphs:
        ratio, answers = search_all(graph)
        everything += answers
        counts = [count_sure(answers, power) for power in (0, 2)]
        shown = "not detectable" if np.isnan(ratio) else f"{ratio:.2f}"
        print(f"| {graph.name} | {shown} | {' | '.join(f'{right} of {sure}' for right, sure in counts)} |", flush=True)
    truth = np.array([answer.is_right for answer in everything], dtype=float)
    for power in POWERS:
        claimed = np.array([answer.claimed(power) for answer in everything])
        right, sure = count_sure(everything, power)
        brier = float(np.mean((claimed - truth) ** 2))
        print(f"power {power}: Brier score {brier:.3f}, right {right} of {sure} sure ones, of {len(truth)} answers")


def count_sure(answers: list[Answer], power: int) -> tuple[int, int]:
    sure = [answer.is_right for answer in answers if answer.claimed(power) > 0.95]
    return sum(sure), len(sure)


def main() -> None:
    warnings.simplefilter("ignore")
    report("Synthetic graphs", synthetic_graphs())
    report("Labelled graphs, used to choose", other_labelled_graphs())
    report("Labelled graphs of the documentation, held out", labelled_graphs())


if __name__ == "__main__":
    main()
