"""Workers beside the event loop: one pool of processes or threads that search, and the cache of their answers."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, TypeVar

from mixsearch.machine import n_cores
from mixsearch.web.errors import APIError
from mixsearch.web.indexes import ServedIndex, call_with_index, open_in_worker
from mixsearch.web.processes import process_context
from mixsearch.web.settings import Limits

MAX_CACHED_BYTES = 64 << 20
# The approximate size of a cached answer without its body.
_KEY_BYTES = 2048

Result = TypeVar("Result")

_logger = logging.getLogger(__name__)


async def run_alone(lock: asyncio.Lock, work: Callable[[], Result]) -> Result:
    """Run a function in a thread, one at a time. It goes on if the caller is cancelled."""
    async with lock:
        return await asyncio.to_thread(work)


class Workers:
    """The pool that searches, and the cache of its answers."""

    def __init__(self, limits: Limits, paths: Mapping[str, str]) -> None:
        self._has_processes, self._paths = limits.workers > 0, dict(paths)
        # One more than work at searches, for the one call that may take long.
        self._n_workers = (limits.workers or n_cores()) + 1
        self._slow, self._alone = asyncio.Lock(), asyncio.Lock()
        self._pending: dict[Hashable, asyncio.Task[bytes]] = {}
        self._answers: OrderedDict[Hashable, bytes] = OrderedDict()
        self._n_bytes = 0
        self._executor = self._start(self._n_workers)

    def warm_up(self) -> None:
        """Start the search processes, if there are any."""
        if self._has_processes:
            for _ in range(self._n_workers):
                self._executor.submit(os.getpid)

    async def call(
        self, index: ServedIndex, make: Callable[..., bytes], *arguments: Hashable, slow: bool = False
    ) -> bytes:
        """Return `make(index, *arguments)` from the cache, or computed by a worker.

        Calls that are `slow` are computed one at a time. They go on when their client leaves, for the next one.
        """
        key = (index.name, index.generation, make, *arguments)
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
            return answer
        if not slow:
            return self._keep(key, await self._run(index, make, *arguments))
        if key not in self._pending:
            task = self._pending[key] = asyncio.create_task(self._run_slow(key, index, make, *arguments))
            task.add_done_callback(lambda _: self._pending.pop(key))
        return await asyncio.shield(self._pending[key])

    def close(self) -> None:
        """Accept no further calls."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _run_slow(self, key: Hashable, index: ServedIndex, make: Callable[..., bytes], *arguments: Any) -> bytes:
        async with self._slow:
            return self._keep(key, await self._run(index, make, *arguments))

    async def _run(self, index: ServedIndex, make: Callable[..., bytes], *arguments: Any) -> bytes:
        """Compute an answer in a worker. If its process ends, ask once more, in a process of its own."""
        if not self._has_processes:
            return await asyncio.wrap_future(self._executor.submit(make, index, *arguments))
        question = (call_with_index, index.name, str(index.index.path), index.generation, make, *arguments)
        executor = self._executor
        try:
            return await asyncio.wrap_future(executor.submit(*question))
        except BrokenExecutor:
            if self._executor is executor:
                self._executor = self._start(self._n_workers)
        async with self._alone:
            with self._start(1) as alone:
                try:
                    return await asyncio.wrap_future(alone.submit(*question))
                except BrokenExecutor:
                    error = APIError(
                        "index_broken",
                        "Search processes ended at this question. The index {name!r} may be damaged, or memory ran "
                        "out. Verify it with `mixsearch info --verify`.",
                        name=index.name,
                    )
                    _logger.error("%s", error)
                    raise error from None

    def _start(self, n_workers: int) -> Executor:
        if not self._has_processes:
            return ThreadPoolExecutor(n_workers)
        return ProcessPoolExecutor(n_workers, process_context(), open_in_worker, (self._paths,))

    def _keep(self, key: Hashable, answer: bytes) -> bytes:
        """Cache an answer, and drop those not asked for longest."""
        if key not in self._answers:
            self._answers[key] = answer
            self._n_bytes += len(answer) + _KEY_BYTES
        while self._n_bytes > MAX_CACHED_BYTES:
            _, dropped = self._answers.popitem(last=False)
            self._n_bytes -= len(dropped) + _KEY_BYTES
        return answer
