"""What topics have in common."""

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
