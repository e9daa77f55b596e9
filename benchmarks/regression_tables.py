"""The line of a few rows of a table: `RegressionSearch` compared with EM from random starts.

Each class is searched from a few random rows of it, whose responses depend on the features by a line of their own.
Every other row with a label is ranked by its membership; a cell has the area under the ROC curve from 3 and from 5
examples, means over classes and draws. An answer that is refused counts as a random ranking, .500.

All methods but "auto" are given the number of classes. EM from 20 random
starts is `em_regressions`; joint EM from 20 random starts is scikit-learn's `GaussianMixture` of (x, y); "by BIC" is
the one of the two that BIC prefers, with one Gaussian for x in the first. In all three the component is the one that
most likely has all examples. Columns are standardised.

Choices are to be made on the development sets alone, the others are for reporting.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from corpora import data_folder
from joblib import Parallel, delayed
from labelled_regressions import DEVELOPMENT, KINDS, NO_LABEL, REPORTED, LabelledRegression, find_kind
from measuring import N_THREADS, print_table
from paper_experiments.baselines import em_regressions
from row_rankings import Rank
from scipy.stats import multivariate_normal
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from mixsearch import RegressionSearch
from mixsearch._typing import Array
from mixsearch.errors import SearchError

N_EXAMPLES, N_DRAWS, N_QUICK, N_STARTS = (3, 5), 3, 1, 20
HALVES = {"development": DEVELOPMENT, "reported": REPORTED}


class PeerFit(NamedTuple):
    """A mixture without hints."""

    logs: Array  # log density of each sample in each component, with its weight, (n, k)
    log_weights: Array  # (k,)
    bic: float  # of x and y together, in nats: smaller is better

    def rank(self, rows: Array) -> Array:
        """Return the memberships of all samples in the component of some of them."""
        # The component counts once, not for each of its rows.
        index = int(np.argmax(self.logs[rows].sum(axis=0) - (len(rows) - 1) * self.log_weights))
        return np.asarray(np.exp(self.logs[:, index] - np.logaddexp.reduce(self.logs, axis=1)))


def _peer_fit(logs: Array, weights: Array, log_likelihood: float, n_parameters: int) -> PeerFit:
    log_weights = np.log(np.maximum(weights, np.finfo(float).tiny))
    return PeerFit(logs, log_weights, 0.5 * n_parameters * float(np.log(len(logs))) - log_likelihood)


def fit_plain(X: Array, y: Array, k: int) -> PeerFit:
    found = em_regressions(X, y, k, n_init=N_STARTS)
    squares = (y[:, None] - X @ found.centers.T - found.intercepts) ** 2
    weights = np.maximum(found.weights, np.finfo(float).tiny)
    logs = np.log(weights) - 0.5 * (squares / found.variances + np.log(2 * np.pi * found.variances))
    d = X.shape[1]
    of_features = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True), allow_singular=True).logpdf(X).sum()
    n_parameters = k * (d + 3) - 1 + d + d * (d + 1) // 2
    return _peer_fit(logs, weights, float(np.logaddexp.reduce(logs, axis=1).sum() + of_features), n_parameters)


def fit_joint(X: Array, y: Array, k: int) -> PeerFit:
    table, d = np.column_stack([X, y]), X.shape[1] + 1
    found = GaussianMixture(k, n_init=N_STARTS, init_params="random_from_data", random_state=0).fit(table)
    parts = zip(found.means_, found.covariances_, strict=True)
    logs = np.log(found.weights_) + np.column_stack([multivariate_normal(*each).logpdf(table) for each in parts])
    n_parameters = k * (1 + d + d * (d + 1) // 2) - 1
    return _peer_fit(logs, found.weights_, float(np.logaddexp.reduce(logs, axis=1).sum()), n_parameters)


def search(X: Array, y: Array, k: int | Literal["auto"], *, refine: bool = True) -> Rank:
    fitted = RegressionSearch(k).fit(X, y)
    return lambda rows: fitted.search(examples=(X[rows], y[rows]), refine=refine).membership(X, y)


OURS, PLAIN_EM, JOINT_EM, BY_BIC = "refined", "EM, 20 starts", "joint EM, 20 starts", "by BIC"


def prepare_all(X: Array, y: Array, k: int) -> dict[str, Rank]:
    """Return every method, fitted to all samples."""
    plain, joint = fit_plain(X, y, k), fit_joint(X, y, k)
    return {
        "moments": search(X, y, k, refine=False),
        OURS: search(X, y, k),
        "auto": search(X, y, "auto"),
        PLAIN_EM: plain.rank,
        JOINT_EM: joint.rank,
        BY_BIC: min(plain, joint, key=lambda each: each.bic).rank,
    }


Areas = Mapping[tuple[str, int], float]  # by method and number of examples


def search_all(table: LabelledRegression, draws: int) -> Areas:
    """Return the mean area of every method over all classes of a table."""
    X, y = scale(table.X), scale(table.y)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            (method, n): float(
                np.mean([_area(table, rank, label, n, draw) for label in table.classes for draw in range(draws)])
            )
            for method, rank in prepare_all(X, y, len(table.classes)).items()
            for n in N_EXAMPLES
        }


def _area(table: LabelledRegression, rank: Rank, label: str, n: int, draw: int) -> float:
    is_member = table.labels == label
    rows = np.random.default_rng(1000 * draw + n).choice(np.flatnonzero(is_member), n, replace=False)
    try:
        scores = rank(rows)
    except SearchError:
        return 0.5
    is_asked = ~np.isin(np.arange(len(table.y)), rows) & (table.labels != NO_LABEL)
    return float(roc_auc_score(is_member[is_asked], scores[is_asked]))


def run(*, quick: bool = False, only: str = "", draws: int | None = None) -> None:
    has_files = (data_folder() / "tables").is_dir()
    if not has_files:
        print("\n- only drawn tables, since MIXSEARCH_DATA names no folder with tables")
    loaded = {
        name: load()
        for half in HALVES.values()
        for name, load in half.items()
        if only in name and (has_files or find_kind(name) in KINDS)
    }
    start, n_draws = time.perf_counter(), draws or (N_QUICK if quick else N_DRAWS)
    with Parallel(n_jobs=N_THREADS, batch_size=1) as parallel:
        found = parallel(delayed(search_all)(table, n_draws) for table in loaded.values())
    _print(dict(zip(loaded, found, strict=True)), loaded)
    print(f"\n- {n_draws} draws for each class, {time.perf_counter() - start:.0f} s")


def _print(areas: Mapping[str, Areas], loaded: Mapping[str, LabelledRegression]) -> None:
    rows, methods = [], list(dict.fromkeys(method for method, _ in next(iter(areas.values()))))
    for title, half in HALVES.items():
        named = {name: areas[name] for name in half if name in areas}
        for name, own in named.items():
            n, d = loaded[name].X.shape
            shape = f"{n} x {d}, {len(loaded[name].classes)} lines"
            rows.append((f"{title}: {name}", shape, *_cells([own], methods)))
        for kind in ("real", *KINDS):
            some = [own for name, own in named.items() if find_kind(name) == kind]
            if some:
                rows.append((f"**{title}: mean of {kind}**", f"{len(some)} sets", *_cells(some, methods)))
        if named:
            rows.append((f"**{title}: mean of all**", f"{len(named)} sets", *_cells(list(named.values()), methods)))
    print_table("AUC from 3 / 5 examples", ("set", "samples x features", *methods), rows)


def _cells(areas: Sequence[Areas], methods: Sequence[str]) -> list[str]:
    """Return the means over sets, one cell for each method."""
    means = {key: float(np.mean([own[key] for own in areas])) for key in areas[0]}
    return [" / ".join(f"{means[method, n]:.3f}" for n in N_EXAMPLES) for method in methods]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="sets with this in their name")
    parser.add_argument("--draws", type=int, help=f"of examples for each class, {N_DRAWS} by default")
    parser.add_argument("--quick", action="store_true", help=f"{N_QUICK} draw")
    options = parser.parse_args()
    run(quick=options.quick, only=options.only, draws=options.draws)
