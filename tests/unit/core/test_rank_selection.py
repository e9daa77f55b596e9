"""Which directions carry signal: compared with loops over samples, and on mixtures of known size."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.split_samples import split_samples

from mixsearch import LdaSearch, SubspaceSearch
from mixsearch.core.rows import chunk_in_memory
from mixsearch.core.spectrum import count_directions
from mixsearch.datasets import make_gaussian_mixture, make_subspaces, make_topics


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


@pytest.mark.parametrize("k", [1, 4, 8])
def test_the_number_of_topics_is_found(k):
    counts = make_topics(1500, 60, k, mean_length=30, alpha=1 / k, random_state=1).counts
    assert LdaSearch("auto", alpha0=1.0).fit(counts).n_components_ == k


def assert_same_spectrum(one, many):
    assert 0 < one.n_signal == many.n_signal
    for name in ("values", "thresholds", "noise"):
        assert_allclose(getattr(many, name), getattr(one, name), rtol=1e-8, atol=1e-10)


CUTS = (5, 5, 701, 703)


@pytest.mark.parametrize("dense_limit", [5, 1000])
def test_gaussians_in_pieces_show_what_all_rows_do(dense_limit, monkeypatch):
    monkeypatch.setattr("mixsearch.core.moments.DENSE_LIMIT", dense_limit)
    X = make_gaussian_mixture(900, 20, 3, random_state=0).X
    assert_same_spectrum(count(chunk_in_memory(X)), count(split_samples(X, CUTS)))


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


def test_sparse_samples_show_what_dense_ones_do():
    data = make_gaussian_mixture(150, 40, 3, random_state=0)
    X = np.where(np.abs(data.X) > 0.5, data.X, 0)
    dense, sparse = (count(chunk_in_memory(samples)) for samples in (X, sp.csr_array(X)))
    assert dense.n_components == sparse.n_components == 3
    assert_allclose(sparse.values[:2], dense.values[:2], rtol=1e-3)
