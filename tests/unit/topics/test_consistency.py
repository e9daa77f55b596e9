"""Stored arrays that do not fit together are refused in one sentence, whatever their checksums say."""

import json
import pickle
import shutil
import zlib

import numpy as np
import pytest
from tests.every_word import every_word

from mixsearch.errors import DamagedFolderError
from mixsearch.index import IndexOptions, build_index, open_index, verify_index
from mixsearch.storage.arrays import HEADER_BYTES, make_header
from mixsearch.storage.entries import compute_checksum
from mixsearch.storage.manifest import seal


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("built") / "food.index", 60, min_bytes=1 << 20)


@pytest.fixture(scope="module")
def built_large(tmp_path_factory):
    return build(tmp_path_factory.mktemp("built") / "large.index", 600, min_bytes=0)


@pytest.fixture
def index(built, tmp_path):
    return shutil.copytree(built, tmp_path / "food.index")


def build(path, n_documents, *, min_bytes):
    """Build an index whose files have sums of blocks from a size on."""
    foods = ("sushi rice fish tuna wasabi soy", "pizza cheese oven crust basil wine")
    texts = [f"{foods[i % 2]} {foods[i % 2].split()[i % 6]} guest{i % 9}" for i in range(n_documents)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mixsearch.storage.block_sums.MIN_BYTES", min_bytes)
        build_index(texts, path, IndexOptions(n_components=2), every_word())
    return path


def craft(index, name, change):
    """Change an array, with a manifest and a checksum that agree with it."""
    (path,) = index.glob(f"data-*/{name}.npy")
    array = change(np.load(path))
    path.write_bytes(make_header(array.dtype, array.shape) + array.tobytes())
    checksum = compute_checksum(array.tobytes())
    shape, size = list(array.shape), HEADER_BYTES + array.nbytes
    entry = {"dtype": array.dtype.str, "shape": shape, "size": size, "checksum": checksum}
    craft_manifest(index, lambda manifest: manifest["arrays"][name].update(entry))


def craft_manifest(index, change):
    """Change the manifest, with a checksum that agrees with it."""
    manifest = json.loads((index / "manifest.json").read_bytes())
    del manifest["checksum"]
    change(manifest)
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


def test_reasons_of_dropped_words_that_are_not_known_leave_none_that_is_common(index):
    craft_manifest(index, set_value("facts", "dropped", "reasons", value=["x"]))
    assert open_index(index).complete_word("fi")


def set_value(*names, value):
    def change(manifest):
        for name in names[:-1]:
            manifest = manifest[name]
        manifest[names[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (set_value("facts", "corpus", "tokens", "ngrams", value=False), "another kind of value for facts/corpus"),
        (set_value("facts", "columns", value=[{"name": 3, "kind": "string", "role": None}]), "for facts/columns"),
        (set_value("facts", "columns", value=[{"dtype": "<i8", "shape": [1]}]), "for facts/columns"),
        (set_value("facts", "growth", value={"n_fitted": 9, "documents": 9}), "for facts/growth"),
        (set_value("facts", "fit", "n_dropped", value="3"), "for facts/fit"),
        (set_value("facts", "fit", "has_vocabulary", value=False), "disagree on whether it has vocabulary"),
        (set_value("facts", "corpus", "has_names", value=True), "disagree on whether it has names"),
        (set_value("facts", value=[]), "cannot be parsed"),
        (set_value("version", value=[1]), "cannot be parsed"),
        (set_value("files", value=7), "cannot be parsed"),
        (set_value("arrays", "frame/basis", "checksum", value=None), "cannot be parsed"),
        (set_value("arrays", "frame/basis", "shape", value=[2**40, 2**40]), "which is no array of shape"),
    ],
)
def test_a_manifest_of_other_types_is_refused_whatever_its_checksum_says(index, change, sentence):
    craft_manifest(index, change)
    with pytest.raises(DamagedFolderError, match=sentence):
        open_index(index)


@pytest.fixture
def large(built_large, tmp_path, monkeypatch):
    """An index that is read as a large one: no file is verified when it is opened, and all have sums of blocks."""
    monkeypatch.setattr("mixsearch.storage.reader.VERIFIED_BYTES", 0)
    monkeypatch.setattr("mixsearch.topics._consistency.MAX_CHECKED", 0)
    return shutil.copytree(built_large, tmp_path / "large.index")


@pytest.mark.parametrize(
    "name", ["documents/counts/data", "words/counts/indices", "documents/projected", "frame/basis"]
)
def test_a_changed_bit_of_a_large_file_is_found_when_it_is_read(large, name):
    (path,) = large.glob(f"data-*/{name}.npy")
    data = bytearray(path.read_bytes())
    for place in range(HEADER_BYTES + 8, len(data), 512):  # wherever a search reads
        data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedFolderError, match=f"{name.rpartition('/')[2]}.npy' is damaged"):
        open_index(large).search("fish")


def test_documents_are_checked_when_they_are_read(large):
    (path,) = large.glob("data-*/documents/counts/data.npy")
    expected = open_rows(large)[[3]].toarray()
    flipped = bytearray(path.read_bytes())
    flipped[-1] ^= 1
    path.write_bytes(flipped)
    counts = open_rows(large)
    np.testing.assert_array_equal(counts[[3]].toarray(), expected)
    with pytest.raises(DamagedFolderError, match="data.npy' is damaged"):
        counts[[-1]]
    with pytest.raises(DamagedFolderError, match="data.npy' is damaged"):
        counts.sum()


@pytest.mark.parametrize("value", [10**6, -1])
@pytest.mark.parametrize("name", ["documents/counts/indices", "words/counts/indices"])
def test_indices_of_a_large_index_are_compared_with_their_bounds_when_they_are_read(index, monkeypatch, name, value):
    monkeypatch.setattr("mixsearch.topics._consistency.MAX_CHECKED", 0)
    craft(index, name, with_first(value))
    with pytest.raises(DamagedFolderError, match="indices.npy' is damaged: an index is out of range"):
        open_index(index).search("fish")


def test_stored_counts_do_what_sparse_arrays_do(large):
    [partition] = open_index(large).fitted.segments
    by_document, by_word = partition.by_document, partition.by_word
    dense, rows, mask = by_document.toarray(), np.array([5, -1, 2]), np.arange(len(partition.lengths)) % 3 == 0
    for key in (rows, mask, slice(2, 9), slice(None, None, 7), slice(5, 5), 4, np.zeros(0, dtype=int)):
        np.testing.assert_array_equal(open_rows(large)[key].toarray(), dense[key])
    for key in ([1, 0], slice(0, 3)):
        np.testing.assert_array_equal(by_word[:, key].toarray(), dense[:, key])
    np.testing.assert_array_equal(by_document[rows, 1].toarray().ravel(), dense[rows, 1])
    np.testing.assert_allclose(by_document.T @ np.ones(len(dense)), dense.sum(axis=0), rtol=1e-5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(by_word)).toarray(), dense)
    assert by_word.dtype == by_document.dtype == dense.dtype


def open_rows(index):
    return open_index(index).fitted.segments[0].by_document


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


@pytest.mark.parametrize("use", [lambda opened: opened.starters(3), lambda opened: opened.contents()])
def test_words_to_start_with_are_not_those_of_a_damaged_file(large, use):
    (path,) = large.glob("data-*/frame/basis.npy")
    data = bytearray(path.read_bytes())
    data[HEADER_BYTES + 5] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedFolderError, match="basis.npy' is damaged"):
        use(open_index(large))
