"""The data that the benchmarks share: drawn at random, seeded, with the sizes of real corpora."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from pyarrow import schema, string, table
from pyarrow.parquet import ParquetWriter

from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_subspaces
from mixsearch.datasets.mixtures import GaussianMixtureData, MixedRegressionData, SubspacesData
from mixsearch.text import CorpusOptions

# How to read the texts of `write_texts`.
EVERY_WORD = CorpusOptions(text="text", min_df=1, max_df=1.0, stop_words=None, phrases=False, keep_texts=False)

# Zipf's law with Mandelbrot's shift, which keeps the first few words from taking half of the text.
ZIPF_SHIFT = 10.0
ZIPF_POWER = 1.05


def gaussian_workload(*, quick: bool) -> GaussianMixtureData:
    """Ten spherical Gaussians: the paper's size."""
    return make_gaussian_mixture(2_000 if quick else 10_000, 500, 10, deviation=0.5, random_state=0)


class ShapedGaussians(NamedTuple):
    """Gaussians of any shape, with their truth."""

    X: Array  # (n, d)
    labels: Array  # (n,)
    centers: Array  # (k, d)
    weights: Array  # (k,)
    covariances: Array  # (k, d, d)

    def oracle(self) -> Array:
        """The means of the members, (k, d)."""
        return np.array([self.X[self.labels == i].mean(axis=0) for i in range(len(self.centers))])


def draw_shaped_gaussians(
    n_samples: int, n_features: int, k: int, shape: str, *, norm: float, seed: int
) -> ShapedGaussians:
    """Gaussians of one shape, with deviations from .5 to 2."""
    data = make_gaussian_mixture(n_samples, n_features, k, deviation=1.0, norm=norm, random_state=seed)
    rng = np.random.default_rng(seed)

    def rotation() -> Array:
        return np.asarray(np.linalg.qr(rng.standard_normal((n_features, n_features)))[0])

    def deviations() -> Array:
        return np.exp(rng.uniform(-np.log(2), np.log(2), n_features))

    shared = deviations()[:, None] * rotation()
    factor: dict[str, Callable[[], Array]] = {
        "spherical": lambda: np.exp(rng.uniform(-0.4, 0.4)) * np.eye(n_features),
        "diagonal": lambda: np.diag(deviations()),
        "tied": lambda: shared,
        "full": lambda: deviations()[:, None] * rotation(),
    }
    factors = [factor[shape]() for _ in range(k)]
    X = data.X.copy()
    for index, each in enumerate(factors):
        members = data.labels == index
        X[members] = data.centers[index] + (data.X[members] - data.centers[index]) @ each
    return ShapedGaussians(X, data.labels, data.centers, data.weights, np.stack([each.T @ each for each in factors]))


def draw_regressions(n_samples: int, n_features: int, deviations: Sequence[float], *, seed: int) -> MixedRegressionData:
    """Draw regressions with different noise."""
    data = make_mixed_regression(n_samples, n_features, len(deviations), deviation=0.0, random_state=seed)
    noise = np.random.default_rng(seed).standard_normal(n_samples)
    return replace(data, y=data.y + np.asarray(deviations)[data.labels] * noise)


def draw_subspaces(
    n_samples: int, n_features: int, scales: Sequence[Sequence[float]], deviations: Sequence[float], *, seed: int
) -> SubspacesData:
    """Draw subspaces with coordinates of given standard deviations, (k, r), and different noise, (k,)."""
    shape = np.shape(scales)
    data = make_subspaces(n_samples, n_features, shape[0], dim=shape[1], deviation=0.0, random_state=seed)
    X = np.asarray(deviations)[data.labels, None] * np.random.default_rng(seed).standard_normal(data.X.shape)
    for component, (basis, scale) in enumerate(zip(data.bases, scales, strict=True)):
        members = data.labels == component
        X[members] += (data.X[members] @ basis * scale) @ basis.T
    return replace(data, X=X)


def newsgroups_workload(*, quick: bool) -> sp.csr_array:
    """Counts of the size of the 20 newsgroups: 19,000 x 13,000 with 0.9 million non-zeros."""
    if quick:
        return draw_corpus(3_000, 4_000, n_topics=50, mean_length=55)
    return draw_corpus(19_000, 13_000, n_topics=50, mean_length=55)


