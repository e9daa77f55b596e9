"""Processes beside the server: how they start, and those for uploads, which can be killed at any time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Any

from mixsearch.errors import SearchError

# Imported once, before forking: packages that every process needs, half of the time of its start. Polars is not among
# them, since it starts threads.
_PRELOADED = ["mixsearch.cli", "fastapi", "scipy.sparse", "PIL.ImageOps", "PIL.JpegImagePlugin", "PIL.PngImagePlugin"]
# Between two looks at whether a process was cancelled.
_WAIT_SECONDS = 0.2

Report = Callable[[str, int, int | None, str], None]


class CancelledError(Exception):
    """The work of a process was cancelled."""


def process_context() -> Any:
    """Return the way to start processes: forking from a small single-threaded process if possible, else spawning."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


def start_fork_server() -> None:
    """Start the process from which workers are forked, so that the first worker need not wait for its imports."""
    if process_context().get_start_method() == "forkserver":
        from multiprocessing.forkserver import ensure_running

        ensure_running()


def call_in_process(
    seconds: float,
    folder: Path,
    work: Callable[..., Any],
    *arguments: Any,
    on_progress: Report | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Any:
    """Return `work(*arguments)`, called within a folder by a process that is killed after a time.

    With `on_progress`, the work is given a function that reports to it.
    """
    context, end = process_context(), monotonic() + seconds
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=_work, args=(theirs, folder, work, arguments, on_progress is not None), daemon=True
    )
    with closing(ours):
        process.start()
        theirs.close()
        try:
            while True:
                while not ours.poll(_WAIT_SECONDS):
                    if is_cancelled():
                        raise CancelledError
                    if monotonic() > end:
                        raise SearchError(
                            "Reading the file took longer than {seconds:g} seconds. Use mixsearch on the command line, "
                            "which has no limit.",
                            code="too_slow",
                            seconds=seconds,
                        )
                kind, value = ours.recv()
                if kind == "error":
                    raise value
                if kind == "result":
                    return value
                if on_progress is not None:
                    on_progress(*value)
        except (EOFError, OSError) as error:  # it was killed, or has crashed
            raise _make_unreadable() from error
        finally:
            process.kill()
            process.join()


def _work(reply: Connection, folder: Path, work: Callable[..., Any], arguments: tuple[Any, ...], reports: bool) -> None:
    """Call a function in the process, and send what it returns, or its error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles it and ends this process
    warnings.simplefilter("ignore")
    os.chdir(folder)  # messages name the file as the user does, without a path of the server
    more = {"on_progress": lambda *facts: reply.send(("progress", facts))} if reports else {}
    try:
        reply.send(("result", work(*arguments, **more)))
    except Exception as error:  # a damaged file can make a reader raise anything
        reply.send(("error", error if isinstance(error, SearchError) else _make_unreadable()))


def _make_unreadable() -> SearchError:
    return SearchError(
        "The file cannot be read. It seems to be damaged, or takes too much memory.", code="unreadable_file"
    )
