"""Every way to rank the rows of a table from a few of them, and how well each does for the classes of a table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from labelled_tables import LabelledTable
from row_rankings import MIN_EXAMPLES, PEERS, Rank
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.table.search import TableSearch


class Answer(NamedTuple):
    """Scores of one method's ranking of the rows in one search."""

    table: str
    is_rare: bool
    n_examples: int
    method: str
    area: float  # under the ROC curve
    precision: float  # average precision
    seconds: float
    refused: bool


class Fit(NamedTuple):
    """The cost of preparing one method for one table."""

    method: str
    seconds: float


class Outcome(NamedTuple):
    """All answers on one table."""

    answers: list[Answer]
    fits: list[Fit]


@lru_cache(maxsize=1)
def _fit_table(table: LabelledTable) -> TableSearch:
    return TableSearch().fit(table.X)


@lru_cache(maxsize=1)
def _fit_gaussians(table: LabelledTable) -> tuple[GaussianSearch, Array]:
    """Return the search and the columns that it sees."""
    Z = StandardScaler().fit_transform(table.X)
    return GaussianSearch(min(len(np.unique(table.labels)), Z.shape[1])).fit(Z), Z


def table_search(table: LabelledTable, by: str) -> Rank:
    search = _fit_table(table)
    return lambda rows: np.asarray(getattr(search.search(like=rows), by))


def gaussian_search(table: LabelledTable, *, refine: bool) -> Rank:
    search, Z = _fit_gaussians(table)
    return lambda rows: search.search(examples=Z[rows], refine=refine).membership(Z)


OURS = "TableSearch"
METHODS: dict[str, Callable[[LabelledTable], Rank]] = {
    OURS: lambda table: table_search(table, "membership"),
    "TableSearch, score": lambda table: table_search(table, "score"),
    "GaussianSearch": lambda table: gaussian_search(table, refine=False),
    "GaussianSearch, refined": lambda table: gaussian_search(table, refine=True),
    **{
        name: lambda table, make=make: make(StandardScaler().fit_transform(table.X))  # type: ignore[misc]
        for name, make in PEERS.items()
    },
}


def search_all(name: str, table: LabelledTable, examples: Sequence[int], draws: int) -> Outcome:
    """Rank the rows of a table by every method, for all its classes."""
    answers, fits = [], []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method, make in METHODS.items():
            start = time.perf_counter()
            rank = make(table)
            fits.append(Fit(method, time.perf_counter() - start))
            for n in examples:
                if n >= MIN_EXAMPLES.get(method, 1):
                    answers += [
                        _answer(name, table, method, rank, label, n, draw)
                        for label in table.classes
                        for draw in range(draws)
                    ]
    return Outcome(answers, fits)


def _answer(name: str, table: LabelledTable, method: str, rank: Rank, label: str, n: int, draw: int) -> Answer:
    is_member = table.labels == label
    rows = np.random.default_rng(1000 * draw + n).choice(np.flatnonzero(is_member), n, replace=False)
    start, refused = time.perf_counter(), False
    try:
        scores = rank(rows)
    except SearchError:
        # No answer is a ranking in which all rows are equal.
        scores, refused = np.zeros(len(table.X)), True
    spent = time.perf_counter() - start
    is_asked = ~np.isin(np.arange(len(table.X)), rows)
    truth, scores = is_member[is_asked], scores[is_asked]
    area, precision = float(roc_auc_score(truth, scores)), float(average_precision_score(truth, scores))
    return Answer(name, table.is_rare(label), n, method, area, precision, spent, refused)
