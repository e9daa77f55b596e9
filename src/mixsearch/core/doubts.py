"""Reasons not to trust an answer: what they leave of its confidence, and how they reach the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from mixsearch.core.component import Component
from mixsearch.errors import SearchWarning, warn_user

# A test of a right answer raises a false alarm this often.
MIN_P_VALUE = 0.01

C = TypeVar("C", bound=Component)


def trust(p_value: float) -> float:
    """Return the factor that a test leaves of a confidence.

    Parameters
    ----------
    p_value : float
        How often a right answer would do as badly.

    Returns
    -------
    float
        1 down to `MIN_P_VALUE`, then proportional to the p-value: on average a right answer loses half of
        `MIN_P_VALUE`.

    Examples
    --------
    >>> trust(0.3), trust(0.001)
    (1.0, 0.1)
    """
    return min(1.0, p_value / MIN_P_VALUE)


def add_doubts(found: C, doubts: Sequence[SearchWarning]) -> C:
    """Issue warnings about an answer, and return it with them among its doubts."""
    for doubt in doubts:
        warn_user(doubt)
    changed: Any = found  # every component is a dataclass
    return replace(changed, _doubts=(*found.doubts, *doubts)) if doubts else found
