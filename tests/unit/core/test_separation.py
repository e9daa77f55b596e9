import math

import pytest

from mixsearch.core.separation import verdict, verdict_code, weak_hint


@pytest.mark.parametrize(
    ("separation", "code", "words"),
    [
        (math.inf, "clear", "clear match"),
        (1.5, "distinct", "good match"),
        (1.2, "close", "match, but the runner-up is close"),
        (1.0, "ambiguous", "weak match: the runner-up is about as good"),
        (0.4, "behind", "no match: another component fits the hint better"),
    ],
)
def test_a_larger_lead_gets_a_more_confident_verdict(separation: float, code: str, words: str) -> None:
    assert verdict(separation) == words
    assert verdict_code(separation) == code


def test_a_component_that_is_behind_is_not_said_to_lead() -> None:
    assert "leads the runner-up by a factor of only 1.02, where 1 is a tie" in str(weak_hint(1.02))
    behind = weak_hint(0.88, 0.94)
    assert "is behind another one by a factor of 0.88, where 1 is a tie, confidence 0.94." in str(behind)
    assert "leads" not in str(behind)
    assert behind.fields == {"separation": 0.88, "confidence": 0.94}
