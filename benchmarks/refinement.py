"""Errors of the paper's estimates, of moments and of refinement by EM, compared with the best possible; and their cost.

Errors are distances from the truth (for subspaces the sine of the largest angle), ratios means over seeds and
components. MLE: EM of the whole mixture, started at the truth, until it gains nothing; for topics tomotopy's Gibbs
sampler with the true priors in its place. Oracle: knows every label (for topics every document's shares). Times are CPU
times on one thread, the least of all seeds; the first refined search also pays for what further ones reuse.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import floors
import numpy as np
from measuring import print_table, run_seeds, seconds
from workloads import draw_shaped_gaussians

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics
from mixsearch.gaussian import COVARIANCES, Covariance

GAMMA = 0.7
CONCENTRATION = 0.1


@dataclass(frozen=True, slots=True)
class Mixture:
    """A generated mixture with its truth, and the hints for its components."""

    fit: Callable[[str], Any]  # from a preset
    hints: list[dict[str, Any]]  # arguments of `search`, one per component
    truth: Array  # (k, ...)
    oracle: Callable[[], Array]
    mle: Callable[[], Array | None]  # None where a package is missing
    read: Callable[[Any], Array] = lambda component: component.center
    distance: Callable[[Array, Array], float] = lambda one, other: float(np.linalg.norm(one - other))


class Errors(NamedTuple):
    """Errors of all components, (k,) each."""

    paper: Array
    moments: Array
    refined: Array
    mle: Array
    oracle: Array


Draw = Callable[[int, bool], Mixture]  # from a seed, and whether it is to be quick


def gaussians(
    deviation: float | Array, n_samples: int = 10_000, n_features: int = 500, k: int = 10, norm: float = 10.0
) -> Draw:
    def draw(seed: int, quick: bool) -> Mixture:
        n = 2_000 if quick else n_samples
        data = make_gaussian_mixture(n, n_features, k, deviation=deviation, norm=norm, random_state=seed)
        return Mixture(
            fit=lambda preset: GaussianSearch(k, preset=preset).fit(data.X),
            hints=[{"hint": make_hint(data.centers, i, gamma=GAMMA)} for i in range(k)],
            truth=data.centers,
            oracle=data.oracle,
            mle=lambda: floors.gaussian_mle(data, "spherical", data.deviations**-2.0),
        )

    return draw


def shaped_gaussians(shape: Covariance) -> Draw:
    """Four Gaussians of one shape in ten dimensions, fitted with that shape."""

    def draw(seed: int, quick: bool) -> Mixture:
        data = draw_shaped_gaussians(4_000 if quick else 20_000, 10, 4, shape, norm=4.0, seed=seed)
        return Mixture(
            fit=lambda preset: GaussianSearch(4, covariance=shape, preset=preset).fit(data.X),
            # Some of these centers score less than others under any hint of strength .7.
            hints=[{"examples": data.X[data.labels == i][:5]} for i in range(4)],
            truth=data.centers,
            oracle=data.oracle,
            mle=lambda: floors.gaussian_mle(data, shape, data.precisions(shape)),
        )

    return draw


def unequal_gaussians(ratio: float) -> Draw:
    """Draw three Gaussians in ten dimensions whose variances differ by a factor; the middle one has variance 1."""
    return gaussians(ratio ** np.array([-0.25, 0.0, 0.25]), 20_000, 10, 3, norm=3.0)


def regressions(n_components: int, deviation: float) -> Draw:
    def draw(seed: int, quick: bool) -> Mixture:
        n = 20_000 if quick else 100_000
        data = make_mixed_regression(n, 50, n_components, deviation=deviation, random_state=seed)
        return Mixture(
            fit=lambda preset: RegressionSearch(n_components, preset=preset).fit(data.X, data.y),
            hints=[{"hint": make_hint(data.centers, i, gamma=GAMMA)} for i in range(n_components)],
            truth=data.centers,
            oracle=data.oracle,
            mle=lambda: floors.regression_mle(data, deviation),
        )

    return draw


def subspaces(deviation: float) -> Draw:
    def draw(seed: int, quick: bool) -> Mixture:
        n = 4_000 if quick else 10_000
        data = make_subspaces(n, 500, 5, dim=10, deviation=deviation, random_state=seed)
        rng = np.random.default_rng(seed)
        members = [data.X[data.labels == i] for i in range(5)]
        return Mixture(
            fit=lambda preset: SubspaceSearch(5, dim=10, preset=preset).fit(data.X),
            # At σ=.5 one sample is mostly noise and singles out no subspace; ten fill theirs.
            hints=[{"examples": X[rng.choice(len(X), 10, replace=False)]} for X in members],
            truth=data.bases,
            oracle=data.oracle,
            mle=lambda: floors.subspace_mle(data, deviation),
            read=lambda found: found.basis,
            distance=lambda one, other: float(np.linalg.norm(one - other @ (other.T @ one), 2)),
        )

    return draw


def topics(seed: int, quick: bool) -> Mixture:
    data = make_topics(
        1_000 if quick else 4_000, 500, 5, mean_length=50, alpha=0.2, concentration=CONCENTRATION, random_state=seed
    )
    return Mixture(
        fit=lambda preset: LdaSearch(5, alpha0=1.0, preset=preset).fit(data.counts),
        hints=[{"words": data.labelled_word(i)} for i in range(5)],
        truth=data.topics,
        oracle=data.oracle,
        mle=lambda: floors.topic_gibbs(data, CONCENTRATION, seed),
    )


MIXTURES: dict[str, Draw] = {
    "Gaussians, σ=.5": gaussians(0.5),
    "Gaussians, σ=2": gaussians(2.0),
    "Gaussians, variances 1:4": unequal_gaussians(4.0),
    "Gaussians, variances 1:16": unequal_gaussians(16.0),
    "Gaussians, variances 1:64": unequal_gaussians(64.0),
    **{f"Gaussians, {shape}": shaped_gaussians(shape) for shape in COVARIANCES},
    "regressions, k=3, σ=.1": regressions(3, 0.1),
    "regressions, k=5, σ=.3": regressions(5, 0.3),
    "subspaces, σ=.2": subspaces(0.2),
    "subspaces, σ=.5": subspaces(0.5),
    "topics": topics,
}


def run(*, quick: bool = False, seeds: int = 10, only: str = "") -> None:
    errors, times, n_seeds = [], [], 2 if quick else seeds
    for name, draw in MIXTURES.items():
        if only in name:
            runs = run_seeds(partial(try_seed, draw, quick), n_seeds)
            by_seed, costs = zip(*runs, strict=True)
            e = Errors(*np.concatenate(by_seed, axis=1))
            ratios = (e.moments / e.mle, e.refined / e.mle, e.refined / e.oracle)
            means = (f"{each.mean():.3g}" for each in e)
            errors.append((name, *means, *(f"{r.mean():.3f}" for r in ratios), f"{(e.refined / e.moments).max():.2f}"))
            times.append((name, *map(seconds, np.min(costs, axis=0))))
    columns = ("mixture", *Errors._fields, "moments/MLE", "refined/MLE", "refined/oracle", "worst refined/moments")
    print_table(f"mean error; {n_seeds} seeds, all components", columns, errors)
    print_table("CPU time", ("mixture", "fit", "first refined search", "further"), times)


def try_seed(draw: Draw, quick: bool, seed: int) -> tuple[Errors, list[float]]:
    """Search all components of one mixture, and time a fit and the refined searches."""
    mixture = draw(seed, quick)
    times = [time.process_time()]
    search = mixture.fit("default")
    times.append(time.process_time())
    refined = []
    for hint in mixture.hints:
        refined.append(search.search(**hint, refine=True))
        mixture.read(refined[-1])
        times.append(time.process_time())
    paper = mixture.fit("paper")
    estimates = (
        [mixture.read(paper.search(**hint, refine=False)) for hint in mixture.hints],
        [mixture.read(component.moment_estimate) for component in refined],
        [mixture.read(component) for component in refined],
        mixture.mle(),
        mixture.oracle(),
    )
    fit, first, *further = np.diff(times)
    return Errors(*(measure_distances(mixture, estimate) for estimate in estimates)), [fit, first, min(further)]


def measure_distances(mixture: Mixture, estimates: Any) -> Array:
    if estimates is None:
        return np.full(len(mixture.truth), np.nan)
    return np.array([mixture.distance(*pair) for pair in zip(estimates, mixture.truth, strict=True)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="", help="mixtures with this in their name")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run(quick=options.quick, seeds=options.seeds, only=options.only)
