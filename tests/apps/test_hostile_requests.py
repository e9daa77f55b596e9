"""Odd requests as bytes on a socket; `benchmarks/hostile_requests.py` sends many more."""

import pytest
from benchmarks.hostile_requests import run

pytestmark = pytest.mark.slow

N = 60


def test_odd_requests_end_no_server_and_leave_no_traceback():
    counts, wrong = run(N)
    assert not wrong
    assert sum(counts.values()) == N
