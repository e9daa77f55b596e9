"""Fit every estimator to hostile arrays, in threads and after pickling; print attempts and failures of each.

    python benchmarks/robustness/hostile_arrays.py

A fit and a search must end in an answer of finite numbers or in an error with a code (scikit-learn's own TypeError
for objects), and leave the input as it was. Eight threads that search in one fit, and a fit that was pickled, must
answer as the fit does. Exits with 1 if anything else happens.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from mixsearch import (
    CommunitySearch,
    GaussianSearch,
    LdaSearch,
    RegressionSearch,
    SearchError,
    SubspaceSearch,
    TableSearch,
    TopicSearch,
)
from mixsearch._typing import Array

N, D = 240, 8
Search = Callable[[Array, int], Any]


def make_searches() -> dict[str, tuple[Search, Callable[[Any, Array], Any]]]:
    """Return, for each estimator, a fit with k components and a search in it that returns numbers."""
    rows = [0, 3, 6]
    return {
        "GaussianSearch": (
            lambda X, k: GaussianSearch(k).fit(X),
            lambda fit, X: fit.search(examples=X[rows], refine=True).center,
        ),
        "GaussianSearch, full": (
            lambda X, k: GaussianSearch(k, covariance="full").fit(X),
            lambda fit, X: fit.search(examples=X[rows], refine=True).center,
        ),
        "RegressionSearch": (
            lambda X, k: RegressionSearch(k).fit(X[:, :-1], X[:, -1]),
            lambda fit, X: fit.search(examples=(X[rows, :-1], X[rows, -1]), refine=True).center,
        ),
        "SubspaceSearch": (
            lambda X, k: SubspaceSearch(k, dim=1).fit(X),
            lambda fit, X: fit.search(examples=X[rows]).basis,
        ),
        "LdaSearch": (lambda X, k: LdaSearch(k).fit(X), lambda fit, X: fit.search(words=[0]).center),
        "TopicSearch": (lambda X, k: TopicSearch(k).fit(X), lambda fit, X: fit.search(words=[0]).scores),
        "TableSearch": (lambda X, k: TableSearch().fit(X), lambda fit, X: fit.search(examples=rows).membership),
        "CommunitySearch": (
            lambda X, k: CommunitySearch().fit(X[:D] + X[:D].T),
            lambda fit, X: fit.search(examples=[0, 1]).membership,
        ),
    }


def draw(name: str) -> Array:
    """Counts for topics, an adjacency for communities, three clusters for all others."""
    rng = np.random.default_rng(0)
    if name in ("LdaSearch", "TopicSearch"):
        return rng.poisson(np.repeat(5 * np.eye(D)[rng.integers(3, size=N)] + 1, 1, axis=0)).astype(float)
    if name == "CommunitySearch":
        return (rng.random((N, D)) < 0.5).astype(float)
    return 5 * np.eye(D)[np.arange(N) % 3] + rng.standard_normal((N, D))


def make_hostile(X: Array) -> Iterator[tuple[str, Any, int]]:
    """Yield arrays with the number of components that is asked for."""

    def change(value: Any, where: Any = (5, 2)) -> Array:
        changed = X.copy()
        changed[where] = value
        return changed

    yield "as it is", X, 3
    for value in (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-320, np.finfo(np.float64).max):
        yield f"one {value}", change(value), 3
        yield f"all {value}", np.full_like(X, value), 3
        yield f"a column of {value}", change(value, (slice(None), 1)), 3
    for power in (-300, -150, -30, 30, 100, 150, 300):
        yield f"times 1e{power}", X * 10.0**power, 3
    for kind in (np.float16, np.float32, np.longdouble, np.int8, np.uint64, bool, complex, object, str):
        yield np.dtype(kind).name, X.astype(kind), 3
    for value in ("text", None):
        objects = X.astype(object)
        objects[0, 0] = value
        yield f"{value!r} among numbers", objects, 3
    yield "big-endian", X.astype(">f8"), 3
    yield "by columns", np.asfortranarray(X), 3
    yield "reversed", X[::-1, ::-1], 3
    yield "constant", np.ones_like(X), 3
    yield "zeros", np.zeros_like(X), 3
    yield "equal rows", np.repeat(X[:1], N, axis=0), 3
    yield "two distinct rows", X[np.arange(N) % 2], 3
    yield "equal columns", np.repeat(X[:, :1], D, axis=1), 3
    for n in (0, 1, 2, 3, 4, D):
        yield f"{n} rows", X[:n], 3
    for d in (0, 1, 2):
        yield f"{d} columns", X[:, :d], 3
    yield "wide", np.tile(X[:10], 20), 3
    yield "one dimension", X[0], 3
    yield "three dimensions", X[None], 3
    for k in (0, -1, 1, 2, D, D + 1, N, 10**9):
        yield f"k={k}", X, k


def attempt(fit: Search, search: Callable[[Any, Array], Any], X: Any, k: int) -> str:
    """Fit and search, and return the outcome."""
    X = np.array(X, copy=True, order="K")
    before, X.flags.writeable = X.tobytes() if X.dtype != object else pickle.dumps(X.tolist()), False
    try:
        numbers = np.asarray(search(fit(X, k), X), dtype=np.float64)
        outcome = "an answer" if np.isfinite(numbers).all() else "FAILED: numbers that are not finite"
    except SearchError as error:
        outcome = f"error {error.code}"
    except Exception as error:
        if isinstance(error, IndexError | ValueError | TypeError) and _is_of_caller(error):
            outcome = "error before the fit"
        else:
            outcome = f"FAILED: {error!r} {traceback.extract_tb(error.__traceback__)[-1]}"
    after = X.tobytes() if X.dtype != object else pickle.dumps(X.tolist())
    return outcome if before == after else "FAILED: the input has changed"


def _is_of_caller(error: BaseException) -> bool:
    """Return whether the lines of this script failed, which take rows, or scikit-learn's check of types."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return last == __file__ or (isinstance(error, TypeError) and "sklearn" in last)


def share(fit: Any, search: Callable[[Any, Array], Any], X: Array) -> str:
    """Search in eight threads at once, and in a copy that was pickled."""
    expected = np.asarray(search(fit, X))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: np.asarray(search(fit, X)), range(32)))
    found.append(np.asarray(search(pickle.loads(pickle.dumps(fit)), X)))
    return "an answer" if all(np.allclose(each, expected) for each in found) else "FAILED: answers differ"


def main() -> int:
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    warnings.simplefilter("ignore")
    n_failed = 0
    print("| estimator | attempts | failures | outcomes |\n| --- | ---: | ---: | --- |")
    for name, (fit, search) in make_searches().items():
        outcomes: Counter[str] = Counter()
        for what, X, k in make_hostile(draw(name)):
            outcome = attempt(fit, search, X, k)
            outcomes[outcome.partition(":")[0]] += 1
            if outcome.startswith("FAILED"):
                print(f"{name}, {what}: {outcome}", file=sys.stderr)
        outcome = share(fit(draw(name), 3), search, draw(name))
        outcomes[f"{outcome}, threads and pickled"] += 1
        failed = sum(n for each, n in outcomes.items() if each.startswith("FAILED"))
        n_failed += failed
        listed = ", ".join(f"{each}: {n}" for each, n in outcomes.most_common())
        print(f"| {name} | {outcomes.total()} | {failed} | {listed} |", flush=True)
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
