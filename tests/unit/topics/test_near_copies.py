"""Near-copies: counted as planted, and a template that must not own the topic of a word in its slot."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch import TopicSearch
from mixsearch.topics._near_copies import MIN_DISTINCT, count_copies, thin_copies

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
    copied = np.tile(draw_documents(rng, 1), (40, 1))
    copied[np.arange(40), rng.choice(N_WORDS, 40)] = 1
    n_copies = count_copies(sp.csr_array(np.vstack([copied, draw_documents(rng, 60)])), np.ones(N_WORDS))
    assert np.all(np.abs(n_copies[:40] - 40) <= 1)
    assert np.all(n_copies[40:] <= 2)


def test_copies_among_many_documents_are_estimated_from_a_sample():
    rng = np.random.default_rng(1)
    counts = np.vstack([np.tile(draw_documents(rng, 1), (500, 1)), draw_documents(rng, 1500)])[rng.permutation(2000)]
    n_copies = count_copies(sp.csr_array(counts), np.ones(N_WORDS))
    assert 350 < n_copies.max() < 650


def test_documents_without_words_are_no_copies():
    assert np.all(count_copies(sp.csr_array((3, N_WORDS)), np.ones(N_WORDS)) == 1)


def test_about_three_of_each_group_are_kept():
    rng = np.random.default_rng(2)
    counts = np.vstack([np.tile(draw_documents(rng, 1), (90, 1)), draw_documents(rng, 60)])
    kept = thin_copies(sp.csr_array(counts), np.ones(N_WORDS))
    assert 1 <= np.sum(kept < 90) <= 6
    assert np.sum(kept >= 90) == 60


def test_all_are_kept_if_hardly_any_would_be_left():
    counts = sp.csr_array(np.tile(draw_documents(np.random.default_rng(3), 1), (90, 1)))
    assert len(thin_copies(counts, np.ones(N_WORDS))) == 90 > MIN_DISTINCT


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


def test_a_template_does_not_own_the_topic_of_a_word_in_its_slot(templates):
    counts, labels = templates
    search = TopicSearch(12).fit(counts)
    found, plain = (search.search(words=[HINT], merge_copies=merge) for merge in (True, False))
    assert sum(int(word) in TEMPLATE for word, _ in plain.top_words(10)) > 5
    assert not any(int(word) in TEMPLATE for word, _ in found.top_words(10))
    first = [row for row, _ in found.documents(100)]
    assert np.mean(labels[first] == 0) > 0.9
