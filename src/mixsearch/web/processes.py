"""Start worker processes: those that search, and those that read uploads."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Event, Timer
from typing import Any

# Imported once, before forking: the image decoders, and the command that started the server, which Python imports in
# every process.
_PRELOADED = [
    "mixsearch.cli",
    "mixsearch.web",
    "PIL.ImageOps",
    *(f"PIL.{name}ImagePlugin" for name in ("Png", "Jpeg", "WebP", "Gif", "Bmp", "Tiff")),
]


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


@dataclass(frozen=True)
class Child:
    """A process that works on an upload and can be killed at any time.

    Parameters
    ----------
    connection : Connection
        Where its messages arrive. Reading raises EOFError when the process has ended.
    """

    connection: Connection
    _process: BaseProcess
    _is_late: Event = field(default_factory=Event)

    @property
    def is_late(self) -> bool:
        """Whether it was killed because its time was over."""
        return self._is_late.is_set()

    def kill(self) -> None:
        """End the process now."""
        self._process.kill()

    def expire(self) -> None:
        """End the process, since its time is over."""
        self._is_late.set()
        self.kill()


@contextmanager
def run_process(seconds: float, work: Callable[..., None], *arguments: Any) -> Iterator[Child]:
    """Run `work(connection, *arguments)` in a process that is killed after a time, or at the end of the block."""
    context = process_context()
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(work, theirs, *arguments), daemon=True)
    with closing(ours):
        with closing(theirs):
            process.start()
        child = Child(ours, process)
        timer = Timer(seconds, child.expire)
        timer.daemon = True
        timer.start()
        try:
            yield child
        finally:
            timer.cancel()
            process.kill()
            process.join()


def _work(work: Callable[..., None], *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles it and ends this process
    warnings.simplefilter("ignore")
    work(*arguments)
