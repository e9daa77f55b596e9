"""Damage of every kind is found, when a folder is opened or by `verify`, and crafted folders do no harm."""

import json
import os
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.coded import raises
from tests.unit.io.marked_folders import read_mark, write_marked

from mixsearch.errors import DamagedFolderError
from mixsearch.io.folder import SMALL_BYTES, open_folder, seal, write_folder
from mixsearch.io.parquet import encode_frame

TEXTS, LARGE = "texts/000000.parquet", "group/large.npy"


@pytest.fixture
def index(tmp_path):
    with write_folder(tmp_path / "index") as out:
        out.save("group/small", np.arange(5))
        out.save("group/large", np.zeros(SMALL_BYTES, np.uint8))
        out.save_texts("texts", ["some", "texts"])
    return tmp_path / "index"


def find(folder, name):
    (path,) = folder.glob(f"data-*/{name}")
    return path


def craft_manifest(folder, change):
    """Change the fields of a manifest, and seal it again."""
    fields = json.loads((folder / "manifest.json").read_bytes())
    del fields["checksum"]
    change(fields)
    (folder / "manifest.json").write_bytes(seal(fields))


def craft_file(folder, name, data, **facts):
    """Replace a file, with a manifest that agrees."""
    find(folder, name).write_bytes(data)
    facts |= {"size": len(data), "checksum": sha256(data).hexdigest()}
    craft_manifest(folder, lambda fields: fields["files"][name].update(facts))


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 4
    path.write_bytes(data)


@pytest.mark.parametrize("name", [LARGE, TEXTS])
@pytest.mark.parametrize("damage", ["cut", "extended", "missing", "pipe", "link", "folder"])
def test_a_file_that_is_not_the_one_written_is_found_at_open(index, name, damage):
    path = find(index, name)
    data = path.read_bytes()
    path.unlink()
    if damage in ("cut", "extended"):
        path.write_bytes((data + b"x")[: len(data) + (1 if damage == "extended" else -1)])
    elif damage != "missing":
        {"pipe": os.mkfifo, "folder": os.mkdir}.get(damage, lambda path: os.symlink("/dev/zero", path))(path)
    with raises("folder_damaged", path=str(path)):
        open_folder(index)


@pytest.mark.parametrize("name", ["group/small.npy", TEXTS])
def test_a_changed_byte_of_a_small_file_is_found_at_open(index, name):
    flip(find(index, name), -1)
    with raises("folder_damaged", path=str(find(index, name))):
        open_folder(index)


def test_a_changed_byte_of_a_large_file_is_found_by_verify(index):
    flip(find(index, LARGE), SMALL_BYTES // 2)
    with raises("folder_damaged", path=str(find(index, LARGE))):
        open_folder(index).verify()


def test_a_changed_byte_of_a_large_table_is_found_when_it_is_first_used(index, monkeypatch):
    monkeypatch.setattr("mixsearch.io.folder.SMALL_BYTES", 0)
    flip(find(index, TEXTS), 20)
    texts = open_folder(index).texts("texts")
    with raises("folder_damaged", path=str(find(index, TEXTS))):
        texts.read([0])


def test_a_file_cut_while_it_is_mapped_is_found_before_it_is_read(index):
    opened = open_folder(index)
    opened.check_sizes()
    os.truncate(find(index, LARGE), 1000)
    with raises("folder_damaged"):
        opened.check_sizes()


def test_every_changed_byte_of_the_manifest_is_found(index):
    path = index / "manifest.json"
    data = path.read_bytes()
    for place in range(0, len(data), 7):
        path.write_bytes(data)
        flip(path, place)
        with raises("folder_damaged"):
            open_folder(index)


@pytest.mark.parametrize("damage", ["empty", "text", "pipe", "endless device", "endless link", "folder"])
def test_a_manifest_that_is_not_one_is_damage(index, damage):
    path = index / "manifest.json"
    path.unlink()
    {
        "empty": Path.touch,
        "text": lambda path: path.write_bytes(b'{"checksum": "'),
        "pipe": os.mkfifo,
        "endless device": lambda path: path.symlink_to("/dev/zero"),
        "endless link": lambda path: path.symlink_to(path),
        "folder": Path.mkdir,
    }[damage](path)
    with raises("folder_damaged", path=str(path)):
        open_folder(index)


def set_file(**facts):
    return lambda fields: fields["files"][LARGE].update(facts)


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields.update(generation="../elsewhere"),
        lambda fields: fields.update(facts=[]),
        lambda fields: fields.update(version=[1]),
        lambda fields: fields.update(files={"../secret.npy": fields["files"][LARGE]}),
        lambda fields: fields.pop("files"),
        set_file(size=-1),
        set_file(size=1 << 70),
        set_file(n_rows=1 << 40),
    ],
)
def test_a_crafted_manifest_leads_nowhere(index, change):
    craft_manifest(index, change)
    with raises("folder_damaged"):
        open_folder(index)


