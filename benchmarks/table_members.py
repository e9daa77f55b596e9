"""The rows called members in tables with planted groups, against the truth and against simple other ways.

`n_members` should be the true number and be in its interval; the rows called members should be those of the group. The
peers see numbers on one scale without missing values. Two of them know what a search does not: k-means the number of
groups, the nearest rows the number of members.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from measuring import print_table
from planted_tables import DEVELOPMENT, REPORTED, SIZES, Draw, PlantedTable, draw_tables
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from mixsearch._typing import Array
from mixsearch.table.search import TableSearch

N_EXAMPLES = (1, 3, 5, 10)
MAX_GROUPS, N_DRAWS = 3, 1
# Groups with fewer rows left than this are not searched.
MIN_LEFT = 5
# Numbers of components that the mixture of scikit-learn tries, and the rows that it is fitted to.
N_COMPONENTS, MAX_MIXTURE_ROWS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15), 1000
OURS = "`TableSearch`"


class Called(NamedTuple):
    """The rows that one method calls members in one search, and what it claims."""

    kind: str
    method: str
    n_examples: int
    recall: float
    precision: float
    ratio: float  # the number of members found over the true one
    is_covered: bool  # by the interval
    width: float  # the upper end of the interval over the lower one
    confidence: float

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision."""
        return 2 * self.recall * self.precision / max(self.recall + self.precision, np.finfo(float).tiny)


Call = Callable[[Array, int], Array]  # from examples and the true number of members to the rows called members


def call_by_mixture(X: Array, _n_groups: int) -> Call:
    """Call the rows of the component of most responsibility for the examples; BIC chooses how many, and their shape."""
    some = X[np.random.default_rng(0).permutation(len(X))[:MAX_MIXTURE_ROWS]]
    fits = [
        GaussianMixture(k, covariance_type=shape, reg_covar=1e-4, random_state=0).fit(some)
        for shape in ("diag", "full")
        for k in N_COMPONENTS
    ]
    resp = min(fits, key=lambda fit: fit.bic(some)).predict_proba(X)
    return lambda rows, _: resp.argmax(axis=1) == resp[rows].mean(axis=0).argmax()


def call_by_kmeans(X: Array, n_groups: int) -> Call:
    labels = KMeans(n_groups, n_init=4, random_state=0).fit_predict(X)
    return lambda rows, _: labels == np.bincount(labels[rows]).argmax()


def call_nearest(X: Array, _n_groups: int) -> Call:
    def call(rows: Array, n_members: int) -> Array:
        distances = np.min([((X - X[row]) ** 2).sum(axis=1) for row in rows], axis=0)
        return np.argsort(np.argsort(distances, kind="stable")) < n_members

    return call


PEERS: dict[str, Callable[[Array, int], Call]] = {
    "`GaussianMixture`, by BIC": call_by_mixture,
    "k-means, number of groups given": call_by_kmeans,
    "nearest rows, number of members given": call_nearest,
}


def call_all(planted: PlantedTable, *, peers: bool) -> Iterator[Called]:
    """Search for some groups of a table by every method."""
    search = TableSearch().fit(planted.table)
    X, n_groups = StandardScaler().fit_transform(planted.features), int(planted.labels.max()) + 1
    calls = {name: make(X, n_groups) for name, make in PEERS.items()} if peers else {}
    for group in range(min(n_groups, MAX_GROUPS)):
        is_member = planted.labels == group
        n_members = int(is_member.sum())
        for n_examples in N_EXAMPLES:
            if n_members < n_examples + MIN_LEFT:
                continue
            rows = np.random.default_rng((group, n_examples)).choice(np.flatnonzero(is_member), n_examples, False)
            found = search.search(like=rows)
            n, low, high = found.n_members
            facts = (n / n_members, low <= n_members <= high, high / low, found.confidence)
            yield Called(planted.kind, OURS, n_examples, *_compare(found.predict(), is_member), *facts)
            for name, call in calls.items():
                called = call(rows, n_members)
                facts = (called.sum() / n_members, False, np.nan, np.nan)
                yield Called(planted.kind, name, n_examples, *_compare(called, is_member), *facts)


def _compare(called: Array, is_member: Array) -> tuple[float, float]:
    """Return recall and precision."""
    both = (called & is_member).sum()
    return float(both / is_member.sum()), float(both / max(called.sum(), 1))


def run(kinds: Sequence[Draw] = REPORTED, *, quick: bool = False, peers: bool = True) -> None:
    sizes = SIZES[: 2 if quick else None]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = [
            each for planted in draw_tables(tuple(kinds), N_DRAWS, sizes) for each in call_all(planted, peers=peers)
        ]
    print(f"\n- {sum(each.method == OURS for each in answers)} searches")
    _print_methods(answers)
    _print_counts(answers)


def _print_methods(answers: Sequence[Called]) -> None:
    rows = []
    for method in dict.fromkeys(each.method for each in answers):
        cells = []
        for n in N_EXAMPLES:
            own = [each for each in answers if (each.method, each.n_examples) == (method, n)]
            cells.append(
                " / ".join(
                    f"{np.mean([getattr(each, what) for each in own]):.2f}" for what in ("recall", "precision", "f1")
                )
            )
        rows.append((method, *cells))
    print_table("Rows called members: recall / precision / F1", ("", *_name_columns()), rows)


def _print_counts(answers: Sequence[Called]) -> None:
    ours = [each for each in answers if each.method == OURS]
    rows = []
    for kind in (*dict.fromkeys(each.kind for each in ours), "all"):
        cells = []
        for n in N_EXAMPLES:
            own = [each for each in ours if each.n_examples == n and kind in (each.kind, "all")]
            ratios, covered = [each.ratio for each in own], np.mean([each.is_covered for each in own])
            width = np.exp(np.mean(np.log([each.width for each in own])))
            cells.append(f"{np.median(ratios):.2f}, {covered:.2f} ({width:.0f})")
        rows.append((kind, *cells))
    names = ("", *_name_columns())
    print_table("Members found / true, median; share of true numbers in the interval (upper / lower end)", names, rows)
    rows = []
    for n in N_EXAMPLES:
        own = [each for each in ours if each.n_examples == n]
        said, true = (np.array([getattr(each, name) for each in own]) for name in ("confidence", "precision"))
        rows.append((str(n), f"{said.mean():.2f}", f"{true.mean():.2f}", f"{np.abs(said - true).mean():.2f}"))
    print_table("Confidence", ("examples", "mean", "precision", "mean error"), rows)


def _name_columns() -> list[str]:
    return [f"{n} example{'s'[: n > 1]}" for n in N_EXAMPLES]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small tables")
    parser.add_argument("--development", action="store_true", help="the kinds on which choices may be made")
    parser.add_argument("--no-peers", action="store_true", help="only this package")
    options = parser.parse_args()
    run(DEVELOPMENT if options.development else REPORTED, quick=options.quick, peers=not options.no_peers)
