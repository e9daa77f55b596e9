"""Texts are read back exactly, one or many, from any block."""

import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.coded import raises
from tests.unit.storage.writers import KIND, open_marked

from mixsearch.storage.publication import write_folder
from mixsearch.storage.texts import CompressedTexts, JoinedTexts, Texts, compress_texts

any_text = st.none() | st.text(st.characters(exclude_categories=()), max_size=30)


def store_texts(path, *lists):
    with write_folder(path, kind=KIND, version=1) as out:
        texts = out.texts("texts")
        for part in lists:
            texts.append(part)
    return open_marked(path).texts("texts")


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
        rows = data.draw(st.lists(st.integers(0, n - 1), max_size=20)) if n else []
        assert texts.read(rows) == [given_texts[row] for row in rows]


@pytest.mark.parametrize("row", [3, -1])
def test_a_row_that_is_not_there_is_named(tmp_path, row):
    texts = store_texts(tmp_path / "index", ["a", "b", "c"])
    with pytest.raises(IndexError, match=f"Row {row} is out of range: 'texts' has 3 texts"):
        texts.read([row])


@pytest.mark.parametrize(("part", "place", "cause"), [("bytes", -1, zlib.error), ("ends", 0, UnicodeDecodeError)])
def test_damage_found_while_reading_texts_is_an_error(part, place, cause):
    stored = compress_texts(["ä", "öü"])._asdict()
    stored[part][place] ^= 1
    texts = Texts({f"texts/{name}": array for name, array in stored.items()}, "texts")
    with raises("folder_damaged", name="texts") as caught:
        texts.read([0])
    assert isinstance(caught.value.__cause__, cause)
    assert caught.value.fields["error"] == str(caught.value.__cause__)


@given(texts=st.lists(st.text(max_size=20), max_size=30), cut=st.integers(0, 30))
def test_compressed_blocks_one_after_the_other_are_those_of_all_texts(texts, cut):
    parts = [compress_texts(texts[:cut]), compress_texts(texts[cut:])]
    before = [np.zeros(2, dtype=np.int64), parts[0].blocks[-1]]
    whole = CompressedTexts(
        np.concatenate([part.bytes for part in parts]),
        np.concatenate([part.blocks[:-1] + first for part, first in zip(parts, before, strict=True)]),
        np.concatenate([part.ends for part in parts]),
    )
    totals = [[len(whole.bytes), len(texts)]]
    arrays = {"t/bytes": whole.bytes, "t/blocks": np.concatenate([whole.blocks, totals]), "t/ends": whole.ends}
    assert list(Texts(arrays, "t")) == texts


def test_columns_that_follow_each_other_are_read_like_one():
    texts = [["a", "b"], [], ["c"], ["d", "e", "f"]]
    joined = JoinedTexts(
        [Texts({f"t/{name}": array for name, array in compress_texts(own)._asdict().items()}, "t") for own in texts]
    )
    assert list(joined) == list("abcdef")
    assert len(joined) == 6
    assert joined.read([5, 0, 2, 2]) == ["f", "a", "c", "c"]