def draw_topics(n_words: int, n_topics: int, rng: np.random.Generator) -> Array:
    """Topics of `draw_corpus`, (n_topics, n_words): frequencies that do not sum to one."""
    language = 1 / (np.arange(n_words) + ZIPF_SHIFT) ** ZIPF_POWER
    return np.asarray(language * rng.gamma(0.3, size=(n_topics, n_words)))


def draw_corpus(n_documents: int, n_words: int, *, n_topics: int, mean_length: float, seed: int = 0) -> sp.csr_array:
    """Whole counts of a topic model over Zipf-distributed words, drawn word by word and never held dense.

    Every topic multiplies the frequencies of the language by gamma variables of mean one: a few words become typical
    of it and most become rare. Lengths are log-normal, as those of posts and articles are, and at least ten.
    """
    rng = np.random.default_rng(seed)
    topics = draw_topics(n_words, n_topics, rng)
    prior = rng.dirichlet(np.full(n_topics, 5.0)) * 2
    lengths = np.maximum(rng.lognormal(np.log(mean_length) - 0.32, 0.8, size=n_documents), 10).astype(np.int64)
    per_topic = rng.multinomial(lengths, rng.dirichlet(prior, size=n_documents))
    rows, columns = [], []
    for topic, n_drawn in zip(topics, per_topic.T, strict=True):
        steps = np.cumsum(topic)
        rows.append(np.repeat(np.arange(n_documents), n_drawn))
        columns.append(np.searchsorted(steps, rng.random(n_drawn.sum()) * steps[-1], side="right"))
    where = np.concatenate(rows), np.concatenate(columns)
    # The conversion adds up the words that were drawn more than once.
    return sp.csr_array(sp.coo_array((np.ones(len(where[0]), dtype=np.int64), where), shape=(n_documents, n_words)))


def write_texts(path: Path, counts: sp.csr_array) -> Path:
    """Write documents with these counts of the words word1, word2 and so on, as Parquet."""
    words = np.array([f"word{column}" for column in range(1, counts.shape[1] + 1)])
    with ParquetWriter(path, schema({"text": string()})) as file:
        for start in range(0, counts.shape[0], 1000):
            rows = counts[start : start + 1000]
            texts = [" ".join(np.repeat(words[row.indices], row.data.astype(int))) for row in rows]
            file.write_table(table({"text": texts}))
    return path


def words_of_all_frequencies(counts: sp.csr_array, n_words: int) -> Array:
    """Columns at evenly spaced logarithms of their rank by frequency, the most frequent word first."""
    totals = np.asarray(counts.sum(axis=0))
    ranked = np.argsort(-totals, kind="stable")[: np.count_nonzero(totals)]
    ranks = np.unique(np.geomspace(1, len(ranked), 4 * n_words).astype(int)) - 1
    return ranked[ranks[np.linspace(0, len(ranks) - 1, n_words).astype(int)]]


def sparse_workload(n_samples: int, n_features: int, *, per_row: int, n_groups: int, seed: int = 0) -> sp.csr_array:
    """Sparse samples in groups that differ in which features they hold, with exponential values."""
    rng = np.random.default_rng(seed)
    odds = rng.gamma(0.5, size=(n_groups, n_features))
    chances = _with_mean(odds, per_row)
    labels = rng.integers(n_groups, size=n_samples)
    held = [sp.csr_array(rng.random((len(part), n_features)) < chances[part]) for part in np.array_split(labels, 20)]
    pattern = sp.csr_array(sp.vstack(held))
    return sp.csr_array((rng.exponential(size=pattern.nnz), pattern.indices, pattern.indptr), shape=pattern.shape)


def _with_mean(odds: Array, per_row: int) -> Array:
    """Chances s odds / (1 + s odds), with s per row such that they add up to `per_row`."""
    low, high = np.full((len(odds), 1), 1e-9), np.full((len(odds), 1), 1e9)
    for _ in range(80):
        middle = np.sqrt(low * high)
        few = (middle * odds / (1 + middle * odds)).sum(axis=1, keepdims=True) < per_row
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    return low * odds / (1 + low * odds)
