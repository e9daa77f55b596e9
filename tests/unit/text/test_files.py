import gzip
import sys

import fsspec
import pytest
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.text import read_corpus

TEXTS = ["good sushi here", "good ramen", "fine weather"]
LINES = "\n".join(TEXTS).encode()


@pytest.fixture
def store():
    """Provide a store in the memory of this process; it is emptied afterwards."""
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def counted(source, **options):
    with read_corpus(source, every_word(**options)) as corpus:
        names = [name for chunk in corpus.chunks() for name in chunk.names or []]
        return corpus.vocabulary, corpus.to_counts().toarray().tolist(), names


def test_a_url_is_read_as_a_file_of_this_machine_is(store, tmp_path):
    here = tmp_path / "texts.txt"
    here.write_bytes(LINES)
    store.pipe_file("/texts.txt", LINES)
    store.pipe_file("/texts.txt.gz", gzip.compress(LINES))
    expected = counted(here)
    assert counted(f"file://{here}") == expected
    assert counted("memory://texts.txt") == expected
    assert counted("memory://texts.txt.gz") == expected


def test_patterns_and_folders_of_a_store_mean_their_files_in_order(store):
    for number, text in enumerate(TEXTS):
        store.pipe_file(f"/notes/{number}.txt", text.encode())
    store.pipe_file("/notes/.hidden.txt", b"unseen")
    vocabulary, _, names = counted("memory://notes")
    assert names == ["0.txt", "1.txt", "2.txt"]
    assert "unseen" not in vocabulary
    assert counted("memory://notes/[01].txt") == (
        ["good", "here", "ramen", "sushi"],
        [[1, 1, 0, 1], [1, 0, 1, 0]],
        ["memory:///notes/0.txt", "memory:///notes/1.txt"],
    )
    assert counted(["memory://notes/0.txt", "memory://notes/2.txt"])[2][-1] == "memory:///notes/2.txt"


def test_a_protocol_nobody_knows_is_named():
    with raises("unknown_protocol"):
        read_corpus("smb3://x")


def test_without_fsspec_a_url_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with raises("package_missing", package="fsspec"):
        read_corpus("s3://b/x")
