"""What must not matter does not: order, blocks, rotation, units, the length of the hint."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_subspaces, make_topics

seeds = st.integers(0, 2**32 - 1)
gaussian = make_gaussian_mixture(600, 8, 3, norm=4, random_state=1)
regression = make_mixed_regression(3000, 4, 2, random_state=1)
subspaces = make_subspaces(1500, 9, 3, dim=2, random_state=1)
topics = make_topics(400, 30, 3, mean_length=30, random_state=1)


def orthogonal(rng, d):
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def projector(found):
    return found.basis @ found.basis.T


@given(seed=seeds)
def test_rotating_the_samples_rotates_the_gaussian(seed):
    turn = orthogonal(np.random.default_rng(seed), 8)
    v = gaussian.centers[0]
    plain = GaussianSearch(3).fit(gaussian.X).search(v)
    turned = GaussianSearch(3).fit(gaussian.X @ turn).search(v @ turn)
    assert_allclose(turned.center, plain.center @ turn, atol=1e-8)
    assert turned.weight == pytest.approx(plain.weight)
    assert turned.noise_variance == pytest.approx(plain.noise_variance)


@given(seed=seeds)
def test_rotating_the_samples_rotates_the_subspace(seed):
    turn = orthogonal(np.random.default_rng(seed), 9)
    v = subspaces.X[subspaces.labels == 0][0]
    plain = SubspaceSearch(3, dim=2).fit(subspaces.X).search(v)
    turned = SubspaceSearch(3, dim=2).fit(subspaces.X @ turn).search(v @ turn)
    assert_allclose(projector(turned), turn.T @ projector(plain) @ turn, atol=1e-8)


@given(seed=seeds, slope=st.floats(0.1, 10), level=st.floats(-5, 5))
def test_other_units_of_x_and_y_change_the_regression_accordingly(seed, slope, level):
    rng = np.random.default_rng(seed)
    mix = orthogonal(rng, 4) @ np.diag(rng.uniform(0.3, 3, size=4))
    shift = rng.normal(size=4)
    members = regression.labels == 0
    X, y = regression.X, regression.y
    plain = RegressionSearch(2).fit(X, y).search(examples=(X[members][:50], y[members][:50]))
    Z, z = X @ mix + shift, slope * y + level
    other = RegressionSearch(2).fit(Z, z).search(examples=(Z[members][:50], z[members][:50]))
    assert_allclose(mix @ other.center, slope * plain.center, atol=1e-6 * slope)
    assert_allclose(other.predict(Z), slope * plain.predict(X) + level, atol=1e-6 * slope)


@pytest.mark.slow
@given(seed=seeds)
def test_permuting_the_words_permutes_the_topic(seed):
    order = np.random.default_rng(seed).permutation(30)
    word = int(np.argmax(topics.topics[0]))
    search = LdaSearch(3, alpha0=0.6)
    plain = search.fit(topics.counts).search(words=word)
    moved = search.fit(topics.counts[:, order]).search(words=int(np.argsort(order)[word]))
    assert_allclose(moved.center, plain.center[order], atol=1e-8)


@given(seed=seeds)
def test_the_order_of_the_samples_does_not_matter(seed):
    order = np.random.default_rng(seed).permutation(len(gaussian.X))
    v = gaussian.centers[1]
    one, other = (GaussianSearch(3).fit(X).search(v) for X in (gaussian.X, gaussian.X[order]))
    assert_allclose(other.center, one.center, atol=1e-10)


@pytest.mark.parametrize("preset", ["default", "paper"])
@given(scale=st.floats(1e-3, 1e3))
def test_the_length_of_the_hint_does_not_matter(preset, scale):
    search = GaussianSearch(3, preset=preset).fit(gaussian.X)
    one, other = (search.search(factor * gaussian.centers[0]) for factor in (1.0, scale))
    assert_allclose(other.center, one.center, atol=1e-5)
    assert other.separation == pytest.approx(one.separation)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_samples_give_the_same_answer(dtype):
    X = np.where(np.abs(gaussian.X) > 0.5, gaussian.X, 0).astype(dtype)
    tol = 1e-9 if dtype == np.float64 else 1e-3
    dense, sparse = (GaussianSearch(3).fit(Z).search(gaussian.centers[0]) for Z in (X, sp.csr_array(X)))
    assert_allclose(sparse.center, dense.center, atol=tol)
    assert sparse.noise_variance == pytest.approx(dense.noise_variance, rel=10 * tol)


@pytest.mark.slow
def test_the_path_for_many_features_agrees_with_the_dense_one(monkeypatch):
    data = make_gaussian_mixture(500, 400, 3, random_state=2)
    lines = make_subspaces(500, 300, 2, dim=3, random_state=2)
    mixed = make_mixed_regression(20_000, 300, 2, random_state=2)

    def answers():
        yield GaussianSearch(3).fit(data.X).search(data.centers[0]).center
        yield GaussianSearch(3, preset="paper").fit(data.X).search(data.centers[0]).center
        yield projector(SubspaceSearch(2, dim=3).fit(lines.X).search(lines.bases[0][:, 0]))
        yield RegressionSearch(2, preset="paper").fit(mixed.X, mixed.y).search(mixed.centers[0]).center

    dense = list(answers())
    monkeypatch.setattr("mixsearch.core.moments.DENSE_LIMIT", 10)
    for operator, array in zip(answers(), dense, strict=True):
        assert_allclose(operator, array, atol=1e-5)


def test_float32_samples_stay_float32_and_agree_with_float64():
    data = make_gaussian_mixture(2000, 50, 4, random_state=3)
    single = GaussianSearch(4).fit(data.X.astype(np.float32))
    double = GaussianSearch(4).fit(data.X)
    assert single._family.chunks.chunk.projected.dtype == np.float32
    assert_allclose(single.search(data.centers[0]).center, double.search(data.centers[0]).center, atol=1e-3)
