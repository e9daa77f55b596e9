"""`mixsearch.paper` is exact on exact moments, and the searches with preset="paper" compute the same on samples."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from tests.populations import Mixture, draw_mixture, mixtures

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch.core.extraction import extract_by_whitening
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics
from mixsearch.lda import fit_lda, read_counts, weight_documents
from mixsearch.paper import gaussian, lda, regression, subspace
from mixsearch.paper.algorithms import cancellation, largest_eigenpairs, whitening
from mixsearch.paper.algorithms import subspace as subspace_algorithm

# Six points with the mean of every polynomial up to degree 5 of a standard normal variable, and thirty up to degree 7.
SIX = np.sqrt(3) * np.array([-1.0, 1, 0, 0, 0, 0])
THIRTY = np.repeat([-np.sqrt(6), -1.0, 0, 1, np.sqrt(6)], [1, 9, 10, 9, 1])
HINT = np.array([1.0, 0.3, 0.2, -0.1])


def assert_equal(answer, expected, rtol):
    for found, truth in zip(answer, expected, strict=True):
        assert np.linalg.norm(found - truth) < rtol * np.linalg.norm(truth)


def assert_moments(found, mixture):
    for moment, truth in zip(found, (mixture.mean, mixture.second, mixture.hinted), strict=True):
        assert_allclose(moment, truth, atol=1e-10)


def normal_grid(points, d):
    """Samples with the moments of N(0, I) up to the degree of the points, (q^d, d)."""
    return np.array(list(product(points, repeat=d)))


def project(v, A, k):
    """The hint in the signal space, which searches contract the moments with."""
    basis = largest_eigenpairs(A, k)[1]
    return basis @ (basis.T @ v)


# ---- Exact moments give exact components ----------------------------------------------------------------------------


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("has_v", [False, True])
@pytest.mark.parametrize("threshold", [None, 1e-12])
@given(mixture=mixtures)
def test_cancellation_returns_the_component(projected, has_v, threshold, mixture):
    hint = mixture.hint if has_v else None
    found = cancellation(
        mixture.second,
        mixture.hinted,
        mixture.mean,
        len(mixture.weights),
        projected=projected,
        threshold=threshold,
        v=hint,
    )
    assert_equal(found, (mixture.centers[0], mixture.weights[0]), 1e-8)


@given(mixture=mixtures)
def test_whitening_returns_the_component(mixture):
    found = whitening(mixture.second, mixture.hinted, mixture.mean, len(mixture.weights))
    assert_equal(found, (mixture.centers[0], mixture.weights[0]), 1e-8)


@pytest.mark.parametrize("has_v", [False, True])
def test_cancellation_with_negative_scores_returns_the_most_negative_one(has_v):
    drawn = draw_mixture(0, 4, 9)
    mixture = Mixture(drawn.centers, drawn.weights, np.linalg.pinv(drawn.centers) @ [-3.0, -1.0, -0.5, -0.2])
    hint = mixture.hint if has_v else None
    found = cancellation(mixture.second, mixture.hinted, mixture.mean, 4, v=hint)
    assert_equal(found, (mixture.centers[0], mixture.weights[0]), 1e-8)


def test_the_nuclear_rule_is_zero_for_a_word_and_else_the_exact_one():
    mixture, rates = draw_mixture(0, 5, 20), np.linspace(0, 10, 3001)

    def minimize(trace):
        """Return the minimum of |A - rate B|_* + rate if the hint is scaled to a trace of B."""
        B = mixture.hinted * trace / np.trace(mixture.hinted)
        norms = np.abs(np.linalg.eigvalsh(mixture.second - rates[:, None, None] * B)).sum(axis=1)
        return rates[np.argmin(norms + rates)]

    assert minimize(0.9) == 0  # words have traces far below 1
    exact = np.trace(mixture.hinted) / (1.01 * mixture.scores[0])
    assert minimize(1.01) == pytest.approx(exact, abs=rates[1])


@pytest.mark.parametrize("level", ["next", "smallest"])
def test_gaussian_moments_are_exact_with_a_variance_per_component(level):
    centers = np.array([[3.0, 0, 1, 0], [0, 2, 1, 0]])
    noise = normal_grid(SIX, 4)
    X = np.concatenate([centers[0] + 0.5 * noise, *[centers[1] + 0.8 * noise] * 3])
    assert_moments(gaussian.moments(X, HINT, 2, noise=level), Mixture(centers, np.array([0.25, 0.75]), HINT))


def test_regression_moments_are_exact():
    centers, deviation = np.array([[2.0, 0, 1], [0.5, 1, 0]]), 0.5
    x = normal_grid(THIRTY, 3)
    X = np.concatenate([x] * 6)
    signal = np.concatenate([x @ centers[i] for i in (0, 1, 1)] * 2)
    y = signal + np.repeat([-deviation, deviation], 3 * len(x))
    assert_moments(regression.moments(X, y, HINT[:3]), Mixture(centers, np.array([1, 2]) / 3, HINT[:3]))


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_regressions_with_intercepts_and_a_noise_per_component_are_exact(preset):
    centers, x = np.array([[2.0, 0, 1], [0.5, 1, 0]]), normal_grid(THIRTY, 3)
    lines = [(centers[0], 1.0, 0.5), (centers[1], -0.5, 0.8), (centers[1], -0.5, 0.8)]
    y = [x @ center + intercept + side * noise for center, intercept, noise in lines for side in (-1, 1)]
    search = RegressionSearch(2, preset=preset).fit(np.tile(x, (6, 1)), np.concatenate(y))
    found = search.search(np.linalg.pinv(centers) @ [1.0, 0.2])
    assert_equal((found.center, found.weight, found.separation), (centers[0], 1 / 3, 5.0), 1e-8)


def test_subspace_moments_are_exact_and_return_the_subspace():
    bases = np.linalg.qr(np.random.default_rng(0).normal(size=(2, 5, 2)))[0]
    z, s2 = normal_grid(SIX, 5), 0.3
    # (UU' + s2 I)^(1/2) z, with the exact covariance of a sample.
    roots = [np.sqrt(s2) * np.eye(5) + (np.sqrt(1 + s2) - np.sqrt(s2)) * U @ U.T for U in bases]
    X = np.concatenate([z @ roots[0], *[z @ roots[1]] * 2])
    v = bases[0] @ [1.0, 0.5]
    v -= bases[1] @ (bases[1].T @ v)  # the other subspace has no part of the hint
    m, A, B = subspace.moments(X, v, 2, 2)
    P = [U @ U.T for U in bases]
    weights = np.array([1, 2]) / 3
    assert_allclose(m, 0, atol=1e-12)
    assert_allclose(A, np.einsum("i,iab->ab", weights, P), atol=1e-12)
    truth = sum(a * ((v @ p @ v) * p + 2 * np.outer(p @ v, p @ v)) for a, p in zip(weights, P, strict=True))
    assert_allclose(B, truth, atol=1e-12)
    U = subspace_algorithm(A, B, 2, 2)
    assert_allclose(U @ U.T, P[0], atol=1e-8)


def test_lda_moments_of_different_words_are_exact_and_the_plug_in_is_not():
    # All documents of three words, as often as their probability says: shares have the parameters (1, 1), so that
    # E[t_i t_j t_l] is 6/24 for three words of one topic and 2/24 otherwise, and topics are multiples of 1/4.
    topics = np.array([[2, 1, 1, 0], [0, 0, 1, 3]])
    documents = []
    for words in product(range(4), repeat=3):
        times = sum(
            (3 if len({*choice}) == 1 else 1) * np.prod(topics[choice, words]) for choice in product(range(2), repeat=3)
        )
        documents += [np.bincount(words, minlength=4)] * times
    expected = Mixture(topics / 4, np.ones(2), np.eye(4)[0])
    assert_moments(lda.moments(np.array(documents), expected.hint, alpha0=2.0, distinct=True), expected)
    _, plug_in, _ = lda.moments(np.array(documents), expected.hint, alpha0=2.0)
    assert np.abs(plug_in - expected.second).max() > 0.1


# ---- Searches compute the same ---------------------------------------------------------------------------------------
# Searches for Gaussians, regressions and subspaces contract the moments with the projection of the hint onto the signal
# space. The paper's text contracts with the hint itself, as do topics of LDA and cancellation as printed.


@pytest.fixture(scope="module")
def gaussians():
    data = make_gaussian_mixture(3000, 12, 3, random_state=0)
    search = GaussianSearch(3, preset="paper").fit(data.X)
    return data, search, make_hint(data.centers, 1) + 0.05 * np.random.default_rng(0).normal(size=12)


def test_gaussian_search_is_whitening(gaussians):
    data, search, v = gaussians
    _, A, _ = gaussian.moments(data.X, v, 3)
    m, A, B = gaussian.moments(data.X, project(v, A, 3), 3)
    found = search.search(v, refine=False)
    assert_equal((found.center, found.weight), whitening(A, B, m, 3), 1e-10)
    assert_equal((found.center, found.weight), cancellation(A, B, m, 3, projected=True), 1e-10)


def test_the_hint_itself_gives_another_answer_than_its_projection(gaussians):
    data, _, v = gaussians
    m, A, B = gaussian.moments(data.X, v, 3)
    literal, _ = whitening(A, B, m, 3)
    projected, _ = whitening(A, gaussian.moments(data.X, project(v, A, 3), 3)[2], m, 3)
    assert 1e-10 < np.linalg.norm(literal - projected) / np.linalg.norm(projected) < 0.01


def test_regression_search():
    data = make_mixed_regression(20_000, 6, 2, random_state=0)
    v = make_hint(data.centers, 1) + 0.05 * np.random.default_rng(0).normal(size=6)
    _, A, _ = regression.moments(data.X, data.y, v)
    m, A, B = regression.moments(data.X, data.y, project(v, A, 2))
    search = RegressionSearch(2, preset="paper").fit(data.X, data.y)
    found = search.search(v, refine=False)
    assert_equal((found.center, found.weight), whitening(A, B, m, 2), 1e-10)
    assert_equal((found.center, found.weight), cancellation(A, B, m, 2, projected=True), 1e-10)


def test_subspace_search():
    data = make_subspaces(5000, 15, 3, dim=2, random_state=0)
    v = data.bases[0] @ [1.0, 0.5] + 0.05 * np.random.default_rng(0).normal(size=15)
    _, A, _ = subspace.moments(data.X, v, 3, 2)
    _, A, B = subspace.moments(data.X, project(v, A, 6), 3, 2)
    found, U = (
        SubspaceSearch(3, dim=2, preset="paper").fit(data.X).search(v, refine=False),
        subspace_algorithm(A, B, 3, 2),
    )
    assert_equal([found.basis @ found.basis.T], [U @ U.T], 1e-10)


def test_lda_search():
    data = make_topics(2000, 30, 3, mean_length=40, random_state=0)
    v, alpha0 = np.eye(30)[data.labelled_word(1)], float(data.alpha.sum())
    m, A, B = lda.moments(data.counts.toarray(), v, alpha0)
    found = LdaSearch(3, preset="paper", alpha0=alpha0).fit(data.counts).search(v)
    assert_equal((found.center, alpha0 * found.weight), whitening(A, B, m, 3), 1e-10)


def test_lda_moments_of_different_words():
    data = make_topics(2000, 30, 3, mean_length=40, random_state=0)
    v, alpha0 = np.eye(30)[data.labelled_word(1)], float(data.alpha.sum())
    m, A, B = lda.moments(data.counts.toarray(), v, alpha0, distinct=True)
    counts = read_counts(chunk_in_memory(data.counts.astype(np.float64)))
    documents = weight_documents(counts, distinct=True, by_length=False)
    family = fit_lda(documents, 3, alpha0=alpha0, distinct=True, metric=0.0, seed=0)
    topics = extract_by_whitening(family.contract(v))
    assert_equal((family.frame.unwhiten(topics.points[:, 0]), topics.weights[0]), whitening(A, B, m, 3), 1e-10)
