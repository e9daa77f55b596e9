"""A search that is fitted to texts, with a vectorizer or without."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from tests.coded import raises, warns
from tests.unit.index.planted_reviews import ORDER, THINGS, make_reviews

from mixsearch import TopicSearch
from mixsearch.text import WordCounter

TEXTS = make_reviews()["text"].tolist()
TAXI = ORDER.index("taxi")


def check(search):
    topic = search.search("taxi")
    assert {word for word, _ in topic.top_words(6)} <= set(THINGS["taxi"])
    assert all(row % 3 == TAXI for row, _ in topic.documents(20))
    return topic


@pytest.mark.parametrize("kind", [list, pd.Series])
def test_texts_are_counted_as_those_of_an_index(kind):
    search = TopicSearch(3).fit(kind(TEXTS))
    check(search)
    assert isinstance(search.vectorizer_, WordCounter)
    assert search.vocabulary_ == search.vectorizer_.vocabulary_


def test_a_copy_of_the_vectorizer_counts():
    vectorizer = CountVectorizer(min_df=2)
    search = TopicSearch(3, vectorizer=vectorizer).fit(TEXTS)
    check(search)
    assert not hasattr(vectorizer, "vocabulary_")
    assert search.vocabulary_ == search.vectorizer_.get_feature_names_out().tolist()
    assert clone(search).vectorizer is not vectorizer
    expected = TopicSearch(3).fit(CountVectorizer(min_df=2).fit_transform(TEXTS), vocabulary=search.vocabulary_)
    np.testing.assert_allclose(search.search("taxi").probabilities, expected.search("taxi").probabilities, atol=1e-8)


def test_missing_texts_are_documents_without_words():
    texts = [None, float("nan"), *TEXTS]
    with warns("dropped_documents", n_dropped=2, n_documents=242):
        search = TopicSearch(3).fit(texts)
    assert search.n_dropped_ == 2
    assert all((row - 2) % 3 == TAXI for row, _ in search.search("taxi").documents(10))


def test_other_texts_are_counted_with_the_same_words():
    search = TopicSearch(3).fit(TEXTS)
    found = search.search(documents=["the driver took the luggage to the airport by taxi and the fare was high"])
    assert all(row % 3 == TAXI for row, _ in found.documents(10))


DRINKS_AND_PETS = ["red wine grape bottle", "white wine grape glass", "dog cat bone", "cat dog mouse"]


def test_one_text_is_not_a_corpus():
    with raises("one_text", argument="X"):
        TopicSearch(2).fit("one text")


@pytest.mark.parametrize("empty", [[], pd.Series([], dtype=object)])
def test_an_empty_list_has_no_documents(empty):
    with raises("no_documents", argument="X"):
        TopicSearch(2).fit(empty)
