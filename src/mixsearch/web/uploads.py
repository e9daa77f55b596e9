"""Uploaded files, texts, tables and images alike: in a temporary folder, under names that cannot be guessed.

They are read in processes that can be killed: a file may be damaged, or unpack to far too much.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from mixsearch.errors import SearchError, collect_warnings
from mixsearch.text.columns import ColumnSummary
from mixsearch.web.errors import APIError
from mixsearch.web.processes import call_in_process
from mixsearch.web.settings import Limits

_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_PACKED = (".parquet", ".xlsx")
# What the name of an uploaded file may end in.
TABLE_SUFFIXES = (*_FORMATS, *_PACKED, *(f"{each}{packed}" for each in _FORMATS for packed in (".gz", ".zst")))
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")
IMAGE_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
# Texts are longer than names, and hardly repeat.
_MIN_TEXT, _MIN_DISTINCT = 25, 0.5
_MAX_EXAMPLE, _MAX_NAME = 120, 80


@dataclass(frozen=True)
class Upload:
    """An uploaded file, and what its process has found: the columns of a table, or the size of an image."""

    key: str
    name: str
    folder: Path
    n_bytes: int
    facts: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return what the API says about it."""
        return {"file": self.key, "name": self.name, "n_bytes": self.n_bytes, **self.facts}


class UploadStore:
    """Files that were uploaded; `close` removes all."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._files: dict[str, Upload] = {}

    @cached_property
    def folder(self) -> Path:
        """The temporary folder, which is made when it is needed."""
        return Path(mkdtemp(prefix="mixsearch-"))

    async def receive(self, name: str, parts: AsyncIterator[bytes]) -> Upload:
        """Write the parts of a file to disk, and inspect it; one that cannot be read is removed."""
        path = self.folder / secrets.token_urlsafe(16) / check_name(name)
        path.parent.mkdir()
        inspect = inspect_image if path.suffix in IMAGE_SUFFIXES else inspect_table
        limits = self._limits.timeout, path.parent, inspect, path.name, self._limits.max_pixels
        try:
            with path.open("wb") as file:
                async for part in parts:
                    file.write(part)
                    if file.tell() > self._limits.max_file:
                        sentence = "The file is larger than the limit of {max_bytes:,} bytes."
                        raise APIError("too_large", sentence, max_bytes=self._limits.max_file)
            facts = await asyncio.to_thread(call_in_process, *limits)
        except BaseException:
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
        upload = Upload(path.parent.name, path.name, path.parent, path.stat().st_size, facts)
        self._files[upload.key] = upload
        return upload

    def get(self, key: str) -> Upload:
        """Return a file."""
        if key not in self._files:
            raise SearchError("This file is not on the server any more. Upload it again.", code="gone")
        return self._files[key]

    def close(self) -> None:
        """Remove all files, and the folder."""
        if "folder" in vars(self):
            shutil.rmtree(self.folder, ignore_errors=True)


def check_name(name: str) -> str:
    """Return the name of a file without what a path or a pattern could contain; its suffix must be known."""
    given = re.split(r"[/\\\\]", name)[-1]
    stem = strip_suffixes(given)
    suffix = given[len(stem) :].lower()
    if not suffix:
        raise SearchError(
            "{name!r} cannot be opened. Its name must end in {suffixes}; texts may be compressed, as in .csv.gz.",
            code="unknown_format",
            name=given[:_MAX_NAME],
            suffixes=", ".join((*_FORMATS, *_PACKED, *IMAGE_SUFFIXES)),
        )
    return (re.sub(r"[^\w.-]+", "-", stem).strip("-._")[:_MAX_NAME] or "file") + suffix


def strip_suffixes(name: str) -> str:
    """Return a name without its suffix of a format, and of a compression."""
    suffixes = (each for each in (*TABLE_SUFFIXES, *IMAGE_SUFFIXES) if name.lower().endswith(each))
    return name[: len(name) - len(max(suffixes, key=len, default=""))]


def inspect_image(name: str, max_pixels: int) -> dict[str, Any]:
    """Decode an image, to see that it can be."""
    from mixsearch.image.reading import read_file

    with open(name, "rb") as file:
        image = read_file(file, "The file", max_pixels, IMAGE_FORMATS)
    return {"width": image.width, "height": image.height}


def inspect_table(name: str, _: int) -> dict[str, Any]:
    """Look at the first rows of a file: which columns it has, and which one seems to hold texts."""
    from mixsearch.text.read import inspect_columns

    with collect_warnings():
        columns = inspect_columns(name)
    if not columns:
        raise SearchError("{name!r} has no columns.", code="no_columns", name=name)
    texts = [each for each in columns if each.role in ("text", None) and _holds_texts(each)]
    chosen = max(texts, key=lambda each: (each.role == "text", each.mean_length), default=None)
    return {
        "columns": [
            {
                **{name: asdict(each)[name] for name in ("name", "kind", "n_missing", "n_distinct")},
                "role": "text" if each is chosen else None if each.role == "text" else each.role,
                "example": None if each.example is None else each.example[:_MAX_EXAMPLE],
            }
            for each in columns
        ]
    }


def _holds_texts(column: ColumnSummary) -> bool:
    n_values = column.n_rows - column.n_missing
    return column.kind == "text" and column.mean_length >= _MIN_TEXT and column.n_distinct >= _MIN_DISTINCT * n_values
