"""Indexes of uploaded files, built one at a time in a process that ends when its client leaves."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import sys
from collections.abc import AsyncIterator, MutableMapping
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

from mixsearch.errors import collect_warnings
from mixsearch.topics.index import open_index
from mixsearch.web.answers import encode_json
from mixsearch.web.errors import describe_error
from mixsearch.web.indexes import ServedIndex, choose_name
from mixsearch.web.processes import Report, call_in_process
from mixsearch.web.schemas import IndexRequest
from mixsearch.web.uploads import Upload, strip_suffixes

_SECONDS = 1800.0


async def build_served(
    request: IndexRequest, file: Upload, folder: Path, indexes: MutableMapping[str, ServedIndex]
) -> AsyncIterator[bytes]:
    """Build the index of a file and serve it. The events are its progress, and last its name or why it failed."""
    target = folder / "indexes" / secrets.token_urlsafe(16)
    events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    loop, has_left = asyncio.get_running_loop(), Event()

    def report(*facts: Any) -> None:
        event = dict(zip(("step", "done", "total", "unit"), facts, strict=True))
        loop.call_soon_threadsafe(events.put_nowait, event)

    def build() -> dict[str, Any]:
        work = (build_file, file.name, target, request.text)
        try:
            target.parent.mkdir(exist_ok=True)
            warnings = call_in_process(_SECONDS, file.folder, *work, on_progress=report, is_cancelled=has_left.is_set)
            name = choose_name(request.name or strip_suffixes(file.name), indexes)
            indexes[name] = ServedIndex(name, open_index(target))
            return {"index": name, "warnings": warnings}
        except Exception as error:
            for each in target.parent.glob(f"*{target.name}*"):  # also what a killed process has left
                shutil.rmtree(each, ignore_errors=True)
                with suppress(OSError):
                    each.unlink(missing_ok=True)
            return {"error": describe_error(error).model_dump()}

    work = loop.run_in_executor(None, build)
    work.add_done_callback(lambda done: events.put_nowait(done.result()))
    try:
        is_running = True
        while is_running:
            event = await events.get()
            is_running = "step" in event
            yield b"data: %b\n\n" % encode_json(event)
    finally:
        has_left.set()


def build_file(name: str, target: Path, text: list[str], on_progress: Report) -> list[dict[str, Any]]:
    """Build the index of a file in the process, and return its warnings."""
    # The server itself builds nothing: it need not wait for these.
    from mixsearch.text.options import CorpusOptions
    from mixsearch.topics.build import IndexOptions, build_index

    if sys.platform != "win32":
        os.nice(5)  # searches come first
    with collect_warnings() as warnings:
        built = build_index(name, target, IndexOptions(), CorpusOptions(text=text or None), on_progress=on_progress)
    return [each.as_dict() for each in (*built.notes, *warnings)]
