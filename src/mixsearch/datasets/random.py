"""Random draws that all mixtures have in common: the generator of a seed, and the weights of components."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option

RandomState = int | np.random.RandomState | None


def make_weights(rng: np.random.Generator, given: ArrayLike | None, n: int, low: float, high: float) -> Array:
    """Return n weights with sum 1: those given, or drawn between two bounds and normalized."""
    if given is None:
        drawn = rng.uniform(low, high, size=n)
        return np.asarray(drawn / drawn.sum())
    weights = np.asarray(given, dtype=float)
    if weights.shape != (n,) or weights.min() < 0 or not np.isclose(weights.sum(), 1):
        raise ArgumentError(
            "{argument} must be {n} non-negative numbers with sum 1, got {value}.",
            argument=Option("weights"),
            n=n,
            value=weights.tolist(),
        )
    return weights


def make_generator(random_state: RandomState) -> np.random.Generator:
    """Return a NumPy generator from a scikit-learn random state."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
