"""Whatever happens to a writer, the folder has the complete old or the complete new content, or does not exist."""

import errno
import os
import random
import re
import resource
import signal
import time
from itertools import count

import numpy as np
import pytest
from tests.unit.storage.writers import (
    FAILED_CLEANLY,
    KIND,
    ask_child,
    die_at_operation,
    fail_at_operation,
    forget_to_sync,
    generations,
    processes,
    read_mark,
    read_mark_or_none,
    run_in_child,
    write_marked,
)

from mixsearch.errors import BusyFolderError, DiskError, StorageError
from mixsearch.storage import write_folder

pytestmark = pytest.mark.slow

MANY_ROWS = 4_000


@pytest.fixture
def _without_syncing(monkeypatch):
    monkeypatch.setattr("os.fsync", forget_to_sync)


@pytest.mark.usefixtures("_without_syncing")
def test_a_first_write_killed_before_any_of_its_operations_leaves_nothing_or_everything(tmp_path):
    found = []
    for n in range(1, 1000):
        path = tmp_path / f"index-{n}"
        code = run_in_child(die_at_operation, n, path, 1, False)
        found.append(read_mark_or_none(path))
        if code == 0:
            break
        write_marked(path, 2, overwrite=True)
        assert read_mark_or_none(path) == 2
        assert len(generations(path)) == 1
    first_whole = found.index(1)
    assert first_whole > 20
    assert found == [None] * first_whole + [1] * (len(found) - first_whole)


@pytest.mark.usefixtures("_without_syncing")
def test_a_replacement_killed_before_any_of_its_operations_leaves_the_old_or_the_new(tmp_path):
    path, codes, found = tmp_path / "index", [], []
    while not codes or codes[-1] != 0:
        write_marked(path, 7, overwrite=True)
        codes.append(run_in_child(die_at_operation, len(codes) + 1, path, 8, True))
        found.append(read_mark_or_none(path))
    assert set(codes[:-1]) == {-signal.SIGKILL}
    first_new = found.index(8)
    assert first_new > 20
    assert found == [7] * first_new + [8] * (len(found) - first_new)
    assert len(generations(path)) == 1


@pytest.mark.usefixtures("_without_syncing")
def test_a_disk_full_at_any_operation_of_a_replacement_leaves_the_old_and_nothing_else(tmp_path):
    path, outcomes = tmp_path / "index", []
    while outcomes[-3:] != [(0, 8)] * 3:
        write_marked(path, 7, overwrite=True)
        code = run_in_child(fail_at_operation, len(outcomes) + 1, path, 8, True)
        outcomes.append((code, read_mark_or_none(path)))
        if outcomes[-1][1] == 7:
            assert len(generations(path)) == 1
    # What fails after the rename, syncing it or removing the old files, leaves the new folder and those for later.
    assert set(outcomes) <= {(FAILED_CLEANLY, 7), (FAILED_CLEANLY, 8), (0, 8)}
    assert outcomes.count((FAILED_CLEANLY, 7)) > 20


@pytest.mark.usefixtures("_without_syncing")
def test_a_disk_full_at_any_operation_of_a_first_write_leaves_no_trace(tmp_path):
    codes = []
    while codes[-3:] != [0] * 3:
        path = tmp_path / f"index-{len(codes)}"
        codes.append(run_in_child(fail_at_operation, len(codes) + 1, path, 1, False))
        assert path.exists() is (read_mark_or_none(path) == 1)
    assert set(codes) == {0, FAILED_CLEANLY}
    assert codes.count(FAILED_CLEANLY) > 15


@pytest.mark.parametrize("before", [None, 1])
def test_a_writer_killed_at_random_moments_never_breaks_the_folder(tmp_path, before):
    path, dice = tmp_path / "index", random.Random(0)
    if before:
        write_marked(path, before)
    began = time.monotonic()
    write_marked(tmp_path / "other", 2, n_rows=MANY_ROWS)
    duration = time.monotonic() - began
    for _ in range(10):
        writer = processes.Process(target=write_marked, args=(path, 2, True, MANY_ROWS))
        writer.start()
        time.sleep(dice.uniform(0, 1.2 * duration))
        writer.kill()
        writer.join()
        assert read_mark_or_none(path) in {before, 2}
        if read_mark_or_none(path) == 2:
            before = 2
    write_marked(path, 3, overwrite=True)
    assert read_mark_or_none(path) == 3
    assert len(generations(path)) == 1


def write_within(limit, path, overwrite):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    write_marked(path, 2, overwrite, n_rows=1000)


@pytest.mark.parametrize("limit", [100, 1000, 5000, 8000])
def test_a_real_limit_on_the_size_of_files_is_explained_and_leaves_the_old(tmp_path, limit):
    write_marked(tmp_path / "old", 1)
    assert "exceed the limit of this file system or of `ulimit -f`" in ask_child(
        write_within, limit, tmp_path / "old", True
    )
    assert read_mark_or_none(tmp_path / "old") == 1
    assert len(generations(tmp_path / "old")) == 1
    assert ask_child(write_within, limit, tmp_path / "new", False).startswith("DiskError: Could not write")
    assert not (tmp_path / "new").exists()


