"""The cache: bounded, thread-safe, and each missing value is computed once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixsearch.web.cache import LRUCache


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 7)), max_size=30), st.integers(0, 20))
def test_the_total_size_stays_within_the_bound_and_the_last_values_stay(puts, max_size):
    cache = LRUCache(max_size, lambda size: size, min_entries=0)
    for key, size in puts:
        cache.put(key, size)
    recent: dict[str, int] = {}
    for key, size in reversed(puts):
        recent.setdefault(key, size)
    kept = {key: size for key, size in recent.items() if cache.get(key) is not None}
    assert sum(kept.values()) <= max_size
    assert list(kept) == list(recent)[: len(kept)]


def test_of_many_threads_one_computes_and_all_get_the_value():
    cache, barrier, calls = LRUCache(10), Barrier(8), []

    def compute():
        calls.append(1)
        return object()

    def ask(_):
        barrier.wait(60)
        return cache.get_or_compute("key", compute)

    with ThreadPoolExecutor(8) as pool:
        values = set(map(id, pool.map(ask, range(8))))
    assert len(values) == len(calls) == 1


def test_an_error_is_not_cached():
    cache = LRUCache(10)
    with pytest.raises(ZeroDivisionError):
        cache.get_or_compute("key", lambda: 1 // 0)
    assert cache.get_or_compute("key", lambda: 4) == 4


def test_values_are_removed_by_their_keys():
    cache = LRUCache(10)
    for key in range(4):
        cache.put(key, str(key))
    assert cache.remove(lambda key: key % 2 == 0) == 2
    assert [cache.get(key) for key in range(4)] == [None, "1", None, "3"]
