"""Samples of one subspace, object, face or body from a few examples: `SubspaceSearch` compared with other methods.

Each class is searched from a few random samples of it. Every sample but the examples is ranked; a cell has the area
under the ROC curve and the average precision, means over classes and draws. `SubspaceSearch` is given the number of
classes, and the dimension 3 for images, otherwise the largest true one. Peers see images less their mean at length 1,
`SubspaceSearch` as they are. Tracks are points of rigid bodies before a camera with perspective.

Constants were chosen on the development sets. ORL was in sight then, the other reported sets were not.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from labelled_tables import data_folder
from measuring import print_table, seconds
from row_rankings import label_spreading, nearest_example, pu_logistic_regression
from sklearn.metrics import average_precision_score, roc_auc_score

from mixsearch import SubspaceSearch
from mixsearch._typing import Array
from mixsearch.errors import collect_warnings

N_EXAMPLES = (1, 3, 5)
N_DRAWS, MAX_CLASSES = 3, 10
# Moments of 40 subspaces take most of the time.
FEWER_DRAWS = {"ORL, 40 faces": 1}
MOMENTS, REFINED, EXPRESSED = "moments", "refined", "self-expression"
# The walk of the last peer, on coefficients of a ridge regression of samples at length 1.
RIDGE, STAY = 0.1, 0.9

Rank = Callable[[Array], Array]


class LabelledSamples(NamedTuple):
    """Samples with their classes, and the dimension of the subspaces."""

    X: Array
    y: Array
    dim: int
    are_images: bool = False


def images(name: str, classes: slice = slice(None)) -> LabelledSamples:
    loaded = np.load(data_folder() / "subspaces" / f"{name}_32x32.npz")
    kept = np.isin(loaded["y"], np.unique(loaded["y"])[classes])
    return LabelledSamples(loaded["X"][kept].astype(np.float64), loaded["y"][kept], 3, are_images=True)


def tracks(n_bodies: int, seed: int, *, n_frames: int = 20, deviation: float = 0.002) -> LabelledSamples:
    """Draw points of rigid bodies, each with its own rotation and path, and project them frame by frame."""
    rng = np.random.default_rng(seed)
    bodies = [_draw_body(rng, n_frames, is_still=body == 0) for body in range(n_bodies)]
    X = np.concatenate(bodies)
    labels = np.repeat(np.arange(n_bodies), [len(body) for body in bodies])
    return LabelledSamples(X + deviation * rng.normal(size=X.shape), labels, 4)


def _draw_body(rng: np.random.Generator, n_frames: int, *, is_still: bool) -> Array:
    n_points, speed = rng.integers(40, 120), 0.3 if is_still else 1.0
    points = rng.normal(size=(n_points, 3)) * rng.uniform(0.15, 0.4) * [1, 1, rng.uniform(0.3, 1)]
    start = np.array([0.5, 0.5, 0.3]) * rng.normal(size=3) + [0, 0, 4]
    course = speed * np.array([0.04, 0.04, 0.03]) * rng.normal(size=3)
    x, y, z = axis = rng.normal(size=3)
    turn = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) / np.linalg.norm(axis)
    angles = speed * 0.03 * rng.normal() * np.arange(n_frames)
    frames = []
    for step, angle in enumerate(angles):
        rotation = np.eye(3) + np.sin(angle) * turn + (1 - np.cos(angle)) * turn @ turn
        seen = points @ rotation.T + start + step * course
        frames.append(4 * seen[:, :2] / seen[:, 2:])
    return np.hstack(frames)


def subspaces(dims: tuple[int, ...], seed: int, *, offset: float = 0.0, deviation: float = 0.3) -> LabelledSamples:
    """Draw 200 samples of each of some subspaces in 40 dimensions, off the origin by an offset each."""
    rng = np.random.default_rng(seed)
    parts = []
    for dim in dims:
        basis, _ = np.linalg.qr(rng.normal(size=(40, dim)))
        center = offset * rng.normal(size=40) / np.sqrt(40)
        parts.append(rng.normal(size=(200, dim)) @ basis.T + center + deviation * rng.normal(size=(200, 40)))
    # A flat through zero and its center is a subspace of one more dimension.
    return LabelledSamples(np.concatenate(parts), np.repeat(np.arange(len(dims)), 200), max(dims) + bool(offset))


DEVELOPMENT: dict[str, Callable[[], LabelledSamples]] = {
    "COIL20, 20 objects": lambda: images("COIL20"),
    **{f"tracks of {k} bodies, {seed}": lambda k=k, seed=seed: tracks(k, seed) for k in (2, 3) for seed in range(3)},
    "3 planes": lambda: subspaces((2, 2, 2), 0),
    "dimensions 1, 2, 4": lambda: subspaces((1, 2, 4), 1),
    "3 planes off the origin": lambda: subspaces((2, 2, 2), 2, offset=2.0),
}
REPORTED: dict[str, Callable[[], LabelledSamples]] = {
    "ORL, 40 faces": lambda: images("ORL"),
    "ORL, faces 1 to 10": lambda: images("ORL", slice(10)),
    "ORL, faces 11 to 20": lambda: images("ORL", slice(10, 20)),
    **{
        f"tracks of {k} bodies, {seed}": lambda k=k, seed=seed: tracks(k, seed)
        for k in (2, 3)
        for seed in range(20, 25)
    },
    "4 planes": lambda: subspaces((2, 2, 2, 2), 20),
    "3 planes, deviation .5": lambda: subspaces((2, 2, 2), 21, deviation=0.5),
    "dimensions 1, 3, 5": lambda: subspaces((1, 3, 5), 22),
    "dimensions 1, 2, 2, 4": lambda: subspaces((1, 2, 2, 4), 23, deviation=0.2),
    "dimensions 1, 2, 3 off the origin": lambda: subspaces((1, 2, 3), 24, offset=2.0),
}
HALVES = {"development": DEVELOPMENT, "reported": REPORTED}


def examples_span(Z: Array, dim: int) -> Rank:
    """Rank by the part of a sample outside the principal axes of the examples."""

    def rank(rows: Array) -> Array:
        axes = np.linalg.svd(Z[rows], full_matrices=False)[2][:dim]
        squares = np.sum(Z**2, axis=1)
        return np.sum((Z @ axes.T) ** 2, axis=1) / np.maximum(squares, 1e-300)

    return rank


def ridge_walk(Z: Array) -> Rank:
    """Rank by a walk on the coefficients with which samples express each other."""
    units = Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-300)
    inverse = np.linalg.inv(units @ units.T + RIDGE * np.eye(len(Z)))
    affinity = np.abs(inverse / np.diag(inverse)[:, None])
    np.fill_diagonal(affinity, 0)
    affinity += affinity.T
    scale = 1 / np.sqrt(affinity.sum(axis=1))
    visits = np.linalg.inv(np.eye(len(Z)) - STAY * affinity * scale[:, None] * scale) * scale[:, None]
    return lambda rows: visits[:, rows].sum(axis=1)


def peers(data: LabelledSamples) -> dict[str, Rank]:
    Z = data.X - data.X.mean(axis=0) if data.are_images else data.X
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True) if data.are_images else Z
    return {
        "PCA of the examples": examples_span(Z, data.dim),
        "nearest example": nearest_example(Z),
        "logistic regression": pu_logistic_regression(Z),
        "label spreading": label_spreading(Z),
        "least squares, walk": ridge_walk(data.X),
    }


METHODS = (MOMENTS, REFINED, EXPRESSED, *peers(subspaces((1, 1), 0)))


class Answer(NamedTuple):
    """Scores of one method's ranking of the samples of one class."""

    set_name: str
    n_examples: int
    method: str
    area: float
    precision: float


