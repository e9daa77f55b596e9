"""A map of documents: a point for each, near those that are about the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from mixsearch._typing import Array
from mixsearch.core.rows import row_slices
from mixsearch.topics.fitted_corpus import FittedCorpus

# Of a larger corpus, as many documents at even steps.
MAX_POINTS = 100_000
# Documents at even steps that t-SNE lays out; all others are placed between those that they are nearest to.
MAX_LANDMARKS, N_NEAREST = 1_000, 4
PERPLEXITY, N_ITER = 30.0, 500
# Weights of the nearest landmarks fall by e for a difference in the cosine of this size.
COSINE_SCALE = 0.03
# Points of one landmark are spread over this part of the distance to the next one.
SPREAD = 0.6


class DocumentPoints(NamedTuple):
    """Documents in the plane."""

    documents: Array  # every step-th of the corpus, (m,)
    points: Array  # between 0 and 1, (m, 2)
    step: int


def place_in_plane(corpus: FittedCorpus) -> DocumentPoints:
    """Place the documents of a corpus in the plane: those about the same are near each other."""
    step = -(-corpus.n_documents // MAX_POINTS)
    documents = np.arange(0, corpus.n_documents, step)
    return DocumentPoints(documents, embed_in_plane(corpus.take_coordinates(documents)[0]), step)


def embed_in_plane(units: Array) -> Array:
    """Embed unit vectors, (n, k), in the plane, (n, 2): t-SNE of landmarks, and the others between them.

    References
    ----------
    L. van der Maaten and G. Hinton, "Visualizing Data using t-SNE", Journal of Machine Learning Research 9, 2008.
    """
    n = len(units)
    landmarks = np.linspace(0, n - 1, min(n, MAX_LANDMARKS)).astype(np.intp)
    placed = _scale(_run_tsne(units[landmarks]))
    if len(landmarks) == n:
        return placed
    step = SPREAD / np.sqrt(len(landmarks))
    spread = np.clip(np.random.default_rng(0).normal(0, step / 2, (n, 2)), -step, step)
    points = spread + np.concatenate([_place_between(units[part], units[landmarks], placed) for part in row_slices(n)])
    points[landmarks] = placed
    return np.asarray(np.clip(points, 0, 1))


def _run_tsne(units: Array) -> Array:
    if len(units) < 5:
        return np.stack([np.linspace(0, 1, len(units)), np.zeros(len(units))], axis=1)
    from sklearn.manifold import TSNE  # type: ignore[import-untyped]  # takes longer to import than a search

    vectors = units if units.shape[1] > 1 else np.hstack([units, np.zeros_like(units)])
    tsne = TSNE(perplexity=min(PERPLEXITY, (len(units) - 1) / 3), init="pca", max_iter=N_ITER, random_state=0)
    with ThreadpoolController().limit(limits=1):  # of so few points, threads wait for each other
        return np.asarray(tsne.fit_transform(vectors))


def _scale(points: Array) -> Array:
    """Scale points to lie between 0 and 1, both axes alike."""
    low, high = points.min(axis=0), points.max(axis=0)
    return np.asarray(0.5 + 0.96 * (points - (low + high) / 2) / max(float((high - low).max()), 1e-12))


def _place_between(units: Array, landmarks: Array, placed: Array) -> Array:
    """Place vectors between their nearest landmarks, (m, 2)."""
    cosines = units @ landmarks.T
    nearest = np.argpartition(-cosines, N_NEAREST, axis=1)[:, :N_NEAREST]  # there are MAX_LANDMARKS of them
    values = np.take_along_axis(cosines, nearest, axis=1).astype(np.float64)
    # Landmarks of another part of the map would pull the point to nowhere: only those near the best one count.
    best = placed[nearest[np.arange(len(nearest)), values.argmax(axis=1)]]
    is_near = np.linalg.norm(placed[nearest] - best[:, None], axis=2) < 4 / np.sqrt(len(landmarks))
    weights = np.exp((values - values.max(axis=1, keepdims=True)) / COSINE_SCALE) * is_near
    return np.asarray(np.einsum("ij,ijk->ik", weights / weights.sum(axis=1, keepdims=True), placed[nearest]))
