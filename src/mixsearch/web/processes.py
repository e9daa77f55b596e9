"""How worker processes are started: those that search, and those that decode uploaded images."""

from __future__ import annotations

import multiprocessing
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
