"""Texts are read back exactly, one or many, from any block."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.storage.writers import KIND, open_marked

from mixsearch.errors import DamagedFolderError, StorageError
from mixsearch.storage import Texts, compress_texts, write_folder

any_text = st.none() | st.text(st.characters(exclude_categories=()), max_size=30)


def store_texts(path, *lists):
    with write_folder(path, kind=KIND, version=1) as out:
        texts = out.texts("texts")
        for part in lists:
            texts.append(part)
    return open_marked(path).texts("texts")


@pytest.fixture
def _small_blocks(monkeypatch):
    monkeypatch.setattr("mixsearch.storage.texts.BLOCK_BYTES", 40)
    monkeypatch.setattr("mixsearch.storage.texts.BLOCK_TEXTS", 5)


@given(lists=st.lists(st.lists(any_text, max_size=12), max_size=4), data=st.data())
def test_any_texts_come_back_whole_one_by_one_and_in_any_order(lists, data):
    given_texts = [text or "" for part in lists for text in part]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
        patch.setattr("mixsearch.storage.texts.BLOCK_BYTES", 40)
        patch.setattr("mixsearch.storage.texts.BLOCK_TEXTS", 5)
        patch.setattr("os.fsync", lambda handle: None)
        texts = store_texts(Path(home) / "index", *lists)
        assert list(texts) == given_texts
        assert len(texts) == len(given_texts)
        n = len(given_texts)
        rows = data.draw(st.lists(st.integers(-n, n - 1), max_size=20)) if n else []
        assert texts.read(rows) == [given_texts[row] for row in rows]
        assert [texts[row] for row in rows] == [given_texts[row] for row in rows]


def test_a_generator_of_texts_longer_than_a_block_comes_back(tmp_path):
    made = ["ab" * n for n in range(0, 90_000, 9_000)]
    texts = store_texts(tmp_path / "index", (text for text in made), iter(["end"]))
    assert list(texts) == [*made, "end"]
    assert texts.read(np.array([10, 3, 3], np.uint8)) == ["end", made[3], made[3]]


def test_similar_texts_take_little_room(tmp_path):
    made = [f"The quick brown fox number {n} jumps over the lazy dog" for n in range(5000)]
    store_texts(tmp_path / "index", made)
    assert open_marked(tmp_path / "index").sizes()["texts"] < len("".join(made)) / 3


@pytest.mark.usefixtures("_small_blocks")
def test_each_block_is_unpacked_once_however_the_rows_are_ordered(tmp_path, monkeypatch):
    store_texts(tmp_path / "index", [str(n) for n in range(1000)])
    unpacked, inflate = [], Texts._inflate
    monkeypatch.setattr(Texts, "_inflate", lambda self, block: unpacked.append(block) or inflate(self, block))
    rows = np.random.default_rng(0).permutation(1000)
    assert open_marked(tmp_path / "index").texts("texts").read(rows) == [str(n) for n in rows]
    assert unpacked == list(range(200))


@pytest.mark.parametrize("row", [3, -4])
def test_a_row_that_is_not_there_is_named(tmp_path, row):
    texts = store_texts(tmp_path / "index", ["a", "b", "c"])
    with pytest.raises(IndexError, match=f"Row {row} is out of range: 'texts' has 3 texts"):
        texts[row]


@pytest.mark.parametrize(("rows", "found"), [([0.5], r"float64 of shape \(1,\)"), ([[0]], r"int64 of shape \(1, 1\)")])
def test_rows_that_are_no_list_of_numbers_are_refused(tmp_path, rows, found):
    texts = store_texts(tmp_path / "index", ["a"])
    with pytest.raises(TypeError, match=f"read needs a list of row numbers, got {found}"):
        texts.read(rows)


def test_a_single_text_in_place_of_a_list_is_refused(tmp_path):
    with pytest.raises(TypeError, match="append needs a list of texts, got one str. Put it in a list"):
        store_texts(tmp_path / "index", "a text")


def test_something_else_than_a_text_is_refused(tmp_path):
    with pytest.raises(TypeError, match="nan is a float, not a text. Convert it, or pass None"):
        store_texts(tmp_path / "index", ["a", float("nan")])


def test_a_text_too_long_to_store_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("mixsearch.storage.texts.MAX_TEXT_BYTES", 1000)
    with pytest.raises(StorageError, match="A text of 1,001 bytes is too long: the maximum is 1,000. Split it"):
        store_texts(tmp_path / "index", ["a" * 1000, "a" * 1001])


def test_nothing_can_be_appended_to_closed_texts(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        with out.texts("texts") as texts:
            texts.append(["a"])
        with pytest.raises(ValueError, match="The texts 'texts' are closed; nothing can be appended"):
            texts.append(["b"])
    assert list(open_marked(tmp_path / "index").texts("texts")) == ["a"]


@pytest.mark.parametrize(("part", "place", "cause"), [("bytes", -1, "incorrect"), ("ends", 0, "can't decode")])
def test_damage_found_while_reading_texts_is_said(part, place, cause):
    stored = compress_texts(["ä", "öü"])._asdict()
    stored[part][place] ^= 1
    texts = Texts({f"texts/{name}": array for name, array in stored.items()}, "texts")
    with pytest.raises(DamagedFolderError, match=f"The texts 'texts' are damaged .*{cause}.*Restore"):
        texts.read([0])
