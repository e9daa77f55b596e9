"""Each baseline, of the paper and of rows in tables, against another implementation, brute force or planted truth."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.row_rankings import N_STEPS, PEERS, RESTART, neighbor_affinity, random_walk
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from paper_experiments.baselines import (
    AnchorWords,
    Regressions,
    ThirdMoment,
    compute_cooccurrence,
    compute_third_moment,
    compute_word_frequencies,
    em_regressions,
    fast_tensor_power,
    find_anchors,
    kmeans_subspaces,
    recover_topics,
    robust_power_iterations,
    run_em,
    seeded_kmeans,
    seeded_lda,
    tensor_power,
)
from scipy.optimize import nnls
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from tests.populations import mixtures, whitener

from mixsearch import GaussianSearch, LdaSearch
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression


def exact(mixture):
    """The population's third moment, from its centers and weights."""
    points = mixture.centers @ whitener(mixture.frame)
    tensor = np.einsum("i,ia,ib,ic->abc", mixture.weights, points, points, points)
    return ThirdMoment(mixture.frame, tensor, mixture.mean @ whitener(mixture.frame))


@pytest.mark.parametrize("normaliser", ["value", "mean"])
@given(mixture=mixtures)
def test_exact_tensors_give_all_components_and_the_hinted_one_exactly(normaliser, mixture):
    found = tensor_power(exact(mixture), n_init=5, normaliser=normaliser)
    order = np.argmin(np.linalg.norm(found.centers[:, None] - mixture.centers, axis=2), axis=0)
    assert sorted(order) == list(range(len(mixture.weights)))
    assert_allclose(found.centers[order], mixture.centers, atol=1e-8)
    assert_allclose(found.weights[order], mixture.weights, atol=1e-8)
    fast = fast_tensor_power(exact(mixture), mixture.hint, normaliser=normaliser)
    for one in (found.find_component(mixture.hint), fast):
        assert_allclose(one.center, mixture.centers[0], atol=1e-8)
        assert_allclose(one.weight, mixture.weights[0], atol=1e-8)


def test_errors_of_eigenpairs_stay_in_proportion_to_the_noise_of_the_tensor():
    """Theorem 5.1: |λ - λ^| < 5 ε and |u - u^| < 8 ε / λ, with ε the norm of the noise."""
    values, epsilon, rng = np.linspace(1, 2, 6), 0.02, np.random.default_rng(2)
    basis = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    raw = rng.normal(size=(6, 6, 6))
    noise = sum(raw.transpose(order) for order in permutations(range(3)))
    noise *= epsilon / np.linalg.norm(noise.reshape(6, -1), 2)  # no less than the tensor's own norm
    tensor = np.einsum("i,ai,bi,ci->abc", values, basis, basis, basis)
    found, vectors = robust_power_iterations(tensor + noise, 60, 30, rng)
    order = np.argmax(vectors.T @ basis, axis=0)
    assert sorted(order) == list(range(6))
    assert np.all(np.abs(found[order] - values) < 5 * epsilon)
    assert np.all(np.linalg.norm(vectors[:, order] - basis, axis=0) < 8 * epsilon / values)


