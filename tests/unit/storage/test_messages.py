"""Whatever cannot be read or written gives one sentence, and no other file is touched."""

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from tests.unit.storage.writers import (
    KIND,
    ask_child,
    die_at_operation,
    open_marked,
    read_mark,
    run_in_child,
    write_marked,
)

import mixsearch.storage.reader
from mixsearch.errors import (
    DiskError,
    FolderExistsError,
    ForeignFolderError,
    MissingFolderError,
    NewerFolderError,
    StorageError,
    UnfinishedFolderError,
)
from mixsearch.storage import explain_os_errors, open_folder, write_folder
from mixsearch.storage.manifest import read_manifest


def test_opening_nothing_says_so(tmp_path):
    with pytest.raises(MissingFolderError, match="Folder '.*nowhere' does not exist. Check the path, or write"):
        open_marked(tmp_path / "nowhere")
    with pytest.raises(MissingFolderError, match="Folder '.*' is empty. Check the path, or write it first"):
        open_marked(tmp_path)


def test_opening_a_file_says_so(tmp_path):
    (tmp_path / "file").write_text("hello")
    with pytest.raises(ForeignFolderError, match="'.*file' is a file, not a folder written by mixsearch"):
        open_marked(tmp_path / "file")


def test_opening_a_folder_of_someone_else_s_says_so(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ForeignFolderError, match="was not written by mixsearch: it has no manifest.json. Check"):
        open_marked(tmp_path)
    (tmp_path / "manifest.json").write_text('{"name": "a web app"}')
    with pytest.raises(ForeignFolderError, match="was not written by mixsearch: its manifest.json has another format"):
        open_marked(tmp_path)


def test_opening_another_kind_says_both(tmp_path):
    write_marked(tmp_path / "index")
    with pytest.raises(ForeignFolderError, match="holds a topic index, not a picture book. Check the path"):
        open_folder(tmp_path / "index", kind="picture book", version=1)


def test_opening_a_newer_format_asks_for_an_upgrade(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=3):
        pass
    with pytest.raises(
        NewerFolderError,
        match=r"was written by mixsearch .* in format 3, but this version reads formats up to 1. "
        "Upgrade mixsearch, or write the topic index again",
    ):
        open_marked(tmp_path / "index")


def test_opening_an_unfinished_folder_says_so_and_writing_it_again_needs_no_flag(tmp_path):
    assert run_in_child(die_at_operation, 12, tmp_path / "index", 1, False) < 0
    with pytest.raises(
        UnfinishedFolderError,
        match="is unfinished: its writer is still running, or was stopped. Wait for it, or write",
    ):
        open_marked(tmp_path / "index")
    write_marked(tmp_path / "index", 2)
    assert read_mark(tmp_path / "index") == 2


def test_an_array_that_is_not_there_is_named_beside_those_that_are(tmp_path):
    write_marked(tmp_path / "index")
    with pytest.raises(KeyError, match="no array 'lost' in '.*index', which has: group/filled, group/streamed, saved"):
        open_marked(tmp_path / "index")["lost"]


def test_writing_over_a_folder_must_be_asked_for(tmp_path):
    write_marked(tmp_path / "index", 1)
    with pytest.raises(
        FolderExistsError,
        match="already holds a topic index, created 20.*Choose another folder, or set overwrite to replace it",
    ):
        write_marked(tmp_path / "index", 2)
    assert read_mark(tmp_path / "index") == 1


def test_writing_over_another_kind_is_refused_even_when_asked_for(tmp_path):
    write_marked(tmp_path / "index", 1)
    with (
        pytest.raises(ForeignFolderError, match="holds a topic index, not a picture book. Choose another folder"),
        write_folder(tmp_path / "index", kind="picture book", version=1, overwrite=True),
    ):
        pass
    assert read_mark(tmp_path / "index") == 1


