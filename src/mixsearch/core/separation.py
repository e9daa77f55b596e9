"""Interpretation of separation and confidence: thresholds, words and warnings."""

from __future__ import annotations

import math
from typing import Any

from mixsearch.display import plain_number
from mixsearch.errors import WeakHintWarning

# Below this lead over the runner-up, the hint is called weak; below the other one, the runner-up is worth a look.
WEAK_SEPARATION = 1.1
DOUBTFUL_SEPARATION = 1.5
# Below this confidence, the answer is doubted.
DOUBTFUL_CONFIDENCE = 0.5
# Below this one, a component is hardly the one meant, and a list of its sure members would mislead.
MIN_LISTED_CONFIDENCE = 0.05


def check_separation(separation: float) -> list[WeakHintWarning]:
    """Return the warning that the hint does not single out one component, if there is one."""
    return [weak_hint(separation)] if separation < WEAK_SEPARATION else []


def weak_hint(separation: float, confidence: float | None = None) -> WeakHintWarning:
    """Return the warning that the hint does not single out one component."""
    known = "" if confidence is None else ", confidence {confidence:.2f}"
    facts: dict[str, Any] = {} if confidence is None else {"confidence": confidence}
    lead = "leads the runner-up by a factor of only" if separation >= 1 else "is behind another one by a factor of"
    return WeakHintWarning(
        "The hint hardly singles out a component: the one found "
        + lead
        + " {separation:.2f}, where 1 is a tie"
        + known
        + ". Look at the other components, or give a more specific hint "
        "(more examples, another word, a direction in which the components differ).",
        separation=separation,
        **facts,
    )


# The smallest lead over the runner-up, a code and a sentence; in falling order.
_VERDICTS = (
    (3.0, "clear", "clear match"),
    (DOUBTFUL_SEPARATION, "distinct", "good match"),
    (WEAK_SEPARATION, "close", "match, but the runner-up is close"),
    (1.0, "ambiguous", "weak match: the runner-up is about as good"),
    (-math.inf, "behind", "no match: another component fits the hint better"),
)


def verdict(separation: float) -> str:
    """Return in words what a separation means."""
    return _judge(separation)[1]


def verdict_code(separation: float) -> str:
    """Return the verdict as a code for programs."""
    return _judge(separation)[0]


def _judge(separation: float) -> tuple[str, str]:
    # The last one also for NaN, which is larger than nothing.
    return next(((code, words) for bound, code, words in _VERDICTS if separation >= bound), _VERDICTS[-1][1:])


# The smallest confidence, a code and a sentence; in falling order.
_VERDICTS_BY_CONFIDENCE = (
    (0.8, "clear", "clearly about what was asked"),
    (DOUBTFUL_CONFIDENCE, "likely", "probably about what was asked"),
    (0.2, "doubtful", "perhaps about something else"),
    (-math.inf, "unclear", "not about one subject: the hint says too little"),
)


def verdict_by_confidence(confidence: float) -> tuple[str, str]:
    """Return a code for programs and what a confidence means in words."""
    # A confidence that is not a number is as good as none.
    confidence = -math.inf if math.isnan(confidence) else confidence
    return next((code, words) for bound, code, words in _VERDICTS_BY_CONFIDENCE if confidence >= bound)


def separation_in_words(separation: float) -> str:
    """Return the separation and what it means."""
    return f"{plain_number(separation)}: {verdict(separation)}"
