"""Fit the curve behind `membership` of tables, and test it on labelled tables.

Every class of a table is searched from 1 to 20 of its rows, drawn at random. Rows other than the examples are counted
in cells of about the same rank; the curve is fitted to them by maximum likelihood, each table and each of its searches
with the same weight. `confidence` should be the share of members among the rows called members. The interval of the
number of members should contain 95% of the true ones; its ends are fitted by quantile regression to these tables and,
with the same weight, to planted ones (development kinds of `planted_tables.py`).

Each table is judged by a curve and by an interval that were fitted to the others; the two tables of olive oils, which
have the same rows, are left out together. All shares are means over tables.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from labelled_tables import DEVELOPMENT, REPORTED, WITHOUT_FILES, data_folder
from measuring import print_table
from planted_tables import DEVELOPMENT as PLANTED
from planted_tables import SIZES, draw_tables
from scipy.optimize import minimize
from sklearn.linear_model import QuantileRegressor
from threadpoolctl import threadpool_limits

from mixsearch._typing import Array, TableLike
from mixsearch.graph.walk import (
    CURVE,
    INTERVAL,
    MAX_NARROWING,
    CountInterval,
    CutFacts,
    MembershipCurve,
    count_interval,
    membership_by_rank,
)
from mixsearch.table.search import TableSearch

N_EXAMPLES = (1, 2, 3, 5, 10, 20)
N_DRAWS, N_QUICK = 4, 1
# Classes with fewer members left than this are not searched.
MIN_LEFT = 5
CELLS_PER_OCTAVE = 4
# Of the true numbers of members, fitted: rather more than 95%, since tables that were left out are covered less.
COVERED = 0.97
N_PLANTED = 4
# Cells of the tables printed that have fewer answers than this stay empty.
MIN_JUDGED = 10


class Search(NamedTuple):
    """One search, and the rows other than its examples in the order of their scores."""

    table: str
    facts: CutFacts
    n_found: int
    ratios: Array  # rank / number of members found, (n,)
    is_member: Array  # (n,)

    @property
    def n_examples(self) -> int:
        """The number of examples."""
        return int(self.facts.n_examples)

    @property
    def n_members(self) -> float:
        """The true number of members, examples included."""
        return float(self.is_member.sum()) + self.n_examples


class Judged(NamedTuple):
    """The claims of a search with a curve, and the truth."""

    membership: Array  # (n,)
    confidence: float
    share: float  # of members among the rows called


def search_classes(name: str, table: TableLike, labels: Array, classes: Sequence[Any], draws: int) -> list[Search]:
    """Search for some classes of a table."""
    search, n, found = TableSearch().fit(table), len(labels), []
    for label, n_examples, draw in product(classes, N_EXAMPLES, range(draws)):
        is_member = labels == label
        if is_member.sum() < n_examples + MIN_LEFT:
            continue
        rng = np.random.default_rng(1000 * draw + n_examples)
        rows = rng.choice(np.flatnonzero(is_member), n_examples, replace=False)
        answer = search.search(like=rows)
        order = np.argsort(-answer.score, kind="stable")
        ratios, is_left = (np.arange(n) + 0.5) / answer._members.n, ~np.isin(order, rows)
        is_member = is_member[order][is_left]
        found.append(Search(name, answer._members.facts, answer.n_members.n, ratios[is_left], is_member))
    return found


def judge(search: Search, curve: MembershipCurve) -> Judged:
    membership = membership_by_rank(search.ratios, search.facts, curve)
    called = slice(max(search.n_found - search.n_examples, 1))
    return Judged(membership, float(membership[called].mean()), float(search.is_member[called].mean()))


def fit_curve(searches: Sequence[Search]) -> MembershipCurve:
    """Return the curve of the largest likelihood."""
    cells = [_cells(search) for search in searches]
    log_ratios, shares, weights = (np.concatenate(column) for column in zip(*cells, strict=True))
    sizes = [len(cell[0]) for cell in cells]
    weights = weights * np.repeat(_weights(searches), sizes)
    facts = CutFacts(*np.repeat([search.facts for search in searches], sizes, axis=0).T)

    def loss(values: Array) -> float:
        p = membership_by_rank(np.exp(log_ratios), facts, _curve(values))
        p = np.clip(p, 1e-6, 1 - 1e-6)
        return -float(weights @ (shares * np.log(p) + (1 - shares) * np.log(1 - p)))

    start = [*CURVE.height, *CURVE.log_steepness, CURVE.shift]
    return _curve(minimize(loss, start, method="BFGS").x)


def _curve(values: Array) -> MembershipCurve:
    numbers = values.tolist()
    return MembershipCurve(tuple(numbers[:4]), tuple(numbers[4:8]), numbers[8])


def _cells(search: Search) -> tuple[Array, Array, Array]:
    """Return the mean log ratio, the share of members and the share of all rows of each cell."""
    logs = np.log(search.ratios)
    _, cell, sizes = np.unique(np.floor(CELLS_PER_OCTAVE * np.log2(search.ratios)), False, True, True)
    return np.bincount(cell, logs) / sizes, np.bincount(cell, search.is_member) / sizes, sizes / len(logs)


def _weights(searches: Sequence[Search]) -> Array:
    """Return a weight for each search: tables have the same weight."""
    _, table, counts = np.unique([search.table for search in searches], return_inverse=True, return_counts=True)
    return np.asarray(1 / counts[table] / len(counts))


def fit_interval(searches: Sequence[Search], planted: Sequence[Search]) -> CountInterval:
    """Return the interval by quantile regression; labelled and planted tables have the same weight."""
    every = [*searches, *planted]
    X, weights = _log_facts(every)[:, 1:], len(every) * np.concatenate([_weights(searches), _weights(planted)])
    ends = []
    for quantile in ((1 - COVERED) / 2, (1 + COVERED) / 2):
        model = QuantileRegressor(quantile=quantile, alpha=0).fit(X, _log_errors(every), sample_weight=weights)
        ends.append((float(model.intercept_), *model.coef_.tolist()))
    return CountInterval(*ends)


def _log_facts(searches: Sequence[Search]) -> Array:
    facts = [search.facts._replace(n_examples=min(search.n_examples, MAX_NARROWING)) for search in searches]
    return np.array([each.as_logs()[: len(INTERVAL.low)] for each in facts])


def _log_errors(searches: Sequence[Search]) -> Array:
    """Return the logs of the true numbers of members over those found."""
    return np.array([np.log(search.n_members / search.n_found) for search in searches])


def _group(table: str) -> str:
    return "olive" if table.startswith("olive") else table


def run(*, quick: bool = False) -> None:
    has_files = (data_folder() / "tables").is_dir() and not quick
    names = [name for name in DEVELOPMENT | REPORTED if has_files or name in WITHOUT_FILES]
    draws = N_QUICK if quick else N_DRAWS
    with threadpool_limits(1):
        searches = []
        for name in names:
            table = (DEVELOPMENT | REPORTED)[name]()
            searches += search_classes(name, table.X, table.labels, table.classes, draws)
        planted = []
        for i, each in enumerate(draw_tables(PLANTED, N_QUICK, SIZES[: 1 if quick else N_PLANTED])):
            groups = range(min(N_PLANTED, int(each.labels.max()) + 1))
            planted += search_classes(str(i), each.table, each.labels, groups, N_QUICK)
    print(f"\n- {len(searches)} searches in {len(names)} tables")
    groups = np.array([_group(search.table) for search in searches])
    judged: list[Judged] = [None] * len(searches)  # type: ignore[list-item]
    for group in np.unique(groups):
        curve = fit_curve([search for search, own in zip(searches, groups == group, strict=True) if not own])
        for i in np.flatnonzero(groups == group):
            judged[i] = judge(searches[i], curve)
    _print_membership(searches, judged)
    _print_confidence(searches, judged)
    _print_counts(searches, planted, groups)
    interval = fit_interval(searches, planted)
    print_table(
        "Interval of all tables",
        ("", "constant", "log examples", "log conductance"),
        [(name, *(f"{value:.2f}" for value in getattr(interval, name))) for name in CountInterval._fields],
    )
    final = fit_curve(searches)
    print_table(
        f"Curve of all tables, shift {final.shift:.2f}",
        ("", "constant", "log examples", "log conductance", "log share left"),
        [(name, *(f"{value:.2f}" for value in getattr(final, name))) for name in ("height", "log_steepness")],
    )


def _print_membership(searches: Sequence[Search], judged: Sequence[Judged]) -> None:
    rows = []
    for n in (*N_EXAMPLES, None):
        own = [i for i, search in enumerate(searches) if n in (search.n_examples, None)]
        said, true, weight = np.zeros(10), np.zeros(10), np.zeros(10)
        for i, by_table in zip(own, _weights([searches[i] for i in own]), strict=True):
            tenth = np.minimum((10 * judged[i].membership).astype(int), 9)
            each = by_table / len(tenth)
            weight += each * np.bincount(tenth, minlength=10)
            said += each * np.bincount(tenth, judged[i].membership, 10)
            true += each * np.bincount(tenth, searches[i].is_member, 10)
        cells = [f"{s / w:.2f}: {t / w:.2f}" if w else "" for s, t, w in zip(said, true, weight, strict=True)]
        rows.append((str(n or "all"), *cells))
    columns = ("examples", *(f"{i / 10:.1f}-{(i + 1) / 10:.1f}" for i in range(10)))
    print_table("Mean membership: share of members, in each tenth", columns, rows)


def _print_confidence(searches: Sequence[Search], judged: Sequence[Judged]) -> None:
    counts = np.array([search.n_examples for search in searches])
    said, true = (np.array([getattr(each, name) for each in judged]) for name in ("confidence", "share"))
    rows = []
    for n in (*N_EXAMPLES, None):
        own = np.flatnonzero((counts == n) | (n is None))
        weights = _weights([searches[i] for i in own])
        tenth = np.minimum((10 * said[own]).astype(int), 9)
        groups = [np.ones(len(own), dtype=bool), *(tenth == i for i in range(10))]
        cells = [
            f"{np.average(said[own][g], weights=weights[g]):.2f}: {np.average(true[own][g], weights=weights[g]):.2f}"
            f" ({g.sum()})"
            if g.sum() >= MIN_JUDGED
            else ""
            for g in groups
        ]
        error = np.average(np.abs(said[own] - true[own]), weights=weights)
        rows.append((str(n or "all"), *cells, f"{error:.2f}"))
    columns = ("examples", "all", *(f"{i / 10:.1f}-{(i + 1) / 10:.1f}" for i in range(10)), "mean error")
    print_table("Mean confidence: share of members among rows called (searches)", columns, rows)


def _print_counts(searches: Sequence[Search], planted: Sequence[Search], groups: Array) -> None:
    low, high = np.empty((2, len(searches)))
    for group in np.unique(groups):
        others = [search for search, own in zip(searches, groups == group, strict=True) if not own]
        interval = fit_interval(others, planted)
        for i in np.flatnonzero(groups == group):
            search = searches[i]
            ends = count_interval(search.n_found, search.facts, interval)
            low[i] = max(round(ends[0]), search.n_examples)
            high[i] = min(round(ends[1]), len(search.is_member) + search.n_examples)
    counts = np.array([search.n_examples for search in searches])
    true = np.array([search.n_members for search in searches])
    logs = -_log_errors(searches)
    columns = [logs, np.abs(logs) <= np.log(2), np.log(high / low), (low <= true) & (true <= high)]
    rows = []
    for n in N_EXAMPLES:
        own = np.flatnonzero(counts == n)
        weights = _weights([searches[i] for i in own])
        mean, within, width, covered = (float(np.average(each[own], weights=weights)) for each in columns)
        rows.append((str(n), f"{np.exp(mean):.2f}", f"{within:.2f}", f"{np.exp(width):.1f}", f"{covered:.2f}"))
    names = ("examples", "found / true", "within a factor of 2", "high / low", "covered")
    print_table("The number of members", names, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tables that need no files, one draw")
    warnings.simplefilter("ignore")
    run(quick=parser.parse_args().quick)
