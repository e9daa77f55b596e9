"""Dask arrays give what arrays in memory give: every estimator, any chunking, workers in other processes."""

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture

pytestmark = pytest.mark.xdist_group("cluster")

CHUNKS = [((2000,), (20,)), ((1, 999, 1000), (7, 13)), ((700, 700, 600), (20,))]


def assert_same(found, expected):
    """Everything that an answer says."""
    for a, b in ((found, expected), (found.moment_estimate, expected.moment_estimate)):
        assert_allclose(a.center, b.center, rtol=1e-8, atol=1e-8 * np.abs(b.center).max())
        assert a.weight == pytest.approx(b.weight, rel=1e-8)
        assert_allclose(a.scores, b.scores, rtol=1e-8, atol=1e-8 * np.abs(b.scores).max())
        assert_allclose(a.stderr.center, b.stderr.center, rtol=1e-6)
        assert a.stderr.weight == pytest.approx(b.stderr.weight, rel=1e-6)
        assert a.confidence == pytest.approx(b.confidence, abs=1e-8)


@pytest.fixture(scope="module")
def gaussians():
    return make_gaussian_mixture(2000, 20, 3, deviation=1.5, random_state=0)


@pytest.mark.parametrize("chunks", CHUNKS)
def test_gaussians(client, gaussians, chunks):
    X, examples = gaussians.X, gaussians.X[gaussians.labels == 1][:4]
    local, there = GaussianSearch(3).fit(X), GaussianSearch(3).fit(da.from_array(X, chunks=chunks))
    for hint in ({"hint": gaussians.centers[0]}, {"examples": examples}):
        assert_same(there.search(**hint, refine=True), local.search(**hint, refine=True))
    assert_allclose(there.transform(da.from_array(X, chunks=chunks)).compute(), local.transform(X), atol=1e-10)
    assert_allclose(there.transform(X), local.transform(X), atol=1e-10)
    assert_allclose(
        there.search(n_components=2, examples=examples).center, local.search(n_components=2, examples=examples).center
    )


def test_many_hints_at_once(client, gaussians):
    hints = dict(zip("abc", gaussians.centers, strict=True))
    there = GaussianSearch(3).fit(da.from_array(gaussians.X, chunks=(500, 20))).search_many(hints)
    for name, found in GaussianSearch(3).fit(gaussians.X).search_many(hints).items():
        assert_allclose(there[name].center, found.center, rtol=1e-8)


def test_labels_as_a_dask_array(client, gaussians):
    y = np.where((gaussians.labels == 2) & (np.arange(2000) % 50 == 0), 1, -1)
    expected = GaussianSearch(3).fit(gaussians.X, y).component_
    X = da.from_array(gaussians.X, chunks=(300, 20))
    for labels in (y, da.from_array(y, chunks=450)):
        assert_allclose(GaussianSearch(3).fit(X, labels).component_.center, expected.center, rtol=1e-8)


def test_many_features_by_products_with_blocks_of_vectors(client):
    data = make_gaussian_mixture(1200, 1100, 3, random_state=0)
    there = GaussianSearch(3).fit(da.from_array(data.X, chunks=(500, 600))).search(data.centers[0])
    assert_same(there, GaussianSearch(3).fit(data.X).search(data.centers[0]))


@pytest.mark.parametrize("d", [40, 400])
def test_sparse_blocks(client, d):
    data = make_gaussian_mixture(1000, d, 3, random_state=0)
    X = sp.csr_array(np.where(np.abs(data.X) > 1, data.X, 0))
    blocks = [da.from_delayed(dask.delayed(X[a:b]), (b - a, d), X.dtype) for a, b in ((0, 10), (10, 600), (600, 1000))]
    there = GaussianSearch(3).fit(da.concatenate(blocks))
    assert_same(there.search(data.centers[0]), GaussianSearch(3).fit(X).search(data.centers[0]))
    assert_allclose(there.transform(blocks[1]).compute(), there.transform(X[10:600]), atol=1e-10)


@pytest.mark.parametrize("scheduler", ["threads", "synchronous", "processes"])
def test_any_other_scheduler(gaussians, scheduler):
    expected = GaussianSearch(3).fit(gaussians.X).search(gaussians.centers[0], refine=True)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        X = da.from_array(gaussians.X, chunks=(800, 20))
        assert_same(GaussianSearch(3).fit(X).search(gaussians.centers[0], refine=True), expected)
