"""Compare a search with an oracle that knows every label, and with the paper's own estimates."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from measuring import N_THREADS, print_table
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics
from mixsearch.errors import WeakHintWarning

GAMMA = 0.7


class Outcome(NamedTuple):
    """One component of one seed, by one method."""

    method: str
    error: float
    oracle: float
    found_it: bool  # the target is nearer than all other components


def run(*, quick: bool = False, seeds: int = 10) -> None:
    families: dict[str, Callable[[int], Iterator[Outcome]]] = {
        "Gaussians, n=10,000, d=500, k=10, σ=.5; oracle: mean of the true members": gaussians,
        "Topics, k=5, d=500, 4,000 documents of 50 words, α₀=1; oracle: least squares on the true shares": topics,
        "Regressions, n=100,000, d=50, k=3, σ=.1; oracle: least squares on the true members": regressions,
        "Subspaces, n=10,000, d=500, k=5, r=10, σ=.2; oracle: top eigenvectors of the true members": subspaces,
    }
    n_seeds = min(seeds, 2) if quick else seeds
    with threadpool_limits(N_THREADS), warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)
        for title, outcomes in families.items():
            _print_outcomes(f"{title}; {n_seeds} seeds", [o for seed in range(n_seeds) for o in outcomes(seed)])


def gaussians(seed: int) -> Iterator[Outcome]:
    data = make_gaussian_mixture(10_000, 500, 10, deviation=0.5, random_state=seed)
    oracle = np.array([data.X[data.labels == i].mean(axis=0) for i in range(10)])
    for preset in ("default", "paper"):
        search = GaussianSearch(10, preset=preset).fit(data.X)
        found = [search.search(make_hint(data.centers, i, gamma=GAMMA)).center for i in range(10)]
        yield from _compare(f'preset="{preset}"', found, oracle, data.centers, _distance)


def topics(seed: int) -> Iterator[Outcome]:
    data = make_topics(4_000, 500, 5, mean_length=50, alpha=0.2, random_state=seed)
    lengths = np.asarray(data.counts.sum(axis=1))
    # A count of mean lθ'μ has a variance in proportion to l: dividing by its root makes least squares the right fit.
    root = np.sqrt(lengths)[:, None]
    oracle = np.linalg.lstsq(data.shares * root, data.counts.toarray() / root, rcond=None)[0]
    methods: dict[str, dict[str, Any]] = {
        "default": {},
        "plain weights and metric": {"preset": "paper", "moments": "distinct"},
        "the paper's: plug-in": {"preset": "paper"},
    }
    for name, options in methods.items():
        search = LdaSearch(5, alpha0=1.0, **options).fit(data.counts)
        found = [search.search(words=data.labelled_word(i)).center for i in range(5)]
        yield from _compare(name, found, oracle, data.topics, _distance)


def regressions(seed: int) -> Iterator[Outcome]:
    data = make_mixed_regression(100_000, 50, 3, deviation=0.1, random_state=seed)
    members = [data.labels == i for i in range(3)]
    oracle = np.array([np.linalg.lstsq(data.X[m], data.y[m], rcond=None)[0] for m in members])
    methods: dict[str, dict[str, Any]] = {
        "default": {},
        "the paper's τ and design": {"preset": "paper"},
    }
    for name, options in methods.items():
        search = RegressionSearch(3, **options).fit(data.X, data.y)
        found = [search.search(make_hint(data.centers, i, gamma=GAMMA)).center for i in range(3)]
        yield from _compare(name, found, oracle, data.centers, _distance)


def subspaces(seed: int) -> Iterator[Outcome]:
    data = make_subspaces(10_000, 500, 5, dim=10, deviation=0.2, random_state=seed)
    members = [data.X[data.labels == i] for i in range(5)]
    oracle = np.array([np.linalg.eigh(X.T @ X)[1][:, -10:] for X in members])
    rng = np.random.default_rng(seed)
    hints = [X[rng.integers(len(X))] for X in members]
    for preset in ("default", "paper"):
        search = SubspaceSearch(5, dim=10, preset=preset).fit(data.X)
        found = [search.search(hint, refine=False).basis for hint in hints]
        yield from _compare(f'preset="{preset}"', found, oracle, data.bases, _largest_sine)


def _compare(
    method: str, found: list[Array], oracle: Array, truth: Array, distance: Callable[[Array, Array], float]
) -> Iterator[Outcome]:
    for i, estimate in enumerate(found):
        distances = [distance(estimate, other) for other in truth]
        yield Outcome(method, distances[i], distance(oracle[i], truth[i]), int(np.argmin(distances)) == i)


def _distance(one: Array, other: Array) -> float:
    return float(np.linalg.norm(one - other))


def _largest_sine(one: Array, other: Array) -> float:
    """The sine of the largest angle between two subspaces: |UU' - VV'|."""
    return float(np.linalg.norm(one - other @ (other.T @ one), 2))


def _print_outcomes(title: str, outcomes: list[Outcome]) -> None:
    rows = []
    for method in dict.fromkeys(o.method for o in outcomes):
        mine = [o for o in outcomes if o.method == method]
        errors, oracle = np.array([o.error for o in mine]), np.array([o.oracle for o in mine])
        rows.append(
            (
                method,
                f"{errors.mean():.4f}",
                f"{np.median(errors):.4f}",
                f"{oracle.mean():.4f}",
                f"{np.mean(errors / oracle):.2f}",
                f"{np.max(errors / oracle):.2f}",
                f"{sum(not o.found_it for o in mine)} of {len(mine)}",
            )
        )
    columns = ("method", "mean error", "median", "oracle", "mean ratio", "worst ratio", "wrong component")
    print_table(title, columns, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="how many data sets to draw of each kind")
    run(seeds=parser.parse_args().seeds)
