"""Tables whose rows have a class each: real ones, and drawn ones with a planted class that is hard to find.

The wines of scikit-learn are those of `wine` with half of its columns, and are left out. The two tables of olive oils
have the same rows with coarse and fine labels.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn import datasets

from mixsearch._typing import Array

# Classes with fewer rows leave too little to find.
MIN_ROWS = 20
# A class of at most this share of the rows is rare.
RARE = 0.05
STORED = "labelled_tables.npz"


@dataclass(frozen=True, slots=True, eq=False)
class LabelledTable:
    """Rows with the class of each."""

    X: Array  # (n, d)
    labels: Array  # (n,)
    only: str = ""  # the one class to search, where the others are a background

    @property
    def classes(self) -> list[str]:
        """The classes to search, sorted."""
        names, sizes = np.unique(self.labels, return_counts=True)
        return [self.only] if self.only else names[sizes >= MIN_ROWS].tolist()

    def is_rare(self, label: str) -> bool:
        """Return whether a class is a small one before a background, or at most a twentieth of the rows."""
        return label == self.only or bool(np.mean(self.labels == label) <= RARE)


def data_folder() -> Path:
    return Path(os.environ.get("MIXSEARCH_DATA", Path(__file__).parents[2] / "shared" / "data"))


def read_rows(name: str, delimiter: str = ",") -> list[list[str]]:
    """Return the rows of a text file, without its heading."""
    with open(data_folder() / "tables" / name, newline="") as lines:
        return list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))[1:]


def load_wine() -> LabelledTable:
    rows = read_rows("wine.csv")
    return LabelledTable(np.array([row[1:] for row in rows], dtype=float), np.array([row[0] for row in rows]))


def load_iris() -> LabelledTable:
    rows = read_rows("iris.csv")
    return LabelledTable(np.array([row[1:5] for row in rows], dtype=float), np.array([row[5] for row in rows]))


def load_banknote() -> LabelledTable:
    rows = read_rows("banknote.txt", delimiter=" ")
    return LabelledTable(np.array([row[1:] for row in rows], dtype=float), np.array([row[0] for row in rows]))


def load_stored(name: str) -> LabelledTable:
    with np.load(data_folder() / "tables" / STORED) as stored:
        X, labels = stored[f"{name}__X"].astype(float), stored[f"{name}__y"].astype(str)
    return LabelledTable(X, labels, only="1" if name.startswith("ad-") else "")


def _load_from_sklearn(name: str) -> LabelledTable:
    X, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    return LabelledTable(X.astype(float), labels.astype(str))


def draw_bananas() -> LabelledTable:
    """Two interlocked half circles, and two columns of noise."""
    X, labels = datasets.make_moons(600, noise=0.12, random_state=1)
    noise = np.random.default_rng(1).normal(scale=0.3, size=(len(X), 2))
    return LabelledTable(np.hstack([X, noise]), labels.astype(str))


def draw_heavy_tails() -> LabelledTable:
    """Four classes with t-distributed deviations of 2.5 degrees of freedom, in columns of unequal scales."""
    rng = np.random.default_rng(2)
    labels, centers = rng.choice(4, 1200, p=[0.1, 0.2, 0.3, 0.4]), rng.normal(scale=3, size=(4, 6))
    X = centers[labels] + rng.standard_t(2.5, size=(len(labels), 6))
    return LabelledTable(X * [1, 10, 100, 0.1, 1, 5], labels.astype(str))


def draw_full_gaussians() -> LabelledTable:
    """Draw five overlapping Gaussians with different covariances, the first with 4% of the rows."""
    rng = np.random.default_rng(3)
    labels = rng.choice(5, 1500, p=[0.04, 0.16, 0.2, 0.3, 0.3])
    centers, factors = rng.normal(scale=1.6, size=(5, 8)), np.eye(8) + rng.normal(scale=1 / 3, size=(5, 8, 8))
    X = centers[labels] + np.einsum("nij,nj->ni", factors[labels], rng.normal(size=(len(labels), 8)))
    return LabelledTable(X, labels.astype(str))


def draw_rare_blob() -> LabelledTable:
    """A tight blob of 2% of the rows within two large clouds, one of them skewed."""
    rng = np.random.default_rng(4)
    labels, X = rng.choice(["rare", "skewed", "round"], 3000, p=[0.02, 0.49, 0.49]), rng.normal(size=(3000, 5))
    X[labels == "skewed"] = np.exp(0.7 * X[labels == "skewed"])
    X[labels == "round", 0] -= 3
    X[labels == "rare"] = [1, 2, -1, 0, 1] + 0.3 * X[labels == "rare"]
    return LabelledTable(X, labels, only="rare")


# Choices may be made on these.
DEVELOPMENT: dict[str, Callable[[], LabelledTable]] = {
    **{name: partial(load_stored, name) for name in ("penguins", "olive-area", "glass", "ecoli", "vowel")},
    "wine": load_wine,
    "breast cancer": partial(_load_from_sklearn, "breast_cancer"),
    "bananas": draw_bananas,
    "full Gaussians": draw_full_gaussians,
    **{name: partial(load_stored, name) for name in ("ad-pendigits", "ad-annthyroid")},
}
REPORTED: dict[str, Callable[[], LabelledTable]] = {
    **{name: partial(load_stored, name) for name in ("crabs", "olive-region", "yeast")},
    "iris": load_iris,
    "banknote": load_banknote,
    "digits": partial(_load_from_sklearn, "digits"),
    "heavy tails": draw_heavy_tails,
    "rare blob": draw_rare_blob,
    **{name: partial(load_stored, name) for name in ("ad-mammography", "ad-satimage-2")},
}
WITHOUT_FILES = ("breast cancer", "bananas", "full Gaussians", "digits", "heavy tails", "rare blob")
