"""An update changes some files of a folder, completely or not at all, and leaves the others where they are."""

import os

import numpy as np
import pytest
from tests.unit.storage.writers import KIND, generations, open_marked, write_marked

from mixsearch.errors import (
    BusyFolderError,
    DamagedFolderError,
    ForeignFolderError,
    MissingFolderError,
    NewerFolderError,
    StorageError,
)
from mixsearch.storage import open_folder, update_folder, write_folder


def change(path, mark, version=1):
    """Replace one array, add one, and change the fact."""
    with update_folder(path, kind=KIND, version=version) as (now, out):
        out.facts["mark"] = mark
        out.save("saved", np.full(3, mark))
        out.save("added/here", now["saved"] + 100)
        with out.file("columns.parquet") as file:
            file.write_bytes(b"%d" % mark)


def fail_to_change(path):
    with update_folder(path, kind=KIND, version=1) as (_, out):
        out.save("saved", np.zeros(2))
        out.facts["mark"] = 5
        with out.file("columns.parquet") as file:
            file.write_bytes(b"x")
            raise RuntimeError("no more")


def list_files(path):
    return {*path.rglob("*.npy"), *path.rglob("*.parquet")}


def test_an_update_replaces_and_adds_and_keeps_the_rest_in_its_place(tmp_path):
    path = tmp_path / "index"
    write_marked(path, 1)
    [kept] = path.rglob("filled.npy")
    before = kept.stat()
    change(path, 2)
    folder = open_marked(path)
    folder.verify()
    assert folder.facts["mark"] == 2
    assert folder["saved"].tolist() == [2, 2, 2]
    assert set(folder["added/here"].tolist()) == {101}
    assert set(folder["group/filled"].tolist()) == {1}
    assert set(folder.texts("texts")) == {"1"}
    assert folder.file("columns.parquet")[:] == b"2"
    assert os.path.samestat(kept.stat(), before)
    assert folder.sizes()["columns"] == 1


def test_files_that_an_update_replaced_are_gone(tmp_path):
    path = tmp_path / "index"
    write_marked(path, 1)
    for mark in range(2, 6):
        change(path, mark)
    folder = open_marked(path)
    assert len(list_files(path)) == len(folder) + 1
    write_marked(path, 9, overwrite=True)
    assert len(generations(path)) == 1


def test_a_reader_from_before_keeps_what_it_opened(tmp_path):
    path = tmp_path / "index"
    write_marked(path, 1)
    change(path, 2)
    reader = open_marked(path)
    change(path, 3)
    assert reader["saved"].tolist() == [2, 2, 2]
    assert reader.file("columns.parquet")[:] == b"2"
    with pytest.raises(StorageError, match="was replaced since it was opened"):
        reader.verify()


def test_an_update_that_fails_changes_nothing(tmp_path):
    path = tmp_path / "index"
    write_marked(path, 1)
    before, manifest = list_files(path), (path / "manifest.json").read_bytes()
    with pytest.raises(RuntimeError, match="no more"):
        fail_to_change(path)
    assert list_files(path) == before
    assert (path / "manifest.json").read_bytes() == manifest


def test_groups_can_be_removed(tmp_path):
    path = tmp_path / "index"
    write_marked(path, 1)
    with update_folder(path, kind=KIND, version=1) as (_, out):
        out.remove("group")
        out.remove("texts")
    assert set(open_marked(path)) == {"saved"}
    assert len(list_files(path)) == 1


def test_an_array_of_the_folder_can_be_read_while_it_is_updated(tmp_path):
    write_marked(tmp_path / "index", 4)
    with update_folder(tmp_path / "index", kind=KIND, version=1) as (now, out):
        assert set(out.read("saved").tolist()) == {4}
        out.save("saved", now["saved"] * 2)
        assert set(out.read("saved").tolist()) == {8}


def test_a_changed_byte_of_a_file_is_found(tmp_path):
    path = tmp_path / "index"
    write_marked(path, 1)
    change(path, 2)
    [file] = path.rglob("*.parquet")
    file.write_bytes(b"7")
    with pytest.raises(DamagedFolderError, match="its bytes have changed"):
        open_marked(path).verify()
    file.write_bytes(b"77")
    with pytest.raises(DamagedFolderError, match="has 2 bytes, but 1 were written"):
        open_marked(path)
    file.unlink()
    with pytest.raises(DamagedFolderError, match="is missing: 1 bytes were written"):
        open_marked(path)


def test_only_a_folder_of_the_kind_and_format_can_be_updated(tmp_path):
    with pytest.raises(MissingFolderError), update_folder(tmp_path / "none", kind=KIND, version=1):
        pass
    assert not (tmp_path / "none").exists()
    write_marked(tmp_path / "index")
    with (
        pytest.raises(ForeignFolderError, match="holds a topic index, not a table"),
        update_folder(tmp_path / "index", kind="table", version=1),
    ):
        pass
    with write_folder(tmp_path / "newer", kind=KIND, version=3):
        pass
    with pytest.raises(NewerFolderError), update_folder(tmp_path / "newer", kind=KIND, version=2):
        pass


def test_one_writer_at_a_time(tmp_path):
    write_marked(tmp_path / "index")
    with (
        update_folder(tmp_path / "index", kind=KIND, version=1),
        pytest.raises(BusyFolderError),
        update_folder(tmp_path / "index", kind=KIND, version=1),
    ):
        pass


@pytest.mark.parametrize("name", ["columns", "../columns.parquet", "Columns.parquet", "columns.npy", "a//b.parquet"])
def test_names_of_files_are_plain_paths_with_an_extension(tmp_path, name):
    with (
        write_folder(tmp_path / "index", kind=KIND, version=1) as out,
        pytest.raises(StorageError, match="is not a valid name of a file"),
        out.file(name),
    ):
        pass
    assert open_folder(tmp_path / "index", kind=KIND, version=1).files == {}
