"""The overlap of topics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mixsearch._typing import Array


def compute_overlaps(probabilities: npt.ArrayLike) -> Array:
    """Measure what each pair of topics has in common.

    Parameters
    ----------
    probabilities : array of shape (n, d)
        Topics as distributions over words, one per row.

    Returns
    -------
    array of shape (n, n)
        1 for the same topic, 0 for topics without a common word.

    Notes
    -----
    The sum over words of the smaller probability, Σ min(p, q) = (Σp + Σq - Σ|p - q|) / 2: one minus the total variation
    distance.

    Examples
    --------
    >>> compute_overlaps([[0.5, 0.5, 0.0], [0.0, 0.75, 0.25]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    from scipy.spatial.distance import pdist, squareform  # which an answer to one query need not wait for

    rows = np.asarray(probabilities, dtype=np.float64)
    totals = rows.sum(axis=1)
    overlaps = (totals[:, None] + totals - squareform(pdist(rows, "cityblock"))) / 2
    return np.asarray(np.clip(overlaps, 0.0, 1.0))


def take_off_corpus(probabilities: npt.ArrayLike, corpus: npt.ArrayLike) -> Array:
    """Return what topics have beyond the corpus, as distributions over words.

    Parameters
    ----------
    probabilities : array of shape (n, d)
        Topics as distributions over words, one per row.
    corpus : array of shape (d,)
        The frequencies of the words in the corpus.

    Returns
    -------
    array of shape (n, d)
        (p - q)₊ of each topic p and the corpus q, scaled to sum to 1. Words that every topic of a language has are no
        longer part of it. A topic that is the corpus itself is returned as it is.

    Examples
    --------
    >>> take_off_corpus([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]], [0.5, 0.25, 0.25])
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    rows = np.asarray(probabilities, dtype=np.float64)
    own = np.maximum(rows - np.asarray(corpus), 0)
    totals = own.sum(axis=1, keepdims=True)
    return np.where(totals > 0, own / np.where(totals > 0, totals, 1), rows)
