"""Uploaded files with texts or tables: in a temporary folder, under names that cannot be guessed.

They are read in processes that can be killed: a file may be damaged, or unpack to far too much.
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Any

from mixsearch.errors import SearchError, collect_warnings
from mixsearch.text.columns import ColumnSummary
from mixsearch.text.read import inspect_columns
from mixsearch.web.errors import APIError
from mixsearch.web.processes import call_in_process
from mixsearch.web.schemas import FoundColumn
from mixsearch.web.settings import Limits

_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_PACKED = (".parquet", ".xlsx")
# What the name of an uploaded file may end in.
SUFFIXES = (*_FORMATS, *_PACKED, *(f"{each}{packed}" for each in _FORMATS for packed in (".gz", ".zst")))
# Texts are longer than names, and hardly repeat.
_MIN_TEXT, _MIN_DISTINCT = 25, 0.5
_MAX_EXAMPLE = 120
_MAX_NAME = 80
_DECODE_TIMES = 3


class GoneFileError(SearchError):
    """A file that the server does not have any more, or never had."""

    code = "gone"


@dataclass(frozen=True)
class StoredFile:
    """A file on disk."""

    key: str
    name: str
    folder: Path
    n_bytes: int
    columns: Sequence[FoundColumn] = ()

    @property
    def title(self) -> str:
        """The name without its suffixes."""
        return strip_suffixes(self.name)


class FileStore:
    """Files that were uploaded. The least recently used ones are removed first; `close` removes all."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._files: OrderedDict[str, StoredFile] = OrderedDict()
        self._in_use: set[str] = set()
        self._lock = Lock()
        self._folder: Path | None = None

    @property
    def folder(self) -> Path:
        """The temporary folder, which is made when it is needed."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(mkdtemp(prefix="mixsearch-"))
            return self._folder

    async def receive(self, name: str, parts: AsyncIterator[bytes]) -> StoredFile:
        """Write the parts of a file to disk. It is not in the store yet."""
        key = secrets.token_urlsafe(16)
        folder = self.folder / key
        folder.mkdir()
        plain, n_bytes = check_name(name), 0
        try:
            with (folder / plain).open("wb") as file:
                async for part in parts:
                    n_bytes += len(part)
                    file.write(part)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return StoredFile(key, plain, folder, n_bytes)

    def add(self, file: StoredFile) -> StoredFile:
        """Look at the columns of a file that was received, and store it; a file without any is removed."""
        try:
            seconds = _DECODE_TIMES * self._limits.decode_timeout
            columns = call_in_process(seconds, _inspect_file, file.folder, file.name)
        except BaseException:
            shutil.rmtree(file.folder, ignore_errors=True)
            raise
        stored = replace(file, columns=[FoundColumn.model_validate(each) for each in columns])
        with self._lock:
            self._files[stored.key] = stored
            self._evict()
        return stored

    def get(self, key: str) -> StoredFile:
        """Return a file."""
        with self._lock:
            if key not in self._files:
                raise GoneFileError("This file is not on the server any more. Upload it again.")
            self._files.move_to_end(key)
            return self._files[key]

    def set_in_use(self, key: str, is_used: bool) -> None:
        """Keep a file, or allow its removal again."""
        with self._lock:
            (self._in_use.add if is_used else self._in_use.discard)(key)

    def remove(self, key: str) -> None:
        """Remove a file."""
        file = self.get(key)
        with self._lock:
            if key in self._in_use:
                raise APIError("busy", "The file is being read. Cancel that first.")
            self._drop(file)

    def close(self) -> None:
        """Remove all files, and the folder."""
        with self._lock:
            self._files.clear()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _evict(self) -> None:
        """Remove the oldest files but the last one."""
        total = sum(file.n_bytes for file in self._files.values())
        for key, file in list(self._files.items())[:-1]:
            if total <= self._limits.max_stored_files:
                return
            if key not in self._in_use:
                total -= file.n_bytes
                self._drop(file)

    def _drop(self, file: StoredFile) -> None:
        del self._files[file.key]
        shutil.rmtree(file.folder, ignore_errors=True)


def check_name(name: str) -> str:
    """Return the name of a file without what a path or a pattern could contain; its suffix must be known."""
    given = re.split(r"[/\\\\]", name)[-1]
    stem, suffix = strip_suffixes(given), given[len(strip_suffixes(given)) :].lower()
    if not suffix:
        raise SearchError(
            "{name!r} cannot be opened. Its name must end in {suffixes}; texts may be compressed, as in .csv.gz.",
            code="unknown_format",
            name=given[:_MAX_NAME],
            suffixes=", ".join(each for each in SUFFIXES if each.count(".") == 1),
        )
    return (re.sub(r"[^\w.-]+", "-", stem).strip("-._")[:_MAX_NAME] or "file") + suffix


def strip_suffixes(name: str) -> str:
    """Return a name without its suffix of a format, and of a compression."""
    longest = max((each for each in SUFFIXES if name.lower().endswith(each)), key=len, default="")
    return name[: len(name) - len(longest)]


def _inspect_file(name: str) -> Sequence[dict[str, Any]]:
    with collect_warnings():
        columns = inspect_columns(name)
    if not columns:
        raise SearchError("{name!r} has no columns.", code="no_columns", name=name)
    texts = [each for each in columns if each.role in ("text", None) and _holds_texts(each)]
    chosen = max(texts, key=lambda each: (each.role == "text", each.mean_length), default=None)
    return [
        {
            **{name: value for name, value in asdict(each).items() if name in FoundColumn.model_fields},
            "role": "text" if each is chosen else None if each.role == "text" else each.role,
            "example": None if each.example is None else each.example[:_MAX_EXAMPLE],
        }
        for each in columns
    ]


def _holds_texts(column: ColumnSummary) -> bool:
    n_values = column.n_rows - column.n_missing
    return column.kind == "text" and column.mean_length >= _MIN_TEXT and column.n_distinct >= _MIN_DISTINCT * n_values
