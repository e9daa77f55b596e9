"""Workers beside the event loop: one pool of processes or threads that search, and the cache of their answers."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from threading import Thread
from typing import Any

from mixsearch.errors import StorageError
from mixsearch.machine import n_cores, on_one_core
from mixsearch.web.answers import encode_json
from mixsearch.web.errors import APIError
from mixsearch.web.indexes import ServedIndex, State, StateGoneError, open_state
from mixsearch.web.processes import process_context
from mixsearch.web.settings import Limits

MAX_CACHED_BYTES = 64 << 20
# The approximate size of a cached answer without its body.
_KEY_BYTES = 2048

_logger = logging.getLogger(__name__)


class Workers:
    """The pool that searches, and the cache of its answers."""

    def __init__(self, limits: Limits, states: list[State]) -> None:
        self._has_processes, self._states, self._seconds = limits.workers > 0, states, limits.timeout
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
        self, index: ServedIndex, make: Callable[..., Any], *arguments: Hashable, slow: bool = False
    ) -> bytes:
        """Return `make(index, *arguments)` from the cache, or computed by a worker: bytes, or a value as JSON.

        The same question is computed once, whoever asks it meanwhile. Calls that are `slow` are computed one at a time,
        and have ten times as many seconds.
        """
        key = (index.state, make, *arguments)
        if key in self._answers:
            self._answers.move_to_end(key)
            return self._answers[key]
        if key not in self._pending:
            task = self._pending[key] = asyncio.create_task(self._answer(key, index, make, *arguments, slow=slow))
            task.add_done_callback(lambda _: self._pending.pop(key))
        seconds = self._seconds * (10 if slow else 1)
        try:
            return await asyncio.wait_for(asyncio.shield(self._pending[key]), seconds)
        except TimeoutError:
            sentence = "No answer within {seconds:g} seconds. Request less."
            raise APIError("too_slow", sentence, seconds=seconds) from None
        except asyncio.CancelledError:  # at the end of the server, whose log would show a traceback otherwise
            raise APIError("busy", "The server is stopping. Ask again when it is back.") from None

    def close(self) -> None:
        """Accept no further calls."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _answer(self, key: Hashable, *question: Any, slow: bool) -> bytes:
        """Compute an answer and cache it; drop those not asked for longest."""
        async with self._slow if slow else nullcontext():
            answer = self._answers[key] = await self._compute(*question)
        self._n_bytes += len(answer) + _KEY_BYTES
        while self._n_bytes > MAX_CACHED_BYTES:
            _, dropped = self._answers.popitem(last=False)
            self._n_bytes -= len(dropped) + _KEY_BYTES
        return answer

    async def _compute(self, index: ServedIndex, make: Callable[..., Any], *arguments: Any) -> bytes:
        """Compute an answer in a worker. If its process ends, ask once more, in a process of its own."""
        question = (compute, index.state if self._has_processes else index, make, *arguments)
        executor = self._executor
        try:
            return await asyncio.wrap_future(executor.submit(*question))
        except StateGoneError:  # the index has changed since the server has opened it
            return await asyncio.to_thread(compute, index, make, *arguments)
        except BrokenExecutor:
            if self._executor is executor:
                self._executor = self._start(self._n_workers)
        try:
            async with self._alone:
                with self._start(1) as alone:
                    return await asyncio.wrap_future(alone.submit(*question))
        except StateGoneError:
            return await asyncio.to_thread(compute, index, make, *arguments)
        except BrokenExecutor:
            error = APIError(
                "index_broken",
                "Search processes ended at this question. The index {name!r} may be damaged, or memory ran out. "
                "Verify it with `mixsearch info --verify`.",
                name=index.name,
            )
            _logger.error("%s", error)
            raise error from None

    def _start(self, n_workers: int) -> Executor:
        if not self._has_processes:
            return ThreadPoolExecutor(n_workers)
        return ProcessPoolExecutor(n_workers, process_context(), open_in_worker, (self._states,))


# ---- In a worker ----


def open_in_worker(states: list[State]) -> None:
    """Open indexes in a process that has just started, and read their vocabularies, which takes longest."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles it and ends this process
    Thread(target=_exit_with_server, daemon=True).start()
    for state in states:
        with suppress(StorageError, StateGoneError):  # the first question about it says why
            open_state(state).warm_up()


def _exit_with_server() -> None:
    """Exit when the server does, even if it was killed."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)


def compute(index: ServedIndex | State, make: Callable[..., Any], *arguments: Any) -> bytes:
    """Compute an answer as bytes, in a process from the state of the index that the server has opened."""
    if isinstance(index, State):
        with on_one_core():
            return compute(open_state(index), make, *arguments)
    answer = make(index, *arguments)
    return answer if isinstance(answer, bytes) else encode_json(answer)
