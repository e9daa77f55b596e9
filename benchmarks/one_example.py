"""One known sample of a component, and nothing else: who finds the component, how well, and in what time.

Every run takes one sample of a mixture (n=10,000, d=500, k=10, centers of length 10) as what is known. Peers start from
it and nine samples at random and answer with the center that grew out of it; k-means with ten restarts answers with the
center nearest to it. A run counts as found where the answer is nearer to the sample's own true center than to any other
and its error within 1.5 times that of the mean of all true members. Times have the fit in them, one thread each.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from measuring import print_table, run_seeds, seconds
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture

K, N_SETS, RUNS_PER_SET, CLOSE = 10, 10, 10, 1.5
DEVIATIONS = (0.5, 2.0)


class Outcome(NamedTuple):
    """One run of one method."""

    method: str
    is_found: bool
    ratio: float  # of the error to that of the oracle
    seconds: float


def search(X: Array, start: Array, refine: bool) -> Array:
    return GaussianSearch(K).fit(X).search(examples=start[:1], refine=refine).center


def fit_mixture(X: Array, start: Array) -> Array:
    wide = np.full(K, 1 / X.var(axis=0).mean())
    mixture = GaussianMixture(
        K, covariance_type="spherical", means_init=start, precisions_init=wide, init_params="random_from_data"
    )
    return np.asarray(mixture.fit(X).means_[0])


def restart_kmeans(X: Array, start: Array) -> Array:
    centers = KMeans(K, n_init=10, random_state=0).fit(X).cluster_centers_
    return np.asarray(centers[np.argmin(np.linalg.norm(centers - start[0], axis=1))])


# Methods of all samples and of a start, whose first row is the known sample, with the runs of each data set.
METHODS: dict[str, tuple[Callable[[Array, Array], Array], int]] = {
    "GaussianSearch": (lambda X, start: search(X, start, refine=False), RUNS_PER_SET),
    "GaussianSearch, refined": (lambda X, start: search(X, start, refine=True), RUNS_PER_SET),
    "GaussianMixture from the sample": (fit_mixture, 4),
    "KMeans from the sample": (
        lambda X, start: KMeans(K, init=start, n_init=1).fit(X).cluster_centers_[0],
        RUNS_PER_SET,
    ),
    "KMeans, 10 restarts, nearest center": (restart_kmeans, 3),
}


def try_methods(deviation: float, seed: int, n: int, n_runs: int) -> list[Outcome]:
    data, rng = make_gaussian_mixture(n, 500, K, deviation=deviation, random_state=seed), np.random.default_rng(seed)
    oracle, outcomes = np.linalg.norm(data.oracle() - data.centers, axis=1), []
    for attempt in range(n_runs):
        rows = rng.choice(n, K, replace=False)
        label = data.labels[rows[0]]
        for name, (method, n_tried) in METHODS.items():
            if attempt < n_tried:
                start = time.perf_counter()
                center = method(data.X, data.X[rows])
                spent = time.perf_counter() - start
                distances = np.linalg.norm(data.centers - center, axis=1)
                ratio = float(distances[label] / oracle[label])
                outcomes.append(Outcome(name, distances.argmin() == label and ratio <= CLOSE, ratio, spent))
    return outcomes


def run(*, quick: bool = False) -> None:
    warnings.simplefilter("ignore")
    n, n_sets, n_runs = (2_000, 1, 2) if quick else (10_000, N_SETS, RUNS_PER_SET)
    for deviation in DEVIATIONS:
        sets = run_seeds(lambda seed, deviation=deviation: try_methods(deviation, seed, n, n_runs), n_sets)
        rows = []
        for name in METHODS:
            runs = [outcome for outcomes in sets for outcome in outcomes if outcome.method == name]
            found, ratio = sum(each.is_found for each in runs), np.median([each.ratio for each in runs])
            time_spent = float(np.median([each.seconds for each in runs]))
            rows.append((name, f"{found} of {len(runs)}", f"{ratio:.3f}", seconds(time_spent)))
        print_table(f"σ={deviation:g}", ("method", "found", "ratio to oracle", "time"), rows)


if __name__ == "__main__":
    run()