@pytest.mark.parametrize(
    ("dtype", "shape"), [("|O", (2,)), ("<f8,<f8", (2,)), (">f8", (2,)), ("<f8", (-2,)), ("<f8", (1 << 60,)), ("x", 1)]
)
def test_a_crafted_header_of_an_array_is_damage(index, dtype, shape):
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    craft_file(index, "group/small.npy", b"\x93NUMPY\x01\x00\x76\x00" + header + bytes(16))
    with raises("folder_damaged"):
        open_folder(index)


@pytest.mark.parametrize("frame", [{"text": [1, 2]}, {"other": ["a", "b"]}, {"text": ["a", None]}, {"text": ["a"] * 3}])
def test_a_crafted_table_is_damage(index, frame):
    craft_file(index, TEXTS, encode_frame(pl.DataFrame(frame)))
    with raises("folder_damaged"):
        list(open_folder(index).texts("texts"))


def test_parquet_of_other_bytes_is_damage_and_claims_no_memory(index):
    """Of the mutations, some negate a number of values: Polars would abort."""
    file = BytesIO()
    pl.DataFrame({"text": ["some", "texts"] * 100}).write_parquet(file, compression="zstd", statistics=False)
    for place in range(4, len(file.getvalue()), 3):
        data = bytearray(file.getvalue())
        data[place] = 0xFF
        craft_file(index, TEXTS, bytes(data), n_rows=200)
        with suppress(DamagedFolderError):
            assert len(list(open_folder(index).texts("texts"))) == 200


def make_older(path):
    write_marked(path)
    craft_manifest(path, lambda fields: (fields.update(version=1, arrays={}), fields.pop("files")))


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda path: None, "folder_missing"),
        (Path.mkdir, "folder_missing"),
        (Path.touch, "folder_foreign"),
        (lambda path: (path.mkdir(), (path / "notes.txt").touch()), "folder_foreign"),
        (lambda path: (path.mkdir(), (path / "mixsearch.lock").touch()), "folder_missing"),
        (lambda path: (write_marked(path), craft_manifest(path, lambda it: it.update(version=99))), "folder_newer"),
        (make_older, "folder_older"),
    ],
)
def test_each_reason_not_to_open_a_folder_has_a_code_and_names_the_path(tmp_path, make, code):
    path = tmp_path / "a {0} folder"
    make(path)
    with raises(code, path=str(path)):
        open_folder(path)


def fail(out):
    out.save("half", np.arange(5))
    raise ZeroDivisionError


def test_a_folder_is_replaced_only_if_that_is_asked_for(tmp_path):
    make_older(tmp_path / "older")
    write_marked(tmp_path / "damaged")
    (tmp_path / "damaged" / "manifest.json").write_bytes(b"damaged")
    write_marked(tmp_path / "whole")
    (tmp_path / "whole" / "notes.txt").write_text("dear diary")
    for path in tmp_path.iterdir():
        with raises("folder_exists"):
            write_marked(path)
        with pytest.raises(ZeroDivisionError), write_folder(path, overwrite=True) as out:
            fail(out)
        assert len(list(path.glob("data-*"))) == len(list(path.glob("data-*/saved.npy"))) == 1
        write_marked(path, 2, overwrite=True)
        assert read_mark(path) == 2
        assert len(list(path.glob("data-*"))) == 1
    assert (tmp_path / "whole" / "notes.txt").exists()


def test_a_folder_of_someone_else_is_refused_and_left_alone(tmp_path):
    for name in ("notes.txt", "manifest.json", "data-0123456789abcdef"):
        path = tmp_path / name
        path.mkdir()
        (path / name).write_text("dear diary")
        with raises("folder_foreign"):
            write_marked(path, overwrite=True)
        assert [each.name for each in path.iterdir()] == [name]


def test_files_behind_a_link_are_never_removed(tmp_path):
    write_marked(tmp_path / "index")
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "notes.txt").touch()
    (tmp_path / "index" / "data-0123456789abcdef").symlink_to(tmp_path / "diary")
    [group] = tmp_path.glob("index/data-*/group")
    (group / "linked").symlink_to(tmp_path / "diary")
    write_marked(tmp_path / "index", 2, overwrite=True)
    assert (tmp_path / "diary" / "notes.txt").exists()
