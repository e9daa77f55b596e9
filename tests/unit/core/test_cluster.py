"""If a cluster fails while its workers are checked, the error says what happened."""

import platform
from importlib.metadata import version
from types import SimpleNamespace

import pytest

from mixsearch.errors import ClusterError

pytest.importorskip("distributed")


def make_client(answer):
    """Make a client whose worker a answers correctly, and whose worker b returns or raises something for NumPy."""

    def run(function, *arguments, on_error):
        assert on_error == "return"
        right = platform.python_version() if function is platform.python_version else version(*arguments)
        if arguments != ("numpy",):
            return {"a": right, "b": right}
        if isinstance(answer, Exception) and not isinstance(answer, LookupError):
            raise answer
        return {"a": right, "b": answer.args[0] if isinstance(answer, LookupError) else answer}

    scheduler = SimpleNamespace(address="tcp://x")
    return SimpleNamespace(wait_for_workers=lambda n, timeout: None, run=run, scheduler=scheduler)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (LookupError(OSError("connection closed")), "worker_lost"),
        (OSError("the scheduler closed"), "cluster_lost"),
        (TimeoutError(), "no_workers"),
        ("0.1", "worker_version"),
    ],
)
def test_each_end_of_a_check_is_a_cluster_error_in_words(answer, code):
    from mixsearch.core.dask.cluster import check_workers

    with pytest.raises(ClusterError) as caught:
        check_workers(make_client(answer))
    assert caught.value.code == code
