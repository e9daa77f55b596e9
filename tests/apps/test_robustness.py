"""The scripts of `benchmarks/robustness`, each for a few seconds: an exit code of 0 means that nothing was wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are forked, and found in /proc"),
]

SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "robustness"


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("kill_commands", ("--kills", "2", "--only", "export,segment")),
        ("folders", ("--quick",)),
        ("rebuild_under_load", ("--seconds", "3")),
        ("hostile_requests", ("--n", "60")),
        ("hostile_arrays", ()),
    ],
)
def test_a_short_run_finds_nothing_wrong(script, options):
    ended = subprocess.run(
        [sys.executable, SCRIPTS / f"{script}.py", *options], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


# Hostile files that are quick, of every kind.
NAMES = (
    "nested 100,000 deep",
    "nested 100,000 deep, table",
    "integer of 5,000 digits, array, table",
    "stray quote in a CSV header",
    "Parquet with invalid UTF-8",
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
    arguments = [sys.executable, "-c", PROGRAM, json.dumps(NAMES)]
    ended = subprocess.run(arguments, cwd=SCRIPTS, check=True, capture_output=True, text=True)
    lines, counts = json.loads(ended.stdout.splitlines()[-1])
    assert lines == []
    assert counts["sentence"] > 10
    assert counts["read"] > 0