def search_all(name: str, data: LabelledSamples, n_draws: int) -> Iterator[Answer]:
    classes = np.unique(data.y)
    with collect_warnings():
        mixture, expressed = (
            SubspaceSearch(len(classes), dim=data.dim, self_expression=choice).fit(data.X) for choice in (False, True)
        )
    ranks = peers(data)
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
    has_files = (data_folder() / "subspaces").is_dir()
    if not has_files:
        print("\n- only generated sets, since MIXSEARCH_DATA names no folder with subspaces")
    for half, sets in HALVES.items():
        names = [name for name in sets if only in name and (has_files or not name.startswith(("COIL20", "ORL")))]
        start, n_draws = time.perf_counter(), {name: 1 if quick else FEWER_DRAWS.get(name, N_DRAWS) for name in names}
        answers = [answer for name in names for answer in search_all(name, sets[name](), n_draws[name])]
        for n in N_EXAMPLES:
            _print(f"{n} example{'s'[: n > 1]}, {half} sets", [answer for answer in answers if answer.n_examples == n])
        print(f"\n- {half} sets: {seconds(time.perf_counter() - start)}")


def _print(title: str, answers: list[Answer]) -> None:
    by_kind: dict[str, list[Answer]] = {}
    for answer in answers:
        name = answer.set_name
        by_kind.setdefault(name.split(",")[0] if name.startswith("tracks") else name, []).append(answer)
    rows = []
    for kind, some in by_kind.items():
        means = _means(some)
        rows.append((kind, *(f"{area:.3f} / {precision:.3f}" for area, precision in means.values())))
    print_table(title, ("AUC / average precision", *METHODS), rows)


def _means(answers: list[Answer]) -> Mapping[str, tuple[float, float]]:
    found = {method: [(a.area, a.precision) for a in answers if a.method == method] for method in METHODS}
    return {method: tuple(np.mean(values, axis=0).tolist()) for method, values in found.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw for each class")
    parser.add_argument("--only", default="", help="sets whose name contains this")
    arguments = parser.parse_args()
    run(quick=arguments.quick, only=arguments.only)
