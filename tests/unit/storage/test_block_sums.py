"""Blocks of large arrays are compared with their checksums when they are read."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.storage.writers import KIND, open_marked

from mixsearch.errors import DamagedFolderError
from mixsearch.storage import update_folder, write_folder
from mixsearch.storage.arrays import HEADER_BYTES
from mixsearch.storage.block_sums import BLOCK_BYTES, Checksums
from mixsearch.storage.entries import locate_sums
from mixsearch.storage.manifest import seal

N_BLOCKS = 5


@pytest.fixture(autouse=True)
def _as_if_large(monkeypatch):
    monkeypatch.setattr("mixsearch.storage.reader.VERIFIED_BYTES", 0)
    monkeypatch.setattr("mixsearch.storage.block_sums.MIN_BYTES", 0)


@pytest.fixture
def stored(tmp_path):
    """A folder with an array of five blocks, the last of which is not full, and the file of that array."""
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        out.save("numbers", np.arange(N_BLOCKS * BLOCK_BYTES // 4 - 7, dtype=np.int32))
        with out.file("table.bin") as path:
            path.write_bytes(bytes(range(256)) * 40)
    (path,) = tmp_path.glob("index/data-*/numbers.npy")
    return tmp_path / "index", path


def flip(path, *places, bit=1):
    data = bytearray(path.read_bytes())
    for place in places:
        data[place] ^= bit
    path.write_bytes(data)


def check_section(folder, start, stop):
    folder.blocks("numbers").check(np.array([start]), np.array([stop]))


@pytest.mark.parametrize("place", [HEADER_BYTES, HEADER_BYTES + 3 * BLOCK_BYTES - 1, -1])
def test_a_changed_byte_is_found_when_its_block_is_read_and_only_then(stored, place):
    index, path = stored
    flip(path, place)
    folder, items = open_marked(index), BLOCK_BYTES // 4
    block = N_BLOCKS - 1 if place < 0 else (place - HEADER_BYTES) // BLOCK_BYTES
    check_section(folder, 0, block * items)
    check_section(folder, (block + 1) * items, N_BLOCKS * items - 7)
    with pytest.raises(DamagedFolderError, match="numbers.npy' is damaged"):
        check_section(folder, block * items + 5, block * items + 6)
    with pytest.raises(DamagedFolderError, match="numbers.npy' is damaged"):
        folder["numbers"]


@pytest.mark.parametrize("places", [(0, 8), (7, 9), (1, 500, 900)])
def test_changes_of_several_bytes_do_not_cancel(stored, places):
    index, path = stored
    flip(path, *(HEADER_BYTES + place for place in places), bit=4)
    with pytest.raises(DamagedFolderError, match="numbers.npy' is damaged"):
        open_marked(index)["numbers"]


def test_words_of_a_block_that_have_changed_places_are_found(stored):
    index, path = stored
    data = path.read_bytes()
    words = [data[start : start + 8] for start in range(HEADER_BYTES, HEADER_BYTES + BLOCK_BYTES, 8)]
    path.write_bytes(data[:HEADER_BYTES] + b"".join(words[::-1]) + data[HEADER_BYTES + BLOCK_BYTES :])
    with pytest.raises(DamagedFolderError, match="numbers.npy' is damaged"):
        open_marked(index)["numbers"]


def test_a_changed_file_of_another_format_is_found_when_it_is_used(stored):
    index, path = stored
    flip(path.with_name("table.bin"), 5000)
    folder = open_marked(index)
    with pytest.raises(DamagedFolderError, match="table.bin' is damaged"):
        folder.file("table.bin")


def test_changed_sums_are_found_and_named(stored):
    index, path = stored
    flip(locate_sums(path), 9)
    folder = open_marked(index)
    for read in (folder.verify, lambda: folder["numbers"]):
        with pytest.raises(DamagedFolderError, match=r"numbers.npy.sums' is damaged"):
            read()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda sums: sums.unlink(), "is missing"),
        (lambda sums: sums.write_bytes(bytes(39)), "has 39 bytes, but 40 were written"),
    ],
)
def test_lost_and_cut_sums_are_named_when_a_folder_is_opened(stored, change, sentence):
    index, path = stored
    change(locate_sums(path))
    with pytest.raises(DamagedFolderError, match=rf"numbers.npy.sums' {sentence}"):
        open_marked(index)


def test_folders_without_sums_are_read_as_before(stored):
    index, path = stored
    manifest = json.loads((index / "manifest.json").read_bytes())
    del manifest["checksum"], manifest["arrays"]["numbers"]["sums"]
    (index / "manifest.json").write_bytes(seal(json.dumps(manifest, indent=1)))
    locate_sums(path).unlink()
    assert open_marked(index)["numbers"][1] == 1


def test_an_update_keeps_the_sums_of_what_it_keeps(stored):
    index, path = stored
    with update_folder(index, kind=KIND, version=1) as (_, out):
        out.save("more", np.arange(9))
    assert locate_sums(path).exists()
    assert open_marked(index)["numbers"][1] == 1


def test_shared_arrays_have_sums_too(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        shared = out.share("numbers", (3000,), np.float64)
        shared.write(0, np.ones(3000))
        out.adopt("numbers", shared.finish())
    (path,) = tmp_path.glob("index/data-*/numbers.npy")
    flip(path, -1)
    with pytest.raises(DamagedFolderError, match="numbers.npy' is damaged"):
        open_marked(tmp_path / "index")["numbers"]


def test_indices_are_compared_with_their_bound_whatever_their_checksums_say(stored):
    folder = open_marked(stored[0])
    n = len(folder["numbers"])
    folder.blocks("numbers", bound=n).check_all()
    with pytest.raises(DamagedFolderError, match="an index is out of range"):
        folder.blocks("numbers", bound=n - 1).check_all()


def test_a_file_that_is_cut_in_place_is_named_before_it_is_read(stored):
    index, path = stored
    folder = open_marked(index)
    with open(path, "r+b") as file:
        file.truncate(HEADER_BYTES)
    with (
        pytest.raises(DamagedFolderError, match=r"numbers.npy' was cut while it was in use"),
        folder.explain_failures(),
    ):
        pass


@given(cuts=st.lists(st.integers(0, 3 * BLOCK_BYTES), max_size=6))
def test_sums_do_not_depend_on_how_bytes_arrive(cuts):
    data = np.random.default_rng(0).integers(256, size=3 * BLOCK_BYTES - 11, dtype=np.uint8)
    whole, parts = Checksums(), Checksums()
    whole.update(data)
    for part in np.split(data, sorted(cuts)):
        parts.update(part)
    assert parts.hexdigest() == whole.hexdigest()
    np.testing.assert_array_equal(parts.block_sums(), whole.block_sums())
