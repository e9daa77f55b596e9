"""Stored arrays that do not fit together are refused, whatever their checksums say: compiled code trusts them."""

import json
import shutil
import zlib
from hashlib import blake2b

import numpy as np
import pytest
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.index import IndexOptions, build_index, open_index, verify_index
from mixsearch.storage.arrays import HEADER_BYTES, make_header
from mixsearch.storage.manifest import seal


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    foods = ("sushi rice fish tuna wasabi soy", "pizza cheese oven crust basil wine")
    texts = [f"{foods[i % 2]} {foods[i % 2].split()[i % 6]} guest{i % 9}" for i in range(60)]
    path = tmp_path_factory.mktemp("built") / "food.index"
    return build_index(texts, path, IndexOptions(n_components=2), every_word()).path


@pytest.fixture
def index(built, tmp_path):
    return shutil.copytree(built, tmp_path / "food.index")


def craft(index, name, change):
    """Change an array, with a manifest and a checksum that agree with it."""
    (path,) = index.glob(f"data-*/{name}.npy")
    array = change(np.load(path))
    path.write_bytes(make_header(array.dtype, array.shape) + array.tobytes())
    manifest = json.loads((index / "manifest.json").read_bytes())
    del manifest["checksum"]
    manifest["arrays"][name] |= {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "size": HEADER_BYTES + array.nbytes,
        "checksum": blake2b(array.tobytes(), digest_size=16).hexdigest(),
    }
    (index / "manifest.json").write_bytes(seal(json.dumps(manifest, indent=1)))


def with_second(value):
    def change(array):
        array[1] = value
        return array

    return change


NOT_RISING = {"reason": "its row pointers do not rise from 0 to the number of counts"}
NOT_WHOLE = {"reason": "its pointers and indices are not whole numbers"}
OUT_OF_RANGE = {"reason": "an index is out of range"}


@pytest.mark.parametrize(
    ("array", "change", "name", "fields"),
    [
        ("documents/counts/indptr", with_second(10**9), "documents/counts", NOT_RISING),
        ("words/counts/indptr", with_second(-5), "words/counts", NOT_RISING),
        ("documents/counts/indptr", lambda array: array.astype(np.float64), "documents/counts", NOT_WHOLE),
        ("documents/counts/indices", with_second(10**6), "documents/counts", OUT_OF_RANGE),
        ("words/counts/indices", with_second(-1), "words/counts", OUT_OF_RANGE),
        ("documents/projected", lambda array: array[:-1], "documents/projected", {"found": (59, 2), "needed": (60, 2)}),
        ("frame/values", lambda array: array[:1], "frame/values", {"found": (1,), "needed": (2,)}),
        ("frame/basis", lambda array: array[:, 0], "frame/basis", {"found": (21,)}),
        ("vocabulary/blocks", lambda array: array[::-1].copy(), "vocabulary", {"error": "its blocks are not in order"}),
        ("vocabulary/ends", lambda array: array[:-1], "vocabulary", {"error": "its blocks do not cover the texts"}),
    ],
)
def test_arrays_that_do_not_fit_are_named(index, array, change, name, fields):
    craft(index, array, change)
    verify_index(index)  # the checksums are right
    with raises("folder_damaged", name=name, **fields):
        open_index(index)


def test_counts_without_an_index_are_named(index):
    n = len(np.load(next(index.glob("data-*/documents/counts/data.npy"))))
    craft(index, "documents/counts/data", lambda array: array[:-1])
    verify_index(index)
    with raises("folder_damaged", name="documents/counts/data", found=(n - 1,), needed=(n,)):
        open_index(index)


@pytest.mark.parametrize("value", [10**6, -1])
@pytest.mark.parametrize("name", ["documents/counts/indices", "words/counts/indices"])
def test_indices_of_a_large_index_are_compared_with_their_bounds_when_they_are_used(index, monkeypatch, name, value):
    monkeypatch.setattr("mixsearch.topics.storage.MAX_CHECKED", 0)
    craft(index, name, lambda indices: np.full_like(indices, value))
    opened = open_index(index)
    for use in (
        lambda: opened.search("fish"),
        lambda: opened.search(documents=[0]),
        lambda: opened.search("fish", refine=False).documents(3),
        lambda: opened.topics.search(np.ones(len(opened.vocabulary)), refine=False),
    ):
        with raises("folder_damaged"):
            use()


def test_documents_are_picked_after_a_check_of_their_indices(index, monkeypatch):
    monkeypatch.setattr("mixsearch.topics.storage.MAX_CHECKED", 0)
    craft(index, "words/counts/indices", lambda indices: np.full_like(indices, 10**6))
    family = open_index(index).topics._family
    with raises("folder_damaged"):
        family.thin(2)


def test_a_block_never_unpacks_to_more_than_its_texts(index):
    packed = np.frombuffer(zlib.compress(b"x" * (50 << 20), 9), np.uint8)
    craft(index, "texts/bytes", lambda _: packed)
    craft(index, "texts/blocks", lambda blocks: np.array([[0, 0], [len(packed), blocks[-1, 1]]]))
    with raises("folder_damaged", name="texts"):
        open_index(index).documents([0])


def test_a_search_that_fails_in_a_damaged_folder_says_so(index, monkeypatch):
    opened = open_index(index)
    (path,) = index.glob("data-*/frame/basis.npy")
    path.write_bytes(path.read_bytes()[:-1] + b"x")

    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(opened, "_search", fail)
    with raises("folder_damaged"):
        opened.search("fish")
