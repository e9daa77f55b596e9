"""Workers: equal calls are computed once, the cache and the queues are bounded."""

import asyncio
import gc
import threading
from types import SimpleNamespace

import pytest
from tests.coded import raises

from mixsearch.web.indexes import ServedIndex
from mixsearch.web.settings import Limits
from mixsearch.web.workers import WorkerPool, Workers

INDEX = ServedIndex("texts", SimpleNamespace(generation="data-0"))


def make_workers(**limits):
    return Workers(Limits(**{"n_threads": 2, **limits}))


class Work:
    """Work that waits until it may go on, and tells that it has begun."""

    def __init__(self):
        self.begun, self.go_on, self.calls = threading.Event(), threading.Event(), []

    def __call__(self, _=None, name="answer"):
        self.calls.append(name)
        self.begun.set()
        self.go_on.wait()
        return name.encode()

    async def begin(self):
        await asyncio.to_thread(self.begun.wait)


async def turn(n=5):
    """Let other tasks take some turns."""
    for _ in range(n):
        await asyncio.sleep(0)


def test_equal_calls_are_computed_once_and_one_who_leaves_takes_nothing_from_the_others():
    async def ask():
        workers, work = make_workers(), Work()
        calls = [asyncio.create_task(workers.call_cached(INDEX, work)) for _ in range(4)]
        await work.begin()
        calls[0].cancel()
        await turn()
        work.go_on.set()
        answers = await asyncio.gather(*calls[1:])
        return [*answers, await workers.call_cached(INDEX, work)], work.calls

    assert asyncio.run(ask()) == ([b"answer"] * 4, ["answer"])


def test_an_error_reaches_all_who_asked_and_is_not_kept():
    calls = []

    def fail(_):
        calls.append(1)
        raise ValueError("no answer")

    async def ask():
        workers = make_workers()
        errors = await asyncio.gather(*(workers.call_cached(INDEX, fail) for _ in range(3)), return_exceptions=True)
        with pytest.raises(ValueError, match="no answer"):
            await workers.call_cached(INDEX, fail)
        return [str(error) for error in errors]

    assert asyncio.run(ask()) == ["no answer"] * 3
    assert len(calls) == 2


def test_too_long_a_queue_turns_questions_away_and_work_keeps_its_place_until_it_ends():
    async def ask():
        pool, work = WorkerPool(1, max_waiting=1), Work()
        first, second = (asyncio.create_task(pool.run(work)) for _ in range(2))
        await work.begin()
        first.cancel()  # it has begun, and goes on
        await turn()
        with raises("busy") as refused:
            await pool.run(lambda: None)
        work.go_on.set()
        await second
        return refused.value.code, await pool.run(lambda: "again")

    assert asyncio.run(ask()) == ("busy", "again")


def test_slow_questions_leave_the_quick_ones_alone():
    async def ask():
        workers, work = make_workers(), Work()
        slow = [asyncio.create_task(workers.slow.run(work)) for _ in range(4)]
        quick = await workers.search.run(lambda: "quick")
        work.go_on.set()
        await asyncio.gather(*slow)
        return quick

    assert asyncio.run(ask()) == "quick"


def test_answers_are_kept_up_to_so_many_bytes():
    async def ask():
        workers, work = make_workers(max_cached_bytes=6000), Work()
        work.go_on.set()
        for name in ("a", "b", "a", "c", "a", "b"):
            await workers.call_cached(INDEX, work, name)
        return work.calls

    assert asyncio.run(ask()) == ["a", "b", "c", "b"]


def test_work_that_nobody_waits_for_any_more_is_not_begun():
    async def ask():
        workers, work = make_workers(n_threads=1), Work()
        first, second, third = (
            asyncio.create_task(workers.call_cached(INDEX, work, name)) for name in ("first", "second", "third")
        )
        await work.begin()
        second.cancel()
        again = asyncio.create_task(workers.call_cached(INDEX, work, "third"))
        await turn()
        third.cancel()  # another one waits for it
        await turn()
        work.go_on.set()
        answers = [await first, await again, await workers.call_cached(INDEX, work, "second")]
        return answers, work.calls

    assert asyncio.run(ask()) == ([b"first", b"third", b"second"], ["first", "third", "second"])


def test_an_error_that_nobody_waits_for_any_more_is_not_logged(caplog):
    work = Work()

    def fail(_):
        work()
        raise ValueError("nobody reads this")

    async def ask():
        workers = make_workers(n_threads=1)
        task = asyncio.create_task(workers.call(INDEX, fail))
        await work.begin()
        task.cancel()
        await turn()
        work.go_on.set()
        await workers.search.run(lambda: None)  # the one thread has ended the call before
        await turn()
        gc.collect()  # asyncio logs what is thrown away unread

    asyncio.run(ask())
    gc.collect()
    assert "nobody reads this" not in caplog.text


def test_stop_iteration_in_a_worker_is_an_error_and_frees_its_place():
    async def ask():
        pool = WorkerPool(1, 0)
        for _ in range(3):
            with pytest.raises(RuntimeError):
                await asyncio.wait_for(pool.run(lambda: next(iter(()))), 60)
        pool.close()

    asyncio.run(ask())
