"""Dask arrays give what arrays in memory give: every estimator, any chunking, workers in other processes."""

import pickle

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mixsearch import GaussianSearch, RegressionSearch, SearchError, SubspaceSearch, TableSearch, TopicSearch
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_subspaces, make_topics

pytestmark = [
    pytest.mark.xdist_group("cluster"),
    # Fewer components than there are, and samples with their small entries removed.
    pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning"),
]

CHUNKS = [((2000,), (20,)), ((1, 999, 1000), (7, 13)), ((700, 700, 600), (20,))]


def assert_same(found, expected):
    """Check that two answers agree in everything."""
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


def test_a_table(client, gaussians):
    X, rows = gaussians.X, np.flatnonzero(gaussians.labels == 1)[:4]
    local, there = TableSearch().fit(X), TableSearch().fit(da.from_array(X, chunks=(700, 13)))
    found, expected = there.search(rows), local.search(rows)
    assert_allclose(found.membership, expected.membership, atol=1e-8)
    assert found.n_members == expected.n_members
    for a, b in zip(found.differences(), expected.differences(), strict=True):
        assert (a.column, a.members, a.stderr) == (b.column, pytest.approx(b.members), pytest.approx(b.stderr))


def test_many_hints_at_once(client, gaussians):
    there = GaussianSearch(3).fit(da.from_array(gaussians.X, chunks=(500, 20))).search_many(gaussians.centers)
    local = GaussianSearch(3).fit(gaussians.X).search_many(gaussians.centers)
    for found, expected in zip(there, local, strict=True):
        assert_allclose(found.center, expected.center, rtol=1e-8)


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


def in_blocks(X, *cuts):
    """Return a Dask array of the rows of X, with sparse blocks if X is sparse."""
    blocks = [
        da.from_delayed(dask.delayed(X[a:b]), (b - a, X.shape[1]), X.dtype)
        for a, b in zip((0, *cuts), (*cuts, X.shape[0]), strict=True)
    ]
    return da.concatenate(blocks)


@pytest.mark.parametrize("cuts", [(700, 1500), (1, 2, 2500)])
@pytest.mark.parametrize("options", [{}, {"design": "standard", "fit_intercept": False}])
def test_regressions(client, options, cuts):
    data = make_mixed_regression(3000, 6, 2, random_state=0)
    members = data.labels == 1
    local = RegressionSearch(2, **options).fit(data.X, data.y)
    there = RegressionSearch(2, **options).fit(in_blocks(data.X, *cuts), da.from_array(data.y, chunks=1000))
    for hint in ({"hint": data.centers[0]}, {"examples": (data.X[members][:20], data.y[members][:20])}):
        found, expected = there.search(**hint, refine=True), local.search(**hint, refine=True)
        assert_same(found, expected)
        assert found.intercept == pytest.approx(expected.intercept, abs=1e-8)
        assert found.noise_variance == pytest.approx(expected.noise_variance, rel=1e-8)
    X, y = da.from_array(data.X, chunks=(800, 3)), da.from_array(data.y, chunks=500)
    assert_allclose(found.predict(X).compute(), expected.predict(data.X), atol=1e-8)
    assert_allclose(found.membership(X, y).compute(), expected.membership(data.X, data.y), atol=1e-8)


@pytest.mark.parametrize("cuts", [(700, 1500), (1, 2, 1900)])
def test_subspaces(client, cuts):
    data = make_subspaces(2000, 20, 3, dim=2, deviation=0.1, random_state=0)
    local, there = SubspaceSearch(3, dim=2).fit(data.X), SubspaceSearch(3, dim=2).fit(in_blocks(data.X, *cuts))
    for hint in ({"hint": data.X[5]}, {"examples": data.X[data.labels == 1][:3]}):
        found, expected = there.search(**hint, refine=True), local.search(**hint, refine=True)
        for a, b in ((found, expected), (found.moment_estimate, expected.moment_estimate)):
            assert_allclose(a.basis @ a.basis.T, b.basis @ b.basis.T, atol=1e-8)
            assert a.weight == pytest.approx(b.weight, rel=1e-8)
            assert a.noise_variance == pytest.approx(b.noise_variance, rel=1e-8)
            assert_allclose(a.variances, b.variances, rtol=1e-8)
            assert_allclose(a.stderr.basis, b.stderr.basis, rtol=1e-5)
            assert a.stderr.weight == pytest.approx(b.stderr.weight, rel=1e-6)
            assert a.confidence == pytest.approx(b.confidence, abs=1e-8)
    scores = found.membership(in_blocks(data.X, 1000)).compute()
    assert_allclose(scores, expected.membership(data.X), atol=1e-8)


