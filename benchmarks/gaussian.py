"""One search in a Gaussian mixture compared with EM for the whole mixture: time, memory, error."""

from __future__ import annotations

import numpy as np
from measuring import N_THREADS, measure, measure_together, megabytes, print_table, ratio, seconds, verdict
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits
from workloads import gaussian_workload

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_hint
from mixsearch.datasets.mixtures import GaussianMixtureData

FIRST_LIMIT = 0.25
FURTHER_LIMIT = 0.02


def run(*, quick: bool = False) -> None:
    data = gaussian_workload(quick=quick)
    hints = [make_hint(data.centers, i, gamma=0.7) for i in range(len(data.centers))]
    k, repeats = len(hints), 2 if quick else 10
    with threadpool_limits(N_THREADS):
        peer, first, fit = measure_together(
            {
                "peer": lambda: GaussianMixture(k, covariance_type="spherical", random_state=0).fit(data.X),
                "first": lambda: GaussianSearch(k).fit(data.X).search(hints[0]).center,
                "fit": lambda: GaussianSearch(k).fit(data.X),
            },
            repeats,
        ).values()
        search = fit.result
        further = measure(lambda: search.search(hints[1]).center, 20)
        many = measure(lambda: [search.search(hint) for hint in hints], 10)
    rows = [
        (name, seconds(cost.seconds), ratio(cost.seconds / peer.seconds), megabytes(cost.peak))
        for name, cost in {
            "GaussianMixture.fit, spherical": peer,
            "GaussianSearch.fit + one search": first,
            "GaussianSearch.fit": fit,
            "a further search": further,
            f"searches for {k} hints": many,
        }.items()
    ]
    n, d = data.X.shape
    print_table(f"Gaussians, n={n:,}, d={d}, k={k}, σ=.5", ("work", "time", "ratio", "peak memory"), rows)
    print()
    if not quick:
        print(verdict("fit + one search / GaussianMixture.fit", first.seconds / peer.seconds, FIRST_LIMIT))
        print(verdict("further search / GaussianMixture.fit", further.seconds / peer.seconds, FURTHER_LIMIT))
    print(f"- GaussianMixture took {peer.result.n_iter_} EM steps; converged: {peer.result.converged_}")
    _print_errors(data, np.array([found.center for found in many.result]), peer.result.means_)


def _print_errors(data: GaussianMixtureData, found: Array, fitted: Array) -> None:
    """Distances from the true centers, mean and worst over the components."""
    oracle = np.array([data.X[data.labels == i].mean(axis=0) for i in range(len(data.centers))])
    nearest = np.linalg.norm(data.centers[:, None] - fitted[None], axis=2).min(axis=1)
    errors = {
        "GaussianSearch, one hint each": np.linalg.norm(found - data.centers, axis=1),
        "GaussianMixture, its nearest center": nearest,
        "oracle: mean of the true members": np.linalg.norm(oracle - data.centers, axis=1),
    }
    best = errors["oracle: mean of the true members"]
    rows = [(name, f"{e.mean():.4f}", f"{e.max():.4f}", f"{np.mean(e / best):.3f}") for name, e in errors.items()]
    print_table("error of the centers", ("centers", "mean", "worst", "mean ratio to oracle"), rows)


if __name__ == "__main__":
    run()
