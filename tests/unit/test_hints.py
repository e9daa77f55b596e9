import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mixsearch.errors import HintError, UnknownWordError
from mixsearch.hints import (
    hint_from_direction,
    hint_from_documents,
    hint_from_examples,
    hint_from_responses,
    hint_from_words,
    require_one,
)
from mixsearch.types import Frame

COLUMNS = {"sushi": 0, "burger": 1, "rice": 2, "unseen": 3}
FREQUENCIES = np.array([0.1, 0.5, 0.4, 0.0])


def test_a_word_enters_with_one_over_its_frequency():
    hint = hint_from_words("sushi", COLUMNS, FREQUENCIES)
    assert hint.columns.tolist() == [0]
    assert_allclose(hint.values, [10.0])


def test_words_carry_weights_and_negative_ones_are_avoided():
    hint = hint_from_words({"sushi": 1, "burger": -0.5}, COLUMNS, FREQUENCIES)
    assert hint.columns.tolist() == [0, 1]
    assert_allclose(hint.values, [10.0, -1.0])


def test_a_column_number_stands_for_its_word():
    assert hint_from_words([2], None, FREQUENCIES).columns.tolist() == [2]
    assert hint_from_words([np.int64(2)], None, FREQUENCIES).columns.tolist() == [2]


@pytest.mark.parametrize(
    ("words", "columns", "message"),
    [
        ("sushy", COLUMNS, "'sushy' is not among the 4 words. Nearest: sushi"),
        ("xylophone", COLUMNS, "'xylophone' is not among the 4 words. No word is spelt like it"),
        ("sushi", None, "'sushi' cannot be looked up, since fit was given no vocabulary.*give the word's column"),
        ([7], COLUMNS, "There is no column 7: the counts have 4 columns"),
        ("unseen", COLUMNS, "'unseen' is in the vocabulary, but in no document"),
    ],
)
def test_an_unknown_word_says_what_would_do(words, columns, message):
    with pytest.raises(UnknownWordError, match=message):
        hint_from_words(words, columns, FREQUENCIES)


@pytest.mark.parametrize(
    ("words", "message"),
    [([], "list of words is empty"), ({"sushi": 0}, "not all zero"), ({"sushi": np.nan}, "must be finite")],
)
def test_words_without_weight_are_no_hint(words, message):
    with pytest.raises(HintError, match=message):
        hint_from_words(words, COLUMNS, FREQUENCIES)


@pytest.mark.parametrize(
    ("v", "message"),
    [
        (np.zeros(3), "The hint is zero, so it prefers no component"),
        (np.ones(4), r"shape \(4,\), but samples of 3 features need \(3,\)"),
        (np.ones((2, 3)), r"shape \(2, 3\).*Pass several samples as examples="),
        ([1, np.nan, 2], "NaN or infinity"),
        ([1, np.inf, 2], "NaN or infinity"),
    ],
)
def test_a_direction_that_cannot_be_used_says_why(v, message):
    with pytest.raises(HintError, match=message):
        hint_from_direction(v, 3)


def test_examples_are_seen_from_the_mean_of_all_samples():
    assert_allclose(hint_from_examples(np.array([[1.0, 2], [3, 4]]), np.array([1.0, 1])), [1, 2])


def test_a_single_response_gives_the_paper_s_direction():
    frame = Frame(np.eye(3)[:, :2], np.array([2.0, 0.5]))
    x = np.array([[1.0, -2.0, 5.0]])
    found = hint_from_responses(frame, x, np.array([3.0]), intercept=True)
    paper = frame.project_hint(3.0 * x[0])
    assert_allclose(found / np.linalg.norm(found), paper / np.linalg.norm(paper))


@pytest.mark.parametrize("intercept", [True, False])
def test_several_responses_give_the_coefficients(intercept):
    frame = Frame(np.eye(3)[:, :2], np.array([2.0, 0.5]))
    X = np.random.default_rng(0).normal(size=(400, 3))
    coefficients = np.array([0.7, -1.2, 0.0])
    y = X @ coefficients + (4.0 if intercept else 0.0)
    found = hint_from_responses(frame, X, y, intercept=intercept)
    assert_allclose(frame.unwhiten(found), coefficients, atol=0.01)


def test_documents_have_the_same_say_whatever_their_length():
    counts = sp.csr_array(np.array([[1.0, 0, 0], [0, 50, 50]]))
    assert_allclose(hint_from_documents(counts, np.full(3, 0.1)), [0.4, 0.15, 0.15])


def test_documents_without_words_are_no_hint():
    with pytest.raises(HintError, match="no word of the vocabulary"):
        hint_from_documents(sp.csr_array((2, 3)), np.zeros(3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hint": None, "words": None}, "out of hint, words; found none"),
        ({"hint": 1, "words": 2}, "found hint and words"),
    ],
)
def test_exactly_one_hint_is_needed(given, message):
    with pytest.raises(HintError, match=message):
        require_one(given)
