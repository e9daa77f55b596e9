"""Whether confidence and standard errors hold on labelled tables, whose classes are no Gaussians.

Every class of at least twenty rows is searched from a few of its rows, drawn at random, in standardised features. Right
is an answer whose members (membership above one half) have an F1 score of at least .5 with the class, without the
examples. Answers are sorted into tenths by their confidence; in each the mean confidence and the share of right answers
should agree within .10. Two constants of `mixsearch.core.example_fit` were chosen on such tables: for every table they
are chosen again on all others, by the squared error of the confidence. "Membership" is the simplest other way: the
mean membership of the examples.

Standard errors of the refined center and weight are compared with the deviation of as many refits to samples drawn with
replacement, each searched with the same examples; refits that find another component are left out.

Refinement maximises a likelihood in the signal space. Its maximum is compared with the best of ten other random starts
(k-means++) of EM in the same space, in nats; k is the number of classes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from labelled_tables import data_folder
from measuring import print_table, run_seeds
from sklearn import datasets
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

from mixsearch import GaussianComponent, GaussianSearch
from mixsearch._typing import Array
from mixsearch.core.doubts import trust
from mixsearch.core.example_fit import confidence_without_model
from mixsearch.errors import SearchError, collect_warnings
from mixsearch.gaussian.mixture import feature_partitions, run_spherical_em
from mixsearch.gaussian.subset import DEFAULT_OPTIONS, draw_start, fit_subset

MIN_ROWS, MIN_F1 = 20, 0.5
N_DRAWS, N_REFITS = 8, 60
LIMIT, MIN_JUDGED = 0.10, 20
BOOTSTRAPPED = ("penguins", "olive-region", "ecoli", "iris", "wine", "banknote", "breast_cancer")
PRIORS = ((0.5, 0.5), (0.5, 1.0), (0.5, 1.5), (0.5, 2.0), (1.0, 1.0), (1.0, 2.0))
LIMITS = (0.75, 0.8, 0.85, 0.9, 0.95, 1.0)


class Table(NamedTuple):
    """Rows with the class of each."""

    name: str
    X: Array  # (n, d), standardised
    labels: Array  # (n,)

    @property
    def classes(self) -> list[str]:
        """Classes to search: the rare one, or all with enough rows."""
        names, sizes = np.unique(self.labels, return_counts=True)
        return ["1"] if self.name.startswith("ad-") else names[sizes >= MIN_ROWS].tolist()


class Answer(NamedTuple):
    """One search from examples."""

    table: str
    confidence: float
    memberships: Array  # of the examples, (q,)
    suits: float  # what the test of the model leaves
    by_model: float
    right: bool

    def recomputed(self, prior: tuple[float, float], limit: float) -> float:
        """Return the confidence with other constants."""
        without = confidence_without_model(self.memberships, prior, limit)
        return self.suits * self.by_model + (1 - self.suits) * without


def load_tables() -> list[Table]:
    found = []
    with np.load(data_folder() / "tables" / "labelled_tables.npz") as stored:
        names = [name.removesuffix("__X") for name in stored.files if name.endswith("__X")]
        found += [(name, stored[f"{name}__X"].astype(float), stored[f"{name}__y"].astype(str)) for name in names]
    for name in ("iris", "wine", "digits", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        found.append((name, X, y.astype(str)))
    rows = np.genfromtxt(data_folder() / "tables" / "banknote.txt", dtype=str, skip_header=1)
    found.append(("banknote", rows[:, 1:].astype(float), rows[:, 0]))
    return [Table(name, StandardScaler().fit_transform(X), labels) for name, X, labels in found]


def _answers(table: Table, k: str, n_examples: int, refine: bool) -> Iterator[Answer]:
    n_components = "auto" if k == "auto" else min(len(np.unique(table.labels)), table.X.shape[1])
    search = GaussianSearch(n_components).fit(table.X)
    for name, draw in product(table.classes, range(N_DRAWS)):
        rng = np.random.default_rng(1000 * draw + n_examples)
        rows = rng.choice(np.flatnonzero(table.labels == name), n_examples, replace=False)
        try:
            found = search.search(examples=table.X[rows], refine=refine)
        except SearchError:
            continue
        members, suits = found.membership(table.X), trust(found._subset.p_value)
        rest = np.setdiff1d(np.arange(len(table.X)), rows)
        right = f1_score(table.labels[rest] == name, members[rest] > 0.5) >= MIN_F1
        without = confidence_without_model(members[rows])
        support, by_model = found._support, 0.0
        if suits > 0 and support > 0:
            by_model = (found.confidence / support - (1 - suits) * without) / suits
        yield Answer(table.name, found.confidence, members[rows], suits, by_model, bool(right))


def _calibrate(k: str, n_examples: int, refine: bool, n_tables: int | None, index: int) -> list[Answer]:
    with collect_warnings():
        return list(_answers(load_tables()[:n_tables][index], k, n_examples, refine))


def run(*, quick: bool = False) -> None:
    n_tables = 3 if quick else None
    names = [table.name for table in load_tables()[:n_tables]]
    rows: list[tuple[str, ...]] = []
    for k, n_examples, refine in product(("classes", "auto"), (1, 5, 10), (False, True)):
        parts = run_seeds(partial(_calibrate, k, n_examples, refine, n_tables), len(names))
        title = f"k={k}, {n_examples} example(s){', refined' if refine else ''}"
        rows += _rows(title, [answer for part in parts for answer in part])
    print_table("Confidence on labelled tables", ("answers", "confidence", *TENTHS, "ranks right", "largest gap"), rows)
    columns = ("table", "answers", "center: stderr / bootstrap", "weight: stderr / bootstrap")
    seeds = run_seeds(partial(_bootstrap, 5 if quick else N_REFITS), 1 if quick else len(BOOTSTRAPPED))
    print_table(f"Standard errors of refined answers, {N_REFITS} refits; medians", columns, seeds)
    gains = run_seeds(partial(_compare_starts, n_tables), len(names))
    print_table(
        "Log-likelihood of refinement, less that of the best of ten random starts", ("table", "k", "nats"), gains
    )


TENTHS = ("0-.2", ".2-.4", ".4-.6", ".6-.8", ".8-.9", ".9-1")
EDGES = (0.2, 0.4, 0.6, 0.8, 0.9)


def _rows(title: str, answers: list[Answer]) -> list[tuple[str, ...]]:
    right = np.array([answer.right for answer in answers])
    left_out = np.array([answer.recomputed(*_choose(answers, answer.table)) for answer in answers])
    said = np.array([answer.confidence for answer in answers])
    membership = np.array([answer.memberships.mean() for answer in answers])
    ways = {"as shipped": said, "one table left out": left_out, "membership": membership}
    return [(title, name, *_shares(confidence, right)) for name, confidence in ways.items()]


def _choose(answers: list[Answer], left_out: str) -> tuple[tuple[float, float], float]:
    """Return the constants with the least squared error on all tables but one."""
    if left_out not in _CHOSEN.setdefault(id(answers), {}):
        others = [answer for answer in answers if answer.table != left_out]
        errors = {
            constants: sum((answer.recomputed(*constants) - answer.right) ** 2 for answer in others)
            for constants in product(PRIORS, LIMITS)
        }
        _CHOSEN[id(answers)][left_out] = min(errors, key=lambda constants: errors[constants])
    return _CHOSEN[id(answers)][left_out]


_CHOSEN: dict[int, dict[str, tuple[tuple[float, float], float]]] = {}


def _shares(confidence: Array, right: Array) -> list[str]:
    cells, gaps = [], []
    which = np.digitize(confidence, EDGES)
    for index in range(len(TENTHS)):
        own = which == index
        if own.any():
            gap = float(right[own].mean() - confidence[own].mean())
            cells.append(f"{confidence[own].mean():.2f}: {right[own].mean():.2f} ({own.sum()})")
            gaps += [abs(gap)] if own.sum() >= MIN_JUDGED else []
        else:
            cells.append("")
    return [*cells, f"{roc_auc_score(right, confidence):.2f}", f"{max(gaps):.2f}"]


def _bootstrap(n_refits: int, seed: int) -> tuple[str, ...]:
    """Compare standard errors with refits, for one table."""
    table = next(table for table in load_tables() if table.name == BOOTSTRAPPED[seed])
    rng, centers, weights = np.random.default_rng(seed), [], []
    with collect_warnings(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GaussianSearch(len(table.classes)).fit(table.X)
        refits = [table.X[rng.integers(len(table.X), size=len(table.X))] for _ in range(n_refits)]
        searches = [GaussianSearch(len(table.classes)).fit(rows) for rows in refits]
        for name in table.classes:
            examples = table.X[rng.choice(np.flatnonzero(table.labels == name), 5, replace=False)]
            found = search.search(examples=examples, refine=True)
            again = [each.search(examples=examples, refine=True) for each in searches]
            near = [each for each in again if _is_same(found, each)]
            if len(near) > n_refits / 2:
                centers.append(np.median(found.stderr.center / np.std([each.center for each in near], axis=0)))
                weights.append(found.stderr.weight / np.std([each.weight for each in near]))
    return (table.name, f"{len(centers)}", f"{np.median(centers):.2f}", f"{np.median(weights):.2f}")


def _compare_starts(n_tables: int | None, index: int) -> tuple[str, ...]:
    """Compare the likelihood of refinement with that of other random starts."""
    table = load_tables()[:n_tables][index]
    with collect_warnings():
        family = GaussianSearch(min(len(table.classes) + 1, table.X.shape[1])).fit(table.X)._family
    subset = fit_subset(family)
    partitions = feature_partitions(family).collect()
    Z, rng = partitions.partition.features.T, np.random.default_rng(1)
    ours = run_spherical_em(partitions, subset.mixture, DEFAULT_OPTIONS).objectives[-1]
    starts = [draw_start(Z, subset.mixture, rng) for _ in range(10)]
    others = [run_spherical_em(partitions, start, DEFAULT_OPTIONS).objectives[-1] for start in starts]
    return (table.name, f"{family.n_components}", f"{ours - max(others):+.1f}")


def _is_same(one: GaussianComponent, other: GaussianComponent) -> bool:
    """Return whether two answers are the same component: their centers are within a standard deviation."""
    return bool(np.linalg.norm(one.center - other.center) < np.sqrt(len(one.center) * one.noise_variance))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    run(quick=parser.parse_args().quick)
