import errno
import json
import tempfile

import numpy as np
import pytest
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.text import count_texts, read_corpus


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "spool"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def many_texts(n=5000):
    return [f"good sushi number{i}x" for i in range(n)]


def test_the_temporary_folder_goes_with_the_corpus(folder):
    with count_texts(many_texts(), every_word()) as corpus:
        assert len(list(folder.iterdir())) == 1
        assert corpus.n_documents == 5000
    assert list(folder.iterdir()) == []
    assert corpus.n_words == 5002
    with raises("corpus_closed"):
        list(corpus.chunks())


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_nothing_is_left_behind_by_an_interruption(folder, tmp_path, n_jobs):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in many_texts(20_000)), encoding="utf-8")

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_corpus(path, every_word(memory=1, n_jobs=n_jobs), on_progress=interrupt)
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_reported_with_the_folder_and_how_to_change_it(folder, monkeypatch):
    def fill_disk(*args, **arrays):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", fill_disk)
    with raises("tmp_dir_failed"):
        count_texts(many_texts(), every_word())
    assert list(folder.iterdir()) == []
