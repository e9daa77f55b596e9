"""Real tables: each labelled class searched from five random members, compared with other methods.

Figures are areas under the ROC curve over all samples but the five, means over classes and draws; 1 puts every member
of the class before all others. Every method sees the same features: as they are, and standardised. Times are those of
one answer, with its fit, on the features as they are, one thread. Old Faithful has no labels: eruptions of
more than three minutes stand for its long ones. Mixtures start from the five and samples at random, or ten times from
anywhere, and then answer with the component that has most of the five. Images are seen as pixels and by 50
principal components. Tone perception is a mixture of two lines, one for each way to tune; least
squares on either group is beside it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import refitted_rankings as ranking
from joblib import Parallel, delayed
from labelled_tables import LabelledTable, data_folder, load_banknote, load_iris, load_wine, read_rows
from measuring import N_THREADS, print_table, seconds
from refitted_rankings import Ranking, Task
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from mixsearch import RegressionSearch
from mixsearch._typing import Array
from mixsearch.errors import SearchError

N_MEMBERS = 5
N_DRAWS = 10
N_FACTORS = 50
DIM = 3


@dataclass(frozen=True, slots=True)
class Labelled:
    """Samples with the class of each."""

    X: Array  # (n, d)
    labels: Array  # (n,)
    images: bool = False

    @property
    def classes(self) -> Array:
        """The names of the classes, sorted."""
        return np.unique(self.labels)

    def views(self) -> dict[str, Array]:
        """The features that methods see."""
        if self.images:
            return {"pixels": self.X, f"PCA {N_FACTORS}": PCA(N_FACTORS, random_state=0).fit_transform(self.X)}
        return {"raw": self.X, "standardised": StandardScaler().fit_transform(self.X)}


def as_samples(load: Callable[[], LabelledTable]) -> Callable[[], Labelled]:
    def load_samples() -> Labelled:
        table = load()
        return Labelled(table.X, table.labels)

    return load_samples


def load_faithful() -> Labelled:
    X = np.array([row[1:] for row in read_rows("faithful.csv")], dtype=float)
    return Labelled(X, np.where(X[:, 0] > 3, "long", "short"))


def load_images(name: str) -> Callable[[], Labelled]:
    def load() -> Labelled:
        with np.load(data_folder() / "subspaces" / name) as stored:
            X = stored["X"].astype(float)
            return Labelled(X / X.max(), stored["y"], images=True)

    return load


TABLES: dict[str, Callable[[], Labelled]] = {
    "wine": as_samples(load_wine),
    "iris": as_samples(load_iris),
    "banknote": as_samples(load_banknote),
    "Old Faithful": load_faithful,
    "COIL20": load_images("COIL20_32x32.npz"),
    "ORL": load_images("ORL_32x32.npz"),
}
OURS: dict[str, Ranking] = {
    "GaussianSearch": ranking.gaussian_search,
    "GaussianSearch, refined": ranking.refined_gaussian_search,
}
OUR_SUBSPACES: dict[str, Ranking] = {
    f"SubspaceSearch, dim={DIM}": ranking.subspace_search(DIM, refine=False),
    f"SubspaceSearch, dim={DIM}, refined": ranking.subspace_search(DIM, refine=True),
}
PEERS: dict[str, Ranking] = {
    "GaussianMixture, spherical": ranking.gaussian_mixture("spherical"),
    "GaussianMixture, full": ranking.gaussian_mixture("full"),
    "GaussianMixture, spherical, 10 starts": ranking.restarted_mixture("spherical"),
    "GaussianMixture, tied, 10 starts": ranking.restarted_mixture("tied"),
    "GaussianMixture, full, 10 starts": ranking.restarted_mixture("full"),
    "KMeans": ranking.kmeans,
    "LabelSpreading": ranking.label_spreading,
    "logistic regression": ranking.logistic_regression,
    "distance to the members' mean": ranking.nearest_mean,
    "Mahalanobis, members' covariance": ranking.mahalanobis,
}
IMAGE_PEERS: dict[str, Ranking] = {"part in the members' span": ranking.members_span}
# Matrices of (pixels x pixels) for each component, or ten fits of them: left out.
NOT_ON_PIXELS = tuple(name for name in PEERS if "full" in name or "starts" in name or "Mahalanobis" in name)


def run(*, quick: bool = False, only: str = "") -> None:
    if not (data_folder() / "tables").is_dir():
        print("\n- skipped, since MIXSEARCH_DATA names no folder with tables")
        return
    for name, load in TABLES.items():
        if only in name:
            table = load()
            draws = 1 if quick or table.images else N_DRAWS
            methods = OURS | OUR_SUBSPACES | PEERS | IMAGE_PEERS if table.images else OURS | PEERS
            _print_areas(f"{name}, {len(table.X):,} x {table.X.shape[1]:,}", table, methods, draws)
    if only in "tone":
        _print_tone(1 if quick else N_DRAWS)


def _print_areas(title: str, table: Labelled, methods: Mapping[str, Ranking], draws: int) -> None:
    views = table.views()
    with Parallel(n_jobs=N_THREADS) as parallel:
        jobs = (delayed(_areas)(table, views, rank, name, draws) for name, rank in methods.items())
        results = dict(zip(methods, parallel(jobs), strict=True))
    rows = [(name, *map(_cell, result.areas), seconds(result.seconds)) for name, result in results.items()]
    print_table(f"{title}, {len(table.classes)} classes, {draws} draws", ("method", *views, "time"), rows)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one method on one table."""

    areas: list[Array]  # per view, NaN where it gave no answer
    seconds: float  # of an answer, median


