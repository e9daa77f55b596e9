import gzip
import sys

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from tests.every_word import every_word

from mixsearch import SearchError
from mixsearch.data.files.location import RemoteFile, find_remote_files
from mixsearch.text import count_texts, read_corpus

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


def test_tables_and_ready_counts_are_read_from_a_store(store):
    with store.open("/reviews.parquet", "wb") as file:
        pq.write_table(pa.table({"review": TEXTS, "stars": [5, 4, 3]}), file)
    assert counted("memory://reviews.parquet")[1] == counted_here(TEXTS)
    with store.open("/counts.npz", "wb") as file:
        sp.save_npz(file, sp.csr_array(np.array([[1, 0], [2, 3]])))
    store.pipe_file("/words.txt", b"tea\ncoffee\n")
    assert counted("memory://counts.npz", vocabulary="memory://words.txt")[:2] == (["tea", "coffee"], [[1, 0], [2, 3]])


def counted_here(texts):
    with count_texts(texts) as corpus:
        return corpus.to_counts().toarray().tolist()


def test_progress_counts_the_bytes_of_a_store(store):
    store.pipe_file("/texts.txt", LINES)
    seen = []
    with read_corpus("memory://texts.txt", on_progress=lambda *amounts: seen.append(amounts)):
        assert seen[-1] == (len(LINES), len(LINES))


def test_a_url_without_files_is_named(store):
    with pytest.raises(SearchError, match="No file 'memory://nothing/\\*.csv'"):
        read_corpus("memory://nothing/*.csv")


def test_a_protocol_nobody_knows_is_named():
    with pytest.raises(SearchError, match="'smb3://x' is neither a path nor a URL that fsspec knows.*smb3"):
        read_corpus("smb3://x")


def test_a_protocol_without_its_package_says_what_to_install():
    # Every installation lacks some of them.
    url = next(url for url in ("s3://b/x", "gs://b/x", "abfs://b/x", "hf://b/x") if lacks_package(url))
    with pytest.raises(SearchError, match="needs a package that is not installed .*nstall.*Install it with pip here"):
        read_corpus(url)


def lacks_package(url):
    try:
        fsspec.url_to_fs(url)
    except ImportError:
        return True
    return False


def test_without_fsspec_a_url_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(SearchError, match="Reading 's3://b/x' needs fsspec.*pip install 'mixsearch\\[dask\\]'"):
        read_corpus("s3://b/x")


def test_a_store_that_refuses_is_named(monkeypatch, store):
    def refuse(*_, **__):
        raise RuntimeError("no credentials")

    monkeypatch.setattr(type(store), "info", refuse)
    with pytest.raises(SearchError, match="Cannot list 'memory://x' \\(RuntimeError: no credentials\\)"):
        find_remote_files("memory://x")


def test_a_file_that_vanishes_is_named(store):
    store.pipe_file("/texts.txt", LINES)
    file = find_remote_files("memory://texts.txt")[1][0]
    assert file == RemoteFile(store, "/texts.txt")
    store.rm("/texts.txt")
    assert not file.is_file()
