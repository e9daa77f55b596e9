"""Hostile files of every format; `benchmarks/robustness/hostile_inputs.py` takes many more."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are forked"),
]

# Those that are quick, of every kind.
NAMES = (
    "nested 100,000 deep, table",
    "integer of 5,000 digits, array, table",
    "stray quote in a CSV header",
    "Parquet with invalid UTF-8, table",
    "names that are no UTF-8",
    "file name that is no UTF-8",
    "PNG of 10^10 pixels",
)
# A process of its own: one in which other tests have used OpenMP cannot be forked.
PROGRAM = """
import json, sys
from hostile_files import CRAFTED
from hostile_inputs import run
lines = []
counts = run(12, seed=5, crafted={name: CRAFTED[name] for name in json.loads(sys.argv[1])}, tell=lines.append)
print(json.dumps([lines, counts]))
"""


def test_no_file_ends_a_process_or_shows_a_traceback():
    benchmarks = Path(__file__).parents[2] / "benchmarks" / "robustness"
    arguments = [sys.executable, "-c", PROGRAM, json.dumps(NAMES)]
    ended = subprocess.run(arguments, cwd=benchmarks, check=True, capture_output=True, text=True)
    lines, counts = json.loads(ended.stdout.splitlines()[-1])
    assert lines == []
    assert counts["sentence"] > 10
    assert counts["read"] > 0
