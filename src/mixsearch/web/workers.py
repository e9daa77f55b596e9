"""Workers next to the event loop: pools with bounded queues, and the cache of their answers."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from mixsearch.errors import DamagedFolderError
from mixsearch.web.cache import LRUCache
from mixsearch.web.errors import APIError
from mixsearch.web.indexes import ReplacedIndexError, ServedIndex, call_with_index, start_search_processes
from mixsearch.web.settings import Limits

# Waiting for the worker that has found a topic pays off behind this many calls: a search takes as long as those.
_MAX_BEHIND = 3
_MAX_AFFINITIES = 1000
# Processes that may end at a question before it is an error: the first may have been killed while it was idle.
_N_ALONE = 2
# The approximate size of a cached answer without its body.
_KEY_BYTES = 2048

Result = TypeVar("Result")

_logger = logging.getLogger(__name__)


class WorkerPool:
    """Threads or processes with a queue of bounded length."""

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
        """Start a worker in every executor now, not at the first call."""
        for executor in self._executors:
            executor.submit(work)

    async def run(self, work: Callable[[], Result], affinity: Hashable = None) -> Result:
        """Run a function in a worker.

        If the caller is cancelled, a call that waits is cancelled, and one that has begun goes on and counts until it
        ends. Raises `BrokenExecutor` if the process that ran it has ended; another one takes its place.
        """
        if sum(self._n_calls) >= self._max_calls:
            raise APIError(
                "busy",
                "The server is busy: {n_calls} requests are running or waiting. Try again in a moment.",
                n_calls=sum(self._n_calls),
            )
        i = self._choose_executor(hash(affinity))  # the keys may be long
        executor = self._executors[i]
        try:
            job = executor.submit(_call, work)
            self._n_calls[i] += 1
            answer = asyncio.wrap_future(job)
            answer.add_done_callback(partial(self._finish, i))
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            job.cancel()
            raise
        except BrokenExecutor:
            if self._executors[i] is executor:  # once for all of its calls
                self._executors[i] = self._start()
                executor.shutdown(wait=False)
            raise

    def close(self) -> None:
        """Accept no further calls."""
        for executor in self._executors:
            executor.shutdown(wait=False, cancel_futures=True)

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


@dataclass
class _Pending:
    """An answer that is being computed, and how many wait for it."""

    task: asyncio.Task[bytes]
    n_waiting: int = 0


class Workers:
    """The worker pools of a server, and the cache of their answers.

    Attributes
    ----------
    search, slow : WorkerPool
        For searches, and for requests that take longer and must not delay them.
    images, tables : WorkerPool
        Threads that segment and draw images, and that search in tables.
    """

    def __init__(self, limits: Limits, paths: Mapping[str, str] | None = None) -> None:
        self._has_processes = limits.workers > 0
        # For questions about a state of an index that only the server has open.
        self._here = WorkerPool(1, limits.max_waiting)
        self._alone = self._here
        if self._has_processes:
            start = partial(start_search_processes, paths or {})
            # A question that has ended a process is asked again in one where it is alone.
            self._alone = WorkerPool(1, limits.max_waiting, start)
            self.search = WorkerPool(limits.workers, limits.max_waiting, start, n_executors=limits.workers)
            self.slow = WorkerPool(max(limits.workers - 1, 1), limits.max_waiting, start)
        else:
            self.search = WorkerPool(limits.n_threads, limits.max_waiting)
            self.slow = WorkerPool(max(limits.n_threads - 1, 1), limits.max_waiting)
        self.images = WorkerPool(max(limits.n_threads - 1, 1), limits.max_waiting)
        self.tables = WorkerPool(max(limits.n_threads - 1, 1), limits.max_waiting)
        self._only_one = asyncio.Lock()
        self._answers: LRUCache[Hashable, bytes] = LRUCache(
            limits.max_cached_bytes, lambda answer: len(answer) + _KEY_BYTES, min_entries=0
        )
        self._pending: dict[Hashable, _Pending] = {}

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
        pool, here = self.slow if slow else self.search, partial(make, index, *arguments)
        try:
            if not self._has_processes:
                return await pool.run(here, affinity)
            path = str(index.index.path)
            work = partial(call_with_index, index.name, path, index.generation, make, *arguments)
            try:
                return await pool.run(work, affinity)
            except BrokenExecutor:
                return await self._call_alone(index, work)
        except ReplacedIndexError:
            return await self._here.run(here)
        except DamagedFolderError as error:
            index.set_damage(error)
            raise

    async def _call_alone(self, index: ServedIndex, work: Callable[[], bytes]) -> bytes:
        """Ask a question again that has ended a process, or was waiting for one that ended otherwise."""
        async with self._only_one:
            for _ in range(_N_ALONE):
                with suppress(BrokenExecutor):
                    return await self._alone.run(work)
        error = APIError(
            "index_broken",
            "Search processes ended at this question. The index {name!r} may be damaged, or memory ran out. Verify it "
            "with `mixsearch info --verify`.",
            name=index.name,
        )
        _logger.error("%s", error)
        raise error

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
        answer = self._answers.get(key)
        if answer is not None:
            return answer
        pending = self._pending.get(key)
        if pending is None:
            # A task of its own: the first caller may leave while others wait.
            call = self.call(index, make, *arguments, slow=slow, affinity=affinity)
            pending = self._pending[key] = _Pending(asyncio.create_task(call))
            pending.task.add_done_callback(partial(self._keep, key))
        pending.n_waiting += 1
        try:
            return await asyncio.shield(pending.task)
        finally:
            pending.n_waiting -= 1
            # A short one that nobody waits for any more ends; who asks again for a long one finds it done.
            if not pending.n_waiting and not slow and self._pending.get(key) is pending:
                pending.task.cancel()
                del self._pending[key]

    def _keep(self, key: Hashable, task: asyncio.Task[bytes]) -> None:
        """Cache the answer of a task."""
        pending = self._pending.get(key)
        if pending is not None and pending.task is task:
            del self._pending[key]
        if not task.cancelled() and task.exception() is None:
            self._answers.put(key, task.result())

    def close(self) -> None:
        """Accept no further calls."""
        for pool in (self.search, self.slow, self.images, self.tables, self._alone, self._here):
            pool.close()


def _call(work: Callable[[], Result]) -> Result:
    """Run a function; a future cannot hold StopIteration, and would never end."""
    try:
        return work()
    except StopIteration as error:
        raise RuntimeError("StopIteration in a worker") from error
