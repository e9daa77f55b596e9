"""Indexes with flipped bits, each searched in its own process; `benchmarks/robustness/damage_index.py` takes more."""

import sys

import pytest
from benchmarks.robustness.damage_index import OTHER, SAME, SENTENCE, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are forked"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]

N = 20


def test_a_small_index_that_fails_its_checksums_never_answers():
    assert run(N, small=1 << 18) == {SENTENCE: N}


def test_a_large_index_that_fails_its_checksums_crashes_nothing():
    counts = run(N, small=0, seed=1)
    assert counts[SENTENCE] + counts[SAME] + counts[OTHER] == N
