import numpy as np
import pytest

from mixsearch.topics._hint import suggest_words

WORDS = ["restaurant", "restaurants", "service", "surface", "server", "great", "treat", "grate", "sushi", "café"]
FREQUENCIES = np.array([30.0, 10, 50, 2, 8, 90, 5, 1, 20, 4])


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ("restuarant", "restaurant"),  # swapped
        ("restaurantt", "restaurant"),  # repeated
        ("serivce", "service"),
        ("sushy", "sushi"),  # replaced
        ("sush", "sushi"),  # dropped
        ("cafe", "café"),
    ],
)
def test_the_word_with_the_fewest_slips_comes_first(slip, right):
    assert suggest_words(slip, WORDS, FREQUENCIES)[0] == right


def test_of_equally_near_words_those_with_the_same_first_letter_come_first_and_then_frequent_ones():
    assert suggest_words("great", ["treat", "greet", "groat"], np.array([9.0, 1.0, 5.0])) == ["groat", "greet", "treat"]


def test_words_of_other_spelling_are_not_offered():
    assert suggest_words("xylophone", WORDS, FREQUENCIES) == []
    assert suggest_words("foo", ["bar", "bat"], np.ones(2)) == []
