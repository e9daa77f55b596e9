"""Indexes with flipped bits; `benchmarks/robustness/damage_index.py` takes many more."""

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
    assert run(N, verified=1 << 18, crafted=False) == {SENTENCE: N}


def test_a_large_index_that_fails_its_checksums_gives_no_other_answer():
    counts = run(N, verified=0, crafted=False, seed=1)
    assert counts[SENTENCE] + counts[SAME] == N


def test_a_crafted_index_crashes_nothing():
    counts = run(N, verified=0, crafted=True, seed=1)
    assert counts[SENTENCE] + counts[SAME] + counts[OTHER] == N