@pytest.fixture(scope="module")
def topics():
    return make_topics(1500, 300, 4, mean_length=60, random_state=0)


@pytest.mark.parametrize("cuts", [(700, 701), (1, 2, 1300)])
def test_topics(client, topics, cuts):
    options = {"alpha0": topics.alpha.sum(), "damping": False}
    counts = sp.csr_array(topics.counts, dtype=np.float64)
    local = TopicSearch(4, **options).fit(counts, vocabulary=topics.vocabulary)
    there = TopicSearch(4, **options).fit(in_blocks(counts, *cuts), vocabulary=topics.vocabulary)
    word = topics.vocabulary[topics.labelled_word(1)]
    for hint in ({"words": word}, {"documents": [3, 700, 1400]}, {"hint": topics.topics[0]}):
        found, expected = there.search(**hint, refine=True), local.search(**hint, refine=True)
        assert_same(found, expected)
        assert [row for row, _ in found.documents(20)] == [row for row, _ in expected.documents(20)]
        assert [word for word, _ in found.top_words(20)] == [word for word, _ in expected.top_words(20)]
    assert_allclose(there.transform(in_blocks(counts, 900)).compute(), local.transform(counts), atol=1e-8)
    assert_allclose(found.membership(in_blocks(counts, 900)).compute(), expected.membership(counts), atol=1e-8)


def test_real_text_in_single_precision(client, topics):
    counts = sp.csr_array(topics.counts, dtype=np.float64)
    local = TopicSearch(4).fit(counts, vocabulary=topics.vocabulary)
    there = TopicSearch(4).fit(in_blocks(counts, 400, 401), vocabulary=topics.vocabulary)
    word = topics.vocabulary[topics.labelled_word(2)]
    found, expected = there.search(words=word), local.search(words=word)
    assert_allclose(found.probabilities, expected.probabilities, atol=1e-5)
    assert [word for word, _ in found.top_words(10)] == [word for word, _ in expected.top_words(10)]
    assert [row for row, _ in found.documents(10)] == [row for row, _ in expected.documents(10)]
    assert_allclose(found.stderr.center, expected.stderr.center, rtol=1e-2)


def test_the_number_of_components(client, gaussians):
    X = in_blocks(gaussians.X, 333, 334)
    there, local = GaussianSearch("auto").fit(X), GaussianSearch("auto").fit(gaussians.X)
    assert there.n_components_ == local.n_components_
    assert_allclose(there.spectrum_.held_out, local.spectrum_.held_out, rtol=1e-8, atol=1e-10)


def test_what_was_found_is_pickled_without_the_samples(client, gaussians):
    search = GaussianSearch(3).fit(in_blocks(gaussians.X, 1000))
    found = pickle.loads(pickle.dumps(search.search(gaussians.centers[0], refine=True)))
    assert_allclose(
        found.membership(gaussians.X), search.search(gaussians.centers[0], refine=True).membership(gaussians.X)
    )
    with pytest.raises(SearchError, match="2,000 samples of this fit are not here"):
        pickle.loads(pickle.dumps(search)).search(gaussians.centers[0])


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_any_other_scheduler(gaussians, scheduler):
    expected = GaussianSearch(3).fit(gaussians.X).search(gaussians.centers[0], refine=True)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        X = da.from_array(gaussians.X, chunks=(800, 20))
        assert_same(GaussianSearch(3).fit(X).search(gaussians.centers[0], refine=True), expected)
