"""A map of documents: a point for each, near those that are about the same, with the topic that it is most about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.eigen import orient
from mixsearch.core.rows import row_slices
from mixsearch.index.map import find_mapped_topics
from mixsearch.index.topic_index import TopicIndex

# Of a larger corpus, as many documents at even steps.
MAX_POINTS = 100_000
# A document is about the topic that has most of it, from this share on.
MIN_SHARE = 0.15
# What stands for a document without a topic.
NO_TOPIC = 255
# Points at even steps that are laid out by t-SNE; all others follow those that they are nearest to.
MAX_LANDMARKS = 1000
N_NEAREST = 4
# Weights of the nearest landmarks fall by e for a difference in the cosine of this size.
COSINE_SCALE = 0.03
# Points of one landmark are spread over this part of the distance to the next one.
SPREAD = 0.6
# t-SNE: effective number of neighbours, iterations, and how much stronger attraction is in the first of them.
PERPLEXITY, N_ITER, N_EXAGGERATED, EXAGGERATION = 30.0, 350, 100, 12.0
N_BISECTIONS = 30
FIRST_MOMENTUM, MOMENTUM = 0.5, 0.8
MIN_GAIN = 0.01
_CHUNK = 4096


class DocumentPoints(NamedTuple):
    """Documents in the plane."""

    rows: Array
    points: Array
    step: int


def place_documents(index: TopicIndex) -> DocumentPoints:
    """Return the documents of an index in the plane: those about the same are near each other."""
    step = -(-index.n_documents // MAX_POINTS)
    rows = index.fitted.search.kept_rows_[::step]
    return DocumentPoints(np.asarray(rows), embed_in_plane(index.fitted.places(step)), step)


def assign_topics(
    index: TopicIndex,
    words: Sequence[str] | None = None,
    *,
    n: int = 30,
    by: Literal["distinctive", "frequent"] = "distinctive",
    step: int = 1,
) -> Array:
    """Return the topic of a map that each document is most about."""
    topics = find_mapped_topics(index, words, n=n, by=by)
    shares = index.document_shares(topics)[::step]
    best = shares.argmax(axis=1)
    is_about = np.take_along_axis(shares, best[:, None], axis=1)[:, 0] >= MIN_SHARE
    return np.where(is_about, best, NO_TOPIC).astype(np.uint8)


def embed_in_plane(units: Array) -> Array:
    """Return points in the plane, near each other if the directions of some vectors are alike.

    Notes
    -----
    t-SNE of a thousand of them; its cost grows with their square. The others are placed between their nearest
    landmarks. The seed is fixed: the same vectors give the same points.
    """
    n = len(units)
    landmarks = np.linspace(0, n - 1, min(n, MAX_LANDMARKS)).astype(np.intp)
    placed = _scale(run_tsne(units[landmarks]))
    if len(landmarks) == n:
        return placed
    points = np.concatenate([_place_between(units[part], units[landmarks], placed) for part in row_slices(n, _CHUNK)])
    step = SPREAD / np.sqrt(len(landmarks))
    spread = np.random.default_rng(0).normal(0, step / 2, points.shape)
    points = points + np.clip(spread, -step, step)
    points[landmarks] = placed
    return np.asarray(np.clip(points, 0, 1))


def run_tsne(units: Array) -> Array:
    """Return t-SNE of vectors of length 1, (n, k) -> (n, 2).

    References
    ----------
    L. van der Maaten and G. Hinton, "Visualizing Data using t-SNE", Journal of Machine Learning Research 9, 2008.
    """
    X = np.asarray(units, dtype=np.float32)
    n = len(X)
    Y = _principal_plane(X)
    if n < 5:
        return Y
    P = _find_affinities(np.maximum(2 - 2 * X @ X.T, 0), min(PERPLEXITY, (n - 1) / 3))
    rate = max(n / EXAGGERATION, 50.0)
    step, gains = np.zeros_like(Y), np.ones_like(Y)
    for iteration in range(N_ITER):
        is_first = iteration < N_EXAGGERATED
        gradient = _compute_gradient(P, Y, EXAGGERATION if is_first else 1.0)
        gains = np.maximum(np.where(np.sign(gradient) == np.sign(step), gains * 0.8, gains + 0.2), MIN_GAIN)
        step = (FIRST_MOMENTUM if is_first else MOMENTUM) * step - rate * gains * gradient
        Y = Y + step
    return np.asarray(Y - Y.mean(axis=0), dtype=np.float64)


def _principal_plane(X: Array) -> Array:
    """Return the first two principal components, scaled to be small."""
    centered = X - X.mean(axis=0)
    _, vectors = np.linalg.eigh(centered.T.astype(np.float64) @ centered)
    plane = centered @ orient(vectors[:, :-3:-1])
    if plane.shape[1] < 2:
        plane = np.column_stack([plane, np.zeros(len(plane))])
    return np.asarray(1e-4 * plane / max(float(plane.std()), 1e-12), dtype=np.float32)


def _find_affinities(squares: Array, perplexity: float) -> Array:
    """Return symmetric affinities that sum to 1, (n, n), each row of the same perplexity."""
    n, target = len(squares), np.log(perplexity)
    np.fill_diagonal(squares, np.inf)
    low, high = np.zeros(n, dtype=np.float32), np.full(n, np.inf, dtype=np.float32)
    beta = np.ones(n, dtype=np.float32)
    nearest = squares.min(axis=1, keepdims=True)
    for _ in range(N_BISECTIONS):
        P = np.exp(-beta[:, None] * (squares - nearest))
        total = P.sum(axis=1)
        shifted = np.where(np.isfinite(squares), squares - nearest, 0)
        entropy = np.log(total) + beta * np.einsum("ij,ij->i", P, shifted) / total
        is_wide = entropy > target
        low, high = np.where(is_wide, beta, low), np.where(is_wide, high, beta)
        beta = np.where(np.isfinite(high), (low + high) / 2, 2 * beta)
    P /= total[:, None]
    return np.asarray((P + P.T) / (2 * n), dtype=np.float32)


def _compute_gradient(P: Array, Y: Array, exaggeration: float) -> Array:
    squares = np.sum(Y**2, axis=1)
    kernel = 1 / (1 + np.maximum(squares[:, None] + squares - 2 * Y @ Y.T, 0))
    np.fill_diagonal(kernel, 0)
    pull = kernel * (exaggeration * P - kernel / kernel.sum())
    return np.asarray(4 * (pull.sum(axis=1)[:, None] * Y - pull @ Y))


def _scale(points: Array) -> Array:
    """Return points between 0 and 1, with one scale for both axes."""
    low, high = points.min(axis=0), points.max(axis=0)
    return np.asarray(0.5 + 0.96 * (points - (low + high) / 2) / max(float((high - low).max()), 1e-12))


def _place_between(units: Array, landmarks: Array, placed: Array) -> Array:
    """Return points between the nearest landmarks, (m, 2)."""
    cosines = units @ landmarks.T
    n_nearest = min(N_NEAREST, len(landmarks))
    nearest = np.argpartition(-cosines, n_nearest - 1, axis=1)[:, :n_nearest]
    values = np.take_along_axis(cosines, nearest, axis=1).astype(np.float64)
    # Landmarks of another part of the map would pull the point to nowhere: only those near the best one count.
    best = placed[nearest[np.arange(len(nearest)), values.argmax(axis=1)]]
    is_near = np.linalg.norm(placed[nearest] - best[:, None], axis=2) < 4 / np.sqrt(len(landmarks))
    weights = np.exp((values - values.max(axis=1, keepdims=True)) / COSINE_SCALE) * is_near
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("ij,ijk->ik", weights, placed[nearest]))
