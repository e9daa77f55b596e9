"""How an index has changed since it was fitted, and whether to fit it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.topics.fitted_corpus import FittedCorpus, Segment, TopicFrame

FACT = "growth"
# Refit from here on: a topic outside the frame as strong as the weakest eigenvector in it, half as many changed
# documents as were fitted, or one word in twenty more than expected that the index does not know.
MAX_OUTSIDE, MAX_CHANGED, MAX_NEW_WORDS = 1.0, 0.5, 0.05
# Steps of the power method for the strongest direction outside the frame. Fewer documents show only noise; of more,
# these at even steps stand for all.
_N_STEPS, _MIN_DOCUMENTS, _MAX_DOCUMENTS = 6, 20, 4_000


@dataclass(frozen=True)
class Growth:
    """Changes of an index since it was fitted.

    Parameters
    ----------
    n_fitted : int
        The number of documents of the fit.
    n_added, n_removed : int
        The number of documents that were added and removed since.
    outside : float
        How strong a topic of the added documents is that the index cannot represent, compared with its weakest one.
    new_words, expected_new : float
        The share of words of the added texts that the index did not know, and that in documents like those of the fit.
    """

    n_fitted: int
    n_added: int = 0
    n_removed: int = 0
    outside: float = 0.0
    new_words: float = 0.0
    expected_new: float = 0.0

    @property
    def reason(self) -> Literal["outside", "new_words", "changed"] | None:
        """The reason to fit the index again; None if there is no need."""
        if self.outside >= MAX_OUTSIDE:
            return "outside"
        if self.new_words - self.expected_new > MAX_NEW_WORDS:
            return "new_words"
        return "changed" if self.n_added + self.n_removed > MAX_CHANGED * max(self.n_fitted, 1) else None

    @property
    def needs_refresh(self) -> bool:
        """Whether to fit the index again."""
        return self.reason is not None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields and `needs_refresh`, for JSON.

        Returns
        -------
        dict
        """
        return {**asdict(self), "needs_refresh": self.needs_refresh}


def read_growth(facts: Mapping[str, Any], n_documents: int) -> Growth:
    """Read the changes that a folder knows of; none if nothing was changed."""
    stored = facts.get(FACT)
    return Growth(n_documents) if stored is None else Growth(**stored)


def measure_outside(frame: TopicFrame, added: Sequence[Segment], n_all: int) -> float:
    """Measure the strongest topic of added documents outside the frame, relative to the weakest eigenvalue in it.

    Notes
    -----
    The direction is found on half of the documents by the power method for the second moment A, restricted to the
    complement of the frame, and its strength is measured on the other half: noise has no strength there on average.
    """
    n = sum(len(segment.rows) for segment in added)
    if n < _MIN_DOCUMENTS:
        return 0.0
    X = FittedCorpus(None, frame, added).take(np.arange(0, n, -(-n // _MAX_DOCUMENTS)))
    first, second = X[::2], X[1::2]
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    direction[np.bincount(first.indices, minlength=len(direction)) == 0] = 0
    for _ in range(_N_STEPS):
        direction = _apply(first, _leave_frame(frame, direction))
    direction = _leave_frame(frame, direction)
    strength = float(direction @ _apply(second, direction))
    return max(strength, 0.0) * n / n_all / float(frame.values[-1])


def _leave_frame(frame: TopicFrame, direction: Array) -> Array:
    direction = direction - frame.basis @ (frame.basis.T @ direction)
    return np.asarray(direction / max(float(np.linalg.norm(direction)), 1e-12))


def _apply(X: sp.csr_array, direction: Array) -> Array:
    """Multiply by the second moment of documents over pairs of different words, (d,)."""
    squares = np.bincount(X.indices, X.data.astype(np.float64) ** 2, minlength=X.shape[1])
    return np.asarray((X.T @ (X @ direction) - squares * direction) / X.shape[0])
