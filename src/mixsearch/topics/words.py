"""The words that distinguish documents, and what else the words of a hint mean."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.topics.fitted_corpus import FittedCorpus, Vectors
from mixsearch.topics.tuning import TUNING

_CANDIDATES = 20  # per word that is wanted, from which phrases replace their words
_N_STEPS = 10  # of k-means
_SEPARATOR = re.compile(r" |(?<=[^\W\d])-(?=[^\W\d])")  # of the words of a phrase, but not of cve-2022-0001


class TopicWord(NamedTuple):
    """A word that distinguishes the members of a topic.

    Attributes
    ----------
    word : str
        The word or phrase; the number of its column without a vocabulary.
    share : float
        The fraction of the members that contain it.
    lift : float
        How many times as often members contain it as all documents do.
    """

    word: str
    share: float
    lift: float


class Meaning(NamedTuple):
    """Hint documents that are about the same, one of several meanings of a hint.

    Attributes
    ----------
    words : tuple of str
        Words that distinguish them from the other hint documents.
    share : float
        The fraction of the hint documents.
    documents : array of int
        Some of them, as indices in the corpus.
    """

    words: tuple[str, ...]
    share: float
    documents: Array

    def __str__(self) -> str:
        return f"{', '.join(self.words)} ({self.share:.0%})"

    def __repr__(self) -> str:  # without the documents, which may be thousands
        return f"<{self}>"


def count_members(corpus: FittedCorpus, documents: Array, weights: Array) -> Array:
    """Sum the weights of the documents that contain each feature, (d,)."""
    total = np.zeros(corpus.n_features)
    for segment, indices, positions in corpus.split_documents(documents):
        X = segment.by_document[indices]
        total += np.bincount(X.indices, np.repeat(weights[positions], np.diff(X.indptr)), corpus.n_features)
    return total


def rank_words(inside: Array, n_inside: float, outside: Array, n_outside: float, min_lift: float) -> Array:
    """Rank words, best first, by the divergence of two Bernoulli distributions: in some documents and in others.

    `inside` and `outside` are numbers of documents that contain each word, (d,). Words that are not `min_lift` times as
    frequent inside are left out.
    """
    f, g = (inside + 0.5) / (n_inside + 1), (outside + 0.5) / (n_outside + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = f * np.log(f / g) + (1 - f) * np.log((1 - f) / (1 - g))
    divergence = np.where((f >= min_lift * g) & (inside > 0), np.nan_to_num(divergence), 0)
    ranked = np.argsort(-divergence, kind="stable")
    return np.asarray(ranked[: np.count_nonzero(divergence)])


def choose_words(corpus: FittedCorpus, ranked: Array, inside: Array, n: int) -> list[int]:
    """Choose words of a ranking without saying one thing twice.

    A phrase stands for its words and for other phrases, and a word for its plural.
    """
    chosen: list[int] = []
    parts: list[list[set[str]]] = []
    for column in ranked[: _CANDIDATES * n].tolist():
        words = [list_forms(word) for word in _SEPARATOR.split(corpus.words[column])]
        forms = set().union(*words)
        shared = [i for i, other in enumerate(parts) if any(word & forms for word in other)]
        if not shared:
            chosen.append(column)
            parts.append(words)
            continue
        first = shared[0]
        # A phrase takes the place of its word if most documents with the word have the phrase.
        is_longer = all(len(parts[i]) < len(words) and all(word & forms for word in parts[i]) for i in shared)
        if is_longer and first < n and 2 * inside[column] > inside[chosen[first]]:
            chosen[first], parts[first] = column, words
            for i in reversed(shared[1:]):
                del chosen[i], parts[i]
        if len(chosen) > n:
            break
    return chosen[:n]


def list_forms(word: str) -> set[str]:
    """Return a word and what it may be the plural of: one of them is shared by parties and party, viruses and virus."""
    forms = {word}
    if word.endswith("s") and not word.endswith("ss"):
        forms |= {word[:-1], re.sub("es$", "", word), re.sub("ies$", "y", word)}
    return forms


def find_meanings(corpus: FittedCorpus, documents: Array, vectors: Vectors, columns: Array) -> list[Meaning]:
    """Cluster hint documents by their coordinates: return several meanings, the largest first, or none.

    `columns` are the words of the hint, which do not distinguish meanings.
    """
    if len(documents) < 2 / TUNING.min_meaning:
        return []
    # 1) clusters by k-means, of which those near each other are one
    step = -(-len(documents) // TUNING.max_documents)
    documents, X, tfidf = documents[::step], vectors.coordinates[::step], vectors.tfidf[::step]
    labels = _merge_clusters(X, _cluster(X))
    sizes = np.bincount(labels)
    order = [label for label in np.argsort(-sizes).tolist() if sizes[label] >= TUNING.min_meaning * len(documents)]
    if len(order) < 2:
        return []
    # 2) words of each, against the others and against the corpus
    contains = sp.csr_array((np.ones(len(tfidf.data)), tfidf.indices, tfidf.indptr), shape=tfidf.shape)
    counts: Array = np.stack([np.asarray(contains[np.flatnonzero(labels == label)].sum(axis=0)) for label in order])
    counts[:, columns[columns < counts.shape[1]]] = 0
    total, usual = counts.sum(axis=0), corpus.document_frequency[: corpus.n_features] / corpus.n_documents
    meanings = []
    for label, inside in zip(order, counts, strict=True):
        n_inside = sizes[label]
        ranked = rank_words(inside, n_inside, total - inside, len(documents) - n_inside, TUNING.min_lift)
        ranked = ranked[inside[ranked] > TUNING.min_lift * n_inside * usual[ranked]]
        words = tuple(corpus.words[column] for column in choose_words(corpus, ranked, inside, 3))
        meanings.append(Meaning(words, float(n_inside / len(documents)), documents[labels == label]))
    meanings = [meaning for meaning in meanings if meaning.words]
    return meanings if len(meanings) > 1 else []


def _cluster(X: Array) -> Array:
    """Return the best labels of three runs of k-means, from starts far from each other (k-means++).

    The packages that have it take longer to import than a search.
    """
    points, rng = np.asarray(X, dtype=np.float64), np.random.default_rng(0)
    squares = np.einsum("ij,ij->i", points, points)

    def measure(centers: Array) -> Array:
        """Return squared distances, (n, k)."""
        return np.asarray(np.maximum(squares[:, None] - 2 * points @ centers.T + np.sum(centers**2, axis=1), 0))

    def run() -> tuple[float, Array]:
        centers = points[[rng.integers(len(points))]]
        while len(centers) < TUNING.n_meanings:
            nearest = measure(centers).min(axis=1) + 1e-12
            centers = np.concatenate([centers, points[[rng.choice(len(points), p=nearest / nearest.sum())]]])
        for _ in range(_N_STEPS):
            is_near = np.eye(len(centers))[measure(centers).argmin(axis=1)]
            sizes = is_near.sum(axis=0)[:, None]
            centers = np.where(sizes > 0, is_near.T @ points / np.maximum(sizes, 1), centers)
        distances = measure(centers)
        return float(distances.min(axis=1).sum()), distances.argmin(axis=1)

    return np.asarray(min((run() for _ in range(3)), key=lambda result: result[0])[1])


def _merge_clusters(X: Array, labels: Array) -> Array:
    """Join clusters whose centers have nearly the same direction, the most alike first."""
    labels = labels.copy()
    while True:
        names = np.unique(labels)
        centers = np.stack([X[labels == name].mean(axis=0) for name in names]).astype(np.float64)
        centers /= np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), 1e-12)
        cosines = centers @ centers.T - 2 * np.eye(len(names))
        i, j = np.unravel_index(cosines.argmax(), cosines.shape)
        if len(names) < 2 or cosines[i, j] < TUNING.same_topic:
            return np.unique(labels, return_inverse=True)[1]
        labels[labels == names[j]] = names[i]
