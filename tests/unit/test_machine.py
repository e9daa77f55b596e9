"""The memory and the cores of the machine or its container, also if the operating system does not report them."""

import os

import pytest

from mixsearch import machine
from mixsearch.machine import ASSUMED_BYTES, available_cores, available_memory


@pytest.fixture(autouse=True)
def groups(monkeypatch, tmp_path):
    """Hide all control groups except those that a test makes."""
    monkeypatch.setattr(machine, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(machine, "GROUPS", tmp_path / "groups")
    machine.read_quota.cache_clear()
    yield tmp_path
    machine.read_quota.cache_clear()


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("place", ["groups/jobs/mine/memory.max", "groups/jobs/memory.max", "groups/memory.max"])
def test_the_limit_of_a_container_counts_and_that_of_those_around_it(groups, place):
    write(groups / "own", "0::/jobs/mine\n")
    write(groups / "groups/jobs/mine/memory.max", "max\n")
    write(groups / place, "600000\n")
    assert available_memory() == 600_000


@pytest.mark.parametrize(("quota", "n_cores"), [("150000 100000", 2), ("20000 100000", 1), ("max 100000", 8)])
def test_a_quota_of_time_is_a_number_of_cores(groups, monkeypatch, quota, n_cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    write(groups / "own", "0::/mine\n")
    write(groups / "groups/mine/cpu.max", quota)
    assert available_cores() == n_cores


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="POSIX")
@pytest.mark.parametrize("answer", [-1, ValueError("unrecognized configuration name")])
def test_a_system_that_does_not_say_is_taken_for_a_small_one(monkeypatch, answer):
    def sysconf(name):
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(os, "sysconf", sysconf)
    assert available_memory() == ASSUMED_BYTES
