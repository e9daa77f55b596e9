"""Hints, arguments and answers of a search for a topic of LDA."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.coded import raises, warns

from mixsearch import LdaSearch
from mixsearch.datasets import make_topics

data = make_topics(1500, 60, 4, mean_length=50, random_state=0)
search = LdaSearch(4, alpha0=0.8).fit(data.counts, vocabulary=data.vocabulary)
COLUMN = data.labelled_word(1)
WORD = data.vocabulary[COLUMN]


def mostly_about(topic, n=5):
    return data.counts[np.argsort(-data.shares[:, topic])[:n]]


def error(topic, index):
    return np.linalg.norm(topic.probabilities - data.topics[index])


def test_a_word_is_a_name_a_column_or_one_with_a_weight():
    found = search.search(words=WORD)
    assert error(found, 1) < 0.05
    assert WORD in dict(found.top_words(5))
    for words in (COLUMN, [WORD], {WORD: 1.0}, {COLUMN: 3}, np.array([COLUMN])):
        assert_allclose(search.search(words=words).center, found.center, atol=1e-12)


def test_a_word_enters_with_one_over_its_frequency():
    v = np.zeros(60)
    v[COLUMN] = 1 / search._family.word_mean[COLUMN]
    assert_allclose(search.search(v).scores, search.search(words=WORD).scores)


def test_a_word_to_avoid_decides_between_two_topics():
    first, second = (data.vocabulary[data.labelled_word(i)] for i in (0, 2))
    assert error(search.search(words={first: 1, second: -1}), 0) < 0.05
    assert error(search.search(words={first: -1, second: 1}), 2) < 0.05


@pytest.mark.parametrize("index", range(4))
def test_documents_lead_to_their_topic(index):
    found = search.search(examples=mostly_about(index))
    assert error(found, index) < 0.05
    assert found.check.expected_recall(600) > 0.5
    other = (index + 1) % 4
    assert error(search.search(examples=mostly_about(index), not_examples=mostly_about(other)), index) < 0.05


def test_the_share_of_the_topic_in_a_document_is_unbiased_and_refined_is_better():
    found, truth = search.search(words=WORD, refine=True), data.shares[:, 1]
    moments = found.moment_estimate.membership(data.counts)
    assert abs(moments.mean() - truth.mean()) < 0.03
    assert np.mean((found.membership(data.counts) - truth) ** 2) < np.mean((moments - truth) ** 2)


def test_columns_of_a_data_frame_are_words():
    frame = pd.DataFrame(data.counts.toarray(), columns=data.vocabulary)
    found = LdaSearch(4, alpha0=0.8).fit(frame).search(words=WORD)
    assert_allclose(found.center, search.search(words=WORD).center, atol=1e-12)


@pytest.mark.parametrize("words", ["nothing", 60, -1, 1.5])
def test_a_word_that_no_document_contains_is_refused(words):
    with raises("unknown_word"):
        search.search(words=[words])


@pytest.mark.parametrize("vocabulary", [["a"] * 60, ["a", "b"]])
def test_each_column_has_its_own_word(vocabulary):
    with raises("bad_argument", argument="vocabulary"):
        LdaSearch(4).fit(data.counts, vocabulary=vocabulary)


@pytest.mark.parametrize(
    ("hints", "code"),
    [
        ({"words": WORD, "hint": np.ones(60)}, "one_hint"),
        ({"words": WORD, "not_examples": np.ones((1, 60))}, "needs_examples"),
        ({"words": []}, "hint_zero"),
        ({"words": {WORD: np.nan}}, "hint_not_finite"),
        ({"examples": np.zeros((2, 60))}, "empty_documents"),
        ({"words": WORD, "refine": "yes"}, "bad_argument"),
    ],
)
def test_hints_that_cannot_be_used(hints, code):
    with raises(code):
        search.search(**hints)


@pytest.mark.parametrize(
    ("counts", "code"),
    [(-np.ones((4, 3)), "bad_samples"), (np.eye(4), "too_few_samples")],
)
def test_counts_that_cannot_be_fitted(counts, code):
    with raises(code):
        LdaSearch(1).fit(counts)


@pytest.mark.parametrize("alpha0", [0, -1, np.nan, np.inf, 1e300, "one"])
def test_the_sum_of_parameters_is_a_positive_number_of_moderate_size(alpha0):
    with raises("bad_argument", argument="alpha0"):
        LdaSearch(2, alpha0=alpha0).fit(np.ones((4, 3)))


def test_the_unit_of_fractions_does_not_matter():
    fitted = [LdaSearch(4, alpha0=0.8).fit(data.counts * unit) for unit in (0.5, 0.75)]
    assert_allclose(*(each.search(words=COLUMN).center for each in fitted), atol=1e-10)


def test_documents_of_fewer_than_three_words_are_left_out():
    short = sp.csr_array(np.vstack([np.eye(60)[:7], data.counts.toarray(), 2 * np.eye(60)[:3]]))
    with warns("dropped_documents", n_dropped=10):
        fitted = LdaSearch(4, alpha0=0.8).fit(short)
    assert_allclose(fitted.search(words=COLUMN).center, search.search(words=COLUMN).center, atol=1e-10)


def test_a_word_that_is_stored_twice_and_a_stored_zero_change_nothing():
    rows, columns = data.counts.nonzero()
    values = data.counts.data.astype(float)
    stored = (np.concatenate([values - 1, np.ones_like(values)]), (np.tile(rows, 2), np.tile(columns, 2)))
    fitted = LdaSearch(4, alpha0=0.8).fit(sp.coo_array(stored, shape=data.counts.shape))
    assert_allclose(fitted.search(words=COLUMN).center, search.search(words=COLUMN).center, atol=1e-10)
