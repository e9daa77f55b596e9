"""Tables whose rows have a class each, of real data.

The wines of scikit-learn are those of `wine` with half of its columns, and are left out. The two tables of olive oils
have the same rows with coarse and fine labels.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from corpora import data_folder
from sklearn.datasets import load_breast_cancer, load_digits

from mixsearch._typing import Array

MAX_ROWS = 2_000
# Tables with a class "1" that is rare, beside those named "ad-".
RARE = ("cover", "skin", "shuttle", "Wilt", "SpamBase")
MIXED = {"msleep": "vore", "mpg": "class", "storms": "status", "pbc": "status"}
Table = tuple[Any, Array]  # rows, (n, d) or a frame, and the class of each, (n,)


def read_rows(name: str, delimiter: str = ",") -> list[list[str]]:
    """Return the rows of a text file, without its heading."""
    with open(data_folder() / "tables" / name, newline="") as lines:
        return list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))[1:]


def load_table(name: str) -> Table:
    """Load one of the tables of text, or a stored one of the first file."""
    if name == "iris":
        rows = read_rows("iris.csv")
        return np.array([row[1:5] for row in rows], dtype=float), np.array([row[5] for row in rows])
    if name in ("wine", "banknote"):
        rows = read_rows("wine.csv") if name == "wine" else read_rows("banknote.txt", delimiter=" ")
        return np.array([row[1:] for row in rows], dtype=float), np.array([row[0] for row in rows])
    with np.load(data_folder() / "tables" / "labelled_tables.npz") as stored:
        return stored[f"{name}__X"].astype(float), stored[f"{name}__y"].astype(str)


def load_tables() -> Iterator[tuple[str, Table]]:
    """Load all labelled tables; rows of large ones are drawn at random, but for those of rare classes."""
    folder = data_folder() / "tables"
    for file in ("labelled_tables.npz", "labelled_tables_2.npz"):
        with np.load(folder / file) as stored:
            for name in sorted({key[:-3] for key in stored.files if key.endswith("__X")}):
                yield name, _thin(stored[f"{name}__X"].astype(float), stored[f"{name}__y"].astype(str))
    for name in ("wine", "iris", "banknote"):
        yield name, load_table(name)
    for name, load in (("breast cancer", load_breast_cancer), ("digits", load_digits)):
        X, labels = load(return_X_y=True)
        yield name, (X, labels.astype(str))
    for name, label in MIXED.items():
        frame = pl.read_csv(folder / f"{name}.csv", null_values=["NA", ""], infer_schema_length=None)
        labels = np.array([str(value) for value in frame[label].fill_null("").to_list()])
        answers = [label, "rownames", "", *(["category"] if name == "storms" else [])]
        yield name, _thin(frame.drop(column for column in answers if column in frame.columns), labels)


def _thin(X: Any, labels: Array) -> Table:
    if len(labels) <= MAX_ROWS:
        return X, labels
    names, counts = np.unique(labels, return_counts=True)
    rare = np.flatnonzero(np.isin(labels, names[counts <= 0.05 * len(labels)]))[:60]
    rows = np.union1d(np.random.default_rng(0).permutation(len(labels))[:MAX_ROWS], rare)
    return X[rows], labels[rows]


def is_rare(name: str) -> bool:
    """Whether only the class "1" of a table is searched."""
    return name.startswith("ad-") or name in RARE


def list_classes(name: str, labels: Array, min_rows: int = 15) -> list[str]:
    """List the classes of a table to search, sorted."""
    if is_rare(name):
        return ["1"]
    names, counts = np.unique(labels, return_counts=True)
    return [str(label) for label, n in zip(names, counts, strict=True) if n >= min_rows and label]
