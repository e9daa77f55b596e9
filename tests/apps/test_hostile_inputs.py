"""Hostile files of every format, each read in a process of its own; `benchmarks/hostile_inputs.py` takes many more."""

import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are forked"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]

# Those that are quick, of every kind.
NAMES = (
    "nested 100,000 deep, table",
    "integer of 5,000 digits, array, table",
    "stray quote in a CSV header",
    "Matrix Market of 10^12 values",
    "npz with falling row pointers",
    "Parquet with invalid UTF-8, table",
    "names that are no UTF-8",
    "file name that is no UTF-8",
    "PNG of 10^10 pixels",
)


def test_no_file_ends_a_process_or_shows_a_traceback():
    pytest.importorskip("duckdb")
    from benchmarks.hostile_files import CRAFTED
    from benchmarks.hostile_inputs import READ, SENTENCE, run

    told = []
    counts = run(12, seed=5, crafted={name: CRAFTED[name] for name in NAMES}, tell=told.append)
    assert told == []
    assert counts[SENTENCE] > 10
    assert counts[READ] > 0
