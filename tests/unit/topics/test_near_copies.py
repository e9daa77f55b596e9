"""Near-copies are counted as planted, and a template does not take over the topic of a word in its slot."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch import TopicSearch
from mixsearch.topics.seeds import find_copies, list_fixed_words, thin_copies

N_WORDS = 500
HINT, TEMPLATE = 499, np.arange(470, 490)


def draw_documents(rng, n, words=N_WORDS, size=30):
    """Documents of different words each, drawn at random, (n, N_WORDS)."""
    counts = np.zeros((n, N_WORDS))
    for row in counts:
        row[rng.choice(words, size, replace=False)] = 1
    return counts


def test_copies_are_counted_and_other_documents_are_single():
    rng = np.random.default_rng(0)
    copied = np.tile(draw_documents(rng, 1), (20, 1))
    copied[np.arange(20), rng.choice(N_WORDS, 20)] = 1
    copies = find_copies(sp.csr_array(np.vstack([copied, draw_documents(rng, 30)])), np.ones(N_WORDS))
    assert np.all(np.abs(copies.n_copies[:20] - 20) <= 1)
    assert np.all(copies.n_copies[20:] <= 2)
    assert set(copies.largest) == set(range(20))
    assert not copies.are_usual


def test_copies_among_many_documents_are_estimated_from_a_sample():
    rng = np.random.default_rng(1)
    counts = np.vstack([np.tile(draw_documents(rng, 1), (1000, 1)), draw_documents(rng, 1000)])[rng.permutation(2000)]
    copies = find_copies(sp.csr_array(counts), np.ones(N_WORDS))
    assert 700 < copies.n_copies.max() < 1300
    # A document that others are compared with is not its own copy.
    assert copies.n_copies.min() == 1


def test_about_three_of_each_group_are_kept():
    rng = np.random.default_rng(2)
    counts = np.vstack([np.tile(draw_documents(rng, 1), (90, 1)), draw_documents(rng, 60)])
    kept = thin_copies(sp.csr_array(counts), np.ones(N_WORDS))
    assert 1 <= np.sum(kept < 90) <= 6
    assert np.sum(kept >= 90) == 60


def test_fixed_words_are_in_nearly_all_copies_and_the_rarest_come_first():
    counts = draw_documents(np.random.default_rng(2), 20, words=400)
    counts[:, 401:407] = 1
    counts[:5, 406] = 0
    weights = np.arange(1.0, N_WORDS + 1)
    weights[405] = 0
    assert list_fixed_words(sp.csr_array(counts), weights).tolist() == [404, 403, 402, 401]
    assert not len(list_fixed_words(sp.csr_array(counts[:, :403]), weights[:403]))


@pytest.fixture(scope="module")
def templates():
    """Eight topics of 40 words, and a template in a fifth of the documents with the hint in 150 of its slots."""
    rng = np.random.default_rng(4)
    topics = np.zeros((8, N_WORDS))
    for i, topic in enumerate(topics):
        topic[40 * i : 40 * i + 40] = 0.6 * rng.dirichlet(np.ones(40))
        topic[320:470] = 0.4 / 150
    labels = rng.choice(8, 1600)
    ordinary = rng.multinomial(40, topics[labels])
    ordinary[np.flatnonzero(labels == 0)[:40], HINT] = 1
    filled = rng.multinomial(8, np.repeat([0, 1 / 150, 0], [320, 150, 30]), 400)
    filled[:, TEMPLATE] += 1
    filled[:150, HINT] = 1
    order = rng.permutation(2000)
    return sp.csr_array(np.vstack([ordinary, filled])[order]), np.append(labels, np.full(400, -1))[order]


@pytest.mark.parametrize("merge", [{}, {"merge_copies": "auto"}, {"merge_copies": True}])
def test_a_template_does_not_own_the_topic_of_a_word_in_its_slot(templates, merge):
    counts, labels = templates
    search = TopicSearch(12).fit(counts)
    found, plain = search.search(words=[HINT], **merge), search.search(words=[HINT], merge_copies=False)
    assert sum(int(word) in TEMPLATE for word, _ in plain.top_words(10)) > 5
    assert not any(int(word) in TEMPLATE for word, _ in found.top_words(10))
    first = [row for row, _ in found.documents(100)]
    assert np.mean(labels[first] == 0) > 0.9


def test_a_template_that_always_has_the_word_is_what_the_word_means(templates):
    counts, labels = templates
    fixed = counts.toarray()
    fixed[labels == -1, HINT] = 1
    search = TopicSearch(12).fit(sp.csr_array(fixed))
    found, merged = search.search(words=[HINT]), search.search(words=[HINT], merge_copies=True)
    assert np.mean(labels[[row for row, _ in found.documents(100)]] == -1) > 0.9
    assert np.mean(labels[[row for row, _ in merged.documents(100)]] == -1) < 0.5


def test_documents_with_much_of_a_small_vocabulary_are_no_copies():
    rng = np.random.default_rng(6)
    topics = rng.dirichlet(np.full(60, 0.3), 3)
    search = TopicSearch(3).fit(sp.csr_array(rng.multinomial(60, topics[rng.choice(3, 300)])))
    word = int(np.argmax(topics[0] - topics[1:].max(axis=0)))
    found, plain, merged = (search.search(words=[word], merge_copies=merge) for merge in ("auto", False, True))
    np.testing.assert_allclose(found.probabilities, plain.probabilities)
    assert np.abs(merged.probabilities - plain.probabilities).max() > 1e-3
