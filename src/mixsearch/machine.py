"""The memory and the cores that this process may use, and work in threads or where Dask has it done."""

from __future__ import annotations

import math
import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ContextDecorator, contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

# If the operating system does not report it: what small machines have today.
ASSUMED_BYTES = 4 << 30


# Where Linux says in which control groups a process is, and what these allow.
OWN_GROUPS, GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Return the bytes of memory that this process may use."""
    return int(min(_query_system() or ASSUMED_BYTES, *_read_limits("memory", _read_memory_limit), math.inf))


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(bound, read_quota())))


@cache
def read_quota() -> float:
    """Return the cores that control groups allow, read once: a search asks several times, at a millisecond each."""
    return min(_read_limits("cpu", _read_cpu_limit), default=math.inf)


def _read_limits(controller: str, read: Callable[[Path], float]) -> Iterator[float]:
    """Yield the limits of the control group of this process and of those around it; none outside of Linux."""
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, names, path = line.split(":", 2)
        if names and controller not in names.split(","):
            continue
        # Version 2 has one tree without a name, version 1 one for each controller.
        root = GROUPS if not names else GROUPS / controller
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):
            with suppress(OSError, ValueError):  # no limit, or not shown inside a container
                yield read(folder)
            if folder == root:
                break


def _read_memory_limit(group: Path) -> float:
    for name in ("memory.max", "memory.limit_in_bytes"):
        if (group / name).exists():
            return float((group / name).read_text())  # "max" is not a number
    return math.inf


def _read_cpu_limit(group: Path) -> float:
    if (group / "cpu.max").exists():
        quota, period = map(float, (group / "cpu.max").read_text().split())
    else:
        quota, period = (float((group / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
    return quota / period if quota > 0 else math.inf


if sys.platform == "win32":
    import ctypes

    class _MemoryStatus(ctypes.Structure):
        """MEMORYSTATUSEX of the Windows API."""

        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            ("physical", ctypes.c_ulonglong),
            ("others", ctypes.c_ulonglong * 6),
        )

    def _query_system() -> int:
        status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
        found = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status.physical) if found else 0

else:

    def _query_system() -> int:
        try:
            size, n_pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, ValueError, OSError):
            return 0  # a system without this call, or without one of the names
        return size * n_pages if size > 0 and n_pages > 0 else 0


T = TypeVar("T")
U = TypeVar("U")


class OneBlasThread(ContextDecorator):
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


@contextmanager
def on_one_core() -> Iterator[None]:
    """Limit work in this context to one core, because the caller distributes work over the cores itself."""
    token = _cores.set(1)
    try:
        with one_blas_thread:
            yield
    finally:
        _cores.reset(token)


def map_parallel(function: Callable[[T], U], values: Iterable[T]) -> list[U]:
    """Apply a function to every value in parallel threads, each of which computes on one core."""
    tasks = list(values)
    n_threads = min(len(tasks), n_cores())
    with one_blas_thread:
        if n_threads <= 1:
            return list(map(function, tasks))
        # Every task has the caller's context: who collects its warnings.
        contexts = [copy_context() for _ in tasks]
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(lambda context, task: context.run(function, task), contexts, tasks))


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


def is_dask(collection: Any) -> bool:
    """Return whether an object is a Dask array, frame or bag, without an import of Dask."""
    return hasattr(collection, "__dask_graph__")


def compute_parts(collection: Any) -> Iterator[Any]:
    """Compute the parts of a Dask frame or bag where its scheduler runs: one at a time is in this process."""
    for part in collection.to_delayed():
        yield part.compute()
