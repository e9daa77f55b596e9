"""Processes beside the server: those that search, with the indexes open, and those that unpack pictures.

A search spends so much of its time in Python itself that two threads answer no more than one; two processes do.
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
from mixsearch.web.served import Served

# What every process would load: the decoders, and the imports of the command that started the server, which Python
# runs in each of them.
_PRELOADED = [
    "mixsearch.cli",
    "mixsearch.web",
    "PIL.ImageOps",
    *(f"PIL.{name}ImagePlugin" for name in ("Png", "Jpeg", "WebP", "Gif", "Bmp", "Tiff")),
]

# The indexes of this process, where it is one that searches.
_opened: dict[str, Served] = {}


def process_context() -> Any:
    """Forking from a small process is quick and safe beside threads; where it cannot be done, processes start anew."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


def get_ready() -> None:
    """Start the process from which others are forked, so that the first of them need not wait for it."""
    if process_context().get_start_method() == "forkserver":
        from multiprocessing.forkserver import ensure_running

        ensure_running()


def searching_processes(paths: Mapping[str, str], n_processes: int) -> Executor:
    """Processes with these indexes open, by their names."""
    return ProcessPoolExecutor(n_processes, process_context(), _open_indexes, (dict(paths),))


def _open_indexes(paths: Mapping[str, str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server hears it, and ends this process
    Thread(target=_end_with_server, daemon=True).start()
    _opened.update({name: Served(name, open_index(path)) for name, path in paths.items()})


def _end_with_server() -> None:
    """A server that is killed tells nobody."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)


def search_here(name: str, tell: Callable[..., bytes], *asked: Any) -> bytes:
    """What an index of this process says."""
    with on_one_core():
        return tell(_opened[name], *asked)
