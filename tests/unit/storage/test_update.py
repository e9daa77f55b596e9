"""An update changes some files of a folder, completely or not at all, and leaves the others where they are."""

import os

import numpy as np
import pytest
from tests.unit.storage.writers import KIND, generations, open_marked, write_marked

from mixsearch.errors import ForeignFolderError, MissingFolderError, NewerFolderError
from mixsearch.storage.publication import update_folder, write_folder


@pytest.fixture
def index(tmp_path):
    write_marked(tmp_path / "index", 1)
    return tmp_path / "index"


def change(path, mark):
    """Replace one array, add one, and change the fact."""
    with update_folder(path, kind=KIND, version=1) as (now, out):
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


def test_an_update_replaces_and_adds_and_keeps_the_rest_in_its_place(index):
    [kept] = index.rglob("filled.npy")
    before = kept.stat()
    change(index, 2)
    folder = open_marked(index)
    folder.verify()
    assert folder.facts["mark"] == 2
    assert folder["saved"].tolist() == [2, 2, 2]
    assert set(folder["added/here"].tolist()) == {101}
    assert set(folder["group/filled"].tolist()) == {1}
    assert set(folder.texts("texts")) == {"1"}
    assert folder.file("columns.parquet")[:] == b"2"
    assert os.path.samestat(kept.stat(), before)


def test_files_that_an_update_replaced_or_removed_are_gone(index):
    for mark in range(2, 6):
        change(index, mark)
    assert len(list_files(index)) == len(open_marked(index)) + 1
    with update_folder(index, kind=KIND, version=1) as (_, out):
        out.remove("group")
        out.remove("texts")
        out.remove("columns.parquet")
    assert set(open_marked(index)) == {"saved", "added/here"}
    assert len(list_files(index)) == 2
    write_marked(index, 9, overwrite=True)
    assert len(generations(index)) == 1


def test_an_update_that_fails_changes_nothing(index):
    before, manifest = list_files(index), (index / "manifest.json").read_bytes()
    with pytest.raises(RuntimeError, match="no more"):
        fail_to_change(index)
    assert list_files(index) == before
    assert (index / "manifest.json").read_bytes() == manifest


def test_only_a_folder_of_the_kind_and_format_can_be_updated(index, tmp_path):
    with pytest.raises(MissingFolderError), update_folder(tmp_path / "none", kind=KIND, version=1):
        pass
    assert not (tmp_path / "none").exists()
    with pytest.raises(ForeignFolderError), update_folder(index, kind="table", version=1):
        pass
    with write_folder(tmp_path / "newer", kind=KIND, version=3):
        pass
    with pytest.raises(NewerFolderError), update_folder(tmp_path / "newer", kind=KIND, version=2):
        pass