@pytest.mark.parametrize("name", ["notes.txt", "manifest.json", "data-0123456789abcdef"])
def test_writing_into_a_folder_of_someone_else_s_is_refused_and_changes_nothing(tmp_path, name):
    (tmp_path / name).write_text("dear diary")
    with pytest.raises(ForeignFolderError, match="holds files that mixsearch did not write. Choose a new or an empty"):
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


def test_writing_to_the_path_of_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("hello")
    with pytest.raises(ForeignFolderError, match="'.*file' is a file, not a folder. Choose another path"):
        write_marked(tmp_path / "file", overwrite=True)


def test_writing_below_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(MissingFolderError, match="Folder '.*nowhere' does not exist. Create it first"):
        write_marked(tmp_path / "nowhere" / "index")


def test_a_folder_copied_without_its_lock_is_still_ours(tmp_path):
    write_marked(tmp_path / "index", 1)
    (tmp_path / "index" / "mixsearch.lock").unlink()
    assert read_mark(tmp_path / "index") == 1
    write_marked(tmp_path / "index", 2, overwrite=True)
    assert read_mark(tmp_path / "index") == 2


@pytest.mark.parametrize("name", ["", "/a", "a/", "a//b", "../a", "A", "a.b", "ä"])
def test_names_that_are_no_plain_paths_are_refused(tmp_path, name):
    with (
        write_folder(tmp_path / "index", kind=KIND, version=1) as out,
        pytest.raises(ValueError, match=f"'{name}' is not a valid name of an array. Use lower-case letters"),
    ):
        out.save(name, [1])


def test_misuse_of_a_writer_is_named_and_does_no_harm(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        out.save("a/b", [1])
        with pytest.raises(ValueError, match="'a/b' exists already. Choose another name"):
            out.save("a/b", [2])
        with pytest.raises(TypeError, match="'c' is a single value, not an array. Store it among the facts"):
            out.save("c", 3)
        for array in (np.array([None]), np.zeros(2, [("x", float)])):
            with pytest.raises(TypeError, match="An array of .* cannot be stored, only numbers, booleans and texts"):
                out.save("d", array)
        stream = out.stream("e/f", np.int32, (2,))
        with pytest.raises(ValueError, match=r"'e/f' needs rows of shape \(n, 2\), got \(3,\)"):
            stream.append([1, 2, 3])
        with pytest.raises(TypeError, match="'e/f' holds int32, got int64. Convert the rows first"):
            stream.append(np.zeros((1, 2), np.int64))
        stream.close()
        with pytest.raises(ValueError, match="'e/f' is closed; nothing can be appended"):
            stream.append(np.zeros((1, 2), np.int32))
    with pytest.raises(ValueError, match="'late' cannot be written: the folder is no longer open for writing"):
        out.save("late", [1])
    assert set(open_marked(tmp_path / "index")) == {"a/b", "e/f"}


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "the disk is full. Free some space, or choose a folder on another disk."),
        (errno.EDQUOT, "your disk quota is used up. Delete files, or choose a folder on another disk."),
        (errno.EACCES, "permission denied. Change the permissions, or choose another folder."),
        (errno.EPERM, "permission denied. Change the permissions, or choose another folder."),
        (errno.EROFS, "the file system is read-only. Choose a folder that can be written to."),
        (errno.EMFILE, "this process has too many open files. Close some, or raise `ulimit -n`."),
        (errno.EIO, "Input/output error."),
    ],
)
def test_every_refusal_of_the_system_is_explained(tmp_path, monkeypatch, number, reason):
    def refuse(*args):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(DiskError) as failure:
        write_marked(tmp_path / "index")
    assert str(failure.value) == f"Could not write to '{tmp_path / 'index'}': {reason}"
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def refuse(handle, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(DiskError, match="Could not lock '.*mixsearch.lock': No locks available."):
        write_marked(tmp_path / "index")


def act_as_a_guest(action, path):
    if os.getuid() == 0:
        os.setuid(65534)
    return action(path)


def overwrite(path):
    write_marked(path, 2, overwrite=True)


@pytest.fixture
def read_only_home():
    # Not below tmp_path, which other users may not enter.
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o755)
        write_marked(Path(home) / "index", 1)
        (Path(home) / "index").chmod(0o555)
        Path(home).chmod(0o555)
        yield Path(home)
        Path(home).chmod(0o755)
        (Path(home) / "index").chmod(0o755)


