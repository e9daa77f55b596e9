"""How sure a segmentation is, and where another seed would help most."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mixsearch._typing import Array
from mixsearch.segmentation._graph import SimilarityGraph

# The smallest expected intersection over union, a code and words; in falling order.
_VERDICTS = (
    (0.85, "sure", "sure"),
    (0.65, "partial", "partly in doubt"),
    (-math.inf, "unsure", "in doubt: add a seed"),
)


def judge_overlap(expected_iou: float) -> tuple[str, str]:
    """Return what an expected intersection over union means: a code and words.

    Parameters
    ----------
    expected_iou : float

    Returns
    -------
    code : str
    words : str

    Examples
    --------
    >>> judge_overlap(0.9)
    ('sure', 'sure')
    """
    return next((code, words) for least, code, words in _VERDICTS if expected_iou >= least)


@dataclass(frozen=True, eq=False)
class Confidence:
    """The confidence in a segmentation, from the probabilities of its superpixels."""

    graph: SimilarityGraph
    probabilities: Array  # (n, k)

    @property
    def expected_iou(self) -> Array:
        """The expected overlap of each segment with the true one, (k,).

        Notes
        -----
        Expected intersection over expected union, if every superpixel belongs to a segment by its probability.
        """
        labels, masses = self.probabilities.argmax(axis=1), self.probabilities * self.graph.superpixels.sizes[:, None]
        own = labels[:, None] == np.arange(masses.shape[1])
        unions = own.T @ self.graph.superpixels.sizes + np.sum(masses * ~own, axis=0)
        return np.asarray(np.sum(masses * own, axis=0) / np.maximum(unions, np.finfo(float).tiny))

    def suggest(self) -> int:
        """Return the superpixel like the most pixels in doubt."""
        doubt = (1 - self.probabilities.max(axis=1)) * self.graph.superpixels.sizes
        return int((self.graph.similarity @ doubt * (1 - self.probabilities.max(axis=1))).argmax())

    def find_middle(self, superpixel: int) -> tuple[int, int]:
        """Return the pixel (x, y) of a superpixel closest to its mean position."""
        y, x = np.nonzero(self.graph.superpixels.labels == superpixel)
        nearest = int(((y - y.mean()) ** 2 + (x - x.mean()) ** 2).argmin())
        return int(x[nearest]), int(y[nearest])
