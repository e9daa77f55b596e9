"""Whatever cannot be read or written has a code that names the reason, and no other file is touched."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from tests.unit.storage.writers import KIND, open_marked, read_mark, write_marked

import mixsearch.storage.reader
from mixsearch.errors import DiskError, FolderExistsError, ForeignFolderError, StorageError
from mixsearch.storage.disk import explain_os_errors
from mixsearch.storage.manifest import read_manifest
from mixsearch.storage.publication import write_folder
from mixsearch.storage.reader import open_folder


def write_newer(path):
    with write_folder(path, kind=KIND, version=3):
        pass


def write_unfinished(path):
    path.mkdir()
    (path / "mixsearch.lock").touch()


def write_foreign(path):
    path.mkdir()
    (path / "notes.txt").write_text("hello")


def write_other_kind(path):
    with write_folder(path, kind="picture book", version=1):
        pass


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda path: None, "folder_missing"),
        (Path.mkdir, "folder_empty"),
        (Path.touch, "not_a_folder"),
        (write_foreign, "folder_foreign"),
        (write_other_kind, "other_kind"),
        (write_newer, "folder_newer"),
        (write_unfinished, "folder_unfinished"),
    ],
)
def test_each_reason_not_to_open_a_folder_has_a_code_and_names_the_path(tmp_path, make, code):
    path = tmp_path / "a {0} folder"
    make(path)
    with pytest.raises(StorageError) as caught:
        open_marked(path)
    assert caught.value.code == code
    assert caught.value.fields["path"] == str(path)
    assert f"'{path}'" in str(caught.value)


def test_writing_over_a_folder_must_be_asked_for(tmp_path):
    write_marked(tmp_path / "index", 1)
    with pytest.raises(FolderExistsError) as caught:
        write_marked(tmp_path / "index", 2)
    assert "set --overwrite to replace it" in caught.value.describe(lambda name: f"--{name}")
    with (
        pytest.raises(ForeignFolderError),
        write_folder(tmp_path / "index", kind="picture book", version=1, overwrite=True),
    ):
        pass
    assert read_mark(tmp_path / "index") == 1


@pytest.mark.parametrize("name", ["notes.txt", "manifest.json", "data-0123456789abcdef"])
def test_writing_into_a_folder_of_someone_else_is_refused_and_changes_nothing(tmp_path, name):
    (tmp_path / name).write_text("dear diary")
    with pytest.raises(ForeignFolderError):
        write_marked(tmp_path, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "dear diary"


def test_files_that_a_user_put_beside_ours_are_left_alone(tmp_path):
    write_marked(tmp_path / "index", 1)
    (tmp_path / "index" / "notes.txt").write_text("dear diary")
    (tmp_path / "index" / "data-set").mkdir()
    write_marked(tmp_path / "index", 2, overwrite=True)
    names = {path.name for path in (tmp_path / "index").iterdir() if len(path.name) != len("data-0123456789abcdef")}
    assert names == {"manifest.json", "mixsearch.lock", "notes.txt", "data-set"}


@pytest.mark.parametrize("name", ["", "/a", "a//b", "../a", "A", "ä"])
def test_names_that_are_not_plain_paths_are_refused(tmp_path, name):
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        assert find_code(lambda: out.save(name, [1])) == "bad_array_name"
        with pytest.raises(StorageError) as caught, out.file(f"{name}.parquet"):
            pass
        assert caught.value.code == "bad_file_name"


def test_misuse_of_a_writer_is_named_and_does_no_harm(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        out.save("a/b", [1])
        assert find_code(lambda: out.save("a/b", [2])) == "array_exists"
        for array in (3, np.array([None]), np.zeros(2, [("x", float)])):
            with pytest.raises(TypeError):
                out.save("d", array)
        stream = out.stream("e/f", np.int32, (2,))
        assert find_code(lambda: stream.append([1, 2, 3])) == "bad_shape"
        with pytest.raises(TypeError):
            stream.append(np.zeros((1, 2), np.int64))
        stream.close()
        assert find_code(lambda: stream.append(np.zeros((1, 2), np.int32))) == "array_closed"
    assert find_code(lambda: out.save("late", [1])) == "folder_closed"
    assert set(open_marked(tmp_path / "index")) == {"a/b", "e/f"}


def find_code(action):
    with pytest.raises(StorageError) as caught:
        action()
    return caught.value.code


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "disk_full"),
        (errno.EDQUOT, "quota_exceeded"),
        (errno.EACCES, "permission_denied"),
        (errno.EROFS, "read_only"),
        (errno.EIO, "disk_failed"),
    ],
)
def test_each_refusal_of_the_system_has_a_code(tmp_path, number, code):
    with pytest.raises(DiskError) as caught, explain_os_errors("write", tmp_path):
        raise OSError(number, os.strerror(number))
    assert caught.value.code == code
    assert caught.value.as_dict()["fields"]["path"] == str(tmp_path)


def test_a_reader_whose_manifest_was_replaced_meanwhile_tries_again(tmp_path, monkeypatch):
    write_marked(tmp_path / "index", 1)
    first = read_manifest(tmp_path / "index")
    write_marked(tmp_path / "index", 2, overwrite=True)
    stale = [first]
    monkeypatch.setattr(
        mixsearch.storage.reader, "read_manifest", lambda path: stale.pop() if stale else read_manifest(path)
    )
    assert open_folder(tmp_path / "index", kind=KIND, version=1).facts["mark"] == 2
    assert stale == []
