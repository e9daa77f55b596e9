"""The memory of the machine, also where the operating system does not say."""

import os

import pytest

from mixsearch.index.build.memory import ASSUMED_BYTES, physical_memory
from mixsearch.index.build.options import IndexOptions


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="POSIX")
def test_the_memory_is_pages_times_their_size(monkeypatch):
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.__getitem__)
    assert physical_memory() == 4_096_000


def test_a_system_without_sysconf_gives_some_memory_all_the_same(monkeypatch):
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert physical_memory() >= 1 << 20
    assert IndexOptions().memory_part == physical_memory() // 2 // 4


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="POSIX")
@pytest.mark.parametrize("answer", [-1, 0, ValueError("unrecognized configuration name"), OSError("invalid")])
def test_a_system_that_does_not_say_is_taken_for_a_small_one(monkeypatch, answer):
    def sysconf(name):
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(os, "sysconf", sysconf)
    assert physical_memory() == ASSUMED_BYTES


def test_a_memory_that_is_named_is_taken_as_it_is():
    assert IndexOptions(memory=20_000).memory_part == 5_000