@pytest.mark.parametrize("noise_term", ["whitened", "identity"])
def test_the_tensor_of_gaussians_is_that_of_the_samples_less_the_noise(noise_term):
    data = make_gaussian_mixture(40, 6, 3, deviation=1.0, random_state=1)
    search = GaussianSearch(3, preset="paper").fit(data.X)
    frame = search._family.frame
    W = frame.basis / np.sqrt(frame.values)
    noise = W.T @ W if noise_term == "whitened" else np.eye(3)
    leaning = W.T @ (search._family.chunks.chunk.energy @ data.X) / 40
    expected = np.einsum("ia,ib,ic->abc", *[data.X @ W] * 3) / 40
    for places in ("ab,c->abc", "ac,b->abc", "bc,a->abc"):
        expected -= np.einsum(places, noise, leaning)
    assert_allclose(compute_third_moment(search, noise_term=noise_term).tensor, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")  # there are more topics than one
@pytest.mark.parametrize("preset", ["default", "paper"])
@given(seed=st.integers(0, 999))
def test_the_tensor_of_topics_is_the_average_over_triples_of_positions(preset, seed):
    rng, n_words, a0 = np.random.default_rng(seed), 5, 0.7
    lengths = rng.integers(3, 7, size=12) if preset == "paper" else np.full(12, rng.integers(3, 7))
    texts = [rng.integers(0, n_words, size=length).tolist() for length in lengths]
    triples = np.zeros((n_words,) * 3)
    for text in texts:
        places = range(len(text))
        chosen = list(permutations(places, 3)) if preset == "default" else list(np.ndindex(*[len(text)] * 3))
        for a, b, c in chosen:
            triples[text[a], text[b], text[c]] += 1 / len(chosen) / len(texts)
    counts = sp.csr_array([np.bincount(text, minlength=n_words).astype(float) for text in texts])
    search = LdaSearch(1, alpha0=a0, preset=preset).fit(counts)
    pairs = triples.sum(axis=2)
    m = a0 * pairs.sum(axis=1)
    raw = a0 * (a0 + 1) * (a0 + 2) / 2 * triples + np.einsum("a,b,c->abc", m, m, m)
    for places in ("ab,c->abc", "ac,b->abc", "bc,a->abc"):
        raw -= a0 * (a0 + 1) / 2 * np.einsum(places, pairs, m)
    W = search._family.whitener
    expected = np.einsum("abc,ai,bj,ck->ijk", raw, W, W, W)
    assert_allclose(compute_third_moment(search).tensor, expected, rtol=1e-8, atol=1e-8 * np.abs(W).max() ** 3)


def count_pairs(counts, weights):
    """Compute the co-occurrence from all ordered pairs of different positions of every document."""
    total = np.zeros((counts.shape[1],) * 2)
    for row, weight in zip(counts, weights, strict=True):
        places = np.repeat(np.arange(len(row)), row)
        pairs = list(permutations(places, 2))
        for a, b in pairs:
            total[a, b] += weight / len(pairs)
    return total / total.sum()


@pytest.mark.parametrize("n_words", [5, 400], ids=["matrix", "operator"])
def test_cooccurrence_counts_every_pair_of_different_places(n_words):
    rng = np.random.default_rng(0)
    counts, weights = rng.poisson(4 / n_words, size=(40, n_words)), rng.uniform(size=40)
    found = compute_cooccurrence(sp.csr_array(counts), weights)
    assert_allclose(found @ np.eye(n_words), count_pairs(counts, weights), atol=1e-14)


def separable_topics(rng, n_topics=4, n_words=30):
    """Topics of which the first words are anchors: word i is in topic i only."""
    topics = rng.dirichlet(np.full(n_words, 0.5), size=n_topics)
    topics[:, :n_topics] = np.diag(rng.uniform(0.05, 0.1, size=n_topics))
    return topics / topics.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("solver", "accuracy"), [("admm", 1e-5), ("exponentiated", 1e-4)])
def test_the_exact_cooccurrence_of_separable_topics_gives_the_topics(solver, accuracy):
    rng = np.random.default_rng(0)
    topics, alpha = separable_topics(rng), rng.dirichlet(np.full(4, 5.0))
    Q = topics.T @ (np.diag(alpha) + np.outer(alpha, alpha)) @ topics / 2
    anchors = find_anchors(Q / Q.sum(axis=1, keepdims=True), 4)
    assert set(anchors) == set(range(4))
    found = recover_topics(Q, anchors, solver=solver, tol=1e-11)
    assert_allclose(found.topics, topics[anchors], atol=accuracy)
    assert_allclose(found.weights, alpha[anchors], atol=accuracy)


@pytest.mark.parametrize("solver", ["admm", "exponentiated"])
def test_words_are_mixtures_of_anchors_by_non_negative_least_squares(solver):
    rng, heavy = np.random.default_rng(4), 1e4
    Q = count_pairs(rng.poisson(1.0, size=(60, 15)), np.ones(60))
    rows = Q / Q.sum(axis=1, keepdims=True)
    found = recover_topics(Q, np.arange(6), solver=solver, tol=1e-10, max_iter=20_000)
    # A row of large weight keeps the sum of coefficients at one.
    system = np.vstack([rows[:6].T, np.full(6, heavy)])
    shares = np.array([nnls(system, np.append(row, heavy))[0] for row in rows])
    joint = shares * Q.sum(axis=1)[:, None]
    assert_allclose(found.topics, (joint / joint.sum(axis=0)).T, atol=1e-3)
    assert found.gaps.max() <= 1e-10


def test_topics_of_drawn_documents_come_near_to_the_truth_and_rare_words_are_not_anchors():
    rng = np.random.default_rng(6)
    topics = separable_topics(rng, 3, 40)
    counts = rng.multinomial(80, rng.dirichlet(np.full(3, 0.3), size=4000) @ topics)
    counts = np.hstack([counts, np.zeros((4000, 1), dtype=int)])
    counts[:2, -1] = 80  # the farthest word of all, in two documents
    model = AnchorWords(3, min_documents=200).fit(counts)
    assert set(model.anchors_) == {0, 1, 2}
    assert_allclose(model.topics_[:, :-1], topics[model.anchors_], atol=0.01)
    assert_allclose(model.find_component(1).center[1], model.topics_[:, 1].max())


