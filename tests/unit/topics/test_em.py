"""EM of LDA on all documents: compared with a textbook, with sampling, and with refits for error bars."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln, psi
from tests.coded import warns
from tests.split_samples import split_partition

from mixsearch import TopicSearch
from mixsearch.core.em import EMOptions
from mixsearch.datasets import make_topics
from mixsearch.topics import em as lda
from mixsearch.topics import jackknife as lda_errors
from mixsearch.topics.corpus import FittedCorpus
from mixsearch.topics.em import WORD_PRIOR, PosteriorPartition, refine_topic, update_posterior


@cache
def drawn(n=1500, seed=1):
    return make_topics(n, 60, 3, mean_length=40, alpha=0.3, random_state=seed)


@cache
def found_in(n=1500, seed=1, refine=True, max_iter=None):
    data = drawn(n, seed)
    search = TopicSearch(3, alpha0=0.9, damping=False).fit(data.counts)
    return search.search(words=data.labelled_word(0), choose="largest", refine=refine, max_iter=max_iter)


def small_state(seed, n=5, d=7, k=3):
    """Make documents, one of them without words, with a word that none contains; and topics and a prior."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.2, size=(n, d)).astype(float)
    counts[:, -1], counts[0] = 0, 0
    prior = rng.uniform(0.05, 1.0, k)
    topics, posterior = rng.dirichlet(np.ones(d), k).T, prior + rng.uniform(0.1, 5, (n, k))
    return with_posterior(counts, posterior), topics, prior


def with_posterior(counts, posterior, weights=None):
    lengths = counts.sum(axis=1)
    weights = lengths / lengths.sum() if weights is None else weights
    return PosteriorPartition(0, sp.csr_array(counts), lengths, np.arange(len(counts)), weights, posterior)


def textbook_step(documents, topics, prior):
    """Compute the posterior, the words by topic and the bound of Blei, Ng and Jordan (2003), one word at a time."""
    counts = documents.by_document.toarray()
    posterior, said, bound = np.tile(prior, (len(counts), 1)), np.zeros_like(topics), 0.0
    for document, gamma in enumerate(documents.posterior):
        logs = psi(gamma) - psi(gamma.sum())
        bound += gammaln(prior.sum()) - gammaln(prior).sum() + (prior - 1) @ logs
        bound -= gammaln(gamma.sum()) - gammaln(gamma).sum() + (gamma - 1) @ logs
        for word in np.flatnonzero(counts[document]):
            chances = np.exp(logs) * topics[word]
            chances /= chances.sum()
            times = counts[document, word]
            posterior[document] += times * chances
            said[word] += times * chances
            bound += times * chances @ (logs + np.log(topics[word]) - np.log(chances))
    return posterior, said, bound


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4))
def test_a_step_is_that_of_the_textbook(seed, k):
    before, topics, prior = small_state(seed, k=k)
    after, expected = update_posterior(before, topics, prior)
    for one, other in zip((after.posterior, *expected), textbook_step(before, topics, prior), strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_documents_in_many_blocks_take_the_same_step(monkeypatch):
    before, topics, prior = small_state(3, n=40)
    wanted, wanted_sums = update_posterior(before, topics, prior)
    monkeypatch.setattr(lda, "CHUNK_CELLS", 30)
    assert len(lda.chunk_documents(before.by_document, 3).slices) > 10
    after, expected = update_posterior(before, topics, prior)
    assert_allclose(after.posterior, wanted.posterior)
    assert_allclose(expected.counts, wanted_sums.counts)
    assert expected.bound == pytest.approx(wanted_sums.bound)


def found_in_pieces(cuts, **how):
    """Return the same search of the same corpus, in one partition and in several."""
    data = drawn(300)
    whole, pieces = (TopicSearch(3, alpha0=0.9, damping=False).fit(data.counts) for _ in range(2))
    pieces._family = replace(pieces._family, partitions=split_partition(pieces._family.partitions, cuts))
    return [each.search(words=data.labelled_word(0), choose="largest", **how) for each in (whole, pieces)]


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [1, 3])
def test_documents_in_pieces_give_the_topic_of_all(n_components):
    whole, pieces = found_in_pieces((0, 1, 1, 120, 299), n_components=n_components, refine=True)
    assert_allclose(pieces.center, whole.center, rtol=1e-8, atol=1e-10)
    assert_allclose(pieces._refined.state.topics, whole._refined.state.topics, rtol=1e-8, atol=1e-10)
    assert_allclose(pieces._refined.objectives[-1], whole._refined.objectives[-1], rtol=1e-12)
    assert pieces.weight == pytest.approx(whole.weight, rel=1e-9)
    assert_allclose(pieces.stderr.center, whole.stderr.center, rtol=1e-7)
    assert pieces.stderr.weight == pytest.approx(whole.stderr.weight, rel=1e-7)
    rows, shares = zip(*pieces.documents(20), strict=True)
    wanted_rows, wanted_shares = zip(*whole.documents(20), strict=True)
    assert rows == wanted_rows
    assert_allclose(shares, wanted_shares, rtol=1e-9)


