"""A map of documents: a point for each, near those that are about the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from threadpoolctl import ThreadpoolController

from mixsearch._typing import Array
from mixsearch.core.rows import row_slices
from mixsearch.topics.fitted_corpus import FittedCorpus

# Of a larger corpus, as many documents at even steps.
MAX_POINTS = 100_000
# Documents at even steps that t-SNE lays out. Each other one is near the landmark that it is most like, at this part
# of the distance to the nearest landmarks: points between several of them are not nearer to their like (by less than
# .005).
MAX_LANDMARKS, N_NEAR, SPREAD = 1_000, 4, 0.6
PERPLEXITY, N_ITER = 30.0, 500


class DocumentPoints(NamedTuple):
    """Documents in the plane."""

    documents: Array  # every step-th of the corpus, (m,)
    points: Array  # between 0 and 1, (m, 2)


def place_in_plane(corpus: FittedCorpus) -> DocumentPoints:
    """Place the documents of a corpus in the plane: those about the same are near each other."""
    documents = list_mapped(corpus.n_documents)
    return DocumentPoints(documents, embed_in_plane(corpus.take_coordinates(documents)[0]))


def list_mapped(n_documents: int) -> Array:
    """Return the documents that are on the map."""
    return np.arange(0, n_documents, -(-n_documents // MAX_POINTS))


def embed_in_plane(units: Array) -> Array:
    """Embed unit vectors, (n, k), in the plane, (n, 2): t-SNE of landmarks, and the others beside them.

    References
    ----------
    L. van der Maaten and G. Hinton, "Visualizing Data using t-SNE", Journal of Machine Learning Research 9, 2008.
    """
    n = len(units)
    landmarks = units[np.linspace(0, n - 1, min(n, MAX_LANDMARKS)).astype(np.intp)]
    points = _run_tsne(landmarks) if len(landmarks) > 4 else np.eye(len(landmarks), 2)
    low, high = points.min(axis=0), points.max(axis=0)
    points = 0.5 + 0.96 * (points - (low + high) / 2) / np.maximum(high - low, 1e-12)  # as the canvas is wide and high
    if len(landmarks) == n:
        return np.asarray(points)
    nearest = np.concatenate([(units[part] @ landmarks.T).argmax(axis=1) for part in row_slices(n)])
    gaps = np.asarray(cKDTree(points).query(points, k=N_NEAR + 1)[0]).mean(axis=1)  # each is at distance 0 to itself
    steps = SPREAD * gaps[nearest, None] * np.random.default_rng(0).standard_normal((n, 2))
    return np.asarray(np.clip(points[nearest] + steps, 0, 1))


def _run_tsne(units: Array) -> Array:
    from sklearn.manifold import TSNE  # type: ignore[import-untyped]  # takes longer to import than a search

    vectors = units if units.shape[1] > 1 else np.hstack([units, np.zeros_like(units)])
    perplexity = min(PERPLEXITY, (len(units) - 1) / 3)
    with ThreadpoolController().limit(limits=1):  # of so few points, threads wait for each other
        fitted = TSNE(perplexity=perplexity, init="pca", max_iter=N_ITER, random_state=0).fit(vectors)
    return np.asarray(fitted.embedding_, dtype=np.float64)
