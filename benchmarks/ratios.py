"""Hot paths beside their limits: passes over the data, each at least a product of matrices that NumPy or SciPy has.

A ratio of 1 would be the product alone. CPU time on one thread, so that other load on the machine counts little.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import scipy.sparse as sp
from measuring import print_table, seconds
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch, TableSearch, TopicSearch
from mixsearch.core import eigen
from mixsearch.datasets import make_gaussian_mixture, make_reviews
from mixsearch.table import read_table
from mixsearch.text import CorpusOptions, read_corpus
from mixsearch.topics import fitted_corpus

N_REPEATS = 5
# Wide enough for all eigenvectors of a frame; a product with fewer columns costs less.
WIDTH = 40


def cpu_time(work: Callable[[], Any], repeats: int = N_REPEATS) -> float:
    """The least CPU time of some repeats, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def draw_counts(n_documents: int, n_words: int, length: int, *, n_topics: int = 50, seed: int = 0) -> sp.csr_array:
    """Word counts of documents with one topic each, beside words that all of them use; words follow Zipf's law."""
    rng = np.random.default_rng(seed)
    chances = 1 / (np.arange(n_words) + 10.0)
    common = rng.choice(n_words, size=(n_documents, length), p=chances / chances.sum())
    topics = rng.integers(n_topics, size=n_documents)
    is_own = rng.random(common.shape) < 0.3
    words = np.where(is_own, (common * n_topics + topics[:, None]) % n_words, common)
    rows = np.repeat(np.arange(n_documents), length)
    return sp.csr_array(sp.coo_array((np.ones(rows.size), (rows, words.ravel())), shape=(n_documents, n_words)))


def measure_corpus(counts: sp.csr_array) -> list[tuple[str, float, float]]:
    """The fit of a corpus beside the sparse products of its eigenvectors, and a word beside one of them."""
    widths: list[int] = []
    original = eigen.top_eigenpairs

    def count(matrix: Any, *arguments: Any, **options: Any) -> Any:
        applied = original(matrix, *arguments, **options)
        widths.extend([options.get("block") or WIDTH] * applied.n_applications)
        return applied

    with patch.object(fitted_corpus, "top_eigenpairs", count):
        fit_time = cpu_time(lambda: TopicSearch().fit(counts), 1)
    values = counts.astype(np.float32)
    block = np.ones((counts.shape[1], widths[0]), np.float32)
    product = cpu_time(lambda: values.T @ (values @ block), 2)
    fitted = TopicSearch().fit(counts)
    words = np.argsort(-np.bincount(counts.indices, minlength=counts.shape[1]))[100:110].tolist()
    fitted.search(words[:1])  # the first search computes what later ones share
    topic_time = cpu_time(lambda: [fitted.search([word]).n_members for word in words], 3) / len(words)
    vector = np.ones(counts.shape[1], np.float32)
    return [
        (f"fit of a corpus: {len(widths)} products with {widths[0]} columns", fit_time, product * len(widths)),
        ("a word in it: one product with a vector", topic_time, cpu_time(lambda: values @ vector)),
    ]


def measure_gaussians(n: int, d: int, k: int) -> tuple[str, float, float]:
    """A fit of Gaussians beside one product X'X."""
    X = make_gaussian_mixture(n, d, k, random_state=0).X
    return (
        f"fit of Gaussians, n={n:,}, d={d}: one product X'X",
        cpu_time(lambda: GaussianSearch(n_components=k).fit(X)),
        cpu_time(lambda: X.T @ X),
    )


def measure_table(n: int, d: int) -> tuple[str, float, float]:
    """The fit of a table beside the nearest neighbours of its rows."""
    X = make_gaussian_mixture(n, d, 8, random_state=0).X
    neighbors = partial(NearestNeighbors(n_neighbors=10).fit(X).kneighbors, X)
    return (
        f"fit of a table, {n:,} x {d}: ten neighbours",
        cpu_time(lambda: TableSearch().fit(X), 2),
        cpu_time(neighbors, 2),
    )


def measure_reading(n: int) -> list[tuple[str, float, float]]:
    """Texts to counts beside the tokens of Polars, and a table of a file beside Polars alone."""
    reviews = make_reviews(n, random_state=0)

    def count_tokens() -> pl.DataFrame:
        texts = pl.LazyFrame({"text": reviews.text}).with_row_index("document")
        tokens = texts.with_columns(pl.col("text").str.to_lowercase().str.extract_all(r"\w\w+")).explode("text")
        return tokens.group_by("document", "text").len().collect()

    def count() -> None:
        with read_corpus(reviews.text, CorpusOptions(phrases=False)) as corpus:
            assert corpus.n_documents == n

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reviews.csv"
        reviews.to_csv(path)
        return [
            (f"counts of {n:,} texts: tokens by Polars", cpu_time(count, 2), cpu_time(count_tokens, 2)),
            (
                "a table of them: CSV by Polars",
                cpu_time(lambda: read_table(path), 2),
                cpu_time(lambda: pl.read_csv(path, try_parse_dates=True), 2),
            ),
        ]


def run(*, quick: bool = False) -> None:
    n = 3_000 if quick else 300_000
    with threadpool_limits(1):
        rows = measure_corpus(draw_counts(n, 30_000, 100))
        rows.append(measure_gaussians(n // 15, 100 if quick else 500, 10))
        rows.append(measure_table(n // 30, 20))
        rows += measure_reading(n // 10)
    print_table(
        f"CPU time beside its limit, corpus of {n:,} documents",
        ("work: its limit", "time", "limit", "ratio"),
        [(name, seconds(spent), seconds(limit), f"{spent / limit:.2f}") for name, spent, limit in rows],
    )


if __name__ == "__main__":
    run()
