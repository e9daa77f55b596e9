"""Measure how often the true number of components is found, and the time that counting adds to a fit.

Gaussians have centers of length 10. Beside ``n_components="auto"``: KN, Kritchman and Nadler's test at a level of .5 %
per eigenvalue; PA, parallel analysis with columns shuffled 19 times, a level of 5 %; both plus one; and for small data
BIC of scikit-learn's spherical GaussianMixture over 1 to k+4 components, three starts each, in the first four runs.
Mean k is what "auto" finds on average. Times are processor time on one thread, the median of the runs: of the fit that
counts, and of a fit that is given the number found.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from measuring import N_THREADS, print_table, ratio, seconds
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch, RegressionSearch, SubspaceSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_subspaces
from mixsearch.errors import UnlikelyMixtureWarning

FIRST_SEED = 1000
N_RUNS = 16
N_SHUFFLES = 19
# 99.5 % of the Tracy-Widom distribution of real samples lie below.
TRACY_WIDOM = 2.4224
OURS = '"auto"'
ALL_PEERS = ("KN", "PA", "BIC")


class Case(NamedTuple):
    """A kind of data whose number of components is known."""

    title: str
    k: int
    draw: Callable[[int], tuple[Any, ...]]  # from a seed to what `fit` takes
    search: Callable[[int | str], Any]
    peers: Sequence[str] = ()


class Counted(NamedTuple):
    """The number that a fit with "auto" found, its time, and that of a fit with this number given."""

    number: int
    counting: float
    plain: float


class Outcome(NamedTuple):
    """One run of one case."""

    ours: Counted
    peers: dict[str, int]


def gaussians(
    n: int,
    d: int,
    k: int,
    deviation: float | Sequence[float],
    *,
    rare: float | None = None,
    peers: Sequence[str] = ("KN", "PA"),
) -> Case:
    """Spherical Gaussians of one deviation or several; one of them may be rare."""
    each = np.broadcast_to(deviation, k)
    sigma = f"{each[0]:g}" if np.ptp(each) == 0 else f"{each.min():g} to {each.max():g}"
    weights = None if rare is None else np.array([rare, *[(1 - rare) / (k - 1)] * (k - 1)])

    def draw(seed: int) -> tuple[Array]:
        return (make_gaussian_mixture(n, d, k, deviation=each, weights=weights, random_state=seed).X,)

    title = f"n={n:,}, d={d}, k={k}, σ={sigma}" + ("" if rare is None else f", one of weight {rare:g}")
    return Case(title, k, draw, GaussianSearch, peers)


def regressions(n: int, d: int, k: int, deviation: float) -> Case:
    def draw(seed: int) -> tuple[Array, Array]:
        data = make_mixed_regression(n, d, k, deviation=deviation, random_state=seed)
        return data.X, data.y

    return Case(f"n={n:,}, d={d}, k={k}, σ={deviation:g}", k, draw, RegressionSearch)


def subspaces(n: int, d: int, k: int, dim: int, deviation: float) -> Case:
    def draw(seed: int) -> tuple[Array]:
        return (make_subspaces(n, d, k, dim=dim, deviation=deviation, random_state=seed).X,)

    return Case(f"n={n:,}, d={d}, k={k}, r={dim}, σ={deviation:g}", k, draw, partial(SubspaceSearch, dim=dim))


FAMILIES: dict[str, list[Case]] = {
    "Gaussians": [
        gaussians(2000, 30, 1, 1, peers=ALL_PEERS),
        gaussians(2000, 30, 10, 2, peers=ALL_PEERS),
        gaussians(500, 10, 5, 3, peers=ALL_PEERS),
        gaussians(150, 4, 3, 3, peers=ALL_PEERS),
        gaussians(2000, 20, 3, (0.5, 2, 4), peers=ALL_PEERS),
        gaussians(2000, 100, 5, (1, 1.75, 2.5, 3.25, 4)),
        gaussians(300, 500, 4, 2),
        gaussians(4000, 200, 5, 2, rare=0.02),
        gaussians(4000, 200, 20, 2),
        gaussians(4000, 200, 20, 2.5),
        gaussians(10_000, 500, 10, 0.5, peers=("KN",)),  # PA takes seconds a run
    ],
    "Regressions": [
        regressions(2000, 5, 1, 0.1),
        regressions(5000, 5, 3, 0.3),
        regressions(20_000, 20, 3, 0.1),
        regressions(20_000, 5, 5, 0.1),
        regressions(40_000, 20, 7, 0.1),
        regressions(100_000, 50, 3, 0.1),
    ],
    "Subspaces": [
        subspaces(2000, 50, 5, 4, 0.2),
        subspaces(400, 500, 3, 2, 0.1),
        subspaces(1000, 40, 4, 3, 0.5),
        subspaces(4000, 40, 4, 3, 0.5),
        subspaces(10_000, 500, 5, 10, 0.2),
    ],
}


def kritchman_nadler(X: Array, k: int) -> int:
    """One more than the eigenvalues of the covariance beyond what white noise gives.

    Notes
    -----
    "Non-parametric detection of the number of signals", 2009: the largest of the p eigenvalues that noise alone gives
    follows the Tracy-Widom distribution. Its level is the mean of the others, corrected for what signals take from it.
    """
    n, d = len(X) - 1, int(X.shape[1])
    values = _eigenvalues(X)
    for rank in range(min(n, d) - 1):
        level, p = _noise_level(values, rank, n, d), d - rank
        edge = (np.sqrt(n - 0.5) + np.sqrt(p - 0.5)) ** 2 / n
        spread = np.sqrt(edge / n) * (1 / np.sqrt(n - 0.5) + 1 / np.sqrt(p - 0.5)) ** (1 / 3)
        if values[rank] < level * (edge + TRACY_WIDOM * spread):
            return rank + 1
    return min(n, d)


def _noise_level(values: Array, rank: int, n: int, d: int) -> float:
    p, rest, signals = d - rank, values[rank:].sum(), values[:rank]
    level = rest / (p * (1 - rank / n))
    for _ in range(10):
        half = (signals + level - level * p / n) / 2
        true = half + np.sqrt(np.maximum(half**2 - signals * level, 0))
        level = (rest + (signals - true).sum()) / p
    return float(level)


def parallel_analysis(X: Array, k: int) -> int:
    """One more than the leading eigenvalues above all those of the same rank in data with shuffled columns."""
    rng = np.random.default_rng(0)
    shuffled = np.max([_eigenvalues(rng.permuted(X, axis=0)) for _ in range(N_SHUFFLES)], axis=0)
    return int(np.argmin(np.append(_eigenvalues(X) > shuffled, False))) + 1


def _eigenvalues(X: Array) -> Array:
    """Return the eigenvalues of the covariance in decreasing order, (min(n, d),)."""
    centered = X - X.mean(axis=0)
    gram = centered.T @ centered if X.shape[1] <= len(X) else centered @ centered.T
    return np.linalg.eigvalsh(gram)[::-1] / (len(X) - 1)


def lowest_bic(X: Array, k: int) -> int:
    numbers = range(1, k + 5)
    mixtures = [GaussianMixture(j, covariance_type="spherical", n_init=3, random_state=0).fit(X) for j in numbers]
    return numbers[int(np.argmin([mixture.bic(X) for mixture in mixtures]))]


PEERS: dict[str, Callable[[Array, int], int]] = {
    "KN": kritchman_nadler,
    "PA": parallel_analysis,
    "BIC": lowest_bic,
}
# It takes seconds: in this many of the runs of a case only.
FEWER = {"BIC": 4}


def run(*, quick: bool = False) -> None:
    n_runs = 2 if quick else N_RUNS
    with Parallel(n_jobs=N_THREADS) as parallel:
        for family, cases in FAMILIES.items():
            asked = cases[:1] if quick else cases
            outcomes = parallel(delayed(_one_run)(case, i) for case in asked for i in range(n_runs))
            by_case = [outcomes[i * n_runs : (i + 1) * n_runs] for i in range(len(asked))]
            _print_outcomes(f"{family}, {n_runs} runs each", asked, by_case)


def _one_run(case: Case, i: int) -> Outcome:
    samples = case.draw(FIRST_SEED + i)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peers = {name: PEERS[name](samples[0], case.k) for name in case.peers if i < FEWER.get(name, i + 1)}
        return Outcome(_count(case.search, samples), peers)


def _count(search: Callable[[int | str], Any], samples: tuple[Any, ...]) -> Counted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlikelyMixtureWarning)
        start = time.process_time()
        number = search("auto").fit(*samples).n_components_
        between = time.process_time()
        search(number).fit(*samples)
        return Counted(number, between - start, time.process_time() - between)


def _print_outcomes(title: str, cases: Sequence[Case], by_case: Sequence[Sequence[Outcome]]) -> None:
    peers = [name for name in PEERS if any(name in case.peers for case in cases)]
    rows = []
    for case, outcomes in zip(cases, by_case, strict=True):
        ours = [outcome.ours for outcome in outcomes]
        numbers = {name: [o.peers[name] for o in outcomes if name in o.peers] for name in peers}
        rows.append(
            (
                case.title,
                _share([counted.number for counted in ours], case.k),
                *[_share(numbers[name], case.k) for name in peers],
                f"{np.mean([counted.number for counted in ours]):.2f}",
                *_times(ours),
            )
        )
    print_table(title, ("data", OURS, *peers, "mean k", "auto fit", "plain fit", "ratio"), rows)


def _share(numbers: Sequence[int], k: int) -> str:
    return f"{numbers.count(k)} of {len(numbers)}" if numbers else ""


def _times(counted: Sequence[Counted]) -> tuple[str, str, str]:
    counting, plain = np.median([(c.counting, c.plain) for c in counted], axis=0)
    return seconds(counting), seconds(plain), ratio(counting / plain)


if __name__ == "__main__":
    run()
