"""Commands that write files, killed at random moments; `benchmarks/kill_commands.py` kills all of them, more often."""

import random
import sys

import pytest
from benchmarks.kill_commands import make_writers, try_command

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are forked"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]


@pytest.mark.parametrize("command", ["export", "segment"])
def test_a_killed_command_leaves_an_old_or_a_new_file(tmp_path, command):
    found = try_command(make_writers(tmp_path)[command], tmp_path, 4, random.Random(0))
    assert found["old"] + found["new"] == 4
    assert not found["left after the next run"]
