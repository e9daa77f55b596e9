"""What is kept as long as there is room, and made once however many ask for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Shelf(Generic[Key, Value]):
    """Values up to a total size, for any number of threads; those not asked for longest go first.

    Parameters
    ----------
    most : int
        The total size.
    size_of : callable
        From a value to its size.
    least : int, default=1
        So many of the last stay, however large they are.
    """

    def __init__(self, most: int, size_of: Callable[[Value], int], least: int = 1) -> None:
        self._most, self._size_of, self._least = most, size_of, least
        self._lock = Lock()
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._coming: dict[Key, Future[Value]] = {}
        self._total = 0

    def get(self, key: Key) -> Value | None:
        """What was put there, if it still is."""
        with self._lock:
            return self._found(key)

    def put(self, key: Key, value: Value) -> None:
        """Keep a value."""
        with self._lock:
            self._drop(key)
            self._values[key] = value
            self._total += self._size_of(value)
            while self._total > self._most and len(self._values) > self._least:
                self._drop(next(iter(self._values)))

    def once(self, key: Key, make: Callable[[], Value]) -> Value:
        """What is there, or is made now: of threads that ask at the same time, one makes it and all get it."""
        with self._lock:
            found = self._found(key)
            if found is not None:
                return found
            coming = self._coming.get(key)
            if coming is None:
                ours = self._coming[key] = Future()
        return self._make(key, make, ours) if coming is None else coming.result()

    def drop_where(self, is_unwanted: Callable[[Key], bool]) -> int:
        """Forget values by their keys, and say how many they were."""
        with self._lock:
            unwanted = [key for key in self._values if is_unwanted(key)]
            for key in unwanted:
                self._drop(key)
            return len(unwanted)

    def _make(self, key: Key, make: Callable[[], Value], coming: Future[Value]) -> Value:
        try:
            value = make()
            self.put(key, value)
            coming.set_result(value)
            return value
        except BaseException as error:
            coming.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._coming[key]

    def _found(self, key: Key) -> Value | None:
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def _drop(self, key: Key) -> None:
        if key in self._values:
            self._total -= self._size_of(self._values.pop(key))
