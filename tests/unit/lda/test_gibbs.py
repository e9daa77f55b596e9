"""Gibbs sampling of LDA on all documents, compared with the exact posterior, another sampler and the truth."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln
from tests.coded import raises
from tests.split_samples import split_chunk

from mixsearch import LdaSearch, lda
from mixsearch.datasets import make_topics
from mixsearch.lda import SampledChunk, sample_words


@cache
def drawn(n=1500, seed=1):
    return make_topics(n, 60, 3, mean_length=40, alpha=0.3, random_state=seed)


@cache
def found_in(n=1500, seed=1):
    data = drawn(n, seed)
    return LdaSearch(3, alpha0=0.9).fit(data.counts).search(words=data.labelled_word(0), refine=True)


def exact_words_by_topic(words, topics, prior):
    """E[words of each topic] of a short document: the sum over all assignments of its words to topics, (k,)."""
    k, total, expected = len(prior), 0.0, np.zeros(len(prior))
    for choice in product(range(k), repeat=len(words)):
        held = np.bincount(choice, minlength=k)
        chance = np.prod(topics[words, choice]) * np.exp(np.sum(gammaln(prior + held) - gammaln(prior)))
        total, expected = total + chance, expected + chance * held
    return expected / total


def test_sweeps_draw_from_the_posterior_of_a_document(monkeypatch):
    monkeypatch.setattr(lda, "SWEPT_COUNTS", 1000)  # documents in many blocks
    rng = np.random.default_rng(0)
    topics, prior, words = rng.dirichlet(np.ones(4), 3).T, np.array([0.3, 0.8, 0.5]), [0, 0, 1, 3]
    counts = np.tile(np.bincount(words, minlength=4), (4000, 1)).astype(float)
    documents = SampledChunk(0, sp.csr_array(counts), np.full((4000, 3), 1 / 3))
    for sweep in range(15):  # from far away
        documents, by_word = sample_words(documents, topics, prior, sweep)
    wanted = exact_words_by_topic(words, topics, prior)
    assert_allclose(by_word.sum(axis=0) / 4000, wanted, atol=0.08)
    assert_allclose(documents.shares.mean(axis=0), (wanted + prior) / (4 + prior.sum()), atol=0.02)
    assert_allclose(by_word.sum(axis=1), counts.sum(axis=0))


def test_documents_in_pieces_give_the_same_topic_up_to_the_error_of_the_sampler():
    data = drawn(600)
    whole, pieces = (LdaSearch(3, alpha0=0.9).fit(data.counts) for _ in range(2))
    pieces._family = replace(pieces._family, chunks=split_chunk(pieces._family.chunks, (0, 1, 1, 120, 599)))
    one, other = (each.search(words=data.labelled_word(0), refine=True) for each in (whole, pieces))
    assert np.abs(one.center - other.center).max() < np.max(one.stderr.center)
    assert other.weight == pytest.approx(one.weight, rel=1e-9)


def test_a_refined_topic_is_a_distribution_with_a_share_of_each_document():
    data, found = drawn(), found_in()
    assert_allclose(found.probabilities, found.center, atol=1e-12)
    assert found.center.min() > 0
    assert found.center.sum() == pytest.approx(1)
    assert found.weight == found.moment_estimate.weight
    assert found.stderr.weight == found.moment_estimate.stderr.weight
    assert_array_equal(found.center, found_in.__wrapped__().center)  # the same every time
    shares = found.membership(data.counts)
    assert np.corrcoef(shares, data.shares[:, 0])[0, 1] > 0.97
    assert np.corrcoef(found.moment_estimate.membership(data.counts), data.shares[:, 0])[0, 1] > 0.95
    assert found.membership(np.zeros((1, 60)))[0] == 0


@pytest.mark.parametrize("n_components", [1, 2])
@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")  # there are three
def test_sweeps_do_with_one_topic_or_two(n_components):
    data = drawn()
    search = LdaSearch(n_components, alpha0=0.9).fit(data.counts)
    found = search.search(words=data.labelled_word(0), refine=True)
    assert np.isfinite(found.stderr.center).all()
    assert found.stderr.center.min() > 0
    if n_components == 1:
        frequencies = np.asarray(data.counts.sum(axis=0))
        assert_allclose(found.center, frequencies / frequencies.sum(), atol=1e-4)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")  # repeated words are more topics
def test_counts_of_too_many_words_cannot_be_sampled():
    search = LdaSearch(3, alpha0=0.9).fit(drawn(200).counts * 10**9)
    with raises("too_many_words"):
        search.search(words=drawn(200).labelled_word(0), refine=True)


def test_fractions_of_counts_cannot_be_sampled():
    data = drawn(200)
    search = LdaSearch(3, alpha0=0.9).fit(data.counts * 0.5)
    with raises("needs_whole_counts"):
        search.search(words=data.labelled_word(0), refine=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "concentration", "gain"),
    [
        ((20_000, 40, 3, 30), 0.1, 1.0),
        ((2_000, 60, 3, 40), 0.1, 0.9),
        ((3_000, 200, 5, 60), 0.1, 0.95),
        ((2_000, 60, 3, 50), 1.0, 1.05),  # topics overlap: sweeps of words would first lead away from moments
    ],
)
def test_refined_topics_are_no_worse_than_moments_and_near_the_oracle(shape, concentration, gain):
    *size, length = shape
    errors = []
    for seed in range(50, 54):
        data = make_topics(*size, mean_length=length, alpha=0.3, concentration=concentration, random_state=seed)
        search = LdaSearch(size[-1], alpha0=float(data.alpha.sum())).fit(data.counts)
        found = search.search(words=data.labelled_word(0), refine=True)
        centers = found.moment_estimate.probabilities, found.center, data.oracle()[0]
        errors.append([np.linalg.norm(center - data.topics[0]) for center in centers])
    moments, refined, oracle = np.mean(errors, axis=0)
    assert refined < gain * moments
    assert refined < 1.15 * oracle
