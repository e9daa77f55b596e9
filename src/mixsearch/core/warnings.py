"""Reasons not to trust an answer: what they leave of its confidence, and how they reach the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from mixsearch.core.component import Component
from mixsearch.core.separation import DOUBTFUL_SEPARATION, weak_hint
from mixsearch.errors import SearchWarning, WeakHintWarning, warn_user

# A test of a right answer raises a false alarm this often.
MIN_P_VALUE = 0.01

# A small lead with less confidence than this is worth a warning: 1 of 50 ties has more by chance.
MIN_CONFIDENCE = 0.99

C = TypeVar("C", bound=Component)


def trust(p_value: float) -> float:
    """Return the factor that a test leaves of a confidence."""
    return min(1.0, p_value / MIN_P_VALUE)


def add_warnings(found: C, warnings: Sequence[SearchWarning]) -> C:
    """Issue warnings about an answer, and return it with them among its warnings."""
    for warning in warnings:
        warn_user(warning)
    changed: Any = found  # every component is a dataclass
    return replace(changed, _warnings=(*found.warnings, *warnings)) if warnings else found


def check_lead(
    found: Any, *, min_confidence: float = MIN_CONFIDENCE, max_separation: float = DOUBTFUL_SEPARATION
) -> list[WeakHintWarning]:
    """Return the warning that the hint does not single out one component, if there is one.

    Notes
    -----
    A ratio of two noisy scores is no evidence: a small lead is doubtful only if it may be noise.
    """
    is_known = any(isinstance(warning, WeakHintWarning) for warning in found.warnings)
    if is_known or not (found.separation < max_separation and found._hint_confidence < min_confidence):
        return []
    return [weak_hint(found.separation, found._hint_confidence)]


def lower_trust(found: C, factor: float) -> C:
    """Return an answer whose confidence is lowered by a factor."""
    changed: Any = found  # every component is a dataclass
    lowered: C = replace(changed, _trust=changed._trust * factor)
    return lowered