@pytest.mark.slow
def test_a_read_only_folder_can_be_read_and_not_written(read_only_home):
    assert ask_child(act_as_a_guest, read_mark, read_only_home / "index") == 1
    answer = ask_child(act_as_a_guest, overwrite, read_only_home / "index")
    refusal = "permission denied. Change the permissions, or choose another folder."
    assert answer == f"DiskError: Could not write to '{read_only_home / 'index'}': {refusal}"
    answer = ask_child(act_as_a_guest, write_marked, read_only_home / "new")
    assert answer == f"DiskError: Could not make '{read_only_home / 'new'}': {refusal}"
    assert ask_child(act_as_a_guest, write_marked, read_only_home / "index").startswith("FolderExistsError")
    assert [path.name for path in read_only_home.iterdir()] == ["index"]


def test_an_unreadable_folder_says_so(read_only_home):
    (read_only_home / "index").chmod(0)
    answer = ask_child(act_as_a_guest, read_mark, read_only_home / "index")
    assert answer.startswith(f"DiskError: Could not read '{read_only_home / 'index'}': permission denied.")


def test_who_opened_a_folder_keeps_it_when_it_is_replaced_and_removed(tmp_path):
    write_marked(tmp_path / "index", 1)
    before = open_marked(tmp_path / "index")
    write_marked(tmp_path / "index", 2, overwrite=True)
    assert set(before["saved"].tolist()) == {1}
    assert set(before.texts("texts")) == {"1"}
    assert read_mark(tmp_path / "index") == 2
    with pytest.raises(StorageError, match="was replaced since it was opened. Open it again, and verify that"):
        before.verify()


def test_a_reader_whose_manifest_was_replaced_under_its_eyes_tries_again(tmp_path, monkeypatch):
    write_marked(tmp_path / "index", 1)
    first = read_manifest(tmp_path / "index")
    write_marked(tmp_path / "index", 2, overwrite=True)
    second = read_manifest(tmp_path / "index")
    write_marked(tmp_path / "index", 3, overwrite=True)
    stale = [second, first]
    monkeypatch.setattr(
        mixsearch.storage.reader, "read_manifest", lambda path: stale.pop() if stale else read_manifest(path)
    )
    assert read_mark(tmp_path / "index") == 3
    assert stale == []


def write_newer(path):
    with write_folder(path, kind=KIND, version=3):
        pass


def write_unfinished(path):
    path.mkdir()
    (path / "mixsearch.lock").touch()


def write_foreign(path):
    path.mkdir()
    (path / "notes.txt").write_text("hello")


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda path: None, "folder_missing"),
        (Path.mkdir, "folder_empty"),
        (Path.touch, "not_a_folder"),
        (write_foreign, "folder_foreign"),
        (write_newer, "folder_newer"),
        (write_unfinished, "folder_unfinished"),
    ],
)
def test_each_reason_has_a_code_and_names_the_path(tmp_path, make, code):
    path = tmp_path / "a {0} folder"
    make(path)
    with pytest.raises(StorageError) as caught:
        open_marked(path)
    assert caught.value.code == code
    assert caught.value.fields["path"] == str(path)
    assert f"'{path}'" in str(caught.value)


def test_the_option_to_overwrite_is_spelled_as_the_interface_has_it(tmp_path):
    write_marked(tmp_path / "index")
    with pytest.raises(FolderExistsError) as caught:
        write_marked(tmp_path / "index")
    assert "set overwrite to replace it" in str(caught.value)
    assert "set --overwrite to replace it" in caught.value.describe(lambda name: f"--{name}")


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
