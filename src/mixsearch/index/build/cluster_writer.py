"""Arrays of an index, written piece by piece: by the workers of a cluster where they see the folder, else here."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy.typing as npt

from mixsearch._typing import Array
from mixsearch.data.dask.tasks import compute_tasks, on_every_worker, persist_tasks, task
from mixsearch.storage import FolderWriter, SharedArray

# Rows of some arrays, by the names of the arrays.
Pieces = dict[str, Array]
_MARKER = "seen-by-all"


@dataclass(frozen=True)
class SpreadWriter:
    """Writes what tasks return to arrays of a folder."""

    out: FolderWriter
    is_shared: bool  # whether all workers see the folder
    files: dict[str, SharedArray] = field(default_factory=dict)

    @classmethod
    def on(cls, out: FolderWriter) -> Self:
        """A writer for a folder, after asking the workers whether they see it."""
        marker, token = out.staging.absolute() / _MARKER, secrets.token_hex(8)
        marker.write_text(token)
        try:
            return cls(out, all(on_every_worker(sees, str(marker), token).values()))
        finally:
            marker.unlink()

    def make(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        """Make room for an array."""
        self.files[name] = self.out.share(name, shape, dtype)

    def put(
        self,
        pieces: Sequence[Any],
        places: Sequence[dict[str, int]],
        on_done: Callable[[list[int]], None] | None = None,
    ) -> None:
        """Write the pieces that tasks return, each from its rows on; told which are done."""
        told = on_done or (lambda _: None)
        if self.is_shared:
            files = [{name: self.files[name] for name in own} for own in places]
            persist_tasks([task(_put, *each) for each in zip(pieces, files, places, strict=True)], told)
            return
        for number, (piece, own) in enumerate(zip(pieces, places, strict=True)):
            _put(compute_tasks([piece])[0], self.files, own)
            told(list(range(number + 1)))

    def put_here(self, name: str, first: int, rows: Array) -> None:
        """Write a few rows that are in this process."""
        self.files[name].write(first, rows)

    def finish(self) -> None:
        """All pieces are there: hand the arrays over to the folder."""
        names, files = list(self.files), list(self.files.values())
        stored = compute_tasks([task(_finished, file) for file in files]) if self.is_shared else map(_finished, files)
        for name, each in zip(names, stored, strict=True):
            self.out.adopt(name, each)


def sees(marker: str, token: str) -> bool:
    """Whether this process finds a file that another one wrote, and may write there."""
    try:
        with Path(marker).open("r+") as file:
            return file.read() == token
    except OSError:
        return False


def _put(pieces: Pieces, files: dict[str, SharedArray], places: dict[str, int]) -> None:
    for name, rows in pieces.items():
        files[name].write(places[name], rows)


def _finished(file: SharedArray) -> Any:
    return file.finish()
