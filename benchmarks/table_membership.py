"""How likely a row of a table is a member: the curve behind `membership`, fitted and tested on labelled tables.

Every class of a table is searched from 1 to 20 of its rows, drawn at random. Rows other than the examples are counted
in cells of about the same rank; the curve is fitted to them by maximum likelihood, each table and each of its searches
with the same weight. `confidence` should be the share of members among the rows called members. The number of members
found should be within a factor of the true one, which depends on the number of examples: the 95% quantile.

Each table is judged by a curve and by factors that were fitted to the others; the two tables of olive oils, which have
the same rows, are left out together. The errors that give the factors come from the curves without each table's own
rows, but not without those of the table judged. All shares are means over tables.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from labelled_tables import DEVELOPMENT, REPORTED, WITHOUT_FILES, LabelledTable, data_folder
from measuring import print_table
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from mixsearch._typing import Array
from mixsearch.core.members import CURVE, MembershipCurve, membership_by_rank
from mixsearch.table import TableSearch

N_EXAMPLES = (1, 2, 3, 5, 10, 20)
N_DRAWS, N_QUICK = 4, 1
# Classes with fewer members left than this are not searched.
MIN_LEFT = 5
CELLS_PER_OCTAVE = 4
COVERED = 0.95
# Cells of the tables printed that have fewer answers than this stay empty.
MIN_JUDGED = 10


class Search(NamedTuple):
    """One search, and the rows other than its examples in the order of their scores."""

    table: str
    n_examples: int
    conductance: float
    n_found: int
    ratios: Array  # rank / number of members found, (n,)
    is_member: Array  # (n,)

    @property
    def n_members(self) -> float:
        """The true number of members, examples included."""
        return float(self.is_member.sum()) + self.n_examples


class Judged(NamedTuple):
    """What a search says with a curve, and what is true."""

    membership: Array  # (n,)
    confidence: float
    share: float  # of members among the rows called


def search_classes(name: str, table: LabelledTable, draws: int) -> list[Search]:
    """Search for all classes of a table."""
    search, n, found = TableSearch().fit(table.X), len(table.X), []
    for label, n_examples, draw in product(table.classes, N_EXAMPLES, range(draws)):
        is_member = table.labels == label
        if is_member.sum() < n_examples + MIN_LEFT:
            continue
        rng = np.random.default_rng(1000 * draw + n_examples)
        rows = rng.choice(np.flatnonzero(is_member), n_examples, replace=False)
        answer = search.search(like=rows)
        order = np.argsort(-answer.score, kind="stable")
        ratios, is_left = (np.arange(n) + 0.5) / answer._members.n, ~np.isin(order, rows)
        is_member = is_member[order][is_left]
        conductance, n_found = answer._members.conductance, answer.n_members.n
        found.append(Search(name, n_examples, conductance, n_found, ratios[is_left], is_member))
    return found


def judge(search: Search, curve: MembershipCurve) -> Judged:
    membership = membership_by_rank(search.ratios, search.n_examples, search.conductance, curve)
    called = slice(max(search.n_found - search.n_examples, 1))
    return Judged(membership, float(membership[called].mean()), float(search.is_member[called].mean()))


def fit_curve(searches: Sequence[Search]) -> MembershipCurve:
    """Return the curve of the largest likelihood."""
    cells = [_cells(search) for search in searches]
    log_ratios, shares, weights = (np.concatenate(column) for column in zip(*cells, strict=True))
    sizes = [len(cell[0]) for cell in cells]
    weights = weights * np.repeat(_weights(searches), sizes)
    n_examples = np.repeat([search.n_examples for search in searches], sizes)
    conductance = np.repeat([search.conductance for search in searches], sizes)

    def loss(values: Array) -> float:
        p = membership_by_rank(np.exp(log_ratios), n_examples, conductance, _curve(values))
        p = np.clip(p, 1e-6, 1 - 1e-6)
        return -float(weights @ (shares * np.log(p) + (1 - shares) * np.log(1 - p)))

    start = [*CURVE.height, *CURVE.log_steepness, CURVE.shift]
    return _curve(minimize(loss, start, method="BFGS").x)


def _curve(values: Array) -> MembershipCurve:
    numbers = values.tolist()
    return MembershipCurve(tuple(numbers[:3]), tuple(numbers[3:6]), numbers[6])


def _cells(search: Search) -> tuple[Array, Array, Array]:
    """Return the mean log ratio, the share of members and the share of all rows of each cell."""
    logs = np.log(search.ratios)
    _, cell, sizes = np.unique(np.floor(CELLS_PER_OCTAVE * np.log2(search.ratios)), False, True, True)
    return np.bincount(cell, logs) / sizes, np.bincount(cell, search.is_member) / sizes, sizes / len(logs)


def _weights(searches: Sequence[Search]) -> Array:
    """Return a weight for each search: tables have the same weight."""
    _, table, counts = np.unique([search.table for search in searches], return_inverse=True, return_counts=True)
    return np.asarray(1 / counts[table] / len(counts))


def fit_factors(errors: Array, searches: Sequence[Search]) -> dict[int, float]:
    """Return the factor, by the number of examples, that covers 95% of the numbers of members."""
    counts = np.array([search.n_examples for search in searches])
    factors = {}
    for n in np.unique(counts).tolist():
        own = np.flatnonzero(counts == n)
        own = own[np.argsort(errors[own])]
        covered = np.cumsum(_weights([searches[i] for i in own]))
        factors[n] = float(np.exp(errors[own[np.searchsorted(covered, COVERED)]]))
    return factors


def _group(table: str) -> str:
    return "olive" if table.startswith("olive") else table


def run(*, quick: bool = False) -> None:
    has_files = (data_folder() / "tables").is_dir() and not quick
    names = [name for name in DEVELOPMENT | REPORTED if has_files or name in WITHOUT_FILES]
    with threadpool_limits(1):
        searches = [
            search
            for name in names
            for search in search_classes(name, (DEVELOPMENT | REPORTED)[name](), N_QUICK if quick else N_DRAWS)
        ]
    print(f"\n- {len(searches)} searches in {len(names)} tables")
    groups = np.array([_group(search.table) for search in searches])
    judged: list[Judged] = [None] * len(searches)  # type: ignore[list-item]
    for group in np.unique(groups):
        curve = fit_curve([search for search, own in zip(searches, groups == group, strict=True) if not own])
        for i in np.flatnonzero(groups == group):
            judged[i] = judge(searches[i], curve)
    _print_membership(searches, judged)
    _print_confidence(searches, judged)
    _print_counts(searches, groups)
    final = fit_curve(searches)
    print_table(
        f"Curve of all tables, shift {final.shift:.2f}",
        ("", "constant", "log examples", "log conductance"),
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


def _print_counts(searches: Sequence[Search], groups: Array) -> None:
    logs = np.array([np.log(search.n_found / search.n_members) for search in searches])
    counts = np.array([search.n_examples for search in searches])
    covered = np.empty(len(searches), dtype=bool)
    for group in np.unique(groups):
        others = np.flatnonzero(groups != group)
        factors = fit_factors(np.abs(logs[others]), [searches[i] for i in others])
        own = np.flatnonzero(groups == group)
        covered[own] = np.abs(logs[own]) <= np.log([factors[n] for n in counts[own].tolist()])
    rows = []
    for n, factor in fit_factors(np.abs(logs), searches).items():
        own = np.flatnonzero(counts == n)
        weights = _weights([searches[i] for i in own])
        shares = [logs[own], np.abs(logs[own]) <= np.log(2), covered[own]]
        mean, within, coverage = (float(np.average(each, weights=weights)) for each in shares)
        rows.append((str(n), f"{np.exp(mean):.2f}", f"{within:.2f}", f"{factor:.1f}", f"{coverage:.2f}"))
    columns = ("examples", "found / true", "within a factor of 2", "factor for 95%", "covered")
    print_table("The number of members", columns, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tables that need no files, one draw")
    warnings.simplefilter("ignore")
    run(quick=parser.parse_args().quick)
