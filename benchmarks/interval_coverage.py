"""Whether 95 % intervals hold the truth in 95 % of runs: weights, and one coordinate of the center, drawn at random.

Every run draws a mixture of its own, asks for its first component, and looks whether the truth lies within 1.96
standard errors, for the estimate by moments and for the refined one. "Error / stderr" is the root mean square of that
quotient: 1 where error bars have the right length. A share of 95 % in 500 runs has a deviation of 1 % by chance. Runs
whose answer itself doubts the number of components or the model are withheld.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from measuring import print_table, run_seeds
from workloads import draw_regressions, draw_shaped_gaussians, draw_subspaces

from mixsearch import GaussianSearch, RegressionSearch, SubspaceSearch, TopicSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_topics
from mixsearch.errors import UnlikelyMixtureWarning
from mixsearch.table.shapes import SHAPES

N_RUNS = 500
NORMAL_95 = 1.96
LEAST, MOST = 0.92, 0.98
GAMMA = 0.9
# The few answers left where most are withheld are no sample of the model.
MAX_WITHHELD = 0.9


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


def gaussians(
    deviation: float | tuple[float, ...] = 1.0, *, n_components: int = 4, n_samples: int = 2_000
) -> Callable[[int], Asked]:
    def gaussian(seed: int) -> Asked:
        data = make_gaussian_mixture(n_samples, 30, 4, deviation=deviation, norm=5.0, random_state=seed)
        hint = make_hint(data.centers, 0, gamma=GAMMA)
        return Asked(partial(GaussianSearch(n_components).fit(data.X).search, hint), data.centers[0], data.weights[0])

    return gaussian


def shaped_gaussians(shape: str, *, norm: float = 4.0) -> Callable[[int], Asked]:
    def gaussian(seed: int) -> Asked:
        data = draw_shaped_gaussians(3_000, 4, 3, shape, norm=norm, seed=seed)
        search = GaussianSearch(3, covariance=shape).fit(data.X).search
        return Asked(partial(search, examples=data.X[data.labels == 0][:5]), data.centers[0], data.weights[0])

    return gaussian


def gaussian_after_selection(seed: int) -> Asked:
    """Ask with a direction at random, and take the truth that is nearest to what the data single out."""
    data = make_gaussian_mixture(2_000, 30, 4, deviation=1.0, norm=5.0, random_state=seed)
    hint = np.random.default_rng(seed).standard_normal(4) @ data.centers
    search = partial(GaussianSearch(4).fit(data.X).search, hint)
    nearest = int(np.linalg.norm(data.centers - search(refine=True).center, axis=1).argmin())
    return Asked(search, data.centers[nearest], data.weights[nearest])


def regressions(*deviations: float) -> Callable[[int], Asked]:
    def regression(seed: int) -> Asked:
        data = draw_regressions(20_000, 10, deviations, seed=seed)
        hint = make_hint(data.centers, 0, gamma=GAMMA)
        search = partial(RegressionSearch(3).fit(data.X, data.y).search, hint)
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
        search = TopicSearch(3, alpha0=0.9, damping=False).fit(data.counts)
        ask = partial(search.search, words=data.labelled_word(0), choose="largest")
        return Asked(ask, data.topics[0], data.alpha[0] / data.alpha.sum())

    return topic


MODELS: dict[str, tuple[str, Callable[[int], Asked]]] = {
    "Gaussians": ("n=2,000, d=30, k=4, σ=1, centers of length 5", gaussians()),
    "Gaussians, unequal": ("the same, variances 1:4:4:16, that of the component .25", gaussians((0.5, 1.0, 1.0, 2.0))),
    "Gaussians, unequal, widest": ("the same, variance of the component 4", gaussians((2.0, 1.0, 1.0, 0.5))),
    "Gaussians, overlapping": ("n=8,000, σ=2: the centers are 3.5 σ apart", gaussians(2.0, n_samples=8_000)),
    "Gaussians, k=5 for 4": ("as the first, fitted with a component too many", gaussians(n_components=5)),
    "Gaussians, k=3 for 4": ("as the first, fitted with a component too few", gaussians(n_components=3)),
    "Gaussians, selected": (
        "a direction at random in the span; the truth nearest to the answer",
        gaussian_after_selection,
    ),
    **{
        f"Gaussians, {shape}": (
            "n=3,000, d=4, k=3, fitted with that shape, centers of length 4",
            shaped_gaussians(shape),
        )
        for shape in SHAPES[1:]
    },
    "Gaussians, full, overlapping": ("the same, centers of length 2.5", shaped_gaussians("full", norm=2.5)),
    "regressions": ("n=20,000, d=10, k=3, σ=.2", regressions(0.2, 0.2, 0.2)),
    "regressions, unequal": ("the same, σ=.1, .2 and .4", regressions(0.1, 0.2, 0.4)),
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
            rows += _rows(name, n_runs, [deviation for each in answers for deviation in each])
    columns = ("model", "estimate", "of", "withheld", "covered", "error / stderr", "median stderr", "within 92-98 %")
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
        for estimate, found in answers.items()
        if not any(isinstance(doubt, UnlikelyMixtureWarning) for doubt in found.doubts)
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


def _rows(name: str, n_runs: int, deviations: list[Deviation]) -> list[tuple[str, ...]]:
    return [
        (name, estimate, parameter, *_judge(n_runs, [d for d in deviations if d[:2] == (estimate, parameter)]))
        for estimate in ("moments", "refined")
        for parameter in ("weight", "coordinate")
    ]


def _judge(n_runs: int, deviations: list[Deviation]) -> tuple[str, ...]:
    """Return how many runs were withheld, and the figures of the others."""
    given = [d for d in deviations if np.isfinite(d.stderr)]
    n_withheld = n_runs - len(given)
    if n_withheld > MAX_WITHHELD * n_runs:
        return (f"{n_withheld}", "", "", "", "withheld")
    stderr = np.array([d.stderr for d in given])
    scaled = np.array([d.error for d in given]) / stderr
    covered = float(np.mean(np.abs(scaled) <= NORMAL_95))
    within = "holds" if LEAST <= covered <= MOST else "FAILS"
    length = np.sqrt(np.mean(scaled**2))
    return (f"{n_withheld}", f"{100 * covered:.1f} %", f"{length:.2f}", f"{np.median(stderr):.2g}", within)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--runs", type=int, default=N_RUNS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run(quick=options.quick, only=options.only, runs=options.runs)
