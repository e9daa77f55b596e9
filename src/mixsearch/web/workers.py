"""Workers next to the event loop: pools with bounded queues, and the cache of their answers."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable, Mapping
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from mixsearch.web.cache import LRUCache
from mixsearch.web.errors import APIError
from mixsearch.web.indexes import ServedIndex, call_with_index, start_search_processes
from mixsearch.web.settings import Limits

# Waiting for the worker that has found a topic pays off behind this many calls: a search takes as long as those.
_MAX_BEHIND = 3
_MAX_AFFINITIES = 1000
# The approximate size of a cached answer without its body.
KEY_BYTES = 2048

Result = TypeVar("Result")


class WorkerPool:
    """Threads or processes with a queue of bounded length.

    Parameters
    ----------
    n_workers, max_waiting : int
        The number of workers, and of further calls that may wait.
    start : callable, optional
        Starts an executor with a number of workers; threads by default.
    n_executors : int
        The workers are split into this many executors. Calls with the same affinity go to the same one unless it is
        far behind: it may have cached what they need.
    """

    def __init__(
        self,
        n_workers: int,
        max_waiting: int,
        start: Callable[[int], Executor] = ThreadPoolExecutor,
        n_executors: int = 1,
    ) -> None:
        self._start = partial(start, n_workers // n_executors)
        self._executors = [self._start() for _ in range(n_executors)]
        self._max_calls = n_workers + max_waiting
        self._n_calls = [0] * n_executors
        self._affinities: OrderedDict[int, int] = OrderedDict()

    def warm_up(self, work: Callable[[], object]) -> None:
        """Let every executor start a worker now, not at the first call."""
        for executor in self._executors:
            executor.submit(work)

    async def run(self, work: Callable[[], Result], affinity: Hashable = None) -> Result:
        """Run a function in a worker. If the caller is cancelled, the call goes on and counts until it ends."""
        if sum(self._n_calls) >= self._max_calls:
            raise APIError(
                "busy",
                "The server is busy: {n_calls} requests are running or waiting. Try again in a moment.",
                n_calls=sum(self._n_calls),
            )
        i = self._choose_executor(hash(affinity))  # the keys may be long
        executor = self._executors[i]
        try:
            job = asyncio.get_running_loop().run_in_executor(executor, work)
            self._n_calls[i] += 1
            job.add_done_callback(partial(self._finish, i))
            return await asyncio.shield(job)
        except BrokenExecutor:
            self._restart(i, executor)
            raise APIError("busy", "A search process has ended, and a new one starts. Try again in a moment.") from None

    def close(self) -> None:
        """Accept no further calls."""
        for executor in self._executors:
            executor.shutdown(wait=False, cancel_futures=True)

    def _restart(self, i: int, broken: Executor) -> None:
        """Replace an executor that lost a process, once for all of its calls."""
        if self._executors[i] is broken:
            self._executors[i] = self._start()
            broken.shutdown(wait=False)

    def _choose_executor(self, affinity: int) -> int:
        """Return the executor that had the affinity last, unless another one has much less to do."""
        idlest = self._n_calls.index(min(self._n_calls))
        last = self._affinities.pop(affinity, idlest)
        chosen = last if self._n_calls[last] <= self._n_calls[idlest] + _MAX_BEHIND else idlest
        self._affinities[affinity] = chosen
        while len(self._affinities) > _MAX_AFFINITIES:
            self._affinities.popitem(last=False)
        return chosen

    def _finish(self, i: int, job: asyncio.Future[Result]) -> None:
        self._n_calls[i] -= 1
        if not job.cancelled():
            job.exception()  # retrieved, so that asyncio does not log it if the caller is gone


def measure_answer(answer: bytes) -> int:
    """Return the size of a cached answer, with its key."""
    return len(answer) + KEY_BYTES


class Workers:
    """The worker pools of a server, and the cache of their answers.

    Parameters
    ----------
    limits : Limits
        Numbers of workers and sizes.
    paths : mapping of str to str
        The folders of the indexes, which worker processes open themselves.

    Attributes
    ----------
    search, slow : WorkerPool
        For searches, and for requests that take longer and must not delay them.
    documents, images, tables : WorkerPool
        Threads that read documents, that segment and draw images, and that search in tables.
    """

    def __init__(self, limits: Limits, paths: Mapping[str, str] | None = None) -> None:
        self._has_processes = limits.workers > 0
        if self._has_processes:
            start = partial(start_search_processes, paths or {})
            self.search = WorkerPool(limits.workers, limits.max_waiting, start, n_executors=limits.workers)
            self.slow = WorkerPool(max(limits.workers - 1, 1), limits.max_waiting, start)
        else:
            self.search = WorkerPool(limits.n_threads, limits.max_waiting)
            self.slow = WorkerPool(max(limits.n_threads - 1, 1), limits.max_waiting)
        self.documents = WorkerPool(1, limits.max_waiting)
        self.images = WorkerPool(max(limits.n_threads - 1, 1), limits.max_waiting)
        self.tables = WorkerPool(max(limits.n_threads - 1, 1), limits.max_waiting)
        self._answers: LRUCache[Hashable, bytes] = LRUCache(limits.max_cached_bytes, measure_answer, min_entries=0)
        self._tasks: set[asyncio.Task[None]] = set()

    def warm_up(self) -> None:
        """Start the search processes, if there are any."""
        if self._has_processes:
            for pool in (self.search, self.slow):
                pool.warm_up(os.getpid)

    async def call(
        self,
        index: ServedIndex,
        make: Callable[..., bytes],
        *arguments: Any,
        slow: bool = False,
        affinity: Hashable = None,
    ) -> bytes:
        """Return `make(index, *arguments)`, computed in a worker."""
        call = (
            partial(call_with_index, index.name, str(index.index.path), index.generation, make)
            if self._has_processes
            else partial(make, index)
        )
        return await (self.slow if slow else self.search).run(partial(call, *arguments), affinity)

    async def call_cached(
        self,
        index: ServedIndex,
        make: Callable[..., bytes],
        *arguments: Hashable,
        slow: bool = False,
        affinity: Hashable = None,
    ) -> bytes:
        """Return `make(index, *arguments)` from the cache; equal calls at the same time are computed once."""
        key = (index.name, index.generation, make, *arguments)
        future, is_ours = self._answers.reserve(key)
        if is_ours:
            # A task of its own: the first caller may leave while others wait.
            task = asyncio.create_task(
                self._fill(key, self.call(index, make, *arguments, slow=slow, affinity=affinity))
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return future.result() if future.done() else await asyncio.wrap_future(future)

    async def _fill(self, key: Hashable, call: Coroutine[Any, Any, bytes]) -> None:
        try:
            self._answers.resolve(key, await call)
        except BaseException as error:  # also when it is cancelled: nobody may wait forever
            self._answers.fail(key, error)

    def close(self) -> None:
        """Accept no further calls."""
        for pool in (self.search, self.slow, self.documents, self.images, self.tables):
            pool.close()
