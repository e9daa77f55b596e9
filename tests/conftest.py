"""Settings that every test shares."""

import os
import sys
from pathlib import Path

import hypothesis
import pytest

# Examples are drawn from a fixed seed, so that a run says the same today and tomorrow.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=30)
hypothesis.settings.load_profile("repeatable")

# Folders and files whose tests `make quick` leaves out; in others each slow test is marked.
SLOW = {
    "browser",
    "cluster",
    "statistical",
    "test_cli_index.py",
    "test_sklearn_checks.py",
    "test_web_images.py",
}


def pytest_collection_modifyitems(items):
    for item in items:
        folders_and_file = set(item.path.relative_to(Path(__file__).parent).parts)
        if SLOW & folders_and_file:
            item.add_marker(pytest.mark.slow)
        if "browser" in folders_and_file:
            # A browser beside other tests on two cores may be late once; the summary names what ran twice.
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread_per_worker():
    """Test workers share the cores; more BLAS threads would only compete for them."""
    from threadpoolctl import threadpool_limits

    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    with threadpool_limits(1 if workers > 1 else None):
        yield


@pytest.fixture(autouse=True)
def _no_scheduler_left_behind():
    """Reset Dask's scheduler: it stays set if a client that failed to connect is closed while the next one works."""
    yield
    if dask := sys.modules.get("dask"):
        dask.config.config.pop("scheduler", None)
