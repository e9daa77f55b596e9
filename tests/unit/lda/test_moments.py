"""Moments of word counts against brute force, and against the exact population of short documents."""

from dataclasses import replace
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mixsearch.core.extraction import extract_by_whitening
from mixsearch.core.rows import chunk_in_memory
from mixsearch.lda import fit_lda, read_counts, weight_documents

WORDS = 5
documents = st.lists(st.lists(st.integers(0, WORDS - 1), min_size=3, max_size=6), min_size=4, max_size=8)

word_weights = st.lists(st.sampled_from([-1.0, 0.0, 1.0, 0.3]), min_size=WORDS, max_size=WORDS)


def counted(texts, n_words=WORDS):
    return np.array([np.bincount(text, minlength=n_words) for text in texts], dtype=float)


def brute_force_pairs(text, n_words=WORDS):
    total = np.zeros((n_words, n_words))
    for a, b in permutations(text, 2):
        total[a, b] += 1
    return total / (len(text) * (len(text) - 1))


def brute_force_triples(text, v):
    total = np.zeros((len(v), len(v)))
    for a, b, c in permutations(text, 3):
        total[a, b] += v[c]
    return total / (len(text) * (len(text) - 1) * (len(text) - 2))


def fitted(counts, weights, k=1, *, alpha0=1.0, distinct=True, metric=0.3):
    """The moments of documents with any weights."""
    documents = weight_documents(read_counts(chunk_in_memory(sp.csr_array(counts))), distinct=distinct, by_length=False)
    scale = len(weights) * np.asarray(weights) / np.sum(weights)
    weighted = documents.map(lambda chunk: replace(chunk, rates=chunk.rates * scale[:, None]))
    return fit_lda(weighted, k, alpha0=alpha0, distinct=distinct, metric=metric, seed=0)


def averages(model, v):
    """Both contractions of a hint over words, in the frame."""
    sums = model.sum_words(v)
    return sums.triples / sums.weight, model.whitener.T @ sums.crossed / sums.weight


def in_frame_by_brute_force(model, texts, weights, v):
    """Both contractions of a hint, from all ordered distinct positions of all documents."""
    W = model.whitener
    triples = sum(w * brute_force_triples(text, v) for w, text in zip(weights, texts, strict=True))
    pairs = sum(w * brute_force_pairs(text) for w, text in zip(weights, texts, strict=True))
    return W.T @ triples @ W, W.T @ pairs @ v


@given(texts=documents, v=word_weights, seed=st.integers(0, 99))
def test_pairs_and_triples_are_averages_over_ordered_distinct_positions(texts, v, seed):
    v = np.array(v)
    weights = np.random.default_rng(seed).uniform(0.5, 1.5, size=len(texts))
    weights /= weights.sum()
    model = fitted(counted(texts), weights)
    triple, pair = in_frame_by_brute_force(model, texts, weights, v)
    found = averages(model, v)
    scale = max(1.0, float(np.abs(model.whitener).max()) ** 2)
    assert_allclose(found[0], triple, atol=1e-12 * scale)
    assert_allclose(found[1], pair, atol=1e-12 * scale)


def population_of_three_word_documents(topics, alpha):
    """Every document of three words with its probability under LDA, from Dirichlet moments."""
    k, d = topics.shape
    a0 = alpha.sum()
    rising = a0 * (a0 + 1) * (a0 + 2)

    def third_moment_of_shares(i, j, m):
        total = 1.0
        for topic in {i, j, m}:
            times = (i, j, m).count(topic)
            total *= np.prod([alpha[topic] + step for step in range(times)])
        return total / rising

    shares = np.array([[[third_moment_of_shares(i, j, m) for m in range(k)] for j in range(k)] for i in range(k)])
    joint = np.einsum("ijm,ia,jb,mc->abc", shares, topics, topics, topics)
    texts = list(combinations_with_replacement(range(d), 3))
    chances = [sum(joint[order] for order in set(permutations(text))) for text in texts]
    return counted(texts, d), np.array(chances)


@pytest.mark.parametrize("metric", [0.0, 0.25, 0.5])
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4), d=st.integers(4, 12))
def test_the_population_of_three_word_documents_gives_the_topic_exactly(metric, seed, k, d):
    rng = np.random.default_rng(seed)
    topics = 0.3 * rng.dirichlet(np.ones(d), size=k)
    topics[np.arange(k), np.arange(k)] += 0.7
    alpha = rng.uniform(0.1, 1.0, size=k)
    counts, chances = population_of_three_word_documents(topics, alpha)
    model = fitted(counts, chances / chances.sum(), k=k, alpha0=float(alpha.sum()), metric=metric)
    candidates = extract_by_whitening(model.contract(np.eye(d)[0]))
    assert_allclose(model.frame.unwhiten(candidates.points[:, 0]), topics[0], atol=1e-8)
    assert candidates.weights[0] == pytest.approx(alpha[0], rel=1e-7)
