"""Whatever happens to a writer, the folder has the complete old or the complete new content, or does not exist."""

import errno
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tests.unit.storage.writers import KIND, generations, open_marked, read_mark, write_marked

from mixsearch.errors import BusyFolderError, DiskError, StorageError
from mixsearch.storage.publication import update_folder, write_folder


def write_and_fail(path, error, overwrite=False):
    with write_folder(path, kind=KIND, version=1, overwrite=overwrite) as out:
        out.save("a/b", np.arange(3))
        out.stream("c", np.int8).append(np.zeros(5, np.int8))
        out.texts("d").append(["text"])
        raise error


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_folder_or_none_and_nothing_else(tmp_path, error):
    write_marked(tmp_path / "index", 1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(error):
        write_and_fail(tmp_path / "index", error, overwrite=True)
    for name in ("new", "empty"):
        with pytest.raises(error):
            write_and_fail(tmp_path / name, error)
    assert read_mark(tmp_path / "index") == 1
    assert len(generations(tmp_path / "index")) == 1
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "empty").iterdir()) == []


def test_a_writer_killed_at_any_step_leaves_the_old_or_the_new_and_the_next_one_clears_up(tmp_path, monkeypatch):
    """A copy of the folder is what a writer leaves that is killed at this step."""
    path, copies = tmp_path / "index", []
    replace = os.replace

    def copy(expected):
        copies.append((shutil.copytree(path, tmp_path / f"killed-{len(copies)}"), expected))

    def replace_between_copies(source, target):
        copy(1)
        replace(source, target)
        copy(2)

    write_marked(path, 1)
    monkeypatch.setattr("os.replace", replace_between_copies)
    with write_folder(path, kind=KIND, version=1, overwrite=True) as out:
        copy(1)
        out.facts["mark"] = 2
        out.save("saved", [2])
        copy(1)
        out.stream("group/streamed", np.int32, (2,)).append(np.full((1, 2), 2, np.int32))
        out.save("group/filled", [2.0])
        out.texts("texts").append(["2"])
    copy(2)
    assert [read_mark(left) for left, _ in copies] == [expected for _, expected in copies]
    monkeypatch.setattr("os.replace", replace)
    for left, _ in copies:
        write_marked(left, 3, overwrite=True)
        assert read_mark(left) == 3
        assert len(generations(left)) == 1


@pytest.mark.parametrize("step", ["os.fsync", "os.replace", "os.posix_fallocate"])
def test_a_disk_that_is_full_at_any_step_leaves_the_old(tmp_path, monkeypatch, step):
    def fill_disk(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    write_marked(tmp_path / "index", 1)
    monkeypatch.setattr(step, fill_disk)
    with pytest.raises(DiskError) as failure:
        write_marked(tmp_path / "index", 2, overwrite=True)
    with pytest.raises(DiskError):
        write_marked(tmp_path / "new")
    monkeypatch.undo()
    assert failure.value.code == "disk_full"
    assert read_mark(tmp_path / "index") == 1
    assert len(generations(tmp_path / "index")) == 1
    assert not (tmp_path / "new").exists()


def test_a_second_writer_is_refused_at_once(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=1):
        with pytest.raises(BusyFolderError) as failure:
            write_marked(tmp_path / "index", overwrite=True)
        assert failure.value.fields["path"] == str(tmp_path / "index")
    write_marked(tmp_path / "index", 2, overwrite=True)
    with (
        update_folder(tmp_path / "index", kind=KIND, version=1),
        pytest.raises(BusyFolderError),
        update_folder(tmp_path / "index", kind=KIND, version=1),
    ):
        pass
    assert read_mark(tmp_path / "index") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_the_lock_of_a_killed_writer_is_free_even_if_a_worker_outlives_it(tmp_path):
    code = (
        "import os, sys, time\nfrom mixsearch.storage.publication import write_folder\n"
        "with write_folder(sys.argv[1], kind='topic index', version=1):\n"
        "    worker = os.fork()\n    if worker: print(worker, flush=True)\n    time.sleep(600)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "index")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as writer:
        worker = int(writer.stdout.readline())
        try:
            with pytest.raises(BusyFolderError):
                write_marked(tmp_path / "index")
            writer.kill()
            writer.wait()
            write_marked(tmp_path / "index", 4)
        finally:
            os.kill(worker, 9)
    assert read_mark(tmp_path / "index") == 4


def test_who_opened_a_folder_keeps_it_when_it_is_replaced(tmp_path):
    write_marked(tmp_path / "index", 1)
    before = open_marked(tmp_path / "index")
    write_marked(tmp_path / "index", 2, overwrite=True)
    assert set(before["saved"].tolist()) == {1}
    assert set(before.texts("texts")) == {"1"}
    assert read_mark(tmp_path / "index") == 2
    with pytest.raises(StorageError) as failure:
        before.verify()
    assert failure.value.code == "folder_replaced"
