"""The number of components: directions that stand out from noise, counted by a fit, by "auto" and in warnings."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.coded import raises, warns
from tests.split_samples import split_samples

from mixsearch import GaussianSearch, LdaSearch, SubspaceSearch
from mixsearch.core.rows import chunk_in_memory
from mixsearch.core.spectrum import count_directions, noise_edge
from mixsearch.datasets import make_gaussian_mixture, make_subspaces
from mixsearch.gaussian import fit_gaussian


def count(chunks):
    mean = chunks.sum(lambda chunk: chunk.samples.sum(axis=0)) / chunks.n_rows
    return count_directions(chunks, np.asarray(mean), 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "d", "k", "deviation"),
    [
        (500, 3, 1, 1.0),
        (2000, 30, 4, 4.0),
        (2500, 60, 20, 1.0),
        (200, 300, 4, 1.0),
    ],
)
def test_the_number_of_gaussians_is_found_in_nearly_all_runs(n, d, k, deviation):
    runs = (make_gaussian_mixture(n, d, k, deviation=deviation, random_state=seed).X for seed in range(5))
    assert sum(count(chunk_in_memory(X)).n_components == k for X in runs) >= 4


@pytest.mark.parametrize(("n", "d"), [(60, 2), (300, 6), (60, 90)])
@pytest.mark.parametrize("tails", ["normal", "heavy"])
def test_noise_alone_is_one_gaussian_in_nearly_all_runs(n, d, tails):
    rng = np.random.default_rng(0)
    draw = rng.standard_normal if tails == "normal" else lambda size: rng.standard_t(5, size=size)
    found = [count(chunk_in_memory(draw(size=(n, d)))).n_components for _ in range(10)]
    assert np.count_nonzero(np.array(found) > 1) <= 1


@pytest.mark.parametrize(("d", "k", "dim"), [(20, 1, 3), (50, 5, 4), (60, 3, 1)])
def test_the_number_of_subspaces_is_found(d, k, dim):
    X = make_subspaces(2000, d, k, dim=dim, random_state=2).X
    spectrum = SubspaceSearch("auto", dim=dim).fit(X).spectrum_
    assert (spectrum.n_signal, spectrum.n_components) == (k * dim, k)


def assert_same_spectrum(one, many):
    assert 0 < one.n_signal == many.n_signal
    for name in ("values", "thresholds", "noise"):
        assert_allclose(getattr(many, name), getattr(one, name), rtol=1e-8, atol=1e-10)


CUTS = (5, 5, 701, 703)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_subspaces_in_pieces_show_what_all_rows_do(kind):
    X = kind(make_subspaces(900, 30, 3, dim=2, random_state=0).X)
    one, many = (count_directions(chunks, np.zeros(30), 0) for chunks in (chunk_in_memory(X), split_samples(X, CUTS)))
    assert_same_spectrum(one, many)


def test_where_samples_are_and_in_which_units_does_not_matter():
    X = make_gaussian_mixture(300, 8, 3, random_state=0).X
    one, other = (count(chunk_in_memory(samples)) for samples in (X, 100 + 7 * X))
    assert_allclose(other.values, 49 * one.values, rtol=1e-6, atol=1e-8)
    assert_allclose(other.counts, one.counts)


def test_one_gaussian_is_an_answer_with_a_warning():
    X = np.random.default_rng(0).standard_normal((200, 5))
    with warns("component_count", n_signal=0) as caught:
        search = GaussianSearch("auto").fit(X)
    assert (search.n_components_, search.spectrum_.n_signal) == (1, 0)
    assert caught[0].message.code == "component_count"
    found = search.search(examples=X[:3])
    assert [warning.code for warning in found.warnings] == ["component_count"]
    assert GaussianSearch(1).fit(X).search(examples=X[:3]).warnings == ()


@pytest.mark.parametrize("search", [GaussianSearch("many"), LdaSearch("many")])
def test_another_word_than_auto_is_refused(search):
    with raises("bad_argument", argument="n_components", value="many"):
        search.fit(np.eye(10))


def test_too_few_samples_to_compare_parts_of_are_refused():
    with raises("too_few_samples", needed=6, n_samples=5):
        GaussianSearch("auto").fit(np.random.default_rng(0).standard_normal((5, 2)))


def test_clusters_that_are_no_balls_fill_the_spectrum_and_are_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 6)) * np.arange(6, 0, -1)
    with warns("component_count", n_signal=5):
        GaussianSearch("auto").fit(X)


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


@pytest.mark.parametrize("as_samples", [np.asarray, sp.csr_array, np.float32])
def test_of_more_features_than_samples_those_that_vary_count(as_samples):
    assert fit(as_samples(spoil(few.X, "constant"))).n_noise == 278


def test_fewer_samples_than_features_do_not_lower_the_rank():
    assert fit(few.X).n_noise == 278


def test_a_linear_dependence_counts():
    total = data.X.sum(axis=1, keepdims=True)
    assert fit(np.hstack([data.X, total])).n_noise == 18
