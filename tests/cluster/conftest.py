"""A real cluster: a scheduler and worker processes, with TCP between them."""

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as started:
        assert all(worker.address.startswith("tcp://") for worker in started.workers.values())
        yield started


@pytest.fixture
def client(cluster):
    with Client(cluster) as connected:
        yield connected
        assert connected.nthreads(), "a test left the shared cluster without workers"
