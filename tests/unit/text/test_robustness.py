import errno
import json

import numpy as np
import pytest
from tests.every_word import every_word

from mixsearch.errors import SearchError
from mixsearch.text import count_texts, read_corpus


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "spool"
    path.mkdir()
    return path


def many_texts(n=5000):
    return [f"good sushi number{i}x" for i in range(n)]


def test_the_temporary_folder_goes_with_the_corpus(folder):
    with count_texts(many_texts(), every_word(tmp_dir=folder)) as corpus:
        assert len(list(folder.iterdir())) == 1
        assert corpus.n_documents == 5000
    assert list(folder.iterdir()) == []
    assert corpus.n_words == 5002
    with pytest.raises(SearchError, match="The corpus is closed"):
        list(corpus.chunks())


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_nothing_is_left_behind_by_an_interruption(folder, tmp_path, error, n_jobs):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in many_texts(20_000)), encoding="utf-8")

    def interrupt(done, total):
        raise error

    with pytest.raises(error):
        read_corpus(path, every_word(tmp_dir=folder, memory=1, n_jobs=n_jobs), on_progress=interrupt)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_nothing_is_left_behind_by_a_tokenizer_that_fails_late(folder, n_jobs):
    def fail_late(text):
        if "number4999x" in text:
            raise RuntimeError("no more")
        return text.split()

    with pytest.raises(SearchError, match="The tokenizer raised RuntimeError: no more at text 5,000"):
        count_texts(many_texts(), every_word(tmp_dir=folder, tokenizer=fail_late, memory=1, n_jobs=n_jobs))
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_reported_with_the_folder_and_how_to_change_it(folder, monkeypatch):
    def fill_disk(*args, **arrays):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", fill_disk)
    with pytest.raises(SearchError, match=r"temporary files in '.*spool' \(No space left.* TMPDIR"):
        count_texts(many_texts(), every_word(tmp_dir=folder))
    assert list(folder.iterdir()) == []


def test_a_missing_temporary_folder_is_reported(tmp_path):
    with pytest.raises(SearchError, match="Cannot write temporary files in '.*nowhere'"):
        count_texts(["good"], every_word(tmp_dir=tmp_path / "nowhere"))


def test_texts_may_be_left_out(folder):
    with count_texts(["good"], every_word(keep_texts=False)) as corpus:
        assert next(corpus.chunks()).texts is None


def test_texts_are_read_once_and_lazily():
    with count_texts((text for text in ["good sushi", None]), names=iter("ab")) as corpus:
        chunk = next(corpus.chunks())
        assert (chunk.texts, chunk.names) == (["good sushi", ""], ["a", "b"])
    with pytest.raises(TypeError, match="texts must be an iterable of strings, got a single string"):
        count_texts("good sushi")
