"""A fit restricted to some documents has the moments of these documents."""

import numpy as np
import pytest
from tests.coded import raises

from mixsearch import TopicSearch
from mixsearch.datasets import make_topics
from mixsearch.topics.corpus import FittedCorpus
from mixsearch.topics.within import restrict_family

ALPHA = 0.3


@pytest.fixture(scope="module")
def data():
    return make_topics(3000, 120, 4, mean_length=60, alpha=ALPHA / 4, random_state=3)


@pytest.fixture(scope="module")
def search(data):
    return TopicSearch(4, alpha0=ALPHA, damping=False).fit(data.counts, vocabulary=data.vocabulary)


@pytest.fixture(scope="module")
def chosen(data):
    # Few documents on the first topic, most on the second.
    rng = np.random.default_rng(0)
    return np.flatnonzero(rng.random(len(data.shares)) < 0.1 + 0.8 * data.shares[:, 1])


def test_the_second_moment_of_the_documents_is_whitened(data, search, chosen):
    family = restrict_family(search._family, chosen)
    counts = data.counts.toarray()[chosen].astype(float)
    lengths = counts.sum(axis=1)
    weights = lengths / lengths.sum()
    pairs = (counts * (weights / (lengths * (lengths - 1)))[:, None]).T @ counts
    pairs -= np.diag((weights / (lengths * (lengths - 1))) @ counts)
    mean = ALPHA * (weights / lengths) @ counts
    second = ALPHA * (ALPHA + 1) * pairs - np.outer(mean, mean)
    W = family.whitening_rows(slice(None))
    np.testing.assert_allclose(W.T @ second @ W, np.eye(family.n_components), atol=1e-6)
    np.testing.assert_allclose(family.mean, mean @ W, rtol=1e-6)
    np.testing.assert_allclose(family.chunks.collect().chunk.projected, counts @ W, rtol=1e-6, atol=1e-9)
    assert family.document_frequency.tolist() == (counts > 0).sum(axis=0).tolist()


def test_all_documents_have_the_fit_of_all(search):
    whole = search._family
    family = restrict_family(whole, np.arange(whole.chunks.n_rows))
    np.testing.assert_allclose(family.frame.values, whole.frame.values, rtol=0.05)
    np.testing.assert_allclose(family.word_mean, whole.word_mean, rtol=1e-9)
    np.testing.assert_allclose(family.mean_document.tfidf, whole.mean_document.tfidf, rtol=1e-9)


def test_topics_and_weights_are_those_of_the_documents(data, search, chosen):
    within = FittedCorpus(search).within(chosen).search
    for topic in (1, 2):
        found = within.search(words=[data.vocabulary[data.labelled_word(topic)]])
        assert np.abs(found.probabilities - data.topics[topic]).sum() < 0.35
        assert found.weight == pytest.approx(data.shares[chosen, topic].mean(), abs=0.05)
        rows = [row for row, _ in found.documents(20)]
        assert set(rows) <= set(chosen.tolist())
        assert data.shares[rows, topic].mean() > 0.9


def test_too_few_documents_are_an_error(search):
    with raises("too_few_documents", n_documents=5):
        restrict_family(search._family, np.arange(5))