def test_a_disk_that_fails_to_sync_publishes_nothing_it_cannot_vouch_for(tmp_path, monkeypatch):
    path, outcomes = tmp_path / "index", []
    while not outcomes or outcomes[-1][0]:
        monkeypatch.setattr("os.fsync", forget_to_sync)
        write_marked(path, 1, overwrite=True)
        monkeypatch.setattr("os.fsync", fail_at_call(len(outcomes)))
        outcomes.append((describe_failure(path), read_mark_or_none(path)))
    *before, last, fine = outcomes
    message = "Could not write.*: Input/output error."
    assert all(re.match(message, failure) and mark == 1 for failure, mark in before)
    # That of the rename itself: the new folder can be seen, and the old files are kept.
    assert re.match(message, last[0])
    assert last[1] == 2
    assert fine == ("", 2)


def fail_at_call(n):
    calls = count()

    def fail(handle):
        if next(calls) == n:
            raise OSError(errno.EIO, "Input/output error")

    return fail


def describe_failure(path):
    try:
        write_marked(path, 2, overwrite=True)
    except DiskError as error:
        return str(error)
    return ""


class Mishap(Exception):
    pass


def write_and_stumble(path, overwrite=False, error=Mishap):
    with write_folder(path, kind=KIND, version=1, overwrite=overwrite) as out:
        out.save("a/b", np.arange(3))
        out.stream("c", np.int8).append(np.zeros(5, np.int8))
        out.texts("d").append(["text"])
        raise error


@pytest.mark.parametrize("error", [Mishap, KeyboardInterrupt])
def test_an_exception_in_the_block_leaves_the_old_folder_and_no_leftovers(tmp_path, error):
    write_marked(tmp_path / "index", 1)
    with pytest.raises(error):
        write_and_stumble(tmp_path / "index", overwrite=True, error=error)
    assert read_mark_or_none(tmp_path / "index") == 1
    assert len(generations(tmp_path / "index")) == 1


def test_an_exception_in_a_first_write_takes_away_the_folder_it_made(tmp_path):
    with pytest.raises(Mishap):
        write_and_stumble(tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


def test_an_exception_in_a_first_write_leaves_an_empty_folder_empty(tmp_path):
    with pytest.raises(Mishap):
        write_and_stumble(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_fact_that_cannot_be_stored_leaves_the_old_folder(tmp_path):
    write_marked(tmp_path / "index", 1)
    with (
        pytest.raises(TypeError, match="JSON, which cannot hold \\{1\\}. Use a number, a str, a list or a dict"),
        write_folder(tmp_path / "index", kind=KIND, version=1, overwrite=True) as out,
    ):
        out.facts["set"] = {1}
    with (
        pytest.raises(ValueError, match="JSON, which has no NaN or infinity"),
        write_folder(tmp_path / "index", kind=KIND, version=1, overwrite=True) as out,
    ):
        out.facts["mean"] = float("nan")
    assert read_mark_or_none(tmp_path / "index") == 1


def test_a_second_writer_is_refused_at_once(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=1):
        with pytest.raises(BusyFolderError, match="Another process is writing to '.*index'. Wait for it, or choose"):
            write_marked(tmp_path / "index", overwrite=True)
        answer = ask_child(write_marked, tmp_path / "index")
        assert answer.startswith("BusyFolderError: Another process is writing")
    write_marked(tmp_path / "index", 2, overwrite=True)
    assert read_mark(tmp_path / "index") == 2


def hold_and_fork(path, pipe):
    with write_folder(path, kind=KIND, version=1):
        worker = os.fork()
        if worker == 0:
            time.sleep(60)
        pipe.send(worker)
        time.sleep(60)


def test_the_lock_of_a_killed_writer_is_free_even_if_a_worker_outlives_it(tmp_path):
    ours, theirs = processes.Pipe()
    writer = processes.Process(target=hold_and_fork, args=(tmp_path / "index", theirs))
    writer.start()
    worker = ours.recv()
    try:
        with pytest.raises(BusyFolderError):
            write_marked(tmp_path / "index")
        writer.kill()
        writer.join()
        write_marked(tmp_path / "index", 4)
    finally:
        os.kill(worker, signal.SIGKILL)
    assert read_mark(tmp_path / "index") == 4


def write_repeatedly(path, marks):
    for mark in marks:
        write_marked(path, mark, overwrite=True)


def test_readers_see_one_whole_version_while_the_folder_is_replaced(tmp_path):
    path = tmp_path / "index"
    write_marked(path, 1)
    first = read_mark(path)
    writer = processes.Process(target=write_repeatedly, args=(path, range(2, 30)))
    writer.start()
    seen = [first]
    while writer.is_alive():
        seen.append(read_mark(path))
    writer.join()
    assert writer.exitcode == 0
    assert seen == sorted(seen)
    assert read_mark(path) == 29


def test_writers_that_race_for_a_new_folder_either_write_or_are_told(tmp_path):
    path = tmp_path / "index"
    writers = [processes.Process(target=write_or_be_told, args=(path, mark)) for mark in (1, 2, 3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert {writer.exitcode for writer in writers} <= {0, FAILED_CLEANLY}
    assert read_mark_or_none(path) in {1, 2, 3}
    assert len(generations(path)) == 1


def write_or_be_told(path, mark):
    try:
        for _ in range(5):
            write_marked(path, mark, overwrite=True)
    except StorageError:
        os._exit(FAILED_CLEANLY)
