"""Writers and readers of one small folder, for the tests, and child processes that write and die."""

import errno
import multiprocessing
import os
import signal
import sys

import numpy as np

from mixsearch.errors import MissingFolderError, StorageError, UnfinishedFolderError
from mixsearch.storage import open_folder, write_folder

KIND = "topic index"
FAILED_CLEANLY = 3

# A server that has imported the package forks the children, so that many can be killed in little time.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["__main__", "pytest", "mixsearch.storage"])


def write_marked(path, mark=1, overwrite=False, n_rows=20):
    """Write a folder in which every array contains the mark."""
    with write_folder(path, kind=KIND, version=1, overwrite=overwrite) as out:
        out.facts["mark"] = mark
        out.save("saved", np.full(n_rows, mark))
        with out.stream("group/streamed", np.int32, (2,)) as stream:
            for _ in range(n_rows):
                stream.append(np.full((1, 2), mark, np.int32))
        with out.allocate("group/filled", (n_rows,), np.float32) as filled:
            filled[::-1] = mark
        out.texts("texts").append([str(mark)] * n_rows)


def open_marked(path):
    return open_folder(path, kind=KIND, version=1)


def read_mark(path):
    """Return the mark that all parts of the folder contain."""
    folder = open_marked(path)
    mark = folder.facts["mark"]
    assert set(folder["saved"].tolist()) == {mark}
    assert set(folder["group/streamed"].ravel().tolist()) == {mark}
    assert set(folder["group/filled"].tolist()) == {mark}
    assert set(folder.texts("texts")) == {str(mark)}
    return mark


def read_mark_or_none(path):
    """Like `read_mark`, with every byte verified; None if nothing was ever published."""
    try:
        open_marked(path).verify()
    except (MissingFolderError, UnfinishedFolderError):
        return None
    return read_mark(path)


def generations(path):
    return [entry for entry in path.iterdir() if entry.name.startswith("data-")]


def run_in_child(function, *args):
    """Return the exit code of a process that calls a function."""
    process = processes.Process(target=function, args=args)
    process.start()
    process.join()
    return process.exitcode


def ask_child(function, *args):
    """Return the result of a function in another process, or its error message."""
    ours, theirs = processes.Pipe()
    code = run_in_child(_send_answer, theirs, function, args)
    assert code == 0
    return ours.recv()


def _send_answer(pipe, function, args):
    try:
        pipe.send(function(*args))
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")


def forget_to_sync(handle):
    """Stand-in for `os.fsync` if processes are killed: only a power cut would lose what the system has received."""


def die_at_operation(n, path, mark, overwrite):
    """Write, but be killed just before the n-th call to the file system."""
    _interrupt(path, n, lambda: os.kill(os.getpid(), signal.SIGKILL))
    write_marked(path, mark, overwrite)


def fail_at_operation(n, path, mark, overwrite):
    """Write, but find the disk full at the n-th call to the file system."""

    def fill_disk():
        raise OSError(errno.ENOSPC, "No space left on device")

    _interrupt(path, n, fill_disk)
    try:
        write_marked(path, mark, overwrite)
    except StorageError:
        os._exit(FAILED_CLEANLY)


def _interrupt(path, n, action):
    """Act at the n-th audit event of Python that concerns this path."""
    os.fsync = forget_to_sync
    seen = 0

    def watch(event, args):
        nonlocal seen
        inside = event in {"os.remove", "os.rmdir"} or (
            event in {"open", "os.mkdir", "os.rename"} and str(args[0]).startswith(str(path))
        )
        seen += inside
        if inside and seen == n:
            action()

    sys.addaudithook(watch)
