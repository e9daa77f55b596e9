"""Worker processes: some keep the indexes open and search, others decode uploaded images.

A search spends most of its time holding the interpreter lock: two threads are not faster than one, two processes are.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from threading import Thread
from typing import Any

from mixsearch.data.threads import on_one_core
from mixsearch.index import open_index
from mixsearch.web.indexes import ServedIndex

# Imported once, before forking: the image decoders, and the command that started the server, which Python imports in
# every process.
_PRELOADED = [
    "mixsearch.cli",
    "mixsearch.web",
    "PIL.ImageOps",
    *(f"PIL.{name}ImagePlugin" for name in ("Png", "Jpeg", "WebP", "Gif", "Bmp", "Tiff")),
]

# The indexes of this process, if it is a search worker.
_INDEXES: dict[str, ServedIndex] = {}


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


def start_search_processes(paths: Mapping[str, str], n_processes: int) -> Executor:
    """Return a pool of processes in which these indexes are open."""
    return ProcessPoolExecutor(n_processes, process_context(), _open_indexes, (dict(paths),))


def call_with_index(name: str, make: Callable[..., bytes], *arguments: Any) -> bytes:
    """Call a function with an index of this process."""
    with on_one_core():
        return make(_INDEXES[name], *arguments)


def _open_indexes(paths: Mapping[str, str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles it and ends this process
    Thread(target=_exit_with_server, daemon=True).start()
    _INDEXES.update({name: ServedIndex(name, open_index(path)) for name, path in paths.items()})


def _exit_with_server() -> None:
    """Exit when the server does, even if it was killed."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)
