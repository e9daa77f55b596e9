"""One known sample of a component, and nothing else: who finds the component, how well, and in what time.

Every run takes one sample of a mixture (n=10,000, d=500, k=10, centers of length 10) as what is known. Peers start from
it and nine samples at random and answer with the center that grew out of it; k-means with ten restarts answers with the
center nearest to it. A run counts as found where the answer is nearer to the sample's own true center than to any other
and its error within 1.5 times that of the mean of all true members. Times have the fit in them, one thread each.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from measuring import N_THREADS, print_table, ratio, seconds, verdict
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.datasets.mixtures import GaussianMixtureData
from mixsearch.errors import WeakHintWarning

K = 10
DEVIATIONS = (0.5, 2.0)
RUNS_PER_SET = 10
CLOSE = 1.5
OURS, OURS_REFINED, RESTARTED = "GaussianSearch", "GaussianSearch, refined", "KMeans, 10 restarts, nearest center"


class Known(NamedTuple):
    """The input of a method: all samples, one that is known, and nine others to start from."""

    X: Array
    sample: Array  # (d,)
    others: Array  # (k - 1, d)

    @property
    def start(self) -> Array:
        """The known sample first, (k, d)."""
        return np.vstack([self.sample, self.others])


class Outcome(NamedTuple):
    """One run of one method."""

    method: str
    error: float
    oracle: float
    own: bool  # no other component is nearer
    seconds: float

    @property
    def found(self) -> bool:
        """Whether this is the component, about as exact as it can be."""
        return self.own and self.error <= CLOSE * self.oracle


def by_moments(known: Known) -> Array:
    return GaussianSearch(K).fit(known.X).search(examples=known.sample[None]).center


def by_refined_moments(known: Known) -> Array:
    return GaussianSearch(K).fit(known.X).search(examples=known.sample[None], refine=True).center


def by_mixture(known: Known) -> Array:
    peer = GaussianMixture(K, covariance_type="spherical", means_init=known.start, random_state=0)
    return np.asarray(peer.fit(known.X).means_[0])


def by_wide_mixture(known: Known) -> Array:
    peer = GaussianMixture(
        K,
        covariance_type="spherical",
        means_init=known.start,
        weights_init=np.full(K, 1 / K),
        precisions_init=np.full(K, 1 / known.X.var(axis=0).mean()),
        init_params="random_from_data",
        random_state=0,
    )
    return np.asarray(peer.fit(known.X).means_[0])


def by_kmeans(known: Known) -> Array:
    return np.asarray(KMeans(K, init=known.start, n_init=1).fit(known.X).cluster_centers_[0])


def by_restarted_kmeans(known: Known) -> Array:
    centers = KMeans(K, n_init=10, random_state=0).fit(known.X).cluster_centers_
    return np.asarray(centers[np.argmin(np.linalg.norm(centers - known.sample, axis=1))])


METHODS: dict[str, Callable[[Known], Array]] = {
    OURS: by_moments,
    OURS_REFINED: by_refined_moments,
    "GaussianMixture from the sample": by_mixture,
    "the same, wide at first": by_wide_mixture,
    "KMeans from the sample": by_kmeans,
    RESTARTED: by_restarted_kmeans,
}
# Methods that take seconds, in this many of the runs of each data set only.
FEWER = {"GaussianMixture from the sample": 4, "the same, wide at first": 4, RESTARTED: 3}


def run(*, quick: bool = False) -> None:
    for deviation in DEVIATIONS:
        with Parallel(n_jobs=N_THREADS) as parallel:
            sets = parallel(delayed(_one_set)(deviation, seed, quick) for seed in range(1 if quick else 10))
        _print_outcomes(deviation, [outcome for outcomes in sets for outcome in outcomes])


def _one_set(deviation: float, seed: int, quick: bool) -> list[Outcome]:
    data = make_gaussian_mixture(2_000 if quick else 10_000, 500, K, deviation=deviation, random_state=seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return list(_outcomes(data, np.random.default_rng(seed), 2 if quick else RUNS_PER_SET))


def _outcomes(data: GaussianMixtureData, rng: np.random.Generator, n_runs: int) -> Iterator[Outcome]:
    oracle = np.linalg.norm(data.oracle() - data.centers, axis=1)
    by_moments(Known(data.X[:1000], data.X[0], data.X[:0]))  # what the first call loads is not part of any time
    for attempt in range(n_runs):
        rows = rng.choice(len(data.X), K, replace=False)
        known, label = Known(data.X, data.X[rows[0]], data.X[rows[1:]]), data.labels[rows[0]]
        for method, answer in METHODS.items():
            if attempt < FEWER.get(method, n_runs):
                start = time.perf_counter()
                center = answer(known)
                spent = time.perf_counter() - start
                distances = np.linalg.norm(data.centers - center, axis=1)
                own = int(distances.argmin()) == label
                yield Outcome(method, float(distances[label]), float(oracle[label]), own, spent)


def _print_outcomes(deviation: float, outcomes: list[Outcome]) -> None:
    by_method = {name: [o for o in outcomes if o.method == name] for name in METHODS}
    times = {name: float(np.median([o.seconds for o in runs])) for name, runs in by_method.items()}
    rows = [
        (
            name,
            f"{sum(o.found for o in runs)} of {len(runs)}",
            f"{sum(o.own for o in runs)} of {len(runs)}",
            f"{np.median([o.error for o in runs]):.3f}",
            f"{np.mean([o.error for o in runs]):.3f}",
            f"{np.median([o.error / o.oracle for o in runs]):.3f}",
            seconds(times[name]),
            ratio(times[name] / times[OURS]),
        )
        for name, runs in by_method.items()
    ]
    columns = ("method", "found", "own nearest", "median error", "mean", "ratio to oracle", "time", "ratio")
    print_table(f"σ={deviation:g}", columns, rows)
    found = {name: 100 * np.mean([not o.found for o in by_method[name]]) for name in (OURS, OURS_REFINED)}
    print()
    print(verdict("runs in which the refined search misses", found[OURS_REFINED], 1, " %"))
    print(verdict(f"refined search / {RESTARTED}", times[OURS_REFINED] / times[RESTARTED], 0.1))


if __name__ == "__main__":
    run()
