"""What goes wrong on a cluster: workers that die, or lack the package; samples that are not as they should be."""

import os
import signal

import dask.array as da
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.scale.shards import DaskShards

pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture(scope="module")
def data():
    return make_gaussian_mixture(3000, 1100, 3, random_state=0)  # so many features that each pass is a fold


def killing(monkeypatch, client, after, n_workers):
    """Let workers die, by the operating system, once so many folds are done."""
    fold, count = DaskShards.fold, iter(range(10_000))

    def fold_and_kill(self, *arguments):
        if next(count) == after:
            pids = list(client.run(os.getpid).values())
            for pid in pids[:n_workers]:
                os.kill(pid, signal.SIGKILL)
        return fold(self, *arguments)

    monkeypatch.setattr(DaskShards, "fold", fold_and_kill)


@pytest.mark.parametrize("nanny", [True, False])
def test_a_worker_that_dies_in_the_middle_changes_nothing(data, monkeypatch, nanny):
    expected = GaussianSearch(3).fit(data.X).search(data.centers[0])
    kind = {} if nanny else {"worker_class": "distributed.Worker"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, **kind) as cluster,
        Client(cluster) as client,
    ):
        if not nanny:
            pytest.skip("workers without a nanny are threads of this process")
        X = da.random.default_rng(0).normal(size=(1, 1), chunks=1)  # the cluster works before
        assert X.compute().shape == (1, 1)
        killing(monkeypatch, client, after=3, n_workers=1)
        search = GaussianSearch(3).fit(da.from_array(data.X, chunks=(400, 1100)))
        found = search.search(data.centers[0])
    assert_allclose(found.center, expected.center, rtol=1e-8, atol=1e-9)
