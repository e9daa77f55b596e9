"""Measure how much of the documents added to a fit lies outside its frame."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.threads import one_blas_thread

if TYPE_CHECKING:
    from mixsearch.topics._search import TopicSearch

# Steps of the power method that look for the strongest direction outside the frame.
_N_STEPS = 6
# Fewer documents show nothing that is not noise. Of more, these at even steps stand for all.
_MIN_DOCUMENTS, _MAX_DOCUMENTS = 20, 4_000


def measure_drift(search: TopicSearch, added: Sequence[sp.csr_array], n_all: int) -> float:
    """Return how strong a topic of added documents outside the frame is, compared with the weakest topic of the fit.

    Parameters
    ----------
    search : TopicSearch
        The fitted search.
    added : sequence of sparse arrays of shape (n, d)
        Counts of the added documents, damped if the search damps.
    n_all : int
        The number of documents of the corpus, with the added ones.

    Returns
    -------
    float
        From 1 on, a fit of all documents would find it. 0 if there are too few documents to tell.

    Notes
    -----
    The direction is found on half of the documents by the power method for A, restricted to the complement of the
    frame, and its strength is measured on the other half: noise has no strength there on average.
    """
    *firsts, n = accumulate((counts.shape[0] for counts in added), initial=0)
    if n < _MIN_DOCUMENTS:
        return 0.0
    step = -(-n // _MAX_DOCUMENTS)
    evenly = [counts[-first % step :: step] for counts, first in zip(added, firsts, strict=True)]
    used = sp.csr_array(sp.vstack(evenly, format="csr"))
    with one_blas_thread:  # products of a vector, done before other threads have woken up
        direction = _find_direction(search, used[::2])
        strength = max(float(direction @ _apply(search, used[1::2], direction)), 0.0)
    return strength * n / n_all / float(search._family.frame.values[-1])


def _find_direction(search: TopicSearch, counts: sp.csr_array) -> Array:
    basis = search._family.frame.basis.astype(np.float64)
    direction = np.random.default_rng(0).normal(size=counts.shape[1])
    # Only words that occur: among the others the power method finds nothing.
    direction[np.bincount(counts.indices, minlength=len(direction)) == 0] = 0
    for _ in range(_N_STEPS):
        direction -= basis @ (basis.T @ direction)
        direction /= max(float(np.linalg.norm(direction)), np.finfo(float).tiny)
        direction = _apply(search, counts, direction)
    direction -= basis @ (basis.T @ direction)
    return direction / max(float(np.linalg.norm(direction)), np.finfo(float).tiny)


def _apply(search: TopicSearch, counts: sp.csr_array, direction: Array) -> Array:
    """Return A times a direction, A the second moment of these documents in the metric of the frame, (d,)."""
    family = search._family
    scale = np.ones(len(direction)) if family.frame.metric is None else family.frame.metric
    a0, scaled = family.alpha0, scale * direction
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    weights = 1 / (len(lengths) * np.maximum(lengths * (lengths - 1), 1))
    # Pairs of different words only: those of a word with itself are noise.
    pairs = counts.T @ (weights * (counts @ scaled)) - scaled * (counts.T @ weights)
    mean = counts.T @ (1 / (len(lengths) * np.maximum(lengths, 1)))
    return np.asarray(scale * (a0 * (a0 + 1) * pairs - a0**2 * mean * (mean @ scaled)))
