"""Rows like these: `TableSearch` compared with simple methods on labelled tables.

Each class of at least fifteen rows, or the rare class of a table that has one, is searched from 1, 3, 5 and 10 random
rows of it. All rows but the examples are ranked; a cell has the area under the ROC curve / the average precision, means
over classes and draws, then over tables. All methods see the same features of `TableEncoder`. The second table has the
recall that the check expects among the first `check.n_to_read()` rows beside the true one, the third the number of
members said relative to the true one, and the mean gap between membership and the share of members in ten bins of
membership. The last one says how often examples of two classes are noticed.

    python benchmarks/tables.py --check
"""

from __future__ import annotations

import argparse
import zlib
from collections import defaultdict

import numpy as np
from labelled_tables import is_rare, list_classes, load_tables
from measuring import print_table
from row_rankings import pu_logistic_regression, random_walk
from sklearn.metrics import average_precision_score, roc_auc_score

from mixsearch import TableSearch
from mixsearch._typing import Array
from mixsearch.errors import collect_warnings
from mixsearch.table.encoding import TableEncoder

N_EXAMPLES, MAX_CLASSES = (1, 3, 5, 10), 4
# A class is clear if its examples alone rank its rows this well.
CLEAR = 0.95


def draw_examples(name: str, target: str, draw: int, labels: Array) -> Array:
    rng = np.random.default_rng(zlib.crc32(f"{name}{target}{draw}".encode()))
    return rng.permutation(np.flatnonzero(labels == target))


def run(*, quick: bool = False, only: str = "", n_draws: int = 5, check: bool = False) -> None:
    n_draws = 1 if quick else n_draws
    quality: dict[tuple[str, int, str], list[tuple[float, float]]] = defaultdict(list)
    promises: dict[int, list[tuple[float, float]]] = defaultdict(list)
    noticed: dict[str, list[bool]] = defaultdict(list)
    counted: dict[int, list[float]] = defaultdict(list)
    clear: dict[int, list[float]] = defaultdict(list)
    calibration: dict[int, Array] = defaultdict(lambda: np.zeros((3, 10)))
    for name, (table, labels) in load_tables():
        if only not in name:
            continue
        search, Z = TableSearch().fit(table), TableEncoder().fit_transform(table)
        peers = {"10-NN walk": random_walk(Z), "PU logistic": pu_logistic_regression(Z)}
        classes = list_classes(name, labels)
        classes = classes[:: -(-len(classes) // MAX_CLASSES)]
        for target in classes:
            for draw in range(n_draws):
                order = draw_examples(name, target, draw, labels)
                for n in (q for q in N_EXAMPLES if q < len(order)):
                    rows, rest = order[:n], np.delete(np.arange(len(labels)), order[:n])
                    truth = (labels == target)[rest]
                    with collect_warnings():
                        found = search.search(rows)
                    ranked = {"TableSearch": found.scores} | {each: rank(rows) for each, rank in peers.items()}
                    for method, scores in ranked.items():
                        pair = roc_auc_score(truth, scores[rest]), average_precision_score(truth, scores[rest])
                        quality[name, n, method].append(pair)
                    if n > 1:
                        read = rest[np.argsort(-found.scores[rest], kind="stable")][: found.check.n_to_read()]
                        recall = float((labels == target)[read].sum() / truth.sum())
                        promises[n].append((found.check.expected_recall(found.check.n_to_read()), recall))
                    if found.is_probability:
                        counted[n].append(found.n_members / (truth.sum() + n))
                        if roc_auc_score(truth, found.scores[rest]) >= CLEAR:
                            clear[n].append(counted[n][-1])
                        membership = found.membership[rest]
                        bins = np.minimum((10 * membership).astype(int), 9)
                        values = (membership, truth, np.ones(len(rest)))
                        calibration[n] += [np.bincount(bins, each, 10) / len(rest) for each in values]
                    if n == 5 and check and roc_auc_score(truth, found.scores[rest]) >= CLEAR:
                        noticed["of one class"].append(bool(found.warnings))
                        for other in classes:
                            if other != target:
                                pair = np.r_[rows[:3], draw_examples(name, other, draw, labels)[:2]]
                                with collect_warnings():
                                    noticed["3 of one, 2 of another"].append(bool(search.search(pair).warnings))
    _print_quality(quality)
    print_table(
        "Recall that the check expects, and true recall",
        ("examples", "expected", "true"),
        [(str(n), *(f"{each:.2f}" for each in np.mean(pairs, axis=0))) for n, pairs in promises.items()],
    )
    print_table(
        "The number of members, and the gap of membership",
        ("examples", "said / true, median", "within a factor of 2", "clear classes", "gap"),
        [
            (
                str(n),
                f"{np.median(ratios):.2f}",
                *(f"{np.mean(np.abs(np.log2(each)) <= 1):.2f}" for each in (ratios, clear[n])),
                f"{np.abs(calibration[n][0] - calibration[n][1]).sum() / calibration[n][2].sum():.3f}",
            )
            for n, ratios in counted.items()
        ],
    )
    if check:
        rows = [(kind, f"{np.mean(seen):.2f}", str(len(seen))) for kind, seen in noticed.items()]
        print_table("Five examples of clear classes that are noticed as two groups", ("examples", "noticed", "n"), rows)


def _print_quality(quality: dict[tuple[str, int, str], list[tuple[float, float]]]) -> None:
    methods, names = sorted({key[2] for key in quality}), list(dict.fromkeys(key[0] for key in quality))
    rare = list(filter(is_rare, names))
    rows = []
    for title, group in (*((name, [name]) for name in names), ("rare classes", rare), ("mean", names)):
        for method in methods if group else ():
            means = [
                np.mean(
                    [np.mean(quality[name, n, method], axis=0) for name in group if (name, n, method) in quality], 0
                )
                for n in N_EXAMPLES
            ]
            rows.append((title, method, *(f"{auc:.3f} / {precision:.3f}" for auc, precision in means)))
    print_table("AUC / average precision", ("table", "method", *map(str, N_EXAMPLES)), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="tables with this in their name")
    parser.add_argument("--draws", type=int, default=5, help="of examples for each class")
    parser.add_argument("--check", action="store_true", help="examples of two classes too")
    options = parser.parse_args()
    run(only=options.only, n_draws=options.draws, check=options.check)
