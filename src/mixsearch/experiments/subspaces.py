"""Mixtures of subspaces: accuracy and speed beside k-means with a singular value decomposition of each cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mixsearch import SubspaceSearch
from mixsearch._typing import Array
from mixsearch.baselines import kmeans_subspaces
from mixsearch.datasets import SubspacesData, make_hint, make_subspaces
from mixsearch.experiments.experiment import Case, Experiment, Result, cases_of
from mixsearch.experiments.gains import Comparison
from mixsearch.experiments.timing import one_core, timed

D, K, DIM = 500, 5, 10
WEIGHTS = np.linspace(0.1, 0.3, K)
# The smallest for which a search has to succeed is 3/4: the target must hold three times as much of the hint.
GAMMA = 0.9
NOISE = {"paper's": "paper", "our": "average"}
OVER_KMEANS = Comparison("k-means", "weight of the subspace")
TIME_OVER_KMEANS = Comparison("k-means", "σ", by="sigma", shade=None)


def run_errors(case: Case) -> Iterator[Result]:
    """Errors of all subspaces, of growing weight."""
    data = _draw(case)
    search, clusters, oracle = _search(data, case), _clusters(data, case), data.oracle()
    for target, truth in enumerate(data.bases):
        hint = make_hint(data.bases, target, gamma=GAMMA, random_state=case.seed)
        found = {
            "whitening": search.search(hint).basis,
            "k-means": clusters.find_component(hint),
            "oracle": oracle[target],
        }
        if case.setting["moments"] == "our":
            found["refined"] = search.search(hint, refine=True).basis
        for method, basis in found.items():
            yield Result(method, "error", distance(basis, truth), of=f"{100 * WEIGHTS[target]:.0f}%")


def run_speed(case: Case) -> Iterator[Result]:
    """Seconds from samples to one subspace."""
    data = _draw(case)
    hint = make_hint(data.bases, K - 1, gamma=GAMMA, random_state=case.seed)
    with one_core():
        search, fit = timed(lambda: _search(data, case))
        spent = {
            "whitening": fit + timed(lambda: search.search(hint).basis)[1],
            "refined": fit + timed(lambda: search.search(hint, refine=True).basis)[1],
            "k-means": timed(lambda: _clusters(data, case).find_component(hint))[1],
        }
    yield from (Result(method, "seconds", seconds, of=f"{K} subspaces") for method, seconds in spent.items())


def distance(one: Array, other: Array) -> float:
    """‖UU' - VV'‖ / ‖VV'‖ of two orthonormal bases, (d, r): the sine of the largest angle between their spans."""
    cosines = np.linalg.svd(one.T @ other, compute_uv=False)
    return float(np.sqrt(max(1 - cosines.min() ** 2, 0.0)))


def _draw(case: Case) -> SubspacesData:
    n, sigma = int(case.setting["n"]), float(case.setting["sigma"])
    return make_subspaces(n, D, K, dim=DIM, deviation=sigma, weights=WEIGHTS / WEIGHTS.sum(), random_state=case.seed)


def _search(data: SubspacesData, case: Case) -> SubspaceSearch:
    return SubspaceSearch(K, dim=DIM, noise=NOISE[str(case.setting["moments"])]).fit(data.X)


def _clusters(data: SubspacesData, case: Case) -> Any:
    return kmeans_subspaces(data.X, K, DIM, random_state=case.seed)


def _settings() -> list[dict[str, Any]]:
    return [
        {"moments": choice, "sigma": sigma, "n": n}
        for choice in NOISE
        for sigma in (0.1, 0.2)
        for n in (6000, 8000, 10_000)
    ]


ERRORS: Experiment = Experiment(
    name="subspace-error",
    shows="Figure 5",
    title=f"Subspaces: error gain over k-means with an SVD of each cluster, k={K}, d={D}, dimension {DIM}",
    claim="The search is far more accurate than k-means.",
    cases=lambda quick: cases_of(_settings(), 2 if quick else 20),
    run=run_errors,
    draw=lambda rows: OVER_KMEANS.draw_gains(rows, ERRORS.title),
    table=OVER_KMEANS.table_of_errors,
    seconds=(400, 40),
)
SPEED: Experiment = Experiment(
    name="subspace-speedup",
    shows="Figure 6",
    title=f"Subspaces: speed-up over k-means with an SVD of each cluster, k={K}, d={D}, dimension {DIM}",
    claim="The search is more than four times faster than k-means.",
    cases=lambda quick: cases_of(_settings(), 1 if quick else 5),
    run=run_speed,
    draw=lambda rows: TIME_OVER_KMEANS.draw_speedups(rows, SPEED.title),
    table=TIME_OVER_KMEANS.table_of_times,
    seconds=(100, 20),
    alone=True,
)
