"""The ranking of documents for a topic, against definitions written out with scikit-learn and on planted corpora."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import isotonic_regression
from sklearn.feature_extraction.text import TfidfTransformer

from mixsearch import TopicSearch
from mixsearch.topics.documents import sample_rows
from mixsearch.topics.local_em import fit_falling
from mixsearch.topics.ranking import MORE_WORDS

RARE, BROAD = 0, 40


@pytest.fixture(scope="module")
def counts():
    """Documents of a rare topic (first words), of a broad one that shares half of its words, and of six others."""
    rng = np.random.default_rng(0)
    topics = np.zeros((8, 400))
    for i, topic in enumerate(topics):
        topic[40 * i : 40 * i + 40] = rng.dirichlet(np.ones(40))
    topics[0, 1:40] *= 0.5
    topics[0, BROAD : BROAD + 40] = 0.35 * topics[1, BROAD : BROAD + 40]
    topics[0, RARE] = 0.15
    topics[:, 320:] = 0.5 * rng.dirichlet(np.ones(80))
    topics /= topics.sum(axis=1, keepdims=True)
    labels = rng.choice(8, 1500, p=[0.03, 0.27, *[0.7 / 6] * 6])
    lengths = 10 + rng.poisson(40, 1500)
    return sp.csr_array(
        np.array([rng.multinomial(n, topics[label]) for n, label in zip(lengths, labels, strict=True)])
    ), labels


@pytest.fixture(scope="module")
def search(counts):
    return TopicSearch(6).fit(counts[0])


def test_documents_of_a_rare_topic_come_before_those_of_its_broad_neighbour(counts, search):
    labels = counts[1]
    n_rare = int(np.sum(labels == 0))
    first = [row for row, _ in search.search(words=[RARE]).documents(n_rare)]
    assert np.mean(labels[first] == 0) > 0.9


def test_the_view_of_words_is_the_centroid_less_the_mean_in_units_of_deviation(counts, search):
    damped = sp.csr_array(counts[0].astype(float))
    damped.data = np.log2(1 + damped.data)
    T = TfidfTransformer().fit_transform(damped).toarray()
    refined = search.search(words=[RARE])._refined
    family = refined.family
    np.testing.assert_allclose(family.mean_document.tfidf, T.mean(axis=0), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(family.mean_document.deviation, T.std(axis=0), rtol=1e-4, atol=1e-7)
    density = damped[:, [RARE]].toarray().ravel() / damped.sum(axis=1)
    deviation = np.where(T.any(axis=0), T.std(axis=0), 1)
    expected = T @ ((density @ T / density.sum() - T.mean(axis=0)) / deviation)
    lengths = damped.sum(axis=1)
    documents = family.chunks.collect().chunk
    views = refined.ranking.view(sample_rows(documents, slice(None)))
    np.testing.assert_allclose(views[:, 0], expected * lengths / (lengths + MORE_WORDS), rtol=1e-3, atol=1e-5)


def test_documents_that_are_no_part_of_the_corpus_rank_others_like_them_first(counts, search):
    X, labels = counts
    rng = np.random.default_rng(5)
    other = sp.csr_array(rng.multinomial(40, X[labels == 3].sum(axis=0) / X[labels == 3].sum(), size=3))
    first = [row for row, _ in search.search(documents=other).documents(50)]
    assert np.mean(labels[first] == 3) > 0.9


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_the_falling_sequence_is_that_of_isotonic_regression(values):
    expected = isotonic_regression(values, increasing=False).x
    assert_allclose(fit_falling(np.array(values)), expected, atol=1e-12)