def gibbs_topics(counts, alpha, beta, n_sweeps, rng):
    """The mean of LDA's topics over the second half of a Gibbs sampler that draws shares, words' topics and topics."""
    n, d = counts.shape
    rows, words = np.nonzero(counts)
    times = counts[rows, words].astype(int)
    topics, shares = rng.dirichlet(np.ones(d), len(alpha)), rng.dirichlet(alpha, n)
    total = np.zeros_like(topics)
    for sweep in range(n_sweeps):
        chances = shares[rows] * topics.T[words]
        own = rng.multinomial(times, chances / chances.sum(axis=1, keepdims=True))
        said = np.zeros((d, len(alpha)))
        np.add.at(said, words, own)
        held = np.zeros((n, len(alpha)))
        np.add.at(held, rows, own)
        topics = np.array([rng.dirichlet(column + beta) for column in said.T])
        shares = np.array([rng.dirichlet(row + alpha) for row in held])
        total += topics if 2 * sweep >= n_sweeps else 0
    return total / (n_sweeps / 2)


@pytest.mark.slow
def test_the_refined_topic_is_that_of_a_gibbs_sampler():
    data, found = drawn(400), found_in(400)
    sampled = gibbs_topics(data.counts.toarray(), data.alpha, 0.1, 100, np.random.default_rng(0))
    apart = np.linalg.norm(sampled - found.center, axis=1).min()
    assert apart < 0.6 * np.linalg.norm(found.center - data.topics[0])
    assert apart < 0.5 * np.linalg.norm(found.moment_estimate.center - sampled, axis=1).min()


def test_no_step_lowers_the_objective_and_few_gain_much():
    gains = np.diff(found_in()._refined.objectives)
    assert gains.min() >= 0
    assert gains[-1] < 0.01 * gains[0]


def test_a_refined_topic_is_a_distribution_with_a_share_of_each_document():
    data, found = drawn(), found_in()
    assert_array_equal(found.probabilities, found.center)
    assert found.center.min() > 0
    assert found.center.sum() == pytest.approx(1)
    lengths = np.asarray(data.counts.sum(axis=1))
    shares = found._refined.state.partitions.partition.shares[:, 0]
    assert found.weight == pytest.approx(lengths @ shares / lengths.sum())
    assert_array_equal(found.center, found_in.__wrapped__().center)  # the same every time
    assert np.corrcoef(shares, data.shares[:, 0])[0, 1] > 0.97
    assert [word for word, _ in found.top_words(5, by="probability")] == [
        str(word) for word in np.argsort(-found.center)[:5]
    ]


@pytest.mark.parametrize("refine", [False, True])
def test_documents_of_the_corpus_have_the_shares_of_their_counts(refine):
    data = drawn()
    search = TopicSearch(3, alpha0=0.9, damping=False).fit(data.counts)
    found = [search.search(words=data.labelled_word(i), refine=refine) for i in (0, 1)]
    shares = FittedCorpus(search).shares(found, [7, 2, 1200])
    for own, topic in zip(shares.T, found, strict=True):
        assert_allclose(own, topic.membership(data.counts[[7, 2, 1200]]), atol=1e-6)


def test_where_steps_lead_to_another_topic_the_moment_estimate_stands(monkeypatch):
    data = drawn()
    search = TopicSearch(3, alpha0=0.9, damping=False).fit(data.counts)
    monkeypatch.setattr(lda, "find_nearest", lambda topics, start: 1)
    with warns("not_refined"):
        found = search.search(words=data.labelled_word(0), refine=True)
    assert found._refined is None
    assert_allclose(found.center, search.search(words=data.labelled_word(0)).center)