def test_semi_supervised_topics_are_those_of_the_documents_with_the_word():
    counts = np.array([[2, 1, 1, 0], [1, 2, 1, 0], [0, 0, 3, 3], [0, 1, 2, 1]])
    weights = compute_word_frequencies(sp.csr_array(counts), 0)
    assert_allclose(weights, [0.5, 0.25, 0, 0])
    everything = AnchorWords(2, min_documents=1).fit(counts, document_weights=weights)
    two = AnchorWords(2, min_documents=1).fit(counts[:2, :3], document_weights=weights[:2])
    assert_allclose(everything.topics_[:, :3], two.topics_)
    assert_array_equal(everything.topics_[:, 3], 0)


def test_subspaces_are_the_singular_vectors_of_scikit_learns_clusters():
    X = np.random.default_rng(3).normal(size=(60, 7)) + 1.0
    found = kmeans_subspaces(X, 2, 3, random_state=4)
    assert_array_equal(found.labels, KMeans(2, n_init=1, random_state=4).fit(X).labels_)
    for index, basis in enumerate(found.bases):
        axes = np.linalg.svd(X[found.labels == index])[2][:3].T
        assert_allclose(basis @ basis.T, axes @ axes.T, atol=1e-8)
        assert_allclose(found.find_component(basis @ [0.0, -1.0, 1.0]), basis)


def test_seeded_clusters_are_those_of_planted_blobs():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, size=90)
    X = rng.normal(size=(90, 4)) + 12 * np.eye(3, 4)[labels]
    seeds = np.where(np.arange(90) < 12, labels, -1)
    assert_array_equal(seeded_kmeans(X, seeds).labels, labels)


def test_seeded_topics_are_the_planted_ones_of_their_words():
    rng = np.random.default_rng(3)
    topics = separable_topics(rng, 3, 20)
    counts = rng.multinomial(60, rng.dirichlet(np.full(3, 0.2), size=800) @ topics)
    found = seeded_lda(sp.csr_array(counts), 3, [2, 0], alpha=0.2, n_iter=80)
    assert_allclose(found[:2], topics[[2, 0]], atol=0.02)
    assert_allclose(found.sum(axis=1), 1)


def test_em_of_one_regression_is_least_squares_and_without_slopes_a_mixture_of_gaussians():
    data = make_mixed_regression(500, 4, 1, deviation=0.5, intercept=1.0, random_state=0)
    found, expected = em_regressions(data.X, data.y, 1), LinearRegression().fit(data.X, data.y)
    assert_allclose(found.centers[0], expected.coef_, atol=1e-10)
    assert found.intercepts[0] == pytest.approx(expected.intercept_)
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.normal(-2, 1, 300), rng.normal(3, 0.5, 200)])
    start = Regressions(np.array([0.5, 0.5]), np.zeros((2, 1)), np.array([-1.0, 1.0]), np.ones(2))
    mixture = run_em(np.zeros((500, 1)), y, start, 2000, 1e-10)
    peer = GaussianMixture(2, means_init=[[-1.0], [1.0]], tol=1e-12, max_iter=2000, reg_covar=0).fit(y[:, None])
    assert_allclose(mixture.intercepts, peer.means_.ravel(), atol=1e-4)
    assert_allclose(mixture.variances, peer.covariances_.ravel(), atol=1e-4)
    assert_allclose(mixture.weights, peer.weights_, atol=1e-4)


def planted(deviation=0.3):
    """Three Gaussians in standardised columns, and five rows of the first."""
    data = make_gaussian_mixture(150, 4, 3, deviation=deviation, random_state=0)
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    return Z, data.labels == 0, np.flatnonzero(data.labels == 0)[:5]


@pytest.mark.parametrize("name", PEERS)
def test_every_ranking_finds_a_planted_class(name):
    Z, is_member, rows = planted(deviation=0.1)
    scores = PEERS[name](Z)(rows)
    rest = np.setdiff1d(np.arange(len(Z)), rows)
    assert scores.shape == (len(Z),)
    assert roc_auc_score(is_member[rest], scores[rest]) > 0.95


def test_the_random_walk_counts_visits():
    Z, _, rows = planted()
    affinity = neighbor_affinity(Z).toarray()
    degree = affinity.sum(axis=1)
    step = (1 - RESTART) * affinity / degree[:, None]
    last = np.linalg.matrix_power(step, N_STEPS)
    visits = last + RESTART * np.linalg.solve(np.eye(len(Z)) - step, np.eye(len(Z)) - last)
    assert_allclose(random_walk(Z)(rows), visits[:, rows] @ (1 / np.sqrt(degree[rows])), rtol=1e-6, atol=1e-12)
