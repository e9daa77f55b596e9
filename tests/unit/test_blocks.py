from contextlib import contextmanager

import pytest

from mixsearch.blocks import _OneBlasThread, even_slices, row_slices


class RecordedPools:
    def __init__(self):
        self.events = []

    @contextmanager
    def limit(self, *, limits, user_api):
        self.events.append(f"{user_api} to {limits}")
        yield
        self.events.append("lifted")


def test_overlapping_users_of_one_blas_thread_set_the_limit_once_and_lift_it_last():
    shared, pools = _OneBlasThread(), RecordedPools()
    shared.__dict__["_pools"] = pools
    shared.__enter__()
    shared.__enter__()
    shared.__exit__(None, None, None)
    assert pools.events == ["blas to 1"]
    shared.__exit__(None, None, None)
    assert pools.events == ["blas to 1", "lifted"]
    with shared:
        assert pools.events[-1] == "blas to 1"
    assert pools.events[-1] == "lifted"


@pytest.mark.parametrize(("rows", "parts"), [(10, 3), (2, 5), (7, 7), (0, 2)])
def test_even_slices_cover_every_row_once(rows, parts):
    slices = list(even_slices(rows, parts))
    assert [i for part in slices for i in range(rows)[part]] == list(range(rows))
    assert len(slices) <= parts


def test_row_slices_have_the_size_asked_for():
    assert [(s.start, s.stop) for s in row_slices(10, 4)] == [(0, 4), (4, 8), (8, 10)]
