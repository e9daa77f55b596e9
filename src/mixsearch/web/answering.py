"""Answers worked out beside the server: the same question once, kept while there is room, none in too long a queue."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from mixsearch.web.failures import Refused
from mixsearch.web.processes import search_here, searching_processes
from mixsearch.web.served import Served
from mixsearch.web.settings import Limits
from mixsearch.web.shelf import Shelf

# A search takes about as long as so many questions about a topic that is known.
WORTH_WAITING = 3
MOST_HOMES = 1000
# About what a question takes beside its answer.
KEY_BYTES = 2048

Result = TypeVar("Result")


class Lane:
    """Threads, or processes, with a queue of bounded length.

    Parameters
    ----------
    n_workers, most_waiting : int
        How many work, and for how many others there is room to wait.
    start : callable, optional
        Starts a pool of so many workers: threads by default.
    n_pools : int
        The workers are in so many pools. Questions with the same key go to the same one, if it is not far behind: it
        may know an answer from before.
    """

    def __init__(
        self,
        n_workers: int,
        most_waiting: int,
        start: Callable[[int], Executor] = ThreadPoolExecutor,
        n_pools: int = 1,
    ) -> None:
        self._start = partial(start, n_workers // n_pools)
        self._pools = [self._start() for _ in range(n_pools)]
        self._most = n_workers + most_waiting
        self._inside = [0] * n_pools
        self._homes: OrderedDict[int, int] = OrderedDict()

    def get_ready(self, work: Callable[[], object]) -> None:
        """Let every pool do some work, so that the first question finds it started."""
        for pool in self._pools:
            pool.submit(work)

    async def run(self, work: Callable[[], Result], key: Hashable = None) -> Result:
        """The result of some work; the caller may lose patience, the work goes on and keeps its place until it ends."""
        if sum(self._inside) >= self._most:
            raise Refused("busy", "The server has more questions than it can answer at once. Try again in a moment.")
        place = self._place_for(hash(key))  # keys may be long
        pool = self._pools[place]
        try:
            job = asyncio.get_running_loop().run_in_executor(pool, work)
            self._inside[place] += 1
            job.add_done_callback(partial(self._leave, place))
            return await asyncio.shield(job)
        except BrokenExecutor:
            raise self._mended(place, pool) from None

    def _mended(self, place: int, broken: Executor) -> Refused:
        """Another pool, where a process was killed and the rest gave up with it; once for all who waited."""
        if self._pools[place] is broken:
            self._pools[place] = self._start()
            broken.shutdown(wait=False)
        return Refused("busy", "A process that searches has ended; another is started. Try again in a moment.")

    def _place_for(self, key: int) -> int:
        """The pool that had the key last, unless another has much less to do."""
        idlest = self._inside.index(min(self._inside))
        home = self._homes.pop(key, idlest)
        place = home if self._inside[home] <= self._inside[idlest] + WORTH_WAITING else idlest
        self._homes[key] = place
        while len(self._homes) > MOST_HOMES:
            self._homes.popitem(last=False)
        return place

    def _leave(self, place: int, job: asyncio.Future[Result]) -> None:
        self._inside[place] -= 1
        if not job.cancelled():
            job.exception()  # looked at, so that nobody misses it where the caller is gone

    def close(self) -> None:
        """Take no more work."""
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)


class Room:
    """How many may be inside at a time."""

    def __init__(self, most: int) -> None:
        self._most, self._n_inside = most, 0

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for one, if there is any."""
        if self._n_inside >= self._most:
            raise Refused("busy", "The server has as much at hand as it can hold. Try again in a moment.")
        self._n_inside += 1
        try:
            yield
        finally:
            self._n_inside -= 1


def size_of_answer(answer: bytes) -> int:
    """What an answer that is kept takes, with its question."""
    return len(answer) + KEY_BYTES


class Answering:
    """A lane for searches, one for questions that take longer and must not hold them up, and others beside them.

    Parameters
    ----------
    limits : Limits
    paths : mapping of str to str
        Where the indexes are, for processes that open them by themselves.
    """

    def __init__(self, limits: Limits, paths: Mapping[str, str] | None = None) -> None:
        self._in_processes = limits.n_processes > 0
        if self._in_processes:
            start = partial(searching_processes, paths or {})
            self.quick = Lane(limits.n_processes, limits.most_waiting, start, n_pools=limits.n_processes)
            self.slow = Lane(max(limits.n_processes - 1, 1), limits.most_waiting, start)
        else:
            self.quick = Lane(limits.n_threads, limits.most_waiting)
            self.slow = Lane(max(limits.n_threads - 1, 1), limits.most_waiting)
        self.reading = Lane(1, limits.most_waiting)
        self.pictures = Lane(max(limits.n_threads - 1, 1), limits.most_waiting)
        self._kept: Shelf[Hashable, bytes] = Shelf(limits.most_answers_bytes, size_of_answer, least=0)
        self._coming: dict[Hashable, asyncio.Task[bytes]] = {}

    def get_ready(self) -> None:
        """Start the processes, where there are some."""
        if self._in_processes:
            for lane in (self.quick, self.slow):
                lane.get_ready(os.getpid)

    def lane(self, is_slow: bool) -> Lane:
        """Where a question goes."""
        return self.slow if is_slow else self.quick

    def work(self, index: Served, tell: Callable[..., bytes], *asked: Any) -> Callable[[], bytes]:
        """What a worker has to do: let an index tell something."""
        return partial(search_here, index.name, tell, *asked) if self._in_processes else partial(tell, index, *asked)

    async def once(self, key: Hashable, work: Callable[[], bytes], lane: Lane, hint: Hashable = None) -> bytes:
        """The answer to a question: one that was kept or is being worked out, or a new one from who knows the hint."""
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        if key not in self._coming:
            self._coming[key] = asyncio.create_task(self._work_out(key, work, lane, hint))
        return await asyncio.shield(self._coming[key])

    async def _work_out(self, key: Hashable, work: Callable[[], bytes], lane: Lane, hint: Hashable) -> bytes:
        try:
            value = await lane.run(work, hint)
        finally:
            del self._coming[key]
        self._kept.put(key, value)
        return value

    def close(self) -> None:
        """Take no more questions."""
        for lane in (self.quick, self.slow, self.reading, self.pictures):
            lane.close()