@pytest.mark.parametrize("n_components", [1, 2])
def test_steps_and_error_bars_do_with_one_topic_or_two(n_components):
    data = drawn()
    search = TopicSearch(3, alpha0=0.9, damping=False).fit(data.counts)
    found = search.search(words=data.labelled_word(0), n_components=n_components, refine=True)
    assert found._refined is not None
    assert np.isfinite(found.stderr.center).all()
    if n_components == 1:
        lengths = np.asarray(data.counts.sum(axis=1))
        assert found.weight == pytest.approx(1)
        assert_allclose(found.center, np.asarray(data.counts.sum(axis=0)) / lengths.sum(), atol=1e-5)


def settled(documents, refined, n_steps):
    """Return the topic and its weight after many more steps on some documents."""
    topics = refined.state.topics
    for _ in range(n_steps):
        documents, expected = update_posterior(documents, topics, refined.prior)
        said = expected.counts + WORD_PRIOR
        topics = said / said.sum(axis=0)
    return topics[:, 0], documents.weights @ documents.shares[:, 0] / documents.weights.sum()


@pytest.mark.slow
def test_error_bars_are_those_of_refits_without_each_block():
    found = found_in(400)
    refined = refine_topic(found._family, found._candidates, EMOptions(200, 1e-3))
    documents, n_groups = refined.state.partitions.partition, refined.state.partitions.n_groups
    blocks = [[documents.thin(n_groups, block) for block in range(n_groups) if block != out] for out in range(n_groups)]
    refits = [settled(PosteriorPartition.joined(kept), refined, 30) for kept in blocks]
    centers, weights = map(np.array, zip(*refits, strict=True))
    wanted = np.sqrt((n_groups - 1) * centers.var(axis=0))
    stderr = lda_errors.lda_errors(refined)
    frequent = refined.center > 0.005
    assert_allclose(np.median(stderr.center[frequent] / wanted[frequent]), 1, atol=0.05)
    assert_allclose(stderr.center[frequent], wanted[frequent], rtol=0.35)
    assert stderr.weight == pytest.approx(np.sqrt((n_groups - 1) * weights.var()), rel=0.1)


@pytest.mark.slow
def test_the_response_of_expected_words_is_their_derivative(monkeypatch):
    before, topics, prior = small_state(0, n=4, d=6)
    counts = before.by_document.toarray()
    counts[1:] += 1
    weights = np.array([0.1, 0.2, 0.3, 0.4])

    def settle(topics, posterior, n_steps):
        documents = with_posterior(counts, posterior, weights)
        for _ in range(n_steps):
            documents, expected = update_posterior(documents, topics, prior)
        return documents.posterior, expected.counts

    posterior, _ = settle(topics, before.posterior, 600)
    move, size = np.random.default_rng(0).normal(size=topics.shape), 1e-4
    ahead, behind = (settle(topics * np.exp(sign * size * move), posterior, 300) for sign in (1, -1))
    monkeypatch.setattr(lda_errors, "MAX_MISSING", 1 - 1e-9)
    found = lda_errors.compute_response(with_posterior(counts, posterior, weights), topics, move[:, :, None])
    assert_allclose(found.counts[:, :, 0], (ahead[1] - behind[1]) / (2 * size), rtol=1e-3, atol=1e-3)
    shares = (ahead[0] - behind[0])[:, 0] / (2 * size) / posterior.sum(axis=1)
    assert found.weight[0] == pytest.approx(weights @ shares, rel=1e-3, abs=1e-4)


@pytest.mark.slow
def test_many_documents_show_the_bias_of_the_steps_and_it_is_taken_back():
    errors = []
    for seed in (0, 1, 2):
        data = make_topics(20_000, 40, 3, mean_length=30, alpha=0.3, random_state=seed)
        search = TopicSearch(3, alpha0=0.9, damping=False).fit(data.counts)
        found = search.search(words=data.labelled_word(0), choose="largest", project=True, refine=True)
        centers = found.moment_estimate.center, found._refined.state.topics[:, 0], found.center
        errors.append([np.linalg.norm(center - data.topics[0]) for center in centers])
        assert found.center.sum() == pytest.approx(1)
    moments, led, refined = np.mean(errors, axis=0)
    assert led > 1.2 * moments
    assert refined < 1.05 * moments
