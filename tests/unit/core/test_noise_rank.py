"""Noise is averaged over as many directions as it has rank, not over all features."""

import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch import GaussianSearch
from mixsearch.data.partitions import partition_in_memory
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.gaussian import fit_gaussian

data = make_gaussian_mixture(2000, 20, 3, deviation=0.5, random_state=0)
few = make_gaussian_mixture(200, 280, 3, deviation=0.5, norm=30, random_state=0)


def fit(X):
    return fit_gaussian(partition_in_memory(X), 3, paper=False, seed=0)


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
    assert spoiled.noise.n_dims == plain.noise.n_dims == 18
    assert spoiled.noise_variance == pytest.approx(scale * plain.noise_variance, rel=1e-3)
    assert spoiled.doubts == ()


@pytest.mark.parametrize("kind", ["constant", "repeated"])
@pytest.mark.parametrize("as_samples", [np.asarray, sp.csr_array, np.float32])
def test_more_features_than_samples_are_compared_directly(kind, as_samples):
    assert fit(as_samples(spoil(few.X, kind))).noise.n_dims == 278


def test_fewer_samples_than_features_do_not_lower_the_rank():
    assert fit(few.X).noise.n_dims == 278


def test_a_linear_dependence_counts():
    total = data.X.sum(axis=1, keepdims=True)
    assert fit(np.hstack([data.X, total])).noise.n_dims == 18


def test_an_answer_does_not_depend_on_constant_features():
    spoiled = GaussianSearch(3).fit(spoil(data.X, "constant"))
    plain = GaussianSearch(3).fit(data.X)
    v = data.centers[0] - data.centers.mean(axis=0)
    found, wanted = spoiled.search(np.append(v, np.zeros(20))), plain.search(v)
    assert found.weight == pytest.approx(wanted.weight, rel=1e-8)
    assert found.noise_variance == pytest.approx(wanted.noise_variance, rel=1e-8)
    np.testing.assert_allclose(found.center[:20], wanted.center, atol=1e-8)


def test_far_components_are_not_taken_for_noise():
    X = make_gaussian_mixture(2000, 20, 5, norm=500, random_state=0).X
    family = fit_gaussian(partition_in_memory(X), 3, paper=False, seed=0)
    assert [each.code for each in family.doubts] == ["too_few_components"]
