"""Uploaded files: names, limits of space, and processes that hang, crash or read what is malicious."""

import asyncio
import os
import time

import pytest
from tests.coded import raises

from mixsearch import SearchError
from mixsearch.web import uploads
from mixsearch.web.processes import CancelledError, call_in_process, start_fork_server
from mixsearch.web.settings import Limits
from mixsearch.web.uploads import UploadStore, check_name


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(uploads, "call_in_process", lambda *_: {"columns": []})
    store = UploadStore(Limits(max_file=25))
    yield store
    store.close()


def bring(store, body=b"0123456789", name="a.csv"):
    async def parts():
        yield body

    return asyncio.run(store.receive(name, parts()))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/My reviews[1].CSV", "My-reviews-1.csv"),
        ("C:\\data\\a.parquet", "a.parquet"),
        ("*.csv.gz", "file.csv.gz"),
        ("my photo.JPEG", "my-photo.jpeg"),
        (".csv", "file.csv"),
    ],
)
def test_names_cannot_be_paths_or_patterns(given, kept):
    assert check_name(given) == kept


@pytest.mark.parametrize("name", ["letter.doc", "a.csv.exe", "a.png.gz", ""])
def test_other_names_are_refused(name):
    with raises("unknown_format", name=name):
        check_name(name)


def test_nothing_is_left(store, monkeypatch):
    folder = bring(store).folder.parent

    def fail(*_):
        raise SearchError("No table.")

    monkeypatch.setattr(uploads, "call_in_process", fail)
    n_before = len(list(folder.iterdir()))
    with pytest.raises(SearchError):
        bring(store)
    with raises("too_large", max_bytes=25):
        bring(store, bytes(26))
    assert len(list(folder.iterdir())) == n_before
    store.close()
    assert not folder.exists()


# ---- The process ----


@pytest.fixture(scope="module")
def _ready():
    start_fork_server()


def hang():
    time.sleep(3600)


def crash():
    os._exit(7)


def stumble():
    raise KeyError("a bug of a decoder")


def outgrow():
    raise MemoryError


@pytest.mark.usefixtures("_ready")
@pytest.mark.parametrize("work", [crash, stumble, outgrow])
def test_a_reader_that_dies_takes_nothing_with_it(tmp_path, work):
    with raises("unreadable_file"):
        call_in_process(60, tmp_path, work)
    assert call_in_process(60, tmp_path, os.getcwd) == str(tmp_path)


@pytest.mark.usefixtures("_ready")
def test_a_reader_that_hangs_is_killed_or_cancelled(tmp_path):
    with raises("too_slow"):
        call_in_process(0.1, tmp_path, hang)
    with pytest.raises(CancelledError):
        call_in_process(60, tmp_path, hang, is_cancelled=lambda: True)
