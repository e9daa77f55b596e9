"""Whether 95 % intervals hold the truth in 95 % of runs: weights, and one coordinate of the center, drawn at random.

Every run draws a mixture of its own, asks for its first component, and looks whether the truth lies within 1.96
standard errors, for the estimate by moments and for the refined one. "Error / stderr" is the root mean square of that
quotient: 1 where error bars have the right length. A share of 95 % in 500 runs has a deviation of 1 % by chance.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from measuring import N_THREADS, print_table
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch, RegressionSearch, SubspaceSearch, TopicSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics

N_RUNS = 500
NORMAL_95 = 1.96
LEAST, MOST = 0.92, 0.98
GAMMA = 0.9


class Asked(NamedTuple):
    """A component found in one run, beside its truth."""

    found: Any
    center: Array  # (d,), or a basis, (d, r)
    weight: float


class Deviation(NamedTuple):
    """An error, and the standard error that it was given."""

    estimate: str
    parameter: str
    error: float
    stderr: float


def gaussian(seed: int) -> Asked:
    data = make_gaussian_mixture(2_000, 30, 4, deviation=1.0, norm=5.0, random_state=seed)
    hint = make_hint(data.centers, 0, gamma=GAMMA)
    return Asked(GaussianSearch(4).fit(data.X).search(hint, refine=True), data.centers[0], data.weights[0])


def regression(seed: int) -> Asked:
    data = make_mixed_regression(20_000, 10, 3, deviation=0.2, random_state=seed)
    hint = make_hint(data.centers, 0, gamma=GAMMA)
    found = RegressionSearch(3).fit(data.X, data.y).search(hint, refine=True)
    return Asked(found, data.centers[0], data.weights[0])


def subspace(seed: int) -> Asked:
    data = make_subspaces(4_000, 40, 3, dim=3, deviation=0.3, random_state=seed)
    members = data.X[data.labels == 0][:6]
    found = SubspaceSearch(3, dim=3).fit(data.X).search(examples=members, refine=True)
    return Asked(found, data.bases[0], data.weights[0])


def topics(concentration: float) -> Callable[[int], Asked]:
    def topic(seed: int) -> Asked:
        data = make_topics(2_000, 60, 3, mean_length=50, alpha=0.3, concentration=concentration, random_state=seed)
        search = TopicSearch(3, alpha0=0.9, damping=False).fit(data.counts)
        found = search.search(words=data.labelled_word(0), choose="largest", refine=True)
        return Asked(found, data.topics[0], data.alpha[0] / data.alpha.sum())

    return topic


MODELS: dict[str, tuple[str, Callable[[int], Asked]]] = {
    "Gaussians": ("n=2,000, d=30, k=4, σ=1, centers of length 5", gaussian),
    "regressions": ("n=20,000, d=10, k=3, σ=.2", regression),
    "subspaces": ("n=4,000, d=40, k=3, r=3, σ=.3", subspace),
    "topics": ("2,000 documents of 50 words, d=60, k=3, Dirichlet .3; words of topics from Dirichlet 1", topics(1.0)),
    "topics, most words absent": (
        "the same, but words of topics from Dirichlet .1: most have chances near 0",
        topics(0.1),
    ),
}


def run(*, quick: bool = False, only: str = "") -> None:
    rows, n_runs = [], 10 if quick else N_RUNS
    for name, (_, ask) in MODELS.items():
        if only in name:
            with Parallel(n_jobs=N_THREADS) as parallel:
                runs = parallel(delayed(_one_run)(ask, seed) for seed in range(n_runs))
            rows += _rows(name, [deviation for each in runs for deviation in each])
    columns = ("model", "estimate", "of", "covered", "error / stderr", "median stderr", "within 92-98 %")
    print_table(f"95 % intervals, {n_runs} runs", columns, rows)
    print()
    for name, (size, _) in MODELS.items():
        print(f"- {name}: {size}")


def _one_run(ask: Callable[[int], Asked], seed: int) -> list[Deviation]:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        asked = ask(seed)
        where = tuple(np.random.default_rng(seed).integers(asked.center.shape))
        return [
            deviation
            for estimate, found in {"moments": asked.found.moment_estimate, "refined": asked.found}.items()
            for deviation in (
                Deviation(estimate, "weight", found.weight - asked.weight, found.stderr.weight),
                _coordinate(estimate, found, asked.center, where),
            )
        ]


def _coordinate(estimate: str, found: Any, truth: Array, where: tuple[int, ...]) -> Deviation:
    """The error of one coordinate; of a basis, after the true one is rotated onto it: no data tell the rotation."""
    if truth.ndim == 1:
        return Deviation(estimate, "coordinate", found.center[where] - truth[where], found.stderr.center[where])
    left, _, right = np.linalg.svd(truth.T @ found.basis)
    turned = truth @ left @ right
    return Deviation(estimate, "coordinate", found.basis[where] - turned[where], found.stderr.basis[where])


def _rows(name: str, deviations: list[Deviation]) -> list[tuple[str, ...]]:
    rows = []
    for key in dict.fromkeys((d.estimate, d.parameter) for d in deviations):
        mine = [d for d in deviations if (d.estimate, d.parameter) == key]
        stderr = np.array([d.stderr for d in mine])
        scaled = np.array([d.error for d in mine]) / stderr
        covered = float(np.mean(np.abs(scaled) <= NORMAL_95))
        within = "holds" if LEAST <= covered <= MOST else "FAILS"
        length = np.sqrt(np.mean(scaled**2))
        rows.append((name, *key, f"{100 * covered:.1f} %", f"{length:.2f}", f"{np.median(stderr):.2g}", within))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run(quick=options.quick, only=options.only)
