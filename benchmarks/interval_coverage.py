"""Coverage of 95 % intervals: of the weight, and of one coordinate of the center, chosen at random.

Each run draws a mixture, searches for its first component from examples or a hint, and checks whether the truth lies
within 1.96 standard errors of the estimate, before refinement (standard errors by the jackknife) and after it (by the
sandwich formula). "Error / stderr" is the root mean square of that quotient: 1 if standard errors are right. With 200
runs, a coverage of 95 % has a standard error of 1.5 %. Moments take Gaussians as spherical, so before refinement the
estimates of other shapes are biased.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from measuring import print_table, run_seeds
from workloads import draw_regressions, draw_shaped_gaussians, draw_subspaces

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_topics
from mixsearch.gaussian import COVARIANCES, Covariance

N_RUNS = 200
NORMAL_95 = 1.96
LEAST, MOST = 0.92, 0.98  # two standard errors to each side
GAMMA = 0.9


class Asked(NamedTuple):
    """How a component is searched in one run, with its truth."""

    search: Callable[..., Any]  # with `refine` as its argument
    center: Array  # (d,), or a basis, (d, r)
    weight: float


class Deviation(NamedTuple):
    """An error, and the standard error that it was given."""

    estimate: str
    parameter: str
    error: float
    stderr: float


def gaussians(deviation: float | tuple[float, ...] = 1.0, *, n_samples: int = 2_000) -> Callable[[int], Asked]:
    def gaussian(seed: int) -> Asked:
        data = make_gaussian_mixture(n_samples, 30, 4, deviation=deviation, norm=5.0, random_state=seed)
        hint = make_hint(data.centers, 0, gamma=GAMMA)
        return Asked(partial(GaussianSearch(4).fit(data.X).search, hint), data.centers[0], data.weights[0])

    return gaussian


def shaped_gaussians(shape: Covariance) -> Callable[[int], Asked]:
    def gaussian(seed: int) -> Asked:
        data = draw_shaped_gaussians(3_000, 4, 3, shape, norm=4.0, seed=seed)
        search = GaussianSearch(3, covariance=shape).fit(data.X).search
        return Asked(partial(search, examples=data.X[data.labels == 0][:5]), data.centers[0], data.weights[0])

    return gaussian


def regressions(*deviations: float, n_samples: int = 20_000, n_features: int = 10) -> Callable[[int], Asked]:
    def regression(seed: int) -> Asked:
        data = draw_regressions(n_samples, n_features, deviations, seed=seed)
        hint = make_hint(data.centers, 0, gamma=GAMMA)
        search = partial(RegressionSearch(len(deviations)).fit(data.X, data.y).search, hint)
        return Asked(search, data.centers[0], data.weights[0])

    return regression


def subspaces(*scales: tuple[float, ...]) -> Callable[[int], Asked]:
    def subspace(seed: int) -> Asked:
        data = draw_subspaces(4_000, 40, scales, (0.3,) * 3, seed=seed)
        members = data.X[data.labels == 0][:6]
        search = partial(SubspaceSearch(3, dim=3).fit(data.X).search, examples=members)
        return Asked(search, data.bases[0], data.weights[0])

    return subspace


def topics(concentration: float) -> Callable[[int], Asked]:
    def topic(seed: int) -> Asked:
        data = make_topics(2_000, 60, 3, mean_length=50, alpha=0.3, concentration=concentration, random_state=seed)
        ask = partial(LdaSearch(3, alpha0=0.9).fit(data.counts).search, words=data.labelled_word(0))
        return Asked(ask, data.topics[0], data.alpha[0] / data.alpha.sum())

    return topic


MODELS: dict[str, tuple[str, Callable[[int], Asked]]] = {
    **{
        f"Gaussians, {shape}": ("n=3,000, d=4, k=3, centers of length 4, 5 examples", shaped_gaussians(shape))
        for shape in COVARIANCES
    },
    "Gaussians, d=30": ("n=2,000, d=30, k=4, σ=1, centers of length 5", gaussians()),
    "Gaussians, d=30, unequal": (
        "the same, variances 1:4:4:16, that of the component .25",
        gaussians((0.5, 1.0, 1.0, 2.0)),
    ),
    "Gaussians, d=30, overlapping": ("n=8,000, σ=2: centers are 3.5 σ apart", gaussians(2.0, n_samples=8_000)),
    "regressions": ("n=20,000, d=10, k=3, σ=.2", regressions(0.2, 0.2, 0.2)),
    "regressions, unequal": ("the same, σ=.1, .2 and .4", regressions(0.1, 0.2, 0.4)),
    "regressions, few": ("n=5,000, σ=.2", regressions(0.2, 0.2, 0.2, n_samples=5_000)),
    "regressions, d=20": ("n=20,000, d=20, k=3, σ=.3", regressions(0.3, 0.3, 0.3, n_features=20)),
    "subspaces": ("n=4,000, d=40, k=3, r=3, σ=.3", subspaces(*[(1.0, 1.0, 1.0)] * 3)),
    "subspaces, unequal": ("the same, variances of coordinates 3:2:1", subspaces(*[(1.73, 1.41, 1.0)] * 3)),
    "topics": ("2,000 documents of 50 words, d=60, k=3, Dirichlet .3; words of topics from Dirichlet 1", topics(1.0)),
    "topics, most words absent": (
        "the same, but words of topics from Dirichlet .1: most have chances near 0",
        topics(0.1),
    ),
}


def run(*, quick: bool = False, only: str = "", runs: int = N_RUNS) -> None:
    rows, n_runs = [], 10 if quick else runs
    for name, (_, ask) in MODELS.items():
        if only in name:
            answers = run_seeds(partial(_one_run, ask), n_runs)
            rows += _rows(name, [deviation for each in answers for deviation in each])
    columns = ("model", "estimate", "of", "covered", "error / stderr", "median stderr", "within 92-98 %")
    print_table(f"95 % intervals, {n_runs} runs", columns, rows)
    print()
    for name, (size, _) in MODELS.items():
        print(f"- {name}: {size}")


def _one_run(ask: Callable[[int], Asked], seed: int) -> list[Deviation]:
    asked = ask(seed)
    where = tuple(np.random.default_rng(seed).integers(asked.center.shape))
    answers = {"moments": asked.search(refine=False), "refined": asked.search(refine=True)}
    return [
        deviation
        for estimate, answer in answers.items()
        for deviation in (
            Deviation(estimate, "weight", answer.weight - asked.weight, answer.stderr.weight),
            _coordinate(estimate, answer, asked.center, where),
        )
    ]


def _coordinate(estimate: str, answer: Any, truth: Array, where: tuple[int, ...]) -> Deviation:
    """Return the error of one coordinate; of a basis, after the true one is rotated onto it."""
    if truth.ndim == 1:
        return Deviation(estimate, "coordinate", answer.center[where] - truth[where], answer.stderr.center[where])
    left, _, right = np.linalg.svd(truth.T @ answer.basis)
    rotated = truth @ left @ right
    return Deviation(estimate, "coordinate", answer.basis[where] - rotated[where], answer.stderr.basis[where])


def _rows(name: str, deviations: list[Deviation]) -> list[tuple[str, ...]]:
    return [
        (name, estimate, parameter, *_judge([d for d in deviations if d[:2] == (estimate, parameter)]))
        for estimate in ("moments", "refined")
        for parameter in ("weight", "coordinate")
    ]


def _judge(deviations: list[Deviation]) -> tuple[str, ...]:
    stderr = np.array([d.stderr for d in deviations])
    scaled = np.array([d.error for d in deviations]) / stderr
    covered = float(np.mean(np.abs(scaled) <= NORMAL_95))
    within = "holds" if LEAST <= covered <= MOST else "FAILS"
    length = np.sqrt(np.mean(scaled**2))
    return (f"{100 * covered:.1f} %", f"{length:.2f}", f"{np.median(stderr):.2g}", within)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--runs", type=int, default=N_RUNS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run(quick=options.quick, only=options.only, runs=options.runs)
