"""Stored arrays that do not fit together are refused in one sentence, whatever their checksums say."""

import json
import zlib

import numpy as np
import pytest
from tests.every_word import every_word

from mixsearch.errors import DamagedFolderError
from mixsearch.index import IndexOptions, build_index, open_index, verify_index
from mixsearch.storage.arrays import HEADER_BYTES, make_header
from mixsearch.storage.manifest import compute_checksum, seal


@pytest.fixture
def index(tmp_path):
    foods = ("sushi rice fish tuna wasabi soy", "pizza cheese oven crust basil wine")
    texts = [f"{foods[i % 2]} {foods[i % 2].split()[i % 6]} guest{i % 9}" for i in range(60)]
    build_index(texts, tmp_path / "food.index", IndexOptions(n_components=2), every_word())
    return tmp_path / "food.index"


def craft(index, name, change):
    """Change an array, with a manifest and a checksum that agree with it."""
    (path,) = index.glob(f"data-*/{name}.npy")
    array = change(np.load(path))
    path.write_bytes(make_header(array.dtype, array.shape) + array.tobytes())
    manifest = json.loads((index / "manifest.json").read_bytes())
    del manifest["checksum"]
    checksum = compute_checksum(array.tobytes())
    shape, size = list(array.shape), HEADER_BYTES + array.nbytes
    manifest["arrays"][name] |= {"dtype": array.dtype.str, "shape": shape, "size": size, "checksum": checksum}
    (index / "manifest.json").write_bytes(seal(json.dumps(manifest, indent=1)))


def with_first(value):
    def change(array):
        array[1] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("documents/counts/indptr", with_first(10**9), "row pointers do not rise"),
        ("words/counts/indptr", with_first(-5), "row pointers do not rise"),
        ("documents/counts/indptr", lambda array: array.astype(np.float64), "no whole numbers"),
        ("documents/counts/indices", with_first(10**6), "an index is out of range"),
        ("words/counts/indices", with_first(-1), "an index is out of range"),
        ("documents/counts/data", lambda array: array[:-1], "documents/counts/data has the shape"),
        ("documents/projected", lambda array: array[:-1], "documents/projected has the shape"),
        ("documents/rows", lambda array: array[:-1], "documents/rows has the shape"),
        ("frame/values", lambda array: array[:1], "frame/values has the shape"),
        ("frame/basis", lambda array: array[:, 0], "frame/basis is no matrix"),
        ("vocabulary/blocks", lambda array: array[::-1].copy(), "blocks are not in order"),
        ("vocabulary/ends", lambda array: array[:-1], "blocks do not cover the texts"),
    ],
)
def test_arrays_that_do_not_fit_are_named(index, name, change, sentence):
    craft(index, name, change)
    verify_index(index)  # the checksums are right
    with pytest.raises(DamagedFolderError, match=sentence):
        open_index(index)


def test_a_vocabulary_that_would_fill_the_memory_is_not_unpacked(index):
    n_words = len(open_index(index).vocabulary)
    n_bytes = 200 << 20
    packed = np.frombuffer(zlib.compress(bytes(n_bytes), 9), np.uint8)
    craft(index, "vocabulary/bytes", lambda _: packed)
    craft(index, "vocabulary/blocks", lambda _: np.array([[0, 0], [len(packed), n_words]]))
    craft(index, "vocabulary/ends", lambda ends: np.linspace(0, n_bytes, len(ends)).astype(ends.dtype))
    with pytest.raises(DamagedFolderError, match=r"would unpack to 209,715,200"):
        open_index(index)


def test_a_block_never_unpacks_to_more_than_its_texts(index):
    packed = np.frombuffer(zlib.compress(b"x" * (50 << 20), 9), np.uint8)
    craft(index, "texts/bytes", lambda _: packed)
    craft(index, "texts/blocks", lambda blocks: np.array([[0, 0], [len(packed), blocks[-1, 1]]]))
    with pytest.raises(DamagedFolderError, match="does not hold the"):
        open_index(index).documents([0])


def test_a_changed_byte_of_a_small_file_is_found_when_an_index_is_opened(index):
    for path in sorted(index.glob("data-*/**/*.npy")):
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 4]))
        with pytest.raises(DamagedFolderError, match=f"{path.stem}.npy' is damaged"):
            open_index(index)
        path.write_bytes(whole)
    open_index(index)


def test_a_search_that_fails_in_a_damaged_folder_says_so(index, monkeypatch):
    monkeypatch.setattr("mixsearch.storage.reader.VERIFIED_BYTES", 0)  # as if its files were large
    opened = open_index(index)
    (path,) = index.glob("data-*/frame/basis.npy")
    path.write_bytes(path.read_bytes()[:-1] + b"x")

    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(opened, "_search", fail)
    with pytest.raises(DamagedFolderError, match="basis.npy' is damaged"):
        opened.search("fish")
