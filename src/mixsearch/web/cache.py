"""A thread-safe, size-bounded LRU cache that computes each missing value once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LRUCache(Generic[Key, Value]):
    """Thread-safe, size-bounded LRU cache that computes each missing value once."""

    def __init__(self, max_size: int, size_of: Callable[[Value], int] = lambda _: 1, min_entries: int = 1) -> None:
        self._max_size, self._size_of, self._min_entries = max_size, size_of, min_entries
        self._lock = Lock()
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._pending: dict[Key, Future[Value]] = {}
        self._size = 0

    def get(self, key: Key) -> Value | None:
        """Return a cached value, or None."""
        with self._lock:
            return self._touch(key)

    def put(self, key: Key, value: Value) -> None:
        """Store a value, and evict others if the cache is full."""
        with self._lock:
            self._drop(key)
            self._values[key] = value
            self._size += self._size_of(value)
            while self._size > self._max_size and len(self._values) > self._min_entries:
                self._drop(next(iter(self._values)))

    def remove(self, matches: Callable[[Key], bool]) -> int:
        """Remove the values whose keys match, and return their number."""
        with self._lock:
            keys = [key for key in self._values if matches(key)]
            for key in keys:
                self._drop(key)
            return len(keys)

    def get_or_compute(self, key: Key, compute: Callable[[], Value]) -> Value:
        """Return a value; of the threads that miss it at the same time, one computes it for all.

        An error is raised in all of them, and is not cached.
        """
        with self._lock:
            value = self._touch(key)
            if value is not None:
                return value
            pending = self._pending.get(key)
            if pending is None:
                ours = self._pending[key] = Future()
        if pending is not None:
            return pending.result()
        try:
            value = compute()
            self.put(key, value)
            ours.set_result(value)
            return value
        except BaseException as error:
            ours.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._pending[key]

    def _touch(self, key: Key) -> Value | None:
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def _drop(self, key: Key) -> None:
        if key in self._values:
            self._size -= self._size_of(self._values.pop(key))
