"""Work in threads: once for the same question, kept within bounds, turned away when there is too much."""

import asyncio
import threading

import pytest

from mixsearch.web.answering import KEY_BYTES, Answering, Lane, size_of_answer
from mixsearch.web.failures import Refused
from mixsearch.web.settings import Limits
from mixsearch.web.shelf import Shelf


def answering(**limits):
    return Answering(Limits(**{"n_threads": 2, **limits}))


def run(work):
    return asyncio.run(asyncio.wait_for(work, 120))


def test_the_same_question_is_worked_out_once():
    calls, go_on = [], threading.Event()

    def work():
        calls.append(1)
        go_on.wait(60)
        return b"answer"

    async def ask():
        desk = answering()
        coming = [asyncio.create_task(desk.once("q", work, desk.quick)) for _ in range(5)]
        await asyncio.sleep(0.05)
        go_on.set()
        answers = await asyncio.gather(*coming)
        return [*answers, await desk.once("q", work, desk.quick)]

    assert run(ask()) == [b"answer"] * 6
    assert len(calls) == 1


def test_an_error_reaches_all_who_asked_and_is_not_kept():
    calls = []

    def work():
        calls.append(1)
        raise ValueError("no answer")

    async def ask():
        desk = answering()
        return await asyncio.gather(*(desk.once("q", work, desk.quick) for _ in range(3)), return_exceptions=True)

    assert [str(error) for error in run(ask())] == ["no answer"] * 3
    assert len(calls) == 1


def test_one_who_leaves_takes_nothing_from_the_others():
    go_on = threading.Event()

    def work():
        go_on.wait(60)
        return b"answer"

    async def ask():
        desk = answering()
        first, second = (asyncio.create_task(desk.once("q", work, desk.quick)) for _ in range(2))
        await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.sleep(0)
        go_on.set()
        return await second

    assert run(ask()) == b"answer"


def test_too_long_a_queue_turns_questions_away_and_recovers():
    go_on = threading.Event()

    async def ask():
        lane = Lane(1, most_waiting=2)
        inside = [asyncio.create_task(lane.run(lambda: go_on.wait(60))) for _ in range(3)]
        await asyncio.sleep(0.05)
        with pytest.raises(Refused, match="more questions than it can answer") as refused:
            await lane.run(lambda: None)
        go_on.set()
        await asyncio.gather(*inside)
        return refused.value.code, await lane.run(lambda: "again")

    assert run(ask()) == ("busy", "again")


def test_work_that_nobody_waits_for_keeps_its_place_until_it_ends():
    go_on = threading.Event()

    async def ask():
        lane = Lane(1, most_waiting=0)
        task = asyncio.create_task(lane.run(lambda: go_on.wait(60)))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.sleep(0)
        with pytest.raises(Refused):
            await lane.run(lambda: None)
        go_on.set()
        while True:
            try:
                return await lane.run(lambda: "free")
            except Refused:
                await asyncio.sleep(0.01)  # the work is about to end

    assert run(ask()) == "free"


def test_slow_questions_leave_the_quick_ones_alone():
    go_on = threading.Event()

    async def ask():
        desk = answering()
        slow = [asyncio.create_task(desk.slow.run(lambda: go_on.wait(60))) for _ in range(4)]
        quick = await desk.quick.run(lambda: "quick")
        go_on.set()
        await asyncio.gather(*slow)
        return quick

    assert run(ask()) == "quick"


def test_answers_are_kept_up_to_so_many_bytes_and_the_oldest_go_first():
    kept = Shelf(10 + 2 * KEY_BYTES, size_of_answer, least=0)
    kept.put("a", b"1234")
    kept.put("b", b"1234")
    assert kept.get("a") == b"1234"  # asked for again, so that b is the oldest
    kept.put("c", b"1234")
    assert [kept.get(key) for key in "abc"] == [b"1234", None, b"1234"]
    kept.put("a", b"12345678")
    assert [kept.get(key) for key in "abc"] == [b"12345678", None, None]
    kept.put("d", b"x" * (11 + 2 * KEY_BYTES))
    assert kept.get("d") is None
