"""The scripts of `benchmarks/robustness`, each for a few seconds: an exit code of 0 means that nothing was wrong."""

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
