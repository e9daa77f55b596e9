"""Algorithm 2 as printed, from the estimator: exact on exact moments, and equal to `search_moments` on samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.coded import raises

from mixsearch import GaussianSearch, Moments, search_moments
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import collect_warnings

PRINTED = {"method": "cancellation", "projected": False}


@pytest.mark.parametrize("normaliser", ["mean", "hinted"])
@pytest.mark.parametrize("rule", ["psd", "nuclear"])
@pytest.mark.parametrize("k", [2, 10])
def test_samples_without_noise_give_the_component(k, rule, normaliser):
    rng = np.random.default_rng(k)
    centers, counts = rng.normal(size=(k, k + 20)), rng.integers(3, 9, size=k)
    scores = np.concatenate([[2.0], rng.uniform(0, 1, size=k - 1)])
    with collect_warnings():
        search = GaussianSearch(k, preset="paper").fit(np.repeat(centers, counts, axis=0))
        found = search.search(np.linalg.pinv(centers) @ scores, rule=rule, normaliser=normaliser, **PRINTED)
    assert_allclose(found.center, centers[0], atol=1e-8 * np.linalg.norm(centers[0]))
    assert found.weight == pytest.approx(counts[0] / counts.sum(), rel=1e-8)
    assert len(found.alternatives) == k - 1


@pytest.fixture(scope="module")
def sampled():
    data = make_gaussian_mixture(n_samples=3000, n_features=30, n_components=4, random_state=0)
    v = np.linalg.pinv(data.centers) @ [2.0, 1.0, 0.5, 0.2]
    with collect_warnings():
        search = GaussianSearch(4, preset="paper").fit(data.X)
    return data, v, search


@pytest.mark.parametrize("normaliser", ["mean", "hinted"])
def test_samples_give_what_their_moments_give(sampled, normaliser):
    data, v, search = sampled
    X, n = data.X, len(data.X)
    mean = X.mean(axis=0)
    values, vectors = np.linalg.eigh((X - mean).T @ (X - mean) / n)
    energy = ((X - mean) @ vectors[:, -5]) ** 2
    noisy, eye = energy @ X / n, np.eye(30)
    third = (X.T * (X @ v)) @ X / n - np.outer(noisy, v) - np.outer(v, noisy) - (noisy @ v) * eye
    moments = Moments(mean, X.T @ X / n - values[-5] * eye, third, v)
    expected = search_moments(moments, 4, normaliser=normaliser, **PRINTED)
    found = search.search(v, normaliser=normaliser, **PRINTED)
    assert_allclose(found.center, expected.center, atol=1e-6)
    assert found.weight == pytest.approx(expected.weight, rel=1e-6)
    assert found.separation == pytest.approx(expected.separation, rel=1e-6)


def test_the_component_may_leave_the_signal_space(sampled):
    _, v, search = sampled
    inside, printed = search.search(v, method="cancellation"), search.search(v, **PRINTED)
    residuals = [np.linalg.norm(search._family.frame.residual(each.center[:, None])) for each in (inside, printed)]
    assert residuals[0] < 1e-8 < residuals[1]
    assert_allclose(printed.center, inside.center, atol=0.5)
    assert np.isfinite(printed.stderr.center).all()


def test_only_moments_of_the_whole_space_can_be_cancelled_there(sampled):
    data, v, search = sampled
    with raises("options_conflict"):
        search.search(v, projected=False)
    with raises("options_conflict"):
        GaussianSearch(4).fit(data.X).search(v, **PRINTED)
