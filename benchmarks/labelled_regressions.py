"""Tables in which a response depends on features in another way for every class: real ones and drawn ones.

Nobody labelled the rows of two of them. Musicians of the tone data either matched the stretched tone, y = x, or the
octave, y = 2: a row near one of these lines only has its label, a row near both or none has no label. The ethanol
engine burnt a lean or a rich mixture: below or above the equivalence ratio of the largest emission.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from labelled_tables import load_table, read_rows

from mixsearch._typing import Array

# A musician's answer this near to a line is on it.
NEAR = 0.1
# The equivalence ratio of the largest emission of the engine.
RICHEST = 0.91
NO_LABEL = ""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRegression:
    """Samples with the class of each; none for rows that nobody can tell."""

    X: Array  # (n, d)
    y: Array  # (n,)
    labels: Array  # (n,)

    @property
    def classes(self) -> list[str]:
        """All classes, sorted."""
        return [str(label) for label in np.unique(self.labels) if label != NO_LABEL]


def load_tones() -> LabelledRegression:
    x, y = np.array(read_rows("tonedata.csv"), dtype=float).T
    matched, octave = np.abs(y - x) < NEAR, np.abs(y - 2) < NEAR
    labels = np.where(matched & ~octave, "matched", np.where(octave & ~matched, "octave", NO_LABEL))
    return LabelledRegression(x[:, None], y, labels)


def load_engine() -> LabelledRegression:
    emission, ratio = np.array(read_rows("NOdata.csv"), dtype=float).T
    return LabelledRegression(emission[:, None], ratio, np.where(ratio < RICHEST, "lean", "rich"))


def _take_columns(name: str, x: tuple[int, ...], y: int) -> LabelledRegression:
    X, labels = load_table(name)
    return LabelledRegression(X[:, list(x)], X[:, y], labels)


def draw_lines(
    n_features: int, n_classes: int, *, is_skewed: bool, is_joint: bool, n_samples: int = 400, seed: int = 0
) -> LabelledRegression:
    """Draw lines of standard normal coefficients and intercepts, with a noise of a fifth of a deviation to a third.

    Parameters
    ----------
    n_features, n_classes : int
    is_skewed : bool
        Whether features are log-normal instead of normal.
    is_joint : bool
        Whether every class has its own mean, scale and correlations of features.
    n_samples : int
    seed : int

    Returns
    -------
    LabelledRegression
    """
    rng = np.random.default_rng(seed)
    labels = rng.choice(n_classes, n_samples, p=rng.dirichlet(np.full(n_classes, 8.0)))
    X = rng.normal(size=(n_samples, n_features))
    if is_joint:
        centers = rng.normal(scale=1.2, size=(n_classes, n_features))
        factors = np.eye(n_features) + rng.normal(scale=0.4, size=(n_classes, n_features, n_features))
        X = centers[labels] + np.einsum("nij,nj->ni", factors[labels], X)
    if is_skewed:
        X = np.exp(0.8 * X)
    slopes, levels = rng.normal(size=(n_classes, n_features)), rng.normal(size=n_classes)
    noise = rng.uniform(0.2, 0.35, size=n_classes)
    y = np.sum(X * slopes[labels], axis=1) + levels[labels] + noise[labels] * rng.normal(size=n_samples)
    return LabelledRegression(X, y, labels.astype(str))


Sets = dict[str, Callable[[], LabelledRegression]]


def _drawn(kind: str, seeds: range, *, is_skewed: bool = False, is_joint: bool = False) -> Sets:
    shapes = ((1, 2), (2, 2), (3, 3), (4, 2))
    return {
        f"{kind} {seed}, {shape[0]} x {shape[1]}": partial(
            draw_lines, *shape, is_skewed=is_skewed, is_joint=is_joint, seed=seed
        )
        for seed, shape in zip(seeds, shapes, strict=True)
    }


# Choices may be made on these.
DEVELOPMENT: Sets = {
    "engine": load_engine,
    "penguins, bill depth by length": partial(_take_columns, "penguins", (0,), 1),
    "crabs, rear width by three lengths": partial(_take_columns, "crabs", (0, 2, 3), 1),
    "glass, refraction by three elements": partial(_take_columns, "glass", (1, 2, 6), 0),
    "wine, flavanoids by phenols and proline": partial(_take_columns, "wine", (14, 25), 15),
    **_drawn("clean", range(4)),
    **_drawn("skewed", range(10, 14), is_skewed=True),
    **_drawn("joint", range(20, 24), is_joint=True),
}
REPORTED: Sets = {
    "tones": load_tones,
    "penguins, mass by flipper and bill": partial(_take_columns, "penguins", (0, 1, 2), 3),
    "crabs, depth by width": partial(_take_columns, "crabs", (3,), 4),
    "iris, sepal width by length": partial(_take_columns, "iris", (0,), 1),
    "iris, petal width by three lengths": partial(_take_columns, "iris", (0, 1, 2), 3),
    "banknotes, diagonal by margins": partial(_take_columns, "banknote", (3, 4), 5),
    "olive oils, linoleic by oleic": partial(_take_columns, "olive-region", (3,), 4),
    "olive oils, palmitic by three acids": partial(_take_columns, "olive-region", (2, 3, 4), 0),
    **_drawn("clean", range(100, 104)),
    **_drawn("skewed", range(110, 114), is_skewed=True),
    **_drawn("joint", range(120, 124), is_joint=True),
    **_drawn("skewed joint", range(130, 134), is_skewed=True, is_joint=True),
}
# How sets are drawn.
KINDS = ("clean", "skewed joint", "skewed", "joint")


def find_kind(name: str) -> str:
    """Return how a set was drawn, or that it is real."""
    return next((kind for kind in KINDS if name.startswith(kind)), "real")
