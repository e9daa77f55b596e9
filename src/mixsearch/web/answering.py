"""Answers worked out in threads: the same question once, kept while there is room, and none for too long a queue."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from mixsearch.web.failures import Refused
from mixsearch.web.settings import Limits

Result = TypeVar("Result")


class Lane:
    """Threads with a queue of bounded length."""

    def __init__(self, n_threads: int, most_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(n_threads)
        self._most = n_threads + most_waiting
        self._n_inside = 0

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of some work; the caller may lose patience, the work goes on and keeps its place until it ends."""
        if self._n_inside >= self._most:
            raise Refused("busy", "The server has more questions than it can answer at once. Try again in a moment.")
        self._n_inside += 1
        job = asyncio.get_running_loop().run_in_executor(self._pool, work)
        job.add_done_callback(self._leave)
        return await asyncio.shield(job)

    def _leave(self, job: asyncio.Future[Result]) -> None:
        self._n_inside -= 1
        if not job.cancelled():
            job.exception()  # looked at, so that nobody misses it where the caller is gone

    def close(self) -> None:
        """Take no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Kept:
    """Values by their questions, up to so many bytes; those not asked for longest go first."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._n_bytes = 0
        self._values: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable) -> bytes | None:
        """What was kept, if it is still there."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def put(self, key: Hashable, value: bytes) -> None:
        """Keep a value."""
        self._n_bytes += len(value) - len(self._values.pop(key, b""))
        self._values[key] = value
        while self._n_bytes > self._most:
            self._n_bytes -= len(self._values.popitem(last=False)[1])


class Answering:
    """A lane for questions that take milliseconds, and one that cannot hold them up for those that take longer."""

    def __init__(self, limits: Limits) -> None:
        self.quick = Lane(limits.n_threads, limits.most_waiting)
        self.slow = Lane(max(limits.n_threads - 1, 1), limits.most_waiting)
        self._kept = Kept(limits.most_answers_bytes)
        self._coming: dict[Hashable, asyncio.Task[bytes]] = {}

    def lane(self, is_slow: bool) -> Lane:
        """Where a question goes."""
        return self.slow if is_slow else self.quick

    async def once(self, key: Hashable, work: Callable[[], bytes], lane: Lane) -> bytes:
        """The answer to a question: one that was kept or is being worked out, or a new one."""
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        if key not in self._coming:
            self._coming[key] = asyncio.create_task(self._work_out(key, work, lane))
        return await asyncio.shield(self._coming[key])

    async def _work_out(self, key: Hashable, work: Callable[[], bytes], lane: Lane) -> bytes:
        try:
            value = await lane.run(work)
        finally:
            del self._coming[key]
        self._kept.put(key, value)
        return value

    def close(self) -> None:
        """Take no more questions."""
        self.quick.close()
        self.slow.close()
