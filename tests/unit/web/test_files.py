"""Uploaded files: names, limits on space, and removal."""

import asyncio

import pytest
from tests.coded import raises

from mixsearch import SearchError
from mixsearch.web import files
from mixsearch.web.files import FileStore, check_name
from mixsearch.web.settings import Limits


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(files, "call_in_process", lambda *_: [])
    store = FileStore(Limits(max_stored_files=25))
    yield store
    store.close()


def bring(store, body=b"0123456789", name="a.csv"):
    async def parts():
        yield body

    return store.add(asyncio.run(store.receive(name, parts())))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/My reviews[1].CSV", "My-reviews-1.csv"),
        ("C:\\data\\a.parquet", "a.parquet"),
        ("*.csv.gz", "file.csv.gz"),
        (".csv", "file.csv"),
    ],
)
def test_names_cannot_be_paths_or_patterns(given, kept):
    assert check_name(given) == kept


@pytest.mark.parametrize("name", ["photo.png", "a.csv.exe", ""])
def test_other_names_are_refused(name):
    with raises("unknown_format", name=name):
        check_name(name)


def test_the_least_recently_used_file_makes_room_unless_it_is_read(store):
    first, second = bring(store), bring(store)
    store.get(first.key)
    third = bring(store)
    assert not second.folder.exists()
    with raises("gone"):
        store.get(second.key)
    store.set_in_use(first.key, True)
    bring(store)
    assert first.folder.exists()
    assert not third.folder.exists()
    with raises("busy"):
        store.remove(first.key)


def test_nothing_is_left(store, monkeypatch):
    folder = bring(store).folder.parent

    def fail(*_):
        raise SearchError("No table.")

    monkeypatch.setattr(files, "call_in_process", fail)
    n_before = len(list(folder.iterdir()))
    with pytest.raises(SearchError):
        bring(store)
    assert len(list(folder.iterdir())) == n_before
    store.close()
    assert not folder.exists()
