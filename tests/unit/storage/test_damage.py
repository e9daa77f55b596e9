"""No changed, cut or lost byte goes unnoticed."""

import json

import numpy as np
import pytest
from tests.unit.storage.writers import KIND, open_marked, write_marked

from mixsearch.errors import DamagedFolderError, StorageError
from mixsearch.storage import write_folder
from mixsearch.storage.manifest import seal

REMEDY = "Restore the folder from a copy, or write it again with overwrite=True."


@pytest.fixture
def small(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        out.facts["mark"] = 1
        out.save("group/array", np.arange(5))
        out.texts("texts").append(["some", "texts"])
    return tmp_path / "index"


def array_files(folder):
    return sorted(folder.glob("data-*/**/*.npy"))


@pytest.mark.slow
def test_every_changed_byte_of_every_array_is_found_and_its_file_named(small):
    opened = open_marked(small)
    opened.verify()
    for file in array_files(small):
        whole = file.read_bytes()
        for i in range(len(whole)):
            file.write_bytes(whole[:i] + bytes([whole[i] ^ (1 << i % 8)]) + whole[i + 1 :])
            with pytest.raises(DamagedFolderError) as failure:
                opened.verify()
            expected = f"'{file}' is damaged: its bytes have changed since they were written. {REMEDY}"
            assert str(failure.value) == expected, i
        file.write_bytes(whole)
    opened.verify()


@pytest.mark.slow
@pytest.mark.parametrize("with_lock", [True, False])
def test_every_changed_byte_of_the_manifest_is_found_when_the_folder_is_opened(small, with_lock):
    file = small / "manifest.json"
    if not with_lock:
        (small / "mixsearch.lock").unlink()
    whole = file.read_bytes()
    expected = DamagedFolderError if with_lock else StorageError
    for i in range(len(whole)):
        file.write_bytes(whole[:i] + bytes([whole[i] ^ (1 << i % 8)]) + whole[i + 1 :])
        with pytest.raises(expected, match="manifest.json"):
            open_marked(small)
    file.write_bytes(whole)
    open_marked(small).verify()


@pytest.mark.slow
def test_a_manifest_cut_anywhere_is_said_to_be_damaged(small):
    whole = (small / "manifest.json").read_bytes()
    for length in range(len(whole)):
        (small / "manifest.json").write_bytes(whole[:length])
        with pytest.raises(DamagedFolderError) as failure:
            open_marked(small)
        assert str(failure.value) == f"'{small / 'manifest.json'}' is damaged or was edited. {REMEDY}"


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_of_another_length_is_found_at_once_and_both_sizes_named(small, change):
    for file in array_files(small):
        whole = file.read_bytes()
        file.write_bytes((whole + b"x")[: len(whole) + change])
        with pytest.raises(DamagedFolderError) as failure:
            open_marked(small)
        sizes = f"has {len(whole) + change:,} bytes, but {len(whole):,} were written."
        assert str(failure.value) == f"'{file}' {sizes} {REMEDY}"
        file.write_bytes(whole)
    open_marked(small).verify()


def test_a_missing_file_is_found_at_once_and_by_verify(small):
    opened = open_marked(small)
    for file in array_files(small):
        whole = file.read_bytes()
        file.unlink()
        for look in (lambda: open_marked(small), opened.verify):
            with pytest.raises(DamagedFolderError) as failure:
                look()
            expected = f"'{file}' is missing: {len(whole):,} bytes were written. {REMEDY}"
            assert str(failure.value) == expected
        file.write_bytes(whole)


def change_manifest(folder, **changes):
    fields = json.loads((folder / "manifest.json").read_text())
    del fields["checksum"]
    (folder / "manifest.json").write_bytes(seal(json.dumps(fields | changes, indent=1)))


@pytest.mark.parametrize(
    "changes",
    [
        {"generation": "../elsewhere"},
        {"generation": 3},
        {"arrays": {"../secret": {"dtype": "<f8", "shape": [1], "size": 8, "checksum": ""}}},
        {"arrays": {"objects": {"dtype": "|O", "shape": [1], "size": 8, "checksum": ""}}},
        {"arrays": {"nameless": {}}},
    ],
)
def test_a_manifest_made_by_someone_else_leads_nowhere(small, changes):
    change_manifest(small, **changes)
    with pytest.raises(DamagedFolderError, match=rf"manifest.json' cannot be parsed \(.*\). {REMEDY}"):
        open_marked(small)


def test_a_damaged_folder_is_replaced_only_when_asked_and_repaired_by_that(small):
    (small / "manifest.json").write_bytes(b"damaged")
    with pytest.raises(StorageError, match="holds a damaged topic index. Choose another folder, or set overwrite"):
        write_marked(small)
    assert len(array_files(small)) == 4
    write_marked(small, overwrite=True)
    open_marked(small).verify()
    assert len(list(small.glob("data-*"))) == 1


def test_a_failed_repair_leaves_what_a_person_might_still_rescue(small):
    (small / "manifest.json").write_bytes(b"damaged")
    with pytest.raises(ZeroDivisionError), write_folder(small, kind=KIND, version=1, overwrite=True):
        raise ZeroDivisionError
    assert len(array_files(small)) == 4
    assert len(list(small.glob("data-*"))) == 1
