"""If a cluster fails while its workers are checked, the error says what happened."""

from types import SimpleNamespace

import pytest

from mixsearch.errors import ClusterError

dask = pytest.importorskip("mixsearch.core.dask")


def make_client(answer):
    """Make a client whose worker b has a wrong version, or whose scheduler fails."""

    def run(list_versions):
        if isinstance(answer, Exception):
            raise answer
        return {"a": list_versions(), "b": list_versions() | {"numpy": answer}}

    scheduler = SimpleNamespace(address="tcp://x")
    return SimpleNamespace(wait_for_workers=lambda n, timeout: None, run=run, scheduler=scheduler)


@pytest.mark.parametrize(
    ("answer", "code"),
    [(OSError("the scheduler closed"), "cluster_lost"), (TimeoutError(), "no_workers"), ("0.1", "worker_version")],
)
def test_each_end_of_a_check_is_a_cluster_error_in_words(answer, code):
    with pytest.raises(ClusterError) as caught:
        dask.check_workers(make_client(answer))
    assert caught.value.code == code
