"""A search that is fitted to texts, with a vectorizer or without."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from tests.unit.index.planted_reviews import ORDER, THINGS, make_reviews

from mixsearch import TopicSearch
from mixsearch.errors import DroppedDocumentsWarning
from mixsearch.text import CorpusOptions, WordCounter

TEXTS = make_reviews()["text"].tolist()
TAXI = ORDER.index("taxi")


def check(search):
    topic = search.search("taxi")
    assert {word for word, _ in topic.top_words(6)} <= set(THINGS["taxi"])
    assert all(row % 3 == TAXI for row, _ in topic.documents(20))
    return topic


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, lambda texts: np.array(texts, dtype=object)])
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
    with pytest.warns(DroppedDocumentsWarning, match="2 of 242"):
        search = TopicSearch(3).fit(texts)
    assert search.n_dropped_ == 2
    assert all((row - 2) % 3 == TAXI for row, _ in search.search("taxi").documents(10))


def test_other_texts_are_counted_with_the_same_words():
    search = TopicSearch(3).fit(TEXTS)
    assert search.transform(TEXTS[:4]).shape == (4, search.n_components_)
    np.testing.assert_allclose(search.transform(TEXTS[:4]), search.transform(search.vectorizer_.transform(TEXTS[:4])))
    found = search.search(documents=["the driver took the luggage to the airport by taxi and the fare was high"])
    assert all(row % 3 == TAXI for row, _ in found.documents(10))


def test_counts_after_texts_need_no_vectorizer():
    search = TopicSearch(3).fit(TEXTS)
    counts = search.vectorizer_.transform(TEXTS)
    search.fit(counts, vocabulary=search.vocabulary_)
    assert not hasattr(search, "vectorizer_")
    check(search)


def test_a_search_of_texts_is_saved_without_its_vectorizer(tmp_path):
    TopicSearch(3, vectorizer=CountVectorizer()).fit(TEXTS).save(tmp_path / "fit")
    check(TopicSearch.load(tmp_path / "fit"))


def test_a_counter_works_in_a_pipeline():
    pipeline = make_pipeline(WordCounter(CorpusOptions(min_df=2)), TopicSearch(3))
    assert pipeline.fit_transform(TEXTS).shape == (len(TEXTS), 3)
