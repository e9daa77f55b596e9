"""Stored arrays that do not fit together are refused, whatever their checksums say: compiled code trusts them."""

import shutil
from io import BytesIO

import numpy as np
import polars as pl
import pytest
from tests.coded import raises
from tests.crafted_folders import craft_array, craft_file, find
from tests.every_word import every_word

from mixsearch.index import IndexOptions, build_index, open_index, verify_index
from mixsearch.io.parquet import MAX_EXPANDED, encode_frame


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    foods = ("sushi rice fish tuna wasabi soy", "pizza cheese oven crust basil wine")
    texts = [f"{foods[i % 2]} {foods[i % 2].split()[i % 6]} guest{i % 9}" for i in range(60)]
    path = tmp_path_factory.mktemp("built") / "food.index"
    return build_index(texts, path, IndexOptions(n_components=2), every_word()).path


@pytest.fixture
def index(built, tmp_path):
    return shutil.copytree(built, tmp_path / "food.index")


def with_second(value):
    def change(array):
        array[1] = value
        return array

    return change


NOT_RISING = {"reason": "its row pointers do not rise from 0 to the number of counts"}
OUT_OF_RANGE = {"reason": "an index is out of range"}


@pytest.mark.parametrize(
    ("array", "change", "name", "fields"),
    [
        ("documents/counts/indptr", with_second(10**9), "documents/counts", NOT_RISING),
        ("words/counts/indptr", with_second(-5), "words/counts", NOT_RISING),
        ("words/counts/indptr", np.float64, "words/counts/indptr", {"dtype": "float64"}),
        ("documents/counts/data", np.int32, "documents/counts/data", {"dtype": "int32"}),
        ("documents/counts/indices", with_second(10**6), "documents/counts", OUT_OF_RANGE),
        ("words/counts/indices", with_second(-1), "words/counts", OUT_OF_RANGE),
        ("documents/projected", lambda array: array[:-1], "documents/projected", {"found": (59, 2), "needed": (60, 2)}),
        ("mean_document/places", lambda array: array[:1], "mean_document/places", {"found": (1, 2), "needed": (2, 2)}),
        ("frame/values", lambda array: array[:1], "frame/values", {"found": (1,), "needed": (2,)}),
        ("frame/basis", lambda array: array[:, 0], "frame/basis", {"found": (21,)}),
    ],
)
def test_arrays_that_do_not_fit_are_named(index, array, change, name, fields):
    craft_array(index, array, change)
    verify_index(index)  # the checksums are right
    with raises("folder_damaged", name=name, **fields):
        open_index(index)


def test_counts_without_an_index_are_named(index):
    n = len(np.load(find(index, "documents/counts/data.npy")))
    craft_array(index, "documents/counts/data", lambda array: array[:-1])
    with raises("folder_damaged", name="documents/counts/data", found=(n - 1,), needed=(n,)):
        open_index(index)


@pytest.mark.parametrize(("name", "n_texts"), [("texts", 59), ("vocabulary", 20)])
def test_too_few_texts_are_found(index, name, n_texts):
    data = encode_frame(pl.DataFrame({"text": ["a"] * n_texts}))
    craft_file(index, f"{name}/000000.parquet", data, n_rows=n_texts)
    with raises("folder_damaged"):
        open_index(index).documents([0])


@pytest.mark.parametrize("value", [10**6, -1])
@pytest.mark.parametrize("name", ["documents/counts/indices", "words/counts/indices"])
def test_indices_of_a_large_index_are_compared_with_their_bounds_when_they_are_used(index, monkeypatch, name, value):
    monkeypatch.setattr("mixsearch.topics.storage.MAX_CHECKED", 0)
    craft_array(index, name, lambda indices: np.full_like(indices, value))
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
    craft_array(index, "words/counts/indices", lambda indices: np.full_like(indices, 10**6))
    family = open_index(index).topics._family
    with raises("folder_damaged"):
        family.chunks.take_rows(np.arange(0, 20, 2))


def test_a_file_never_expands_to_more_than_the_memory(index):
    frame = pl.DataFrame({"text": ["x" * (2 * MAX_EXPANDED // 60)] * 60})
    file = BytesIO()
    frame.write_parquet(file, compression="zstd")
    craft_file(index, "texts/000000.parquet", file.getvalue(), n_rows=60, block_rows=60)
    with raises("folder_damaged"):
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
