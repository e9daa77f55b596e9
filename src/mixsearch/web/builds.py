"""Indexes of uploaded files, built one at a time in a process that can be killed."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from mixsearch.errors import SearchError, collect_warnings
from mixsearch.topics.index import open_index
from mixsearch.web.errors import APIError, describe_error
from mixsearch.web.files import FileStore, StoredFile
from mixsearch.web.indexes import ServedIndex, choose_name
from mixsearch.web.processes import Child, explain_end, run_process, send_result, take_result
from mixsearch.web.schemas import IndexBuild
from mixsearch.web.settings import Limits

_INDEXES = "indexes"
# Builds that can be asked about.
_MAX_KNOWN = 32


@dataclass
class _Build:
    """A build, as its thread changes it."""

    state: IndexBuild
    child: Child | None = None
    is_cancelled: Event = field(default_factory=Event)


class Builder:
    """Builds indexes of uploaded files and adds them to those that are served."""

    def __init__(self, files: FileStore, indexes: MutableMapping[str, ServedIndex], limits: Limits) -> None:
        self._files, self._indexes, self._limits = files, indexes, limits
        self._builds: dict[str, _Build] = {}
        self._built: set[str] = set()
        self._lock = Lock()

    def start(self, file: StoredFile, text: Sequence[str], name: str | None) -> IndexBuild:
        """Start to build the index of a file."""
        with self._lock:
            if any(build.state.status == "running" for build in self._builds.values()):
                raise APIError("busy", "Another index is being built. Try again when it is done.")
            if len(self._built) >= self._limits.max_built:
                raise SearchError(
                    "The server has built {n_built} indexes, as many as it keeps. Remove one first.",
                    code="too_many_indexes",
                    n_built=len(self._built),
                )
            key = secrets.token_urlsafe(16)
            state = IndexBuild(
                build=key, index=choose_name(name or file.title, self._indexes), file=file.key, status="running"
            )
            self._builds[key] = build = _Build(state)
            for old in list(self._builds)[:-_MAX_KNOWN]:
                del self._builds[old]
        self._files.set_in_use(file.key, True)
        Thread(target=self._run, args=(build, file, list(text)), daemon=True).start()
        return build.state

    def get(self, key: str) -> IndexBuild:
        """Return the state of a build."""
        return self._find(key).state

    def cancel(self, key: str) -> IndexBuild:
        """Stop a build, unless it has ended."""
        build = self._find(key)
        build.is_cancelled.set()
        if build.child is not None:
            build.child.kill()
        return build.state

    def remove(self, name: str) -> None:
        """Remove an index that was built from an uploaded file."""
        with self._lock:
            if name not in self._built:
                raise APIError("forbidden", "Only indexes of uploaded files can be removed, not {name!r}.", name=name)
            self._built.discard(name)
            served = self._indexes.pop(name)
        shutil.rmtree(served.index.path, ignore_errors=True)

    def close(self) -> None:
        """Stop the build that runs."""
        for key in list(self._builds):
            self.cancel(key)

    def _find(self, key: str) -> _Build:
        try:
            return self._builds[key]
        except KeyError:
            raise APIError("gone", "There is no such build any more.") from None

    def _run(self, build: _Build, file: StoredFile, text: list[str]) -> None:
        folder = self._files.folder / _INDEXES
        target = folder / build.state.build
        try:
            folder.mkdir(exist_ok=True)
            warnings = self._build(build, file, target, text)
            served = ServedIndex(build.state.index, open_index(target))
            _ = served.info  # its first use takes a moment
            with self._lock:
                self._indexes[build.state.index] = served
                self._built.add(build.state.index)
            _change(build, status="done", warnings=warnings)
        except Exception as error:
            _remove_all(target)
            if build.is_cancelled.is_set():
                _change(build, status="cancelled")
            else:
                _change(build, status="failed", error=describe_error(error).model_dump())
        finally:
            self._files.set_in_use(file.key, False)

    def _build(self, build: _Build, file: StoredFile, target: Path, text: list[str]) -> list[Any]:
        """Build in a process, follow its progress, and return its warnings."""
        seconds = self._limits.build_timeout
        with run_process(seconds, _work, file.folder, file.name, target, text) as child:
            build.child = child
            if build.is_cancelled.is_set():  # before there was a process
                child.kill()
            try:
                while True:
                    message = json.loads(child.connection.recv_bytes())
                    if "step" not in message:
                        warnings: list[Any] = take_result(message)
                        return warnings
                    _change(build, **message)
            except (EOFError, OSError) as error:
                raise explain_end(seconds if child.is_late else None) from error


def _change(build: _Build, **facts: Any) -> None:
    """Replace the state: readers in other threads see the old one or the new one."""
    build.state = IndexBuild.model_validate({**build.state.model_dump(), **facts})


def _remove_all(target: Path) -> None:
    """Remove an index, and what a killed process has left next to it."""
    for each in target.parent.glob(f"*{target.name}*"):
        shutil.rmtree(each, ignore_errors=True)
        with suppress(OSError):
            each.unlink(missing_ok=True)


def _work(reply: Connection, folder: Path, name: str, target: Path, text: list[str]) -> None:
    """Build in the process; send the progress, and at the end the warnings or an error."""
    if sys.platform != "win32":
        os.nice(5)  # searches come first
    send_result(reply, _build_file, folder, name, target, text, _make_report(reply))


def _make_report(reply: Connection) -> Callable[[str, int, int | None, str], None]:
    def report(step: str, done: int, total: int | None, unit: str) -> None:
        reply.send_bytes(json.dumps({"step": step, "done": done, "total": total, "unit": unit}).encode())

    return report


def _build_file(
    name: str, target: Path, text: list[str], report: Callable[[str, int, int | None, str], None]
) -> list[Any]:
    # The server itself builds nothing: it need not wait for these.
    from mixsearch.text.options import CorpusOptions
    from mixsearch.topics.build import IndexOptions, build_index

    with collect_warnings() as warnings:
        built = build_index(name, target, IndexOptions(), CorpusOptions(text=text or None), on_progress=report)
    return [each.as_dict() for each in (*built.notes, *warnings)]
