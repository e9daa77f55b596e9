"""A question whose right answers are known: what a case of `trust.py` draws from a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array

# A center may be this many times as far off as the mean of all true members, a weight this many of its standard errors.
CENTER_LIMIT, WEIGHT_LIMIT = 3.0, 5.0


class Question(NamedTuple):
    """A search, and which of its answers are right."""

    ask: Callable[[], Any]  # fits and searches
    is_right: Callable[[Any], bool]
    has_answer: bool = True  # False: the hint means no component, and every answer is wrong


def is_weight_right(estimate: float, weight: float, n_samples: int) -> bool:
    """Return whether a weight is within the limit, in standard errors of the share of true members."""
    return abs(estimate - weight) <= WEIGHT_LIMIT * float(np.sqrt(weight * (1 - weight) / n_samples))


def is_nearest(estimate: Array, truth: Array, target: int = 0) -> bool:
    """Return whether of all true parameters, (k, d), that of the target is the nearest to the estimate, (d,)."""
    return int(np.linalg.norm(truth - estimate, axis=1).argmin()) == target


def is_recognised(estimate: Array, truth: Array, target: int = 0) -> bool:
    """Return whether an estimate, (d,), is less than halfway from the target to any other of all true parameters."""
    apart = np.linalg.norm(np.delete(truth, target, axis=0) - truth[target], axis=1)
    return bool(np.linalg.norm(estimate - truth[target]) < 0.5 * apart.min(initial=np.inf))
