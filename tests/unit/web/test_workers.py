"""Workers: equal calls are computed once, the cache and the queues are bounded."""

import asyncio
import gc
import threading
from types import SimpleNamespace

import pytest

from mixsearch.web.cache import LRUCache
from mixsearch.web.errors import APIError
from mixsearch.web.indexes import ServedIndex
from mixsearch.web.settings import Limits
from mixsearch.web.workers import KEY_BYTES, WorkerPool, Workers, measure_answer

INDEX = ServedIndex("texts", SimpleNamespace(generation="data-0"))


def make_workers(**limits):
    return Workers(Limits(**{"n_threads": 2, **limits}))


def run(work):
    return asyncio.run(asyncio.wait_for(work, 120))


def test_the_same_question_is_worked_out_once():
    calls, go_on = [], threading.Event()

    def work(_):
        calls.append(1)
        go_on.wait(60)
        return b"answer"

    async def ask():
        workers = make_workers()
        coming = [asyncio.create_task(workers.call_cached(INDEX, work)) for _ in range(5)]
        await asyncio.sleep(0.05)
        go_on.set()
        answers = await asyncio.gather(*coming)
        return [*answers, await workers.call_cached(INDEX, work)]

    assert run(ask()) == [b"answer"] * 6
    assert len(calls) == 1


def test_an_error_reaches_all_who_asked_and_is_not_kept():
    calls = []

    def work(_):
        calls.append(1)
        raise ValueError("no answer")

    async def ask():
        workers = make_workers()
        return await asyncio.gather(*(workers.call_cached(INDEX, work) for _ in range(3)), return_exceptions=True)

    assert [str(error) for error in run(ask())] == ["no answer"] * 3
    assert len(calls) == 1


def test_one_who_leaves_takes_nothing_from_the_others():
    go_on = threading.Event()

    def work(_):
        go_on.wait(60)
        return b"answer"

    async def ask():
        workers = make_workers()
        first, second = (asyncio.create_task(workers.call_cached(INDEX, work)) for _ in range(2))
        await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.sleep(0)
        go_on.set()
        return await second

    assert run(ask()) == b"answer"


def test_too_long_a_queue_turns_questions_away_and_recovers():
    go_on = threading.Event()

    async def ask():
        pool = WorkerPool(1, max_waiting=2)
        inside = [asyncio.create_task(pool.run(lambda: go_on.wait(60))) for _ in range(3)]
        await asyncio.sleep(0.05)
        with pytest.raises(APIError, match="The server is busy") as refused:
            await pool.run(lambda: None)
        go_on.set()
        await asyncio.gather(*inside)
        return refused.value.code, await pool.run(lambda: "again")

    assert run(ask()) == ("busy", "again")


def test_work_that_nobody_waits_for_keeps_its_place_until_it_ends():
    go_on = threading.Event()

    async def ask():
        pool = WorkerPool(1, max_waiting=0)
        task = asyncio.create_task(pool.run(lambda: go_on.wait(60)))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.sleep(0)
        with pytest.raises(APIError):
            await pool.run(lambda: None)
        go_on.set()
        while True:
            try:
                return await pool.run(lambda: "free")
            except APIError:
                await asyncio.sleep(0.01)  # the work is about to end

    assert run(ask()) == "free"


def test_slow_questions_leave_the_quick_ones_alone():
    go_on = threading.Event()

    async def ask():
        workers = make_workers()
        slow = [asyncio.create_task(workers.slow.run(lambda: go_on.wait(60))) for _ in range(4)]
        quick = await workers.search.run(lambda: "quick")
        go_on.set()
        await asyncio.gather(*slow)
        return quick

    assert run(ask()) == "quick"


def test_answers_are_kept_up_to_so_many_bytes_and_the_oldest_go_first():
    kept = LRUCache(10 + 2 * KEY_BYTES, measure_answer, min_entries=0)
    kept.put("a", b"1234")
    kept.put("b", b"1234")
    assert kept.get("a") == b"1234"  # asked for again, so that b is the oldest
    kept.put("c", b"1234")
    assert [kept.get(key) for key in "abc"] == [b"1234", None, b"1234"]
    kept.put("a", b"12345678")
    assert [kept.get(key) for key in "abc"] == [b"12345678", None, None]
    kept.put("d", b"x" * (11 + 2 * KEY_BYTES))
    assert kept.get("d") is None


def test_work_that_nobody_waits_for_any_more_is_not_begun():
    begun, go_on = [], threading.Event()

    def work(_, name):
        begun.append(name)
        go_on.wait(60)
        return name.encode()

    async def ask():
        workers = make_workers(n_threads=1)
        first = asyncio.create_task(workers.call_cached(INDEX, work, "first"))
        second, third = (asyncio.create_task(workers.call_cached(INDEX, work, name)) for name in ("second", "third"))
        await asyncio.sleep(0.05)
        second.cancel()
        await asyncio.sleep(0.05)
        again = asyncio.create_task(workers.call_cached(INDEX, work, "third"))
        third.cancel()  # another one waits for it
        await asyncio.sleep(0.05)
        go_on.set()
        answers = [await first, await again, await workers.call_cached(INDEX, work, "second")]
        return answers, sum(workers.search._n_calls)

    assert run(ask()) == ([b"first", b"third", b"second"], 0)
    assert begun == ["first", "third", "second"]


def test_an_error_that_nobody_waits_for_any_more_is_not_logged(caplog):
    go_on = threading.Event()

    def fail(_):
        go_on.wait(60)
        raise ValueError("nobody reads this")

    async def ask():
        workers = make_workers(n_threads=1)
        task = asyncio.create_task(workers.call(INDEX, fail))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.sleep(0.05)
        go_on.set()
        while sum(workers.search._n_calls):
            await asyncio.sleep(0.01)
        gc.collect()  # asyncio logs what is thrown away unread

    run(ask())
    gc.collect()
    assert caplog.records == []
