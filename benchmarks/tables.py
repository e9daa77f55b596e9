"""Rows like a few rows of a table: `TableSearch` compared with other methods.

Each class of at least twenty rows, or the rare class of a table that has one, is searched from a few random rows of it.
Every row but the examples is ranked; a cell has the area under the ROC curve and the average precision, means over
classes and draws. `TableSearch` sees the columns as they are, all others see them standardised. What does not depend on
the examples is fitted once for each table. `GaussianSearch` is given the number of classes, the others are not. Label
spreading needs rows of other classes: random rows stand for them. "Best peer" is the best one of this very cell, which
nobody could know beforehand; "shortfall" is how much `TableSearch` is below it, negative where it is above.

Choices are to be made on the development tables alone, the others are for reporting; the olive oils are in both, with
coarse labels among those reported. Rows "rare" are rare classes before a background, and classes of at most a twentieth
of a table's rows, which are part of the table's row as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from labelled_tables import DEVELOPMENT, REPORTED, WITHOUT_FILES, LabelledTable, data_folder
from measuring import N_THREADS, print_table, seconds
from row_rankings import PEERS
from table_answers import METHODS, OURS, Answer, Fit, search_all

from mixsearch._typing import Array

N_EXAMPLES = (1, 3, 5, 10)
N_DRAWS, N_QUICK = 20, 2
# Tables of many classes or many columns, which would take most of the time.
FEWER_DRAWS = {"digits": 10}
MAX_QUICK_ROWS = 1000
HALVES = {"development": DEVELOPMENT, "reported": REPORTED}


def run(*, quick: bool = False, only: str = "", examples: Sequence[int] = N_EXAMPLES, draws: int | None = None) -> None:
    has_files = (data_folder() / "tables").is_dir()
    if not has_files:
        print("\n- only drawn tables and those of scikit-learn, since MIXSEARCH_DATA names no folder with tables")
    names = [name for half in HALVES.values() for name in half if only in name and (has_files or name in WITHOUT_FILES)]
    loaded = {name: (DEVELOPMENT | REPORTED)[name]() for name in names}
    if quick:
        loaded = {name: table for name, table in loaded.items() if len(table.X) <= MAX_QUICK_ROWS}
    n_draws = {name: draws or (N_QUICK if quick else FEWER_DRAWS.get(name, N_DRAWS)) for name in loaded}
    # The longest first, so that the last ones fill the time.
    order = sorted(loaded, key=lambda name: -loaded[name].X.size * len(loaded[name].classes))
    with Parallel(n_jobs=N_THREADS, batch_size=1) as parallel:
        outcomes = parallel(delayed(search_all)(name, loaded[name], examples, n_draws[name]) for name in order)
    answers = [answer for outcome in outcomes for answer in outcome.answers]
    fits = [fit for outcome in outcomes for fit in outcome.fits]
    print(f"\n- draws: {', '.join(f'{name} {n}' for name, n in n_draws.items())}")
    for n in examples:
        for title, half in HALVES.items():
            some = [answer for answer in answers if answer.n_examples == n and answer.table in half]
            if some:
                _print_tables(f"{n} example{'s'[: n > 1]}, {title} tables", some, loaded)
    for title, half in HALVES.items():
        _print_means(f"Means over {title} tables", [answer for answer in answers if answer.table in half])
    _print_shortfalls(answers)
    _print_times(answers, fits)


class Mean(NamedTuple):
    """Means of the two figures."""

    area: float
    precision: float


Means = Mapping[str, Mean]  # by method


def _means(answers: Sequence[Answer]) -> Means:
    by_method: dict[str, list[Mean]] = {method: [] for method in METHODS}
    for answer in answers:
        by_method[answer.method].append(Mean(answer.area, answer.precision))
    return {method: Mean(*np.mean(found, axis=0).tolist()) for method, found in by_method.items() if found}


def _mean_over(rows: Sequence[Means]) -> Means:
    """Return the mean over tables for the methods that answered on all of them."""
    methods = [method for method in METHODS if rows and all(method in row for row in rows)]
    return {method: Mean(*np.mean([row[method] for row in rows], axis=0).tolist()) for method in methods}


def _by_table(answers: Sequence[Answer], *, rare: bool = False) -> dict[str, Means]:
    """Return the means for every table, of all its classes or of the rare ones."""
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        if answer.is_rare or not rare:
            found.setdefault(answer.table, []).append(answer)
    return {name: _means(group) for name, group in found.items()}


def _print_tables(title: str, answers: Sequence[Answer], loaded: Mapping[str, LabelledTable]) -> None:
    by_table, by_rare = _by_table(answers), _by_table(answers, rare=True)
    rows = []
    for name, means in by_table.items():
        n, d = loaded[name].X.shape
        is_all_rare = bool(loaded[name].only)
        rows.append(_row(f"{name}, {n:,} x {d}{', rare' * is_all_rare}", means))
        if name in by_rare and not is_all_rare:
            rows.append(_row(f"{name}, rare", by_rare[name]))
    rows.append(_row("mean over tables", _mean_over(list(by_table.values()))))
    if by_rare:
        rows.append(_row("mean over rare", _mean_over(list(by_rare.values()))))
    print_table(title, ("AUC / average precision", *METHODS, "best peer", "shortfall"), rows)


def _row(name: str, means: Means) -> tuple[str, ...]:
    shortfalls = [_best_peer(means, figure) for figure in range(2)]
    peers, gaps = zip(*shortfalls, strict=True)
    cells = [_cell(means[method]) if method in means else "" for method in METHODS]
    return (name, *cells, " / ".join(peers), " / ".join(f"{gap:+.3f}" for gap in gaps))


def _cell(mean: Mean) -> str:
    return f"{mean.area:.3f} / {mean.precision:.3f}"


def _best_peer(means: Means, figure: int) -> tuple[str, float]:
    """Return the best peer by one figure, and how much ours is below it."""
    best = max((name for name in PEERS if name in means), key=lambda name: means[name][figure])
    return best, means[best][figure] - means[OURS][figure]


def _print_means(title: str, answers: Sequence[Answer]) -> None:
    if not answers:
        return
    counts = sorted({answer.n_examples for answer in answers})
    columns = [f"{n}{kind}" for n in counts for kind in ("", ", rare")]
    means = []
    for n in counts:
        some = [answer for answer in answers if answer.n_examples == n]
        means += [_mean_over(list(_by_table(some, rare=rare).values())) for rare in (False, True)]
    rows = []
    for method in METHODS:
        refused = sum(answer.refused for answer in answers if answer.method == method)
        cells = [_cell(mean[method]) if method in mean else "" for mean in means]
        rows.append((method, *cells, str(refused or "")))
    print_table(title, ("AUC / average precision, examples:", *columns, "refused"), rows)


def _shortfalls(answers: Sequence[Answer]) -> Iterator[tuple[str, ...]]:
    """Yield the worst table for each half, number of examples and figure."""
    for title, half in HALVES.items():
        for n in sorted({answer.n_examples for answer in answers}):
            by_table = _by_table([answer for answer in answers if answer.n_examples == n and answer.table in half])
            for figure, label in enumerate(("AUC", "average precision")):
                gaps = {name: _best_peer(means, figure) for name, means in by_table.items()}
                if gaps:
                    name = max(gaps, key=lambda name: gaps[name][1])
                    ahead = sum(gap <= 0 for _, gap in gaps.values())
                    peer, gap = gaps[name]
                    yield (title, str(n), label, f"{gap:+.3f}", name, peer, f"{ahead} of {len(gaps)}")


def _print_shortfalls(answers: Sequence[Answer]) -> None:
    columns = ("tables", "examples", "figure", "shortfall", "table", "best peer", "no peer ahead")
    print_table("Largest shortfall against the best peer of a table", columns, list(_shortfalls(answers)))


def _print_times(answers: Sequence[Answer], fits: Sequence[Fit]) -> None:
    rows = []
    for method in METHODS:
        spent: Array = np.array([answer.seconds for answer in answers if answer.method == method])
        total = sum(fit.seconds for fit in fits if fit.method == method)
        median, late = (seconds(float(np.quantile(spent, q))) if len(spent) else "" for q in (0.5, 0.95))
        rows.append((method, seconds(total), median, late))
    print_table("Times, one thread", ("method", "fits of all tables", "a question, median", "95th percentile"), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="tables with this in their name")
    parser.add_argument("--examples", type=int, nargs="+", default=N_EXAMPLES, help="how many rows to search from")
    parser.add_argument("--draws", type=int, help=f"of examples for each class; {N_DRAWS}, but for digits, by default")
    parser.add_argument("--quick", action="store_true", help=f"small tables, {N_QUICK} draws")
    options = parser.parse_args()
    run(quick=options.quick, only=options.only, examples=options.examples, draws=options.draws)
