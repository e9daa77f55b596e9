import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.coded import raises

from mixsearch.core.validation import check_one_hint, hint_from_direction
from mixsearch.lda import mean_frequencies


@pytest.mark.parametrize(
    ("v", "code"),
    [
        (np.zeros(3), "hint_zero"),
        (np.ones(4), "hint_shape"),
        (np.ones((2, 3)), "hint_shape"),
        ([1, np.nan, 2], "hint_not_finite"),
        ([1, np.inf, 2], "hint_not_finite"),
    ],
)
def test_a_direction_that_cannot_be_used_says_why(v, code):
    with raises(code):
        hint_from_direction(v, 3)


def test_documents_have_the_same_say_whatever_their_length():
    counts = sp.csr_array(np.array([[1.0, 0, 0], [0, 50, 50]]))
    assert_allclose(mean_frequencies(counts), [0.5, 0.25, 0.25])


def test_documents_without_words_are_no_hint():
    with raises("empty_documents"):
        mean_frequencies(sp.csr_array((2, 3)))


@pytest.mark.parametrize(
    ("hints", "given"),
    [({"hint": None, "words": None}, "none"), ({"hint": 1, "words": 2}, "hint and words")],
)
def test_exactly_one_hint_is_needed(hints, given):
    with raises("one_hint", choices="hint, words", given=given):
        check_one_hint(hints)
