"""Refinement by EM: its error compared with the best possible, and its cost.

Errors are distances from the truth (for subspaces the sine of the largest angle), ratios means over seeds and
components. MLE: EM of the whole mixture, started at the truth, until it gains nothing; for topics tomotopy's Gibbs
sampler with the true priors in its place. Oracle: knows every label (for topics every document's shares).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import floors
import numpy as np
from joblib import Parallel, delayed
from measuring import N_THREADS, measure_together, print_table, seconds, verdict
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits
from workloads import draw_shaped_gaussians

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics
from mixsearch.errors import SearchWarning
from mixsearch.gaussian import COVARIANCES, Covariance

GAMMA = 0.7
CONCENTRATION = 0.1
ESTIMATES = ("moments", "refined", "mle", "oracle")


@dataclass(frozen=True, slots=True)
class Mixture:
    """A generated mixture with its truth, and the hints for its components."""

    fit: Callable[[], Any]
    hints: list[dict[str, Any]]  # arguments of `search`, one per component
    truth: Array  # (k, ...)
    oracle: Callable[[], Array]
    mle: Callable[[], Array | None]  # None where a package is missing
    one_pass: Callable[[], Array]  # over the samples
    read: Callable[[Any], Array] = lambda found: found.center
    distance: Callable[[Array, Array], float] = lambda one, other: float(np.linalg.norm(one - other))


class Setting(NamedTuple):
    """A mixture of the comparison, and how far a refined estimate may stay behind a floor."""

    draw: Callable[[int, bool], Mixture]
    floor: str
    limit: float


class Errors(NamedTuple):
    """Errors of all components for one seed, (k,) each."""

    moments: Array
    refined: Array
    mle: Array
    oracle: Array


def gaussians(
    deviation: float | Array, n_samples: int = 10_000, n_features: int = 500, k: int = 10, norm: float = 10.0
) -> Callable[[int, bool], Mixture]:
    def draw(seed: int, quick: bool) -> Mixture:
        n = 2_000 if quick else n_samples
        data = make_gaussian_mixture(n, n_features, k, deviation=deviation, norm=norm, random_state=seed)
        weights = np.ones(len(data.X))
        return Mixture(
            fit=lambda: GaussianSearch(k).fit(data.X),
            hints=[{"hint": make_hint(data.centers, i, gamma=GAMMA)} for i in range(k)],
            truth=data.centers,
            oracle=data.oracle,
            mle=lambda: floors.gaussian_mle(data),
            one_pass=lambda: data.X.T @ weights,
        )

    return draw


def shaped_gaussians(shape: Covariance) -> Callable[[int, bool], Mixture]:
    """Four Gaussians of one shape in ten dimensions, fitted with that shape."""

    def draw(seed: int, quick: bool) -> Mixture:
        data = draw_shaped_gaussians(4_000 if quick else 20_000, 10, 4, shape, norm=4.0, seed=seed)
        weights = np.ones(len(data.X))
        return Mixture(
            fit=lambda: GaussianSearch(4, covariance=shape).fit(data.X),
            # Some of these centers score less than others under any hint of strength .7.
            hints=[{"examples": data.X[data.labels == i][:5]} for i in range(4)],
            truth=data.centers,
            oracle=data.oracle,
            mle=lambda: floors.shaped_mle(data, shape),
            one_pass=lambda: data.X.T @ weights,
        )

    return draw


def unequal_gaussians(ratio: float) -> Callable[[int, bool], Mixture]:
    """Draw three Gaussians in ten dimensions whose variances differ by a factor; the middle one has variance 1."""
    return gaussians(ratio ** np.array([-0.25, 0.0, 0.25]), 20_000, 10, 3, norm=3.0)


def regressions(n_components: int, deviation: float) -> Callable[[int, bool], Mixture]:
    def draw(seed: int, quick: bool) -> Mixture:
        n = 20_000 if quick else 100_000
        data = make_mixed_regression(n, 50, n_components, deviation=deviation, random_state=seed)
        return Mixture(
            fit=lambda: RegressionSearch(n_components).fit(data.X, data.y),
            hints=[{"hint": make_hint(data.centers, i, gamma=GAMMA)} for i in range(n_components)],
            truth=data.centers,
            oracle=data.oracle,
            mle=lambda: floors.regression_mle(data, deviation),
            one_pass=lambda: data.X.T @ data.y,
        )

    return draw


def subspaces(deviation: float) -> Callable[[int, bool], Mixture]:
    def draw(seed: int, quick: bool) -> Mixture:
        n = 4_000 if quick else 10_000
        data = make_subspaces(n, 500, 5, dim=10, deviation=deviation, random_state=seed)
        rng, weights = np.random.default_rng(seed), np.ones(n)
        members = [data.X[data.labels == i] for i in range(5)]
        return Mixture(
            fit=lambda: SubspaceSearch(5, dim=10).fit(data.X),
            # At σ=.5 one sample is mostly noise and singles out no subspace; ten fill theirs.
            hints=[{"examples": X[rng.choice(len(X), 10, replace=False)]} for X in members],
            truth=data.bases,
            oracle=data.oracle,
            mle=lambda: floors.subspace_mle(data, deviation),
            one_pass=lambda: data.X.T @ weights,
            read=lambda found: found.basis,
            distance=lambda one, other: float(np.linalg.norm(one - other @ (other.T @ one), 2)),
        )

    return draw


def topics(seed: int, quick: bool) -> Mixture:
    data = make_topics(
        1_000 if quick else 4_000, 500, 5, mean_length=50, alpha=0.2, concentration=CONCENTRATION, random_state=seed
    )
    weights = np.ones(data.counts.shape[0])
    return Mixture(
        fit=lambda: LdaSearch(5, alpha0=1.0).fit(data.counts),
        hints=[{"words": data.labelled_word(i)} for i in range(5)],
        truth=data.topics,
        oracle=data.oracle,
        mle=lambda: floors.topic_gibbs(data, CONCENTRATION, seed),
        one_pass=lambda: data.counts.T @ weights,
    )


SETTINGS = {
    "Gaussians, σ=.5": Setting(gaussians(0.5), "mle", 1.02),
    "Gaussians, σ=2": Setting(gaussians(2.0), "mle", 1.05),
    "Gaussians, variances 1:4": Setting(unequal_gaussians(4.0), "mle", 1.01),
    "Gaussians, variances 1:16": Setting(unequal_gaussians(16.0), "mle", 1.01),
    "Gaussians, variances 1:64": Setting(unequal_gaussians(64.0), "mle", 1.01),
    **{f"Gaussians, {shape}": Setting(shaped_gaussians(shape), "mle", 1.01) for shape in COVARIANCES},
    "regressions, k=3, σ=.1": Setting(regressions(3, 0.1), "mle", 1.1),
    "regressions, k=5, σ=.3": Setting(regressions(5, 0.3), "mle", 1.2),
    "subspaces, σ=.2": Setting(subspaces(0.2), "oracle", 1.05),
    "subspaces, σ=.5": Setting(subspaces(0.5), "oracle", 1.3),
    "topics": Setting(topics, "mle", 1.1),
}


def run(*, quick: bool = False, seeds: int = 10, only: str = "") -> None:
    settings = {name: setting for name, setting in SETTINGS.items() if only in name}
    n_seeds = 2 if quick else seeds
    errors = {name: _errors(setting, n_seeds, quick) for name, setting in settings.items()}
    _print_errors(errors, settings, n_seeds)
    with threadpool_limits(N_THREADS):
        _print_times(settings, quick)
        _print_check(quick)


def _errors(setting: Setting, n_seeds: int, quick: bool) -> Errors:
    with Parallel(n_jobs=N_THREADS) as parallel:
        rows = parallel(delayed(_one_seed)(setting.draw, seed, quick) for seed in range(n_seeds))
    return Errors(*(np.concatenate(each) for each in zip(*rows, strict=True)))


def _one_seed(draw: Callable[[int, bool], Mixture], seed: int, quick: bool) -> Errors:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchWarning)
        mixture = draw(seed, quick)
        search = mixture.fit()
        found = [search.search(**hint, refine=True) for hint in mixture.hints]
        estimates = (
            [mixture.read(each.moment_estimate) for each in found],
            [mixture.read(each) for each in found],
            mixture.mle(),
            mixture.oracle(),
        )
    return Errors(*(_distances(mixture, estimate) for estimate in estimates))


def _distances(mixture: Mixture, estimates: Any) -> Array:
    if estimates is None:
        return np.full(len(mixture.truth), np.nan)
    return np.array([mixture.distance(*pair) for pair in zip(estimates, mixture.truth, strict=True)])


def _print_errors(errors: dict[str, Errors], settings: dict[str, Setting], n_seeds: int) -> None:
    def row(name: str, e: Errors) -> tuple[str, ...]:
        ratios = (e.moments / e.mle, e.refined / e.mle, e.refined / e.oracle)
        means = (f"{each.mean():.3g}" for each in e)
        return (name, *means, *(f"{r.mean():.3f}" for r in ratios), f"{(e.refined / e.moments).max():.2f}")

    columns = ("mixture", *ESTIMATES, "moments/MLE", "refined/MLE", "refined/oracle", "worst refined/moments")
    print_table(f"mean error; {n_seeds} seeds, all components", columns, [row(*item) for item in errors.items()])
    print()
    for name, e in errors.items():
        _, floor, limit = settings[name]
        value = float(np.mean(e.refined / getattr(e, floor)))
        if np.isnan(value):
            print(f"- {name}: no floor, since tomotopy is not installed (requirements/peers.txt)")
        else:
            print(verdict(f"{name}: refined / {floor}", value, limit))


def _print_times(settings: dict[str, Setting], quick: bool) -> None:
    rows = [(name, *_times(setting.draw(0, quick), 2 if quick else 5)) for name, setting in settings.items()]
    columns = ("mixture", "fit", "search", "first refined", "refined", "one pass", "first", "further")
    print_table(f"time, {N_THREADS} threads; the last two columns: refined / (3 searches + one pass)", columns, rows)


def _times(mixture: Mixture, repeats: int) -> tuple[str, ...]:
    """Measure the times for the first hint. The first refined search also pays for what further ones reuse."""
    hint, read = mixture.hints[0], mixture.read
    fits = [mixture.fit() for _ in range(repeats + 1)]
    fresh = iter(fits)
    works: dict[str, Callable[[], Any]] = {
        "fit": mixture.fit,
        "plain": lambda: read(fits[-1].search(**hint)),
        "first": lambda: read(next(fresh).search(**hint, refine=True)),
        "refined": lambda: read(fits[0].search(**hint, refine=True)),
        "one pass": mixture.one_pass,
    }
    costs = [cost.seconds for cost in measure_together(works, repeats).values()]
    _, plain, first, refined, one_pass = costs
    allowed = 3 * plain + one_pass
    return (*map(seconds, costs), f"{first / allowed:.2f}", f"{refined / allowed:.2f}")


def _print_check(quick: bool) -> None:
    """Check that EM from the truth agrees with scikit-learn's EM from the same start."""
    data = make_gaussian_mixture(2_000 if quick else 10_000, 500, 10, deviation=2.0, random_state=0)
    start = {"weights_init": data.weights, "means_init": data.centers, "precisions_init": data.deviations**-2.0}
    peer = GaussianMixture(
        10, covariance_type="spherical", tol=1e-9, max_iter=1000, reg_covar=0, random_state=0, **start
    )
    apart = np.abs(peer.fit(data.X).means_ - floors.gaussian_mle(data)).max()
    print(f"\n- EM from the truth and scikit-learn's GaussianMixture, σ=2: coordinates differ by at most {apart:.1g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="", help="mixtures with this in their name")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run(quick=options.quick, seeds=options.seeds, only=options.only)
