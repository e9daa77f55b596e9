"""Measure whether labels of the rows of `ask_next` help more than others, on labelled tables.

Every class of a table is searched from three random rows of it. Each rule then asks for five labels at once, members go
to `like` and others to `not_like`. All rows that no rule asked for are ranked again: the mean area under the ROC curve,
the mean average precision, and "right", the share of rows that `predict` gets right, over classes and draws and then
over tables. "Less random rows" is the difference in average precision, with its standard error over tables, and "not
below" the number of tables where it is not negative. The rule was chosen on the development tables.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
from labelled_tables import DEVELOPMENT, REPORTED, WITHOUT_FILES, LabelledTable, data_folder
from measuring import print_table
from sklearn.metrics import average_precision_score, roc_auc_score
from threadpoolctl import threadpool_limits

from mixsearch._typing import Array
from mixsearch.table import TableComponent, TableSearch

N_EXAMPLES, N_ASKED, N_DRAWS = 3, 5, 4
# Classes of which fewer members are left than this are not judged.
MIN_LEFT = 3

Rule = Callable[[TableComponent, np.random.Generator], Array]


class Scores(NamedTuple):
    """How well rows are ranked."""

    area: float
    precision: float
    right: float
    n_members: float  # of the rows asked for


def _open_rows(found: TableComponent) -> Array:
    """Return the rows without a label, the likeliest first."""
    return found.typical_rows(len(found.membership))


def at_random(found: TableComponent, rng: np.random.Generator) -> Array:
    return rng.choice(_open_rows(found), N_ASKED, replace=False)


def likeliest(found: TableComponent, rng: np.random.Generator) -> Array:
    return found.typical_rows(N_ASKED)


def doubtful(found: TableComponent, rng: np.random.Generator) -> Array:
    rows = _open_rows(found)
    return rows[np.argsort(np.abs(found.membership[rows] - 0.5), kind="stable")[:N_ASKED]]


def near_the_edge(found: TableComponent, rng: np.random.Generator) -> Array:
    """Return rows of ranks from half to twice the number of members, at random."""
    rows, n = _open_rows(found), found.n_members.n
    some = rows[n // 2 : 2 * n]
    return rng.choice(some if len(some) >= N_ASKED else rows[-2 * N_ASKED :], N_ASKED, replace=False)


def doubtful_and_apart(found: TableComponent, rng: np.random.Generator) -> Array:
    """Return rows of ranks around the number of members, each far from those before."""
    rows, n = _open_rows(found), found.n_members.n
    nearest = np.argsort(np.abs(np.log((np.arange(len(rows)) + 1.0) / n)), kind="stable")
    candidates = rows[nearest[: 10 * N_ASKED]]
    X, chosen = found._fit.take_features(candidates), [0]
    while len(chosen) < N_ASKED:
        distances = np.linalg.norm(X[:, None] - X[chosen], axis=2).min(axis=1)
        chosen.append(int(np.argmax(distances)))
    return candidates[chosen]


RULES: dict[str, Rule] = {
    "random rows": at_random,
    "likeliest members": likeliest,
    "memberships next to .5": doubtful,
    "ranks from n/2 to 2n, at random": near_the_edge,
    "doubtful rows far from each other": doubtful_and_apart,
    "ask_next": lambda found, rng: found.ask_next(N_ASKED),
}
NONE = "no labels"


def ask_on(table: LabelledTable, draws: int) -> dict[str, Scores]:
    """Return the mean scores of each rule on a table."""
    search, n = TableSearch().fit(table.X), len(table.X)
    scores: dict[str, list[Scores]] = {name: [] for name in (NONE, *RULES)}
    for label, draw in product(table.classes, range(draws)):
        is_member = table.labels == label
        rng = np.random.default_rng(1000 * draw + N_EXAMPLES)
        like = rng.choice(np.flatnonzero(is_member), N_EXAMPLES, replace=False)
        found = search.search(like=like)
        asked = {NONE: like[:0], **{name: rule(found, np.random.default_rng(draw)) for name, rule in RULES.items()}}
        is_left = ~np.isin(np.arange(n), np.concatenate([like, *asked.values()]))
        truth = is_member[is_left]
        if min(truth.sum(), (~truth).sum()) < MIN_LEFT:
            continue
        for name, rows in asked.items():
            again = search.search(like=[*like, *rows[is_member[rows]]], not_like=rows[~is_member[rows]])
            ranked, right = again.score[is_left], again.predict()[is_left] == truth
            area, precision = roc_auc_score(truth, ranked), average_precision_score(truth, ranked)
            scores[name].append(Scores(area, precision, float(right.mean()), float(is_member[rows].sum())))
    return {name: Scores(*np.mean(each, axis=0).tolist()) for name, each in scores.items()}


def run(*, quick: bool = False) -> None:
    has_files = (data_folder() / "tables").is_dir() and not quick
    for title, half in {"development": DEVELOPMENT, "reported": REPORTED}.items():
        names = [name for name in half if has_files or name in WITHOUT_FILES]
        with threadpool_limits(1):
            tables = [ask_on(half[name](), 1 if quick else N_DRAWS) for name in names]
        rows = []
        for rule in (NONE, *RULES):
            means = Scores(*np.mean([scores[rule] for scores in tables], axis=0).tolist())
            gains = np.array([scores[rule].precision - scores["random rows"].precision for scores in tables])
            gain = f"{gains.mean():+.3f} ± {gains.std(ddof=1) / np.sqrt(len(gains)):.3f}"
            figures = (f"{value:.3f}" for value in means[:3])
            rows.append((rule, *figures, f"{means.n_members:.1f}", gain, f"{np.sum(gains >= 0)} of {len(gains)}"))
        columns = ("five labels", "AUC", "average precision", "right", "members", "less random rows", "not below")
        print_table(f"{title.capitalize()} tables", columns, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tables that need no files, one draw")
    warnings.simplefilter("ignore")
    run(quick=parser.parse_args().quick)