def _areas(table: Labelled, views: Mapping[str, Array], rank: Ranking, name: str, draws: int) -> Result:
    areas, times = [], []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for view, X in views.items():
            if view == "pixels" and name in NOT_ON_PIXELS:
                areas.append(np.array([]))
                continue
            answers = [_one_area(table, X, rank, label, seed) for label in table.classes for seed in range(draws)]
            areas.append(np.array([area for area, _ in answers]))
            times.append(float(np.median([spent for _, spent in answers])))
    return Result(areas, times[0])


def _one_area(table: Labelled, X: Array, rank: Ranking, label: object, seed: int) -> tuple[float, float]:
    """Return the area under the curve and the time; NaN if a method raises an error."""
    rng = np.random.default_rng(seed)
    members = rng.choice(np.flatnonzero(table.labels == label), N_MEMBERS, replace=False)
    others = np.setdiff1d(np.arange(len(X)), members)
    start = time.perf_counter()
    try:
        scores = rank(Task(X, members, len(table.classes), rng))
    except SearchError:
        return float("nan"), time.perf_counter() - start
    spent = time.perf_counter() - start
    return float(roc_auc_score(table.labels[others] == label, scores[others])), spent


def _cell(areas: Array) -> str:
    if not len(areas):
        return ""
    refused = int(np.isnan(areas).sum())
    if refused == len(areas):
        return "refused"
    return f"{np.nanmean(areas):.3f}" + (f" ({refused} refused)" if refused else "")


def _print_tone(draws: int) -> None:
    """The two lines of the tone data, from five samples of each."""
    x, y = np.array(read_rows("tonedata.csv"), dtype=float).T
    in_tune = np.abs(y - x) < np.abs(y - 2)
    rows = []
    for name, group in {"as stretched, tuned = ratio": in_tune, "the octave, tuned = 2": ~in_tune}.items():
        slope, level = np.polyfit(x[group], y[group], 1)
        rows.append((name, "least squares on the group", f"{slope:.3f}", f"{level:.3f}", f"{group.mean():.3f}", ""))
        lines = np.array([_line(x, y, group, seed) for seed in range(draws)])
        middle, spread = np.median(lines, axis=0), lines.max(axis=0) - lines.min(axis=0)
        rows.append((name, "refined search, median", *(f"{value:.3f}" for value in middle), f"{spread.max():.2g}"))
    columns = ("line", "estimate", "slope", "intercept", "weight", "largest range over draws")
    print_table(f"Tone perception, {len(x)} samples, {draws} draws of {N_MEMBERS} of either group", columns, rows)


def _line(x: Array, y: Array, group: Array, seed: int) -> tuple[float, float, float]:
    rows = np.random.default_rng(seed).choice(np.flatnonzero(group), N_MEMBERS, replace=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = RegressionSearch(2).fit(x[:, None], y)
        found = search.search(examples=(x[rows, None], y[rows]), refine=True)
    return float(found.center[0]), found.intercept, found.weight


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="tables with this in their name")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run(quick=options.quick, only=options.only)
