"""Dask arrays give what arrays in memory give, with workers in other processes."""

import os
import signal

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose
from tests.coded import raises

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SearchError, SubspaceSearch, find
from mixsearch.core.dask import DaskChunks
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_reviews, make_subspaces, make_topics
from mixsearch.errors import ClusterError
from mixsearch.text import read_corpus

pytestmark = [
    pytest.mark.xdist_group("cluster"),
    pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    """A real cluster: a scheduler and worker processes, with TCP between them."""
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as started:
        assert all(worker.address.startswith("tcp://") for worker in started.workers.values())
        yield started


@pytest.fixture
def client(cluster):
    with Client(cluster) as connected:
        yield connected
        assert connected.nthreads(), "a test left the shared cluster without workers"


def in_blocks(X, *cuts):
    """Return a Dask array of the rows of X, with sparse blocks if X is sparse."""
    blocks = [
        da.from_delayed(dask.delayed(X[a:b]), (b - a, X.shape[1]), X.dtype)
        for a, b in zip((0, *cuts), (*cuts, X.shape[0]), strict=True)
    ]
    return da.concatenate(blocks)


def assert_same(found, expected):
    """Check that two answers agree in everything."""
    for a, b in ((found, expected), (found.moment_estimate, expected.moment_estimate)):
        assert_allclose(a.center, b.center, rtol=1e-10, atol=1e-10 * np.abs(b.center).max())
        assert a.weight == pytest.approx(b.weight, rel=1e-10)
        assert_allclose(a.scores, b.scores, rtol=1e-10, atol=1e-10 * np.abs(b.scores).max())
        assert_allclose(a.stderr.center, b.stderr.center, rtol=1e-9)
        assert a.separation == pytest.approx(b.separation, rel=1e-9)


@pytest.mark.usefixtures("client")
def test_every_family_answers_as_in_memory():
    data = make_gaussian_mixture(2000, 20, 3, deviation=1.5, random_state=0)
    X, members = data.X, np.flatnonzero(data.labels == 1)[:4]
    local, there = GaussianSearch(3).fit(X), GaussianSearch(3).fit(da.from_array(X, chunks=((1, 999, 1000), (7, 13))))
    assert_same(there.search(examples=X[members], refine=True), local.search(examples=X[members], refine=True))

    lines = make_mixed_regression(3000, 6, 2, random_state=0)
    y = da.from_array(lines.y, chunks=1000)
    found, expected = (
        RegressionSearch(2).fit(*each).search(lines.centers[0], refine=True)
        for each in ((in_blocks(lines.X, 1, 2, 2500), y), (lines.X, lines.y))
    )
    assert_same(found, expected)

    planes = make_subspaces(2000, 20, 3, dim=2, deviation=0.1, random_state=0)
    found, expected = (
        SubspaceSearch(3, dim=2).fit(each).search(planes.X[5]) for each in (in_blocks(planes.X, 700, 1500), planes.X)
    )
    assert_allclose(found.basis @ found.basis.T, expected.basis @ expected.basis.T, atol=1e-10)

    topics = make_topics(1500, 300, 4, mean_length=60, random_state=0)
    counts = sp.csr_array(topics.counts, dtype=np.float64)
    word = topics.vocabulary[topics.labelled_word(1)]
    found, expected = (
        LdaSearch(4, alpha0=topics.alpha.sum()).fit(each, vocabulary=topics.vocabulary).search(words=word)
        for each in (in_blocks(counts, 700, 701), counts)
    )
    assert_same(found, expected)
    # the recipe of docs/guides/scale.md
    shares = in_blocks(counts, 700).map_blocks(found.membership, drop_axis=1, dtype=float, meta=np.empty(0))
    assert_allclose(shares.compute(), expected.membership(counts), atol=1e-6)


@pytest.mark.usefixtures("client")
def test_frames_and_bags_give_what_tables_and_texts_in_memory_give(tmp_path):
    reviews = make_reviews(300, random_state=0)
    (tmp_path / "a.txt").write_text("\n".join(reviews.text[:200]))
    (tmp_path / "b.txt").write_text("\n".join(reviews.text[200:]))
    frame = pd.DataFrame({"text": reviews.text, "stars": reviews.stars})
    expected = read_corpus(reviews.text).to_counts()
    lines = db.read_text(str(tmp_path / "*.txt")).map(str.rstrip)
    for source in (lines, dd.from_pandas(frame, npartitions=3), dd.from_pandas(frame["text"], npartitions=2)):
        with read_corpus(source) as corpus:
            assert (corpus.to_counts() != expected).nnz == 0

    data = make_gaussian_mixture(400, 5, 3, random_state=0)
    table = pd.DataFrame(data.X, columns=list("abcde"))
    lazy = dd.from_pandas(table, npartitions=3)
    examples = np.flatnonzero(data.labels == 1)[:4].tolist()
    answers = [find(each, examples).membership for each in (table, lazy, da.from_array(data.X, chunks=(100, 3)))]
    for answer in answers[1:]:
        assert_allclose(answer, answers[0], atol=1e-10)
    centers = [GaussianSearch(3).fit(each).search(data.centers[0]).center for each in (table, lazy)]
    assert_allclose(*centers, rtol=1e-10, atol=1e-10)


def test_a_worker_that_dies_changes_nothing(monkeypatch):
    data = make_gaussian_mixture(1500, 1100, 3, random_state=0)  # enough features that each pass is a reduction
    expected = GaussianSearch(3).fit(data.X).search(data.centers[0])
    add, victims = DaskChunks.sum, []

    def kill_one_then_add(self, *arguments):
        if not victims:
            victims.extend(list(client.run(os.getpid).values())[:1])
            os.kill(victims[0], signal.SIGKILL)
        return add(self, *arguments)

    monkeypatch.setattr(DaskChunks, "sum", kill_one_then_add)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        found = GaussianSearch(3).fit(da.from_array(data.X, chunks=(300, 1100))).search(data.centers[0])
    assert victims
    assert_allclose(found.center, expected.center, rtol=1e-8, atol=1e-9)


@pytest.mark.usefixtures("client")
def test_values_that_are_not_finite_are_named():
    X = np.random.default_rng(0).normal(size=(2000, 5))
    X[1234, 3] = np.nan
    with pytest.raises(SearchError) as caught:
        GaussianSearch(2).fit(in_blocks(X, 500, 1000))
    assert (caught.value.code, caught.value.fields) == ("not_finite", {"name": "X", "row": 1234, "column": 3})
    X[1234, 3] = 1e160
    with raises("too_large"):
        GaussianSearch(2).fit(in_blocks(X, 500, 1000))


def test_samples_that_are_lost_with_their_cluster_are_reported():
    X = make_gaussian_mixture(300, 6, 2, random_state=0).X
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        search = GaussianSearch(2).fit(da.from_array(X, chunks=(100, 6)))
    with pytest.raises(ClusterError) as caught:
        search.search(X[0])
    assert caught.value.code == "cluster_lost"
