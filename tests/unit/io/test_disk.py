"""Single files and temporary folders leave nothing behind, and refusals of the system have codes."""

import errno
import os
import signal
import subprocess
import sys

import pytest
from tests.coded import raises

from mixsearch.io import disk
from mixsearch.io.disk import TemporaryFolder, explain_os_errors, write_atomically


def list_names(folder):
    return sorted(path.name for path in folder.iterdir())


def make_old(path, seconds):
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - seconds))


def test_a_file_is_written_completely_or_not_at_all(tmp_path):
    with write_atomically(tmp_path / "table[1].csv") as temporary:
        temporary.write_bytes(b"whole")
    with pytest.raises(ZeroDivisionError), write_atomically(tmp_path / "table[1].csv") as temporary:
        temporary.write_bytes(b"half" * (1 // 0))
    assert (tmp_path / "table[1].csv").read_bytes() == b"whole"
    assert list_names(tmp_path) == ["table[1].csv"]


def test_a_temporary_folder_is_removed_when_it_is_closed_or_forgotten(tmp_path):
    with TemporaryFolder(tmp_path) as folder:
        (folder.path / "x").write_text("x")
        assert list_names(tmp_path) == [folder.path.name]
    assert list_names(tmp_path) == []
    folder = TemporaryFolder(tmp_path)
    del folder
    assert list_names(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_the_temporary_folder_of_a_killed_process_is_swept_and_that_of_a_living_one_is_not(tmp_path):
    (tmp_path / "mixsearch-tmp-foreign").mkdir()
    code = (
        "import sys, time\nfrom mixsearch.io.disk import TemporaryFolder\n"
        "folder = TemporaryFolder(sys.argv[1])\nprint(folder.path.name, flush=True)\ntime.sleep(120)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        name = process.stdout.readline().strip()
        make_old(tmp_path / name / disk.LOCK_NAME, 2 * disk.MIN_AGE_SECONDS)
        TemporaryFolder(tmp_path).close()
        assert list_names(tmp_path) == sorted(["mixsearch-tmp-foreign", name])
        process.send_signal(signal.SIGKILL)
        process.wait()
    TemporaryFolder(tmp_path).close()
    assert list_names(tmp_path) == ["mixsearch-tmp-foreign"]


def test_each_refusal_of_the_system_has_a_code(tmp_path):
    codes = {
        errno.ENOSPC: "disk_full",
        errno.EACCES: "permission_denied",
        errno.EIO: "disk_failed",
    }
    for number, code in codes.items():
        with raises(code, path=str(tmp_path)), explain_os_errors("write", tmp_path):
            raise OSError(number, os.strerror(number))
