"""Workers: answers are cached, and calls go on without a client."""

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from mixsearch.web.errors import APIError
from mixsearch.web.indexes import ServedIndex
from mixsearch.web.settings import Limits
from mixsearch.web.workers import Workers

INDEX = ServedIndex("texts", SimpleNamespace(path=Path("texts.index"), generation="data-0"))


@pytest.fixture(autouse=True)
def _one_core(monkeypatch):
    monkeypatch.setattr("mixsearch.web.workers.n_cores", lambda: 1)


class Work:
    """Work that waits until it may go on, and tells how many have begun."""

    def __init__(self):
        self.begun, self.go_on, self.calls = threading.Semaphore(0), threading.Event(), []

    def __call__(self, _, name="answer"):
        self.calls.append(name)
        self.begun.release()
        self.go_on.wait()
        return name.encode()

    async def begin(self):
        await asyncio.to_thread(self.begun.acquire)


def test_answers_are_kept_up_to_so_many_bytes(monkeypatch):
    monkeypatch.setattr("mixsearch.web.workers.MAX_CACHED_BYTES", 6000)

    async def ask():
        workers, work = Workers(Limits(), []), Work()
        work.go_on.set()
        for name in ("a", "b", "a", "c", "a", "b"):
            assert await workers.call(INDEX, work, name) == name.encode()
        return work.calls

    assert asyncio.run(ask()) == ["a", "b", "c", "b"]


def test_an_error_is_not_kept():
    calls = []

    def fail(_):
        calls.append(1)
        raise ValueError("no answer")

    async def ask():
        workers = Workers(Limits(), [])
        for _ in range(2):
            for slow in (False, True):
                with pytest.raises(ValueError, match="no answer"):
                    await workers.call(INDEX, fail, slow=slow)

    asyncio.run(ask())
    assert len(calls) == 4


def test_slow_calls_are_computed_once_and_leave_quick_ones_a_worker():
    async def ask():
        workers, work, quick = Workers(Limits(), []), Work(), Work()
        quick.go_on.set()
        calls = [asyncio.create_task(workers.call(INDEX, work, name, slow=True)) for name in ("a", "a", "b")]
        await work.begin()
        calls[0].cancel()  # its client leaves, or the server stops; it goes on for the next
        with pytest.raises(APIError, match="stopping"):
            await calls[0]
        answer = await workers.call(INDEX, quick, "quick")
        work.go_on.set()
        return answer, await asyncio.gather(*calls[1:]), work.calls

    assert asyncio.run(ask()) == (b"quick", [b"a", b"b"], ["a", "b"])
