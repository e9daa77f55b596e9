"""Rows like a few in a column of vectors: `TableSearch` compared with cosines, a regression and a walk.

Vectors of texts are 200 dimensions of tf-idf, of length 1: no model to download. Each label is searched from five
random texts, and all others are ranked: area under the ROC curve / average precision, means over labels and draws. "k"
is the largest number of components that `TableSearch` may choose; `GaussianSearch` takes it as it is.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from corpora import SOURCES, data_folder, read_rows
from measuring import print_table
from row_rankings import Rank, pu_logistic_regression, random_walk
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.errors import SearchWarning
from mixsearch.table.search import TableSearch

N_EXAMPLES, N_DRAWS, N_DIMENSIONS, MAX_TEXTS = 5, 2, 200, 6000
CORPORA = ("bbc", "dbpedia", "newsgroups")
NUMBERS = (5, 10, 20)


class Texts(NamedTuple):
    """Labelled texts with their vectors."""

    vectors: Array  # (n, d)
    labels: Array  # (n,)


class Quality(NamedTuple):
    """How well rows are ranked."""

    area: float
    precision: float


def load_texts(name: str, max_texts: int) -> Texts:
    source = SOURCES[name]
    rows = list(read_rows(source))
    rows = [rows[i] for i in np.sort(np.random.default_rng(0).permutation(len(rows))[:max_texts])]
    embedder = make_pipeline(
        TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=3),
        TruncatedSVD(N_DIMENSIONS, random_state=0),
        Normalizer(),
    )
    vectors = embedder.fit_transform(map(source.text, rows))
    known = vectors.any(axis=1)
    labels = np.array([source.labels(row)[0] for row in rows])
    return Texts(vectors[known], labels[known])


def _table_search(X: Array) -> Rank:
    search = TableSearch().fit({"vector": list(X)}, vectors="vector")
    return lambda rows: search.search(rows).scores


def _gaussian_search(X: Array, k: int) -> Rank:
    search = GaussianSearch(k).fit(X)
    return lambda rows: np.asarray(search.search(examples=X[rows], refine=True).membership(X))


def _cosine(X: Array) -> Rank:
    return lambda rows: X @ X[rows].mean(axis=0)


def make_methods(*, quick: bool) -> dict[str, Callable[[Array], Rank]]:
    numbers = NUMBERS[1:2] if quick else NUMBERS
    ours = {"TableSearch": _table_search}
    gaussians = {f"GaussianSearch, k = {k}": lambda X, k=k: _gaussian_search(X, k) for k in numbers}
    return {
        **ours,
        "random walk": random_walk,
        "PU logistic regression": pu_logistic_regression,
        "cosine to the mean": _cosine,
        **gaussians,
    }


def measure_examples(texts: Texts, rank: Rank, n_draws: int) -> Quality:
    found = []
    for index, label in enumerate(np.unique(texts.labels)):
        members = texts.labels == label
        for draw in range(n_draws):
            rows = np.random.default_rng((index, draw)).choice(np.flatnonzero(members), N_EXAMPLES, replace=False)
            others = np.delete(np.arange(len(members)), rows)
            found.append(_measure(members[others], rank(rows)[others]))
    return Quality(*np.mean(found, axis=0))


def _measure(members: Array, scores: Array) -> Quality:
    return Quality(float(roc_auc_score(members, scores)), float(average_precision_score(members, scores)))


def run(*, quick: bool = False) -> None:
    if not (data_folder() / "text").is_dir():
        print("\n- no texts: MIXSEARCH_DATA names no folder with them")
        return
    warnings.simplefilter("ignore", SearchWarning)
    corpora = {name: load_texts(name, MAX_TEXTS // (6 if quick else 1)) for name in CORPORA}
    rows: dict[str, list[Quality]] = {}
    for texts in corpora.values():
        for method, make in make_methods(quick=quick).items():
            quality = measure_examples(texts, make(texts.vectors), 1 if quick else N_DRAWS)
            rows.setdefault(method, []).append(quality)
    sizes = [f"{name}, {len(texts.labels):,} texts, {len(set(texts.labels))} labels" for name, texts in corpora.items()]
    print_table(
        f"{N_EXAMPLES} examples: AUC / average precision",
        ("", *sizes),
        [(method, *(f"{each.area:.3f} / {each.precision:.3f}" for each in found)) for method, found in rows.items()],
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer texts, one draw, one k")
    run(quick=parser.parse_args().quick)
