"""Searches in worker processes: the same answers and errors; requests of a killed one are repeated."""

import asyncio
import os
import shutil
import signal
from contextlib import suppress

import pytest
from starlette.testclient import TestClient
from tests.apps.test_web_watch import write_more
from tests.closeness import assert_close
from tests.coded import raises
from tests.served_corpus import open_made

from mixsearch.topics import add_documents
from mixsearch.web import Limits, make_app
from mixsearch.web.errors import APIError
from mixsearch.web.indexes import ServedIndex, StateGoneError, get_newest, open_state
from mixsearch.web.workers import Workers, compute

pytestmark = pytest.mark.slow

PATHS = [
    "topic?q=sushi",
    "topic?q=goal&skip=5",
    "topic?q=sushy",
    "documents/99999",
    "overview",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_made(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def beside(index):
    with TestClient(
        make_app({"texts": index}, limits=Limits(workers=1, timeout=120)), base_url="http://localhost"
    ) as client:
        yield client


def test_processes_say_what_threads_say(index, beside):
    with TestClient(make_app({"texts": index}, limits=Limits(timeout=120)), base_url="http://localhost") as threads:
        for path in PATHS:
            here, there = (client.get(f"/api/indexes/texts/{path}") for client in (threads, beside))
            assert here.status_code == there.status_code, path
            assert_close(there.json(), here.json(), path)


def kill_processes(workers):
    """Kill all search processes."""
    for pid in list(workers._executor._processes):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_where_all_processes_are_killed_new_ones_answer(beside):
    def ask(word):
        return beside.get("/api/indexes/texts/topic", params={"q": word}).status_code

    assert ask("sushi") == 200
    for word in ("rice", "ramen"):
        kill_processes(beside.app.state.workers)
        assert ask(word) == 200
    assert ask("soup") == 200
    assert beside.get("/api/health").json()["status"] == "ok"


def end_process(index):
    os._exit(1)


def count_documents(index):
    return str(index.index.n_documents).encode()


def test_a_question_that_ends_its_processes_is_an_error_and_others_are_answered(index, caplog):
    async def ask():
        served = ServedIndex("texts", index)
        workers = Workers(Limits(workers=1, timeout=120), [served.state])
        questions = [workers.call(served, make) for make in (end_process, count_documents, count_documents)]
        try:
            return await asyncio.gather(*questions, return_exceptions=True)
        finally:
            workers.close()

    died, *others = asyncio.run(ask())
    assert isinstance(died, APIError)
    assert died.code == "index_broken"
    assert others == [b"240", b"240"]
    assert str(died) in caplog.text


def test_a_worker_answers_from_the_state_that_was_asked_and_from_no_other(tmp_path):
    open_state.cache_clear()
    served = ServedIndex("texts", open_made(tmp_path))
    old, path = served.state, served.state.path
    assert compute(old, count_documents) == b"240"
    add_documents(path, write_more(tmp_path))
    new = get_newest({"texts": served}, "texts").state
    assert compute(new, count_documents) == b"269"
    assert compute(old, count_documents) == b"240"
    open_state.cache_clear()
    with pytest.raises(StateGoneError):
        compute(old, count_documents)
    shutil.rmtree(path)
    with raises("folder_missing"):
        compute(new, count_documents)
