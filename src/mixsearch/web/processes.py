"""Worker processes: those that search, and those that read uploads and can be killed at any time."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event, Timer
from typing import Any

from mixsearch.errors import SearchError
from mixsearch.web.errors import describe_error

# Imported once, before forking: the image decoders, and the command that started the server, which Python imports in
# every process.
_PRELOADED = [
    "mixsearch.cli",
    "mixsearch.web",
    "PIL.ImageOps",
    *(f"PIL.{name}ImagePlugin" for name in ("Png", "Jpeg", "WebP", "Gif", "Bmp", "Tiff")),
]


class UnreadableError(SearchError):
    """An uploaded file that cannot be read."""

    code = "unreadable_file"


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
    """A process that works on an upload and can be killed at any time."""

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


def call_in_process(
    seconds: float,
    work: Callable[..., Any],
    folder: Path,
    *arguments: Any,
) -> Any:
    """Return `work(*arguments)`, called in a process within a folder; it must be plain data."""
    with run_process(seconds, send_result, work, folder, *arguments) as child:
        try:
            message = json.loads(child.connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise explain_end(seconds if child.is_late else None) from error
    return take_result(message)


def send_result(reply: Connection, work: Callable[..., Any], folder: Path, *arguments: Any) -> None:
    """In the process: send what a function returns, or its error."""
    os.chdir(folder)  # messages name the file as the user does, without a path of the server
    try:
        message: dict[str, Any] = {"result": work(*arguments)}
    except MemoryError:
        message = {"error": describe_error(UnreadableError("The file does not fit into memory.")).model_dump()}
    except SearchError as error:
        message = {"error": describe_error(error).model_dump()}
    except Exception:  # a damaged file can make a reader raise anything
        message = {"error": describe_error(explain_end(None)).model_dump()}
    reply.send_bytes(json.dumps(message).encode())


def take_result(message: dict[str, Any]) -> Any:
    """Return the result of a process, or raise its error here."""
    if "error" in message:
        error = message["error"]
        # The sentence is complete: its braces are no fields.
        sentence = error["message"].replace("{", "{{").replace("}", "}}") if error["fields"] else error["message"]
        raise SearchError(sentence, code=error["code"], **error["fields"])
    return message["result"]


def explain_end(seconds: float | None) -> SearchError:
    """Return the error for a process that was killed by the timer, or ended itself: no memory, or a crash."""
    if seconds is None:
        return UnreadableError("The file cannot be read. It seems to be damaged, or takes too much memory.")
    return SearchError(
        "Reading the file took longer than {seconds:g} seconds. Use mixsearch on the command line, which has no limit.",
        code="too_slow",
        seconds=seconds,
    )
