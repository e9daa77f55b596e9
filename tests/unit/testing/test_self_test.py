import subprocess
import sys

import pytest

from mixsearch.testing.self_test import SelfCheck, run_self_test


def fail():
    raise RuntimeError("the center is off")


def test_a_check_that_raises_has_failed_and_the_others_run():
    shown = []
    checks = [SelfCheck("first", fail), SelfCheck("second", lambda: None)]
    outcomes = run_self_test(shown.append, checks)
    assert [(each.state, each.note) for each in outcomes] == [
        ("failed", "RuntimeError: the center is off"),
        ("passed", ""),
    ]
    assert shown == outcomes


def test_a_check_without_its_packages_is_skipped_with_the_line_that_installs_them():
    (outcome,) = run_self_test(checks=[SelfCheck("third", fail, ("sys", "no_such_package"), "cli")])
    assert outcome.state == "skipped"
    assert outcome.note == "pip install 'mixsearch[cli]'"


@pytest.mark.slow
def test_the_installation_passes_its_self_test():
    ran = subprocess.run([sys.executable, "-m", "mixsearch.testing"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "ok   a topic, from one word" in ran.stdout
    assert "FAIL" not in ran.stdout
