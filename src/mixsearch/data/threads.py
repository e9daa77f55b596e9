"""Threads that share the work of a computation, and limits of BLAS threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache, cached_property
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from mixsearch.data.machine import available_cores

T = TypeVar("T")
U = TypeVar("U")


class _OneBlasThread:
    """Process-wide limit of BLAS to one thread. Reentrant and shared: the first user sets it, the last one lifts it."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limit: AbstractContextManager[Any] | None = None

    @cached_property
    def _pools(self) -> ThreadpoolController:
        """Thread pools of this process. Detecting them takes longer than a search."""
        return ThreadpoolController()

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._limit is None:
                self._limit = self._pools.limit(limits=1, user_api="blas")
                self._limit.__enter__()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._limit is not None:
                self._limit.__exit__(None, None, None)
                self._limit = None


# Limits BLAS to one thread where cores are shared out at a higher level.
one_blas_thread = _OneBlasThread()

_cores: ContextVar[int | None] = ContextVar("cores", default=None)


def n_cores() -> int:
    """Return the number of threads for work outside BLAS.

    Returns
    -------
    int
        Number of cores that this process may use, or 1 inside `on_one_core`.
    """
    return _cores.get() or available_cores()


def is_on_one_core() -> bool:
    """Return whether work is limited to one core by `on_one_core`.

    Returns
    -------
    bool
    """
    return _cores.get() == 1


@contextmanager
def on_one_core() -> Iterator[None]:
    """Limit work in this context to one core, because the caller distributes work over the cores itself."""
    token = _cores.set(1)
    try:
        with one_blas_thread:
            yield
    finally:
        _cores.reset(token)


@cache
def _helpers(n_threads: int) -> ThreadPoolExecutor:
    """Return threads that stay for the next call: starting one takes as long as a small task."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="mixsearch")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # threads do not survive a fork


def map_in_order(function: Callable[[T], U], values: Iterable[T], n_threads: int) -> Generator[U, None, None]:
    """Apply a function to every value in this thread and others, and yield the results in order.

    Parameters
    ----------
    function : callable
        It should release the interpreter lock, as sparse products do.
    values : iterable
    n_threads : int
        The number of threads, this one included.

    Yields
    ------
    The results, in the order of the values.

    Notes
    -----
    This thread does every task that no other has begun, so a call never waits for a task in a queue: calls within tasks
    cannot block each other.
    """
    if n_threads == 1:
        yield from map(function, values)
        return
    helpers = _helpers(n_threads - 1)
    tasks = [(value, helpers.submit(function, value)) for value in values]
    tasks.reverse()
    try:
        while tasks:
            value, future = tasks.pop()  # and with it the result, once it is used
            yield function(value) if future.cancel() else future.result()
    finally:
        # After an error, nothing goes on with arrays that the caller may close.
        wait([future for _, future in tasks if not future.cancel()])


def map_parallel(function: Callable[[T], U], values: Iterable[T], n_jobs: int | None) -> list[U]:
    """Apply a function to every value in parallel threads, each of which computes on one core."""
    tasks = list(values)
    # What n_jobs means is for joblib to say, which one task need not wait for.
    n_threads = 1 if len(tasks) <= 1 else _count_threads(n_jobs)
    with one_blas_thread:
        if n_threads == 1:
            return list(map(function, tasks))
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(function, tasks))


def _count_threads(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))
