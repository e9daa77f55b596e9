"""Mixtures of subspaces: accuracy and speed compared with k-means and an SVD of each cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mixsearch import SubspaceSearch
from mixsearch._typing import Array
from mixsearch.core.family import Preset
from mixsearch.datasets import make_hint, make_subspaces
from mixsearch.datasets.mixtures import SubspacesData
from paper_experiments.baselines import kmeans_subspaces
from paper_experiments.experiment import Case, Experiment, Result, make_cases
from paper_experiments.figures import Comparison, limit_threads, time_call

D, K, DIM = 500, 5, 10
WEIGHTS = np.linspace(0.1, 0.3, K)
# A search needs at least 3/4: the target must have three times as much of the hint as the others.
GAMMA = 0.9
PRESETS: dict[str, Preset] = {"paper's": "paper", "our": "default"}
OVER_KMEANS = Comparison("k-means", "weight of the subspace")
TIME_OVER_KMEANS = Comparison("k-means", "σ", by="sigma", shade=None)


def run_errors(case: Case) -> Iterator[Result]:
    """Measure the errors of all subspaces, of growing weight."""
    data = _draw(case)
    search, clusters, oracle = _search(data, case), _clusters(data, case), data.oracle()
    for target, truth in enumerate(data.bases):
        hint = make_hint(data.bases, target, gamma=GAMMA, random_state=case.seed)
        found = {
            "whitening": search.search(hint, refine=False).basis,
            "k-means": clusters.find_component(hint),
            "oracle": oracle[target],
        }
        if case.setting["moments"] == "our":
            found["refined"] = search.search(hint, refine=True).basis
        for method, basis in found.items():
            yield Result(method, "error", compute_distance(basis, truth), target=f"{100 * WEIGHTS[target]:.0f}%")


def run_speed(case: Case) -> Iterator[Result]:
    """Measure the seconds from samples to one subspace."""
    data = _draw(case)
    hint = make_hint(data.bases, K - 1, gamma=GAMMA, random_state=case.seed)
    with limit_threads():
        search, fit = time_call(lambda: _search(data, case))
        spent = {
            "whitening": fit + time_call(lambda: search.search(hint, refine=False).basis)[1],
            "refined": fit + time_call(lambda: search.search(hint, refine=True).basis)[1],
            "k-means": time_call(lambda: _clusters(data, case).find_component(hint))[1],
        }
    yield from (Result(method, "seconds", seconds, target=f"{K} subspaces") for method, seconds in spent.items())


def compute_distance(one: Array, other: Array) -> float:
    """Return ‖UU' - VV'‖ / ‖VV'‖ of two orthonormal bases, (d, r): the sine of the largest principal angle."""
    cosines = np.linalg.svd(one.T @ other, compute_uv=False)
    return float(np.sqrt(max(1 - cosines.min() ** 2, 0.0)))


def _draw(case: Case) -> SubspacesData:
    n, sigma = int(case.setting["n"]), float(case.setting["sigma"])
    return make_subspaces(n, D, K, dim=DIM, deviation=sigma, weights=WEIGHTS / WEIGHTS.sum(), random_state=case.seed)


def _search(data: SubspacesData, case: Case) -> SubspaceSearch:
    return SubspaceSearch(K, dim=DIM, preset=PRESETS[str(case.setting["moments"])]).fit(data.X)


def _clusters(data: SubspacesData, case: Case) -> Any:
    return kmeans_subspaces(data.X, K, DIM, random_state=case.seed)


def _settings() -> list[dict[str, Any]]:
    return [
        {"moments": choice, "sigma": sigma, "n": n}
        for choice in PRESETS
        for sigma in (0.1, 0.2)
        for n in (6000, 8000, 10_000)
    ]


ERRORS: Experiment = Experiment(
    name="subspace-error",
    shows="Figure 5",
    title=f"Subspaces: error gain over k-means with an SVD of each cluster, k={K}, d={D}, dimension {DIM}",
    claim="The search is far more accurate than k-means.",
    cases=lambda quick: make_cases(_settings(), 2 if quick else 20),
    run=run_errors,
    draw=lambda rows: OVER_KMEANS.draw_gains(rows, ERRORS.title),
    table=OVER_KMEANS.format_errors,
    page=OVER_KMEANS.format_gains,
    seconds=(400, 40),
)
SPEED: Experiment = Experiment(
    name="subspace-speedup",
    shows="Figure 6",
    title=f"Subspaces: speed-up over k-means with an SVD of each cluster, k={K}, d={D}, dimension {DIM}",
    claim="The search is more than four times faster than k-means.",
    cases=lambda quick: make_cases(_settings(), 1 if quick else 5),
    run=run_speed,
    draw=lambda rows: TIME_OVER_KMEANS.draw_speedups(rows, SPEED.title),
    table=TIME_OVER_KMEANS.format_times,
    seconds=(100, 20),
    sequential=True,
)
