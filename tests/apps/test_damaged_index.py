"""Indexes with flipped bits, each searched in a process of its own; `benchmarks/damage_index.py` takes many more."""

import sys

import pytest
from benchmarks.damage_index import CRASH, SENTENCE, TRACEBACK, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are forked"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]

N = 20


def test_a_small_index_that_fails_its_checksums_never_answers():
    assert run(N, verified=1 << 18, crafted=False) == {SENTENCE: N}


@pytest.mark.parametrize("crafted", [False, True])
def test_files_that_are_not_verified_crash_nothing(crafted):
    counts = run(N, verified=0, crafted=crafted, seed=1)
    assert sum(counts.values()) == N
    assert not counts[CRASH]
    assert not counts[TRACEBACK]
