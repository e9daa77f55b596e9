"""How many directions stand out from the noise: on pure noise, on mixtures, and in warnings."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.coded import warns

from mixsearch import GaussianSearch
from mixsearch.core.rows import chunk_in_memory
from mixsearch.core.spectrum import noise_edge
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.gaussian import fit_gaussian


def check(X, n_components):
    return fit_gaussian(chunk_in_memory(X), n_components, paper=False, seed=0).spectrum


def test_the_edge_of_equal_noise_is_that_of_marchenko_and_pastur():
    n, d = 10**10, 4 * 10**9
    assert noise_edge(np.ones(5), n, d) == pytest.approx((1 + np.sqrt(d / n)) ** 2, rel=1e-3)


@pytest.mark.parametrize(("n", "d"), [(1000, 40), (300, 200), (200, 500)])
@pytest.mark.parametrize("ratio", [1, 64])
def test_noise_of_any_variances_stays_below_the_edge_but_not_far(n, d, ratio):
    rng = np.random.default_rng(n + ratio)
    largest = []
    for _ in range(5):
        X = rng.normal(size=(n, d)) * np.sqrt(np.where(rng.random(n) < 0.1, ratio, 1))[:, None]
        energies = np.sum(X**2, axis=1)
        value = np.linalg.svd(X, compute_uv=False)[0] ** 2 / n
        largest.append(value / (energies.mean() / d) / noise_edge(energies, n, d))
    assert max(largest) < 1
    assert np.mean(largest) > 0.85


@pytest.mark.parametrize("ratio", [1, 64])
@pytest.mark.parametrize(("n", "d"), [(2000, 10), (600, 100), (300, 600)])
def test_the_directions_of_a_mixture_are_counted(n, d, ratio):
    for seed in range(2):
        deviation = np.sqrt(np.geomspace(1, ratio, 4))
        norm = 8 * deviation.max() * (d / n + 1) ** 0.5
        X = make_gaussian_mixture(n, d, 4, deviation=deviation, norm=norm, random_state=seed).X
        assert [check(X, k).n_signal for k in (4, 5)] == [3, 3]
        assert check(X, 2).n_signal >= 3


@pytest.mark.parametrize("n_features", [8, 1200])
def test_all_components_are_counted_if_most_directions_hold_signal_and_if_the_solver_iterates(n_features):
    X = make_gaussian_mixture(3000, n_features, 7, norm=20, random_state=0).X
    assert check(X, 3).n_signal == 6


def test_a_fit_with_too_few_components_says_so():
    data = make_gaussian_mixture(2000, 10, 4, random_state=0)
    with warns("component_count", n_components=2, n_signal=3, n_used=1) as caught:
        GaussianSearch(2).fit(data.X)
    assert len(caught) == 1


def test_a_fit_with_too_many_components_says_so():
    data = make_gaussian_mixture(2000, 10, 3, random_state=0)
    with warns("component_count", n_components=5, n_signal=2, n_used=4) as caught:
        GaussianSearch(5).fit(data.X)
    assert len(caught) == 1


data = make_gaussian_mixture(2000, 20, 3, deviation=0.5, random_state=0)
few = make_gaussian_mixture(200, 280, 3, deviation=0.5, norm=30, random_state=0)


def fit(X):
    return fit_gaussian(chunk_in_memory(X), 3, paper=False, seed=0)


def spoil(X, kind):
    rng = np.random.default_rng(1)
    if kind == "constant":
        return np.hstack([X, np.full((len(X), X.shape[1]), 3.7)])
    if kind == "nearly constant":
        return np.hstack([X, 1e-3 * rng.normal(size=X.shape)])
    return np.hstack([X, X])[:, rng.permutation(2 * X.shape[1])]


@pytest.mark.parametrize("kind", ["constant", "nearly constant", "repeated"])
def test_features_without_noise_of_their_own_do_not_count(kind):
    plain, spoiled = fit(data.X), fit(spoil(data.X, kind))
    scale = 2 if kind == "repeated" else 1  # of the variance: each repeated direction is √2 times longer
    assert spoiled.n_noise == plain.n_noise == 18
    assert spoiled.noise_variance == pytest.approx(scale * plain.noise_variance, rel=1e-3)
    assert spoiled.spectrum.n_signal == 2


@pytest.mark.parametrize("kind", ["constant", "repeated"])
@pytest.mark.parametrize("as_samples", [np.asarray, sp.csr_array, np.float32])
def test_more_features_than_samples_are_compared_directly(kind, as_samples):
    assert fit(as_samples(spoil(few.X, kind))).n_noise == 278


def test_fewer_samples_than_features_do_not_lower_the_rank():
    assert fit(few.X).n_noise == 278


def test_a_linear_dependence_counts():
    total = data.X.sum(axis=1, keepdims=True)
    assert fit(np.hstack([data.X, total])).n_noise == 18
