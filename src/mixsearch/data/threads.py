"""Number of threads that a computation uses, and limits of BLAS threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from mixsearch.data.machine import available_cores

T = TypeVar("T")
U = TypeVar("U")


class OneBlasThread:
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
one_blas_thread = OneBlasThread()

_cores: ContextVar[int | None] = ContextVar("cores", default=None)


def n_cores() -> int:
    """Return the number of threads for work outside BLAS."""
    return _cores.get() or available_cores()


def is_on_one_core() -> bool:
    """Return whether work is limited to one core by `on_one_core`."""
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


def map_in_order(function: Callable[[T], U], items: Iterable[T], n_threads: int) -> Generator[U, None, None]:
    """Apply a function in threads and yield the results in order, with at most one more in memory than threads."""
    if n_threads == 1:
        yield from map(function, items)
        return
    pending: deque[Future[U]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for item in items:
                pending.append(pool.submit(function, item))
                if len(pending) > n_threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _count_threads(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))
