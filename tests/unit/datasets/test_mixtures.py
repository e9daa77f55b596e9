import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixsearch import SearchError
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_subspaces, make_topics


def test_the_defaults_are_the_paper_s():
    data = make_gaussian_mixture(random_state=0)
    assert data.X.shape == (10_000, 500)
    assert_allclose(np.linalg.norm(data.centers, axis=1), 10)
    assert data.weights.max() / data.weights.min() <= 4
    assert_allclose(data.deviations, 0.5)


def test_gaussian_samples_have_the_centers_and_deviations_that_they_claim():
    data = make_gaussian_mixture(40_000, 4, 3, deviation=np.array([0.5, 1.0, 2.0]), random_state=0)
    for i in range(3):
        members = data.X[data.labels == i]
        assert_allclose(members.mean(axis=0), data.centers[i], atol=0.1)
        assert_allclose(members.std(axis=0), data.deviations[i], rtol=0.05)
    assert_allclose(np.bincount(data.labels) / 40_000, data.weights, atol=0.01)


def test_documents_have_the_words_that_their_shares_and_topics_make():
    data = make_topics(3000, 20, 3, mean_length=50, random_state=0)
    counts = data.counts.toarray()
    assert counts.sum(axis=1).mean() == pytest.approx(50, rel=0.02)
    assert_allclose(counts.sum(axis=0) / counts.sum(), (data.shares @ data.topics).mean(axis=0), atol=0.005)
    assert_allclose(data.shares.mean(axis=0), data.alpha / data.alpha.sum(), atol=0.03)


@pytest.mark.parametrize("topic", range(3))
def test_a_labelled_word_is_likelier_in_its_topic_than_in_any_other(topic):
    data = make_topics(10, 50, 3, random_state=1)
    word = data.labelled_word(topic)
    assert np.argmax(data.topics[:, word]) == topic


def test_regressions_have_the_residuals_that_they_claim():
    data = make_mixed_regression(20_000, 5, 2, deviation=0.3, intercept=1.0, random_state=0)
    fitted = (data.X * data.centers[data.labels]).sum(axis=1) + data.intercepts[data.labels]
    assert (data.y - fitted).std() == pytest.approx(0.3, rel=0.03)
    assert_allclose(np.linalg.norm(data.centers, axis=1), 1)


def test_subspaces_are_orthonormal_and_hold_their_samples_but_for_the_noise():
    data = make_subspaces(5000, 15, 3, dim=2, deviation=0.1, random_state=0)
    for i, U in enumerate(data.bases):
        assert_allclose(U.T @ U, np.eye(2), atol=1e-10)
        members = data.X[data.labels == i]
        outside = members - members @ U @ U.T
        assert outside.std() == pytest.approx(0.1 * np.sqrt(13 / 15), rel=0.05)


def test_weights_must_be_a_distribution():
    with pytest.raises(SearchError, match="weights must be 3 non-negative numbers with sum 1"):
        make_gaussian_mixture(10, 4, 3, weights=[0.5, 0.4, 0.3])


@pytest.mark.parametrize("make", [make_gaussian_mixture, make_mixed_regression, make_subspaces])
def test_a_random_state_repeats_the_draw(make):
    one, same, other = (make(50, 30, 2, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.X, same.X)
    assert not np.array_equal(one.X, other.X)


def test_an_oracle_recovers_the_truth_exactly_where_there_is_no_noise():
    gaussians = make_gaussian_mixture(200, 4, 3, deviation=0.0, random_state=0)
    assert_allclose(gaussians.oracle(), gaussians.centers, atol=1e-12)
    regressions = make_mixed_regression(300, 4, 3, deviation=0.0, intercept=1.0, random_state=0)
    assert_allclose(regressions.oracle(), regressions.centers, atol=1e-10)
    subspaces = make_subspaces(200, 8, 3, dim=2, deviation=0.0, random_state=0)
    for found, truth in zip(subspaces.oracle(), subspaces.bases, strict=True):
        assert_allclose(found @ found.T, truth @ truth.T, atol=1e-10)


def test_an_oracle_of_topics_comes_nearer_with_more_words():
    short, long = (make_topics(500, 30, 3, mean_length=length, random_state=0) for length in (20, 20_000))
    errors = [np.linalg.norm(data.oracle() - data.topics) for data in (short, long)]
    assert errors[1] < 0.1 * errors[0]
