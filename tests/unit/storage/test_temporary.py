"""Temporary folders of killed processes are removed; those of running processes never are."""

import os
import signal
import subprocess
import sys
import time

import pytest

from mixsearch.storage import temporary
from mixsearch.storage.temporary import TemporaryFolder, sweep_folders


def list_folders(parent):
    return sorted(each.name for each in parent.iterdir())


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(temporary, "MIN_AGE_SECONDS", -1.0)


def test_a_folder_is_removed_when_it_is_closed_or_forgotten(tmp_path):
    with TemporaryFolder(tmp_path) as folder:
        (folder.path / "x").write_text("x")
        assert len(list_folders(tmp_path)) == 1
    assert list_folders(tmp_path) == []
    folder = TemporaryFolder(tmp_path)
    del folder
    assert list_folders(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_the_folder_of_a_killed_process_is_swept_and_that_of_a_living_one_is_not(tmp_path):
    code = (
        "import sys, time\nfrom mixsearch.storage.temporary import TemporaryFolder\n"
        "folder = TemporaryFolder(sys.argv[1])\n"
        "(folder.path / 'x').write_text('x')\nprint('ready', flush=True)\ntime.sleep(120)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        before = list_folders(tmp_path)
        sweep_folders(tmp_path)
        assert list_folders(tmp_path) == before
        process.send_signal(signal.SIGKILL)
        process.wait()
    with TemporaryFolder(tmp_path) as folder:
        assert list_folders(tmp_path) == [folder.path.name]


def test_folders_without_a_lock_and_young_ones_are_left_alone(tmp_path, monkeypatch):
    (tmp_path / "mixsearch-tmp-foreign").mkdir()
    (tmp_path / "mixsearch-tmp-young").mkdir()
    (tmp_path / "mixsearch-tmp-young" / "mixsearch.lock").touch()
    monkeypatch.setattr(temporary, "MIN_AGE_SECONDS", 60.0)
    sweep_folders(tmp_path)
    assert list_folders(tmp_path) == ["mixsearch-tmp-foreign", "mixsearch-tmp-young"]
    old = time.time() - 120
    os.utime(tmp_path / "mixsearch-tmp-young" / "mixsearch.lock", (old, old))
    sweep_folders(tmp_path)
    assert list_folders(tmp_path) == ["mixsearch-tmp-foreign"]
