"""Searches in processes of their own: the same answers, the same errors, and others where one is killed."""

import csv
import os
import signal
import time
from itertools import cycle

import pytest
from starlette.testclient import TestClient
from tests.closeness import assert_close
from tests.served_corpus import open_made

from mixsearch.web import Limits, make_app

pytestmark = pytest.mark.slow

PATHS = [
    "topic?q=sushi&errors=true",
    "topic?q=court&confidence=true",
    "topic?q=sushi&alternative=1",
    "topic?q=sushy",
    "topic?q=sushi+courtt",
    "topic.csv?q=sushi",
    "topic/documents?q=goal&skip_documents=5",
    "documents/3",
    "documents/99999",
    "compare?topic=q%3Dsushi&topic=q%3Dzzz",
    "compare.csv?topic=q%3Dsushi&topic=q%3Dgoal",
    "overview?words=sushi&words=goal",
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


def content(answer):
    """The JSON, or the cells of the table."""
    if answer.headers["content-type"].startswith("application/json"):
        return answer.json()
    return [[as_number(cell) for cell in row] for row in csv.reader(answer.text.splitlines())]


def as_number(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


def test_processes_say_what_threads_say(index, beside):
    with TestClient(make_app({"texts": index}, limits=Limits(timeout=120)), base_url="http://localhost") as threads:
        for path in PATHS:
            here, there = (client.get(f"/api/indexes/texts/{path}") for client in (threads, beside))
            assert here.status_code == there.status_code, path
            assert_close(content(there), content(here), path)
        texts = {"json": {"text": ["court judge jury"]}}
        here, there = (client.post("/api/indexes/texts/topic", **texts) for client in (threads, beside))
        assert_close(there.json(), here.json())


def test_where_a_process_is_killed_another_is_started(beside):
    def ask(word):
        return beside.get("/api/indexes/texts/topic", params={"q": word})

    assert ask("sushi").status_code == 200
    (victim,) = beside.app.state.workers.search._executors[0]._processes
    os.kill(victim, signal.SIGKILL)
    end = time.monotonic() + 120
    for word in cycle(["rice", "ramen", "noodle", "soup", "fish", "tuna", "bowl", "chef", "plate", "goal"]):
        answer = ask(word)
        if answer.status_code == 200:
            break
        assert answer.json()["error"]["code"] == "busy"
        assert time.monotonic() < end, "no other process was started"
        time.sleep(0.2)
