import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.coded import raises, warns

from mixsearch.topics.hint import hint_from_words, parse_words, suggest_words

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
    ("words", "columns", "code"),
    [
        ("sushy", COLUMNS, "unknown_word"),
        ("xylophone", COLUMNS, "unknown_word"),
        ("sushi", None, "no_vocabulary"),
        ([7], COLUMNS, "unknown_column"),
        ("unseen", COLUMNS, "word_without_documents"),
    ],
)
def test_an_unknown_word_says_what_would_do(words, columns, code):
    with raises(code):
        hint_from_words(words, columns, FREQUENCIES)


@pytest.mark.parametrize(
    ("words", "code"),
    [([], "no_words"), ({"sushi": 0}, "bad_weights"), ({"sushi": np.nan}, "bad_weights")],
)
def test_words_without_weight_are_no_hint(words, code):
    with raises(code):
        hint_from_words(words, COLUMNS, FREQUENCIES)


def test_a_pattern_counts_as_one_word_that_stands_for_all_that_match():
    hint = hint_from_words({"?u*": 2}, COLUMNS, FREQUENCIES)
    assert hint.columns.tolist() == [0, 1]  # sushi and burger
    assert_allclose(hint.values, 2 / 0.6)
    assert hint.phrases == ()


@pytest.mark.parametrize("words", ["*", {"sushi": 1, "*": -1}])
def test_a_pattern_without_letters_is_refused(words):
    with raises("pattern_without_letters", word="*"):
        hint_from_words(words, COLUMNS, FREQUENCIES)


@pytest.mark.parametrize("number", ["3.14", "٢٠١٩"])
def test_a_number_says_that_numbers_are_not_counted(number):
    with raises("number_not_counted", word=number, n_words=4, argument="token_pattern"):
        hint_from_words(number, COLUMNS, FREQUENCIES)


def test_a_phrase_that_the_vocabulary_has_is_one_word():
    hint = hint_from_words("new york", {"new": 0, "york": 1, "new york": 2}, FREQUENCIES)
    assert hint.columns.tolist() == [2]
    assert hint.phrases == ()


def test_a_phrase_of_single_words_shares_its_weight_and_asks_for_documents_with_all_of_them():
    hint = hint_from_words("sushi rice", COLUMNS, FREQUENCIES)
    assert hint.columns.tolist() == [0, 2]
    assert_allclose(hint.values, [5.0, 1.25])
    assert [[part.tolist() for part in phrase.parts] for phrase in hint.phrases] == [[[0], [2]]]


def test_an_absent_word_among_others_is_skipped_with_a_warning():
    with warns("skipped_words"):
        hint = hint_from_words(["rice", "sushy"], COLUMNS, FREQUENCIES)
    assert hint.columns.tolist() == [2]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sushi", {"sushi": 1}),
        ("sushi^2 -burger", {"sushi": 2, "burger": -1}),
        ('"new york" rice', {"new york": 1, "rice": 1}),
        ("-burger^0.5", {"burger": -0.5}),
        ("encrypt*", {"encrypt*": 1}),
        ("don't", {"don't": 1}),
        ("", {}),
    ],
)
def test_a_search_box_takes_phrases_weights_and_words_to_avoid(query, expected):
    assert parse_words(query) == expected


@pytest.mark.parametrize(
    ("query", "code"),
    [('"new york', "open_quote"), ("sushi^x", "bad_weight"), ("-", "empty_word")],
)
def test_a_query_that_cannot_be_read_says_why(query, code):
    with raises(code):
        parse_words(query)


def test_a_word_that_is_wanted_and_avoided_is_an_error():
    with raises("contradicting_words", word="sushi"):
        parse_words("sushi rice -sushi")
    assert parse_words("sushi sushi^2") == {"sushi": 2.0}


VOCABULARY = ["restaurant", "restaurants", "service", "surface", "server", "great", "treat", "grate", "sushi", "café"]
WORD_FREQUENCIES = np.array([30.0, 10, 50, 2, 8, 90, 5, 1, 20, 4])


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ("restuarant", "restaurant"),  # swapped
        ("sushy", "sushi"),  # replaced
        ("cafe", "café"),
    ],
)
def test_the_word_with_the_fewest_slips_comes_first(slip, right):
    assert suggest_words(slip, VOCABULARY, WORD_FREQUENCIES)[0] == right


def test_of_equally_near_words_those_with_the_same_first_letter_come_first_and_then_frequent_ones():
    assert suggest_words("great", ["treat", "greet", "groat"], np.array([9.0, 1.0, 5.0])) == ["groat", "greet", "treat"]


def test_words_of_other_spelling_are_not_offered():
    assert suggest_words("xylophone", VOCABULARY, WORD_FREQUENCIES) == []
    assert suggest_words("foo", ["bar", "bat"], np.ones(2)) == []
