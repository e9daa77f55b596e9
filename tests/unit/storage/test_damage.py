"""Damage of every kind is found: when a folder is opened, or by `verify`."""

import json
import os

import numpy as np
import pytest
from tests.coded import raises
from tests.unit.storage.writers import KIND, open_marked, read_mark, write_marked

from mixsearch.errors import DamagedFolderError, FolderExistsError, StorageError
from mixsearch.storage.manifest import seal
from mixsearch.storage.publication import write_folder
from mixsearch.storage.reader import SMALL_BYTES


@pytest.fixture
def index(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        out.save("group/small", np.arange(5))
        out.save("group/large", np.zeros(SMALL_BYTES, np.uint8))
        with out.file("columns.parquet") as path:
            path.write_bytes(b"columns")
        out.texts("texts").append(["some", "texts"])
    return tmp_path / "index"


def find(index, name):
    (path,) = index.glob(f"data-*/{name}")
    return path


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 4
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["group/large.npy", "columns.parquet"])
@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_of_another_length_or_none_is_found_at_open(index, name, change):
    path = find(index, name)
    whole = path.read_bytes()
    path.write_bytes((whole + b"x")[: len(whole) + change])
    for _ in range(2):
        with pytest.raises(DamagedFolderError) as failure:
            open_marked(index)
        assert failure.value.fields["path"] == str(path)
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["group/small.npy", "texts/bytes.npy", "columns.parquet"])
@pytest.mark.parametrize("place", [5, -1])
def test_a_changed_byte_of_a_small_file_is_found_at_open(index, name, place):
    opened, path = open_marked(index), find(index, name)
    flip(path, place)
    for look in (lambda: open_marked(index), opened.verify):
        with pytest.raises(DamagedFolderError) as failure:
            look()
        assert failure.value.fields["path"] == str(path)


@pytest.mark.parametrize("place", [20, SMALL_BYTES // 2, -1])
def test_a_changed_byte_of_a_large_file_is_found_by_verify(index, place):
    path = find(index, "group/large.npy")
    open_marked(index).verify()
    flip(path, place)
    opened = open_marked(index)
    with pytest.raises(DamagedFolderError) as failure:
        opened.verify()
    assert failure.value.fields["path"] == str(path)


def test_a_file_cut_while_it_is_mapped_is_found_before_it_is_read(index):
    opened, path = open_marked(index), find(index, "group/large.npy")
    opened.check_sizes()
    with open(path, "r+b") as file:
        file.truncate(1000)
    with pytest.raises(DamagedFolderError):
        opened.check_sizes()


@pytest.mark.parametrize("with_lock", [True, False])
def test_a_changed_byte_of_the_manifest_is_found_wherever_it_is(index, with_lock):
    path = index / "manifest.json"
    if not with_lock:
        (index / "mixsearch.lock").unlink()
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole)
        flip(path, place)
        with pytest.raises(DamagedFolderError if with_lock else StorageError):
            open_marked(index)


@pytest.mark.parametrize("text", [b"", b"not JSON", b'{"checksum": "'])
def test_a_manifest_that_is_cut_or_not_json_is_damaged(index, text):
    (index / "manifest.json").write_bytes(text)
    with pytest.raises(DamagedFolderError):
        open_marked(index)


@pytest.mark.parametrize(
    "changes",
    [
        {"generation": "../elsewhere"},
        {"arrays": {"../secret": {"dtype": "<f8", "shape": [1], "size": 8, "checksum": ""}}},
        {"facts": []},
        {"version": [1]},
    ],
)
def test_a_manifest_made_by_someone_else_leads_nowhere(index, changes):
    fields = json.loads((index / "manifest.json").read_text())
    del fields["checksum"]
    (index / "manifest.json").write_bytes(seal(json.dumps(fields | changes, indent=1)))
    with pytest.raises(DamagedFolderError):
        open_marked(index)


def test_a_damaged_folder_is_replaced_only_when_asked_and_a_failed_repair_removes_nothing(index):
    (index / "manifest.json").write_bytes(b"damaged")
    with pytest.raises(FolderExistsError):
        write_marked(index)
    with pytest.raises(ZeroDivisionError), write_folder(index, kind=KIND, version=1, overwrite=True):
        raise ZeroDivisionError
    assert find(index, "group/small.npy").exists()
    write_marked(index, 2, overwrite=True)
    assert read_mark(index) == 2
    assert len(list(index.glob("data-*"))) == 1


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices of POSIX")
@pytest.mark.parametrize("name", ["manifest.json", "large.npy"])
@pytest.mark.parametrize("kind", ["pipe", "endless device"])
def test_a_pipe_or_a_device_instead_of_a_file_is_damage(index, name, kind):
    path = index / name if name == "manifest.json" else find(index, "group/large.npy")
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with raises("folder_damaged"):
        open_marked(index)
