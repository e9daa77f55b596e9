"""Images of one object or face from a few examples: `SubspaceSearch` compared with other methods.

Each class is searched from a few random images of it. Every image but the examples is ranked; a cell has the area under
the ROC curve and the average precision, means over classes and draws. `SubspaceSearch` is given the number of classes,
and the dimension 3. Peers see images less their mean at length 1, `SubspaceSearch` as they are. Choices are made on
COIL20 and reported on ORL, or the other way round.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from corpora import data_folder
from measuring import print_table, seconds
from row_rankings import label_spreading, nearest_example, pu_logistic_regression
from sklearn.metrics import average_precision_score, roc_auc_score

from mixsearch import SubspaceSearch
from mixsearch._typing import Array
from mixsearch.errors import collect_warnings

N_EXAMPLES = (1, 3, 5)
N_DRAWS, MAX_CLASSES = 3, 10
DIM = 3
# Moments of 40 subspaces take most of the time.
FEWER_DRAWS = {"ORL, 40 faces": 1}
MOMENTS, REFINED, EXPRESSED = "moments", "refined", "self-expression"
# The walk of the last peer, on coefficients of a ridge regression of images at length 1.
RIDGE, STAY = 0.1, 0.9

Rank = Callable[[Array], Array]


class Images(NamedTuple):
    """Images with their classes."""

    X: Array  # (n, 1024)
    y: Array  # (n,)


def load_images(name: str, classes: slice = slice(None)) -> Images:
    stored = np.load(data_folder() / "subspaces" / f"{name}_32x32.npz")
    rows = np.isin(stored["y"], np.unique(stored["y"])[classes])
    return Images(stored["X"][rows].astype(np.float64), stored["y"][rows])


SETS: dict[str, Callable[[], Images]] = {
    "COIL20, 20 objects": lambda: load_images("COIL20"),
    "ORL, 40 faces": lambda: load_images("ORL"),
    "ORL, faces 1 to 10": lambda: load_images("ORL", slice(10)),
    "ORL, faces 11 to 20": lambda: load_images("ORL", slice(10, 20)),
}


def examples_span(Z: Array) -> Rank:
    """Rank by the part of an image outside the principal axes of the examples."""

    def rank(rows: Array) -> Array:
        axes = np.linalg.svd(Z[rows], full_matrices=False)[2][:DIM]
        squares = np.sum(Z**2, axis=1)
        return np.sum((Z @ axes.T) ** 2, axis=1) / np.maximum(squares, 1e-300)

    return rank


def ridge_walk(Z: Array) -> Rank:
    """Rank by a walk on the coefficients with which images express each other."""
    units = Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-300)
    inverse = np.linalg.inv(units @ units.T + RIDGE * np.eye(len(Z)))
    affinity = np.abs(inverse / np.diag(inverse)[:, None])
    np.fill_diagonal(affinity, 0)
    affinity += affinity.T
    scale = 1 / np.sqrt(affinity.sum(axis=1))
    visits = np.linalg.inv(np.eye(len(Z)) - STAY * affinity * scale[:, None] * scale) * scale[:, None]
    return lambda rows: visits[:, rows].sum(axis=1)


PEERS: dict[str, Callable[[Array], Rank]] = {
    "PCA of the examples": examples_span,
    "nearest example": nearest_example,
    "logistic regression": pu_logistic_regression,
    "label spreading": label_spreading,
}
METHODS = (MOMENTS, REFINED, EXPRESSED, *PEERS, "least squares, walk")


class Answer(NamedTuple):
    """Scores of one method's ranking of the images of one class."""

    set_name: str
    n_examples: int
    method: str
    area: float
    precision: float


def search_all(name: str, data: Images, n_draws: int) -> Iterator[Answer]:
    classes = np.unique(data.y)
    with collect_warnings():
        mixture, expressed = (
            SubspaceSearch(len(classes), dim=DIM, self_expression=choice).fit(data.X) for choice in (False, True)
        )
    Z = data.X - data.X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    ranks = {method: prepare(Z) for method, prepare in PEERS.items()} | {"least squares, walk": ridge_walk(data.X)}
    for n in N_EXAMPLES:
        rng = np.random.default_rng(n)
        for label in classes[:: -(-len(classes) // MAX_CLASSES)]:
            for _ in range(n_draws):
                rows = rng.choice(np.flatnonzero(data.y == label), n, replace=False)
                rest = np.setdiff1d(np.arange(len(data.y)), rows)
                with collect_warnings():
                    answers = {
                        MOMENTS: mixture.search(examples=data.X[rows]),
                        REFINED: mixture.search(examples=data.X[rows], refine=True),
                        EXPRESSED: expressed.search(examples=data.X[rows], refine=True),
                    }
                scores = {method: answer.membership(data.X) for method, answer in answers.items()}
                scores |= {method: rank(rows) for method, rank in ranks.items()}
                for method, score in scores.items():
                    is_member = data.y[rest] == label
                    area, precision = (of(is_member, score[rest]) for of in (roc_auc_score, average_precision_score))
                    yield Answer(name, n, method, area, precision)


def run(*, quick: bool = False, only: str = "") -> None:
    names = [name for name in SETS if only in name]
    start, n_draws = time.perf_counter(), {name: 1 if quick else FEWER_DRAWS.get(name, N_DRAWS) for name in names}
    answers = [answer for name in names for answer in search_all(name, SETS[name](), n_draws[name])]
    for n in N_EXAMPLES:
        rows = []
        for name in names:
            means = _means([answer for answer in answers if (answer.set_name, answer.n_examples) == (name, n)])
            rows.append((name, *(f"{area:.3f} / {precision:.3f}" for area, precision in means.values())))
        print_table(f"{n} example{'s'[: n > 1]}", ("AUC / average precision", *METHODS), rows)
    print(f"\n- {seconds(time.perf_counter() - start)}")


def _means(answers: list[Answer]) -> Mapping[str, tuple[float, float]]:
    found = {method: [(a.area, a.precision) for a in answers if a.method == method] for method in METHODS}
    return {method: tuple(np.mean(values, axis=0).tolist()) for method, values in found.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw for each class")
    parser.add_argument("--only", default="", help="sets whose name contains this")
    arguments = parser.parse_args()
    run(quick=arguments.quick, only=arguments.only)
