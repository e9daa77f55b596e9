import math

import numpy as np
import pytest

from mixsearch.core.separation import WEAK_SEPARATION, verdict, verdict_code


@pytest.mark.parametrize(
    ("separation", "code", "words"),
    [
        (math.inf, "clear", "clearly singled out"),
        (3.0, "clear", "clearly singled out"),
        (1.5, "distinct", "singled out"),
        (1.2, "close", "singled out, but the runner-up is close"),
        (1.0, "ambiguous", "hardly singled out: the runner-up is about as good"),
        (0.4, "behind", "not singled out: another component answers the hint better"),
        (math.nan, "behind", "not singled out: another component answers the hint better"),
    ],
)
def test_a_larger_lead_gets_a_more_confident_verdict(separation: float, code: str, words: str) -> None:
    assert verdict(separation) == words
    assert verdict_code(separation) == code


def test_the_verdict_turns_doubtful_where_the_search_begins_to_warn() -> None:
    assert not verdict(WEAK_SEPARATION).startswith("hardly")
    assert verdict(np.nextafter(WEAK_SEPARATION, 0)).startswith("hardly")
