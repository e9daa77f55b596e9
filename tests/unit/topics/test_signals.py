"""Whether a topic is about the word asked for: planted corpora of subjects and of words without one."""

from __future__ import annotations

import numpy as np
import pytest

from mixsearch import TopicSearch
from mixsearch.datasets import make_topics
from mixsearch.topics.confidence import Signals, probability_of

N_SUBJECTS, N_OWN, N_COMMON = 20, 30, 60


@pytest.fixture(scope="module")
def planted():
    """Documents of twenty subjects with thirty words each, and sixty words that all of them use alike."""
    rng = np.random.default_rng(0)
    common = rng.dirichlet(np.ones(N_COMMON))
    labels = rng.integers(N_SUBJECTS, size=3000)
    own = np.array([rng.dirichlet(np.ones(N_OWN)) for _ in range(N_SUBJECTS)])
    counts = np.zeros((3000, N_SUBJECTS * N_OWN + N_COMMON))
    for row, label in enumerate(labels):
        counts[row, label * N_OWN : (label + 1) * N_OWN] = rng.multinomial(15 + rng.poisson(10), own[label])
        counts[row, N_SUBJECTS * N_OWN :] = rng.multinomial(15 + rng.poisson(10), common)
    return TopicSearch(N_SUBJECTS).fit(counts), own, common, labels


def test_words_of_a_subject_are_trusted_and_words_of_all_are_not(planted):
    search, own, common, _ = planted
    subjects = [search.search(words=[i * N_OWN + int(own[i].argmax())]).confidence for i in range(N_SUBJECTS)]
    ranked = N_SUBJECTS * N_OWN + np.argsort(-common)[:20]
    functions = [search.search(words=[int(column)]).confidence for column in ranked]
    assert np.median(subjects) > 0.8
    assert max(functions) < 0.5
    assert min(subjects) > max(functions)


def test_the_documents_about_a_subject_are_counted_beside_those_that_hold_the_word(planted):
    search, own, _, labels = planted
    inside = []
    for i in range(N_SUBJECTS):
        count = search.search(words=[i * N_OWN + int(own[i].argmax())]).document_count
        assert count.low <= count.n <= count.high
        assert count.n_holding is not None
        inside.append(0.5 * np.sum(labels == i) < count.n < 2 * np.sum(labels == i))
    assert np.mean(inside) > 0.9


def test_a_word_of_two_subjects_is_not_trusted(planted):
    _search, own, common, labels = planted
    rng = np.random.default_rng(1)
    counts = np.zeros((3000, N_SUBJECTS * N_OWN + N_COMMON + 1))
    for row, label in enumerate(labels):
        counts[row, label * N_OWN : (label + 1) * N_OWN] = rng.multinomial(15 + rng.poisson(10), own[label])
        counts[row, N_SUBJECTS * N_OWN : -1] = rng.multinomial(15 + rng.poisson(10), common)
    counts[np.isin(labels, [3, 11]), -1] = rng.poisson(1.5, np.isin(labels, [3, 11]).sum())
    again = TopicSearch(N_SUBJECTS).fit(counts)
    assert again.search(words=[counts.shape[1] - 1]).confidence < 0.6
    assert again.search(words=[3 * N_OWN + int(own[3].argmax())]).confidence > 0.7


def test_each_signal_counts_in_its_direction():
    middle = Signals(-2.0, 0.3, 1.0, 5.0)
    for name in ("distance", "lead", "share"):
        stronger = middle._replace(**{name: getattr(middle, name) + 0.5})
        assert probability_of(stronger) > probability_of(middle)
    assert probability_of(middle._replace(n_documents=8.0)) < probability_of(middle)


def test_moments_tell_the_number_of_documents_from_the_weight():
    data = make_topics(2000, 100, 4, mean_length=60, random_state=0)
    search = TopicSearch(4, alpha0=data.alpha.sum(), damping=False).fit(data.counts)
    count = search.search(words=[data.labelled_word(1)]).document_count
    assert count.low < count.n < count.high
    assert count.low <= data.shares[:, 1].sum() <= count.high
