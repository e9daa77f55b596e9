"""Single files are written completely or not at all, and leave nothing behind."""

import os
import subprocess
import sys

import pytest

from mixsearch.storage import disk
from mixsearch.storage.disk import write_atomically


def find_dead_process():
    """Return the id of a process that has ended."""
    return int(subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True).stdout)


def leave(folder, process, name, age):
    path = folder / f".{process}-{name}"
    path.write_bytes(b"half")
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))
    return path


def test_temporary_files_of_killed_processes_are_removed_by_the_next_writer(tmp_path):
    dead, old = find_dead_process(), 2 * disk.MIN_AGE_SECONDS
    stale = leave(tmp_path, dead, "table[1].csv", old)
    kept = [
        leave(tmp_path, dead, "other.csv", old),
        leave(tmp_path, dead, "table[1].csv.gz", old),
        leave(tmp_path, "user", "table[1].csv", old),
        leave(tmp_path, os.getppid(), "table[1].csv", old),
    ]
    with write_atomically(tmp_path / "table[1].csv") as temporary:
        temporary.write_bytes(b"whole")
    assert (tmp_path / "table[1].csv").read_bytes() == b"whole"
    assert not stale.exists()
    assert all(path.exists() for path in kept)


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"old")

    def fail():
        with write_atomically(tmp_path / "a.csv") as temporary:
            temporary.write_bytes(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_bytes() == b"old"
