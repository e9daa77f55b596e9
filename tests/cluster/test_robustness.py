"""Failures on a cluster: workers that die or lack the package, and invalid samples."""

import os
import signal

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose

from mixsearch import GaussianSearch, RegressionSearch, SearchError
from mixsearch.data.dask.cluster import connected
from mixsearch.data.dask.partitions import DaskPartitions
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import ClusterError

pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture(scope="module")
def data():
    return make_gaussian_mixture(1500, 1100, 3, random_state=0)  # enough features that each pass is a reduction


@pytest.fixture
def own_cluster():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield cluster, client


def in_the_middle(monkeypatch, happens, after=3):
    """Call a function after a few reductions of a fit."""
    reduce, count = DaskPartitions.reduce, iter(range(10_000))

    def reduce_later(self, *arguments):
        if next(count) == after:
            happens()
        return reduce(self, *arguments)

    monkeypatch.setattr(DaskPartitions, "reduce", reduce_later)


def test_a_worker_that_dies_in_the_middle_changes_nothing(own_cluster, data, monkeypatch):
    _, client = own_cluster
    expected = GaussianSearch(3).fit(data.X).search(data.centers[0])
    victims = list(client.run(os.getpid).values())[:1]
    in_the_middle(monkeypatch, lambda: [os.kill(pid, signal.SIGKILL) for pid in victims])
    found = GaussianSearch(3).fit(da.from_array(data.X, chunks=(300, 1100))).search(data.centers[0])
    assert_allclose(found.center, expected.center, rtol=1e-8, atol=1e-9)
    assert_allclose(found.stderr.center, expected.stderr.center, rtol=1e-6)
    assert victims[0] not in client.run(os.getpid).values()


def test_without_any_worker_there_is_an_error_and_no_end_of_waiting(own_cluster, data, monkeypatch):
    cluster, _ = own_cluster
    in_the_middle(monkeypatch, lambda: cluster.scale(0))
    with (
        dask.config.set({"mixsearch.worker-timeout": 2}),
        pytest.raises(ClusterError, match=r"has had no workers for 2 seconds.*Start workers with `dask worker`"),
    ):
        GaussianSearch(3).fit(da.from_array(data.X, chunks=(300, 1100)))


def test_a_cluster_that_goes_away(own_cluster, data, monkeypatch):
    cluster, _ = own_cluster
    in_the_middle(monkeypatch, cluster.close)
    with dask.config.set({"mixsearch.worker-timeout": 2}), pytest.raises(ClusterError, match="cluster"):
        GaussianSearch(3).fit(da.from_array(data.X, chunks=(300, 1100)))


def test_no_scheduler_at_the_address():
    with (
        pytest.raises(ClusterError, match=r"No Dask scheduler answers at 'tcp://127.0.0.1:9' within 1 seconds"),
        connected("tcp://127.0.0.1:9", timeout=1),
    ):
        pass
    with (
        pytest.raises(ClusterError, match="No Dask scheduler answers at 'nonsense'") as caught,
        connected("nonsense", timeout=1),
    ):
        pass
    assert (caught.value.code, caught.value.fields["address"]) == ("scheduler_unreachable", "nonsense")


PATCH = """
import importlib.metadata
def version(name, plain=importlib.metadata.version):
    if name == {name!r}:
        {effect}
    return plain(name)
importlib.metadata.version = version
"""


@pytest.mark.parametrize(
    ("name", "effect", "message"),
    [
        (
            "mixsearch",
            "raise importlib.metadata.PackageNotFoundError(name)",
            r"The worker of the cluster lacks the package mixsearch.*Install mixsearch==",
        ),
        ("mixsearch", "return '0.0.1'", r"has another version of mixsearch: 0.0.1 at tcp://.*, but "),
        ("numpy", "return '1.2.3'", r"has another version of numpy: 1.2.3"),
    ],
)
def test_a_worker_with_another_environment(tmp_path, data, name, effect, message):
    preload = tmp_path / "other_environment.py"
    preload.write_text(PATCH.format(name=name, effect=effect))
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", preload=[str(preload)]) as cluster,
        Client(cluster),
        pytest.raises(ClusterError, match=message),
    ):
        GaussianSearch(3).fit(da.from_array(data.X, chunks=(300, 1100)))


def bad(value, row=1234, column=3):
    X = np.random.default_rng(0).normal(size=(2000, 5))
    X[row, column] = value
    return X


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_values_that_are_no_numbers(client, value, kind):
    X = kind(bad(value))
    blocks = [da.from_delayed(dask.delayed(X[a : a + 500]), (500, 5), float) for a in range(0, 2000, 500)]
    with pytest.raises(SearchError, match="contains NaN or infinity, first in row 1,234, column 3") as caught:
        GaussianSearch(2).fit(da.concatenate(blocks))
    assert (caught.value.code, caught.value.fields) == ("not_finite", {"row": 1234, "column": 3})


def test_arrays_that_cannot_be_fitted(client):
    X, y = da.ones((100, 3), chunks=(50, 3)), da.ones(90, chunks=45)
    with pytest.raises(SearchError, match="y has 90 values, but X has 100 samples"):
        RegressionSearch(2).fit(X, y)
    with pytest.raises(SearchError, match="X must have 2 dimensions.*but has 1"):
        GaussianSearch(2).fit(X[:, 0])
    with pytest.raises(SearchError, match="0 samples"):
        GaussianSearch(2).fit(X[:0])
    with pytest.raises(SearchError, match="y has 3 labels, but X has 100 samples"):
        GaussianSearch(1).fit(da.random.default_rng(0).normal(size=(100, 3), chunks=(50, 3)), [1, -1, 1])
    with pytest.raises(SearchError, match="X has 2 features, but the fit has 3"):
        GaussianSearch(1).fit(np.random.default_rng(0).normal(size=(100, 3))).transform(X[:, :2])


def test_blocks_whose_lengths_nobody_knows(client, data):
    X = data.X[:, :30]
    y = X @ np.ones(30)
    unknown = da.from_array(X, chunks=(400, 30))
    unknown = unknown[unknown[:, 0] > -np.inf]  # all rows, but Dask cannot know
    assert np.isnan(unknown.shape[0])
    expected = GaussianSearch(3).fit(X).search(data.centers[0][:30])
    assert_allclose(GaussianSearch(3).fit(unknown).search(data.centers[0][:30]).center, expected.center, rtol=1e-8)
    with pytest.raises(SearchError, match="lengths of the blocks of X are unknown"):
        RegressionSearch(1).fit(unknown, y)


def test_whole_numbers_become_floats(client):
    X = np.random.default_rng(0).poisson(5, size=(500, 6))
    X[:200, 2] += 20
    expected = GaussianSearch(2).fit(X).search(np.eye(6)[2])
    assert_allclose(
        GaussianSearch(2).fit(da.from_array(X, chunks=(150, 6))).search(np.eye(6)[2]).center, expected.center
    )
