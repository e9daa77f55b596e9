"""Indexes of uploaded files, built one at a time in a process that can be killed."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from mixsearch.errors import SearchError, collect_warnings
from mixsearch.topics.index import open_index
from mixsearch.web.errors import APIError, describe_error
from mixsearch.web.indexes import ServedIndex, choose_name
from mixsearch.web.processes import CancelledError, Report, call_in_process
from mixsearch.web.schemas import IndexBuild, IndexRequest
from mixsearch.web.uploads import Upload, UploadStore, strip_suffixes

MAX_BUILT, _SECONDS = 8, 1800.0


class Builder:
    """Builds indexes of uploaded files and adds them to those that are served."""

    def __init__(self, uploads: UploadStore, indexes: MutableMapping[str, ServedIndex]) -> None:
        self._uploads, self._indexes = uploads, indexes
        self._builds: dict[str, IndexBuild] = {}
        self._lock, self._cancelled = Lock(), Event()

    def start(self, request: IndexRequest) -> IndexBuild:
        """Start to build the index of a file."""
        file = self._uploads.get(request.file)
        with self._lock:
            if any(build.status == "running" for build in self._builds.values()):
                raise APIError("busy", "Another index is being built. Try again when it is done.")
            if sum(build.status == "done" for build in self._builds.values()) >= MAX_BUILT:
                raise SearchError(
                    "The server has built {n_built} indexes, as many as it keeps. Start it again.",
                    code="too_many_indexes",
                    n_built=MAX_BUILT,
                )
            name = choose_name(request.name or strip_suffixes(file.name), self._indexes)
            build = IndexBuild(build=secrets.token_urlsafe(16), index=name, file=file.key)
            self._builds[build.build] = build
            self._cancelled.clear()
        Thread(target=self._run, args=(build, file, request.text), daemon=True).start()
        return build

    def get(self, key: str) -> IndexBuild:
        """Return the state of a build."""
        if key not in self._builds:
            raise APIError("gone", "There is no such build any more.")
        return self._builds[key]

    def cancel(self, key: str) -> IndexBuild:
        """Stop a build, unless it has ended."""
        if self.get(key).status == "running":
            self._cancelled.set()
        return self.get(key)

    def close(self) -> None:
        """Stop the build that runs."""
        self._cancelled.set()

    def _run(self, build: IndexBuild, file: Upload, text: list[str]) -> None:
        target = self._uploads.folder / "indexes" / build.build
        change = partial(self._change, build.build)
        try:
            target.parent.mkdir(exist_ok=True)
            warnings = call_in_process(
                _SECONDS,
                file.folder,
                build_file,
                file.name,
                target,
                text,
                on_progress=lambda step, done, total, unit: change(step=step, done=done, total=total, unit=unit),
                is_cancelled=self._cancelled.is_set,
            )
            served = ServedIndex(build.index, open_index(target))
            self._indexes[build.index] = served
            change(status="done", warnings=warnings)
        except Exception as error:
            for each in target.parent.glob(f"*{target.name}*"):  # also what a killed process has left
                shutil.rmtree(each, ignore_errors=True)
                with suppress(OSError):
                    each.unlink(missing_ok=True)
            if isinstance(error, CancelledError):
                change(status="cancelled")
            else:
                change(status="failed", error=describe_error(error))

    def _change(self, key: str, **facts: Any) -> None:
        """Replace the state: readers in other threads see the old one or the new one."""
        self._builds[key] = self._builds[key].model_copy(update=facts)


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
