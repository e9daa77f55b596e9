"""Distributed writing: workers write the arrays of an index if they see its folder, else this process does."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy.typing as npt

from mixsearch._typing import Array
from mixsearch.data.dask.tasks import compute_tasks, on_every_worker, persist_tasks, task
from mixsearch.storage import FolderWriter, SharedArray
from mixsearch.topics import place_in

# Rows of arrays, and the index of the first of them, by the names of the arrays.
ArrayRows = dict[str, Array]
Offsets = dict[str, int]
_MARKER = "seen-by-all"


@dataclass(frozen=True)
class DistributedWriter:
    """Writes the results of tasks to arrays of a folder.

    Parameters
    ----------
    out : FolderWriter
        The folder.
    is_shared : bool
        Whether all workers see the folder.
    files : dict of str to SharedArray
        The arrays.
    segment : str, default=""
        The segment whose arrays are meant.
    """

    out: FolderWriter
    is_shared: bool
    files: dict[str, SharedArray] = field(default_factory=dict)
    segment: str = ""

    @classmethod
    def create(cls, out: FolderWriter) -> Self:
        """Return a writer for a folder, after a check whether the workers see it."""
        marker, token = out.staging.absolute() / _MARKER, secrets.token_hex(8)
        marker.write_text(token)
        try:
            return cls(out, all(on_every_worker(has_access, str(marker), token).values()))
        finally:
            marker.unlink()

    def within(self, segment: str) -> DistributedWriter:
        """Return a writer for the arrays of a segment."""
        return replace(self, segment=segment)

    def allocate(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        """Create an array of zeros."""
        placed = place_in(self.segment, name)
        self.files[placed] = self.out.share(placed, shape, dtype)

    def write(
        self,
        tasks: Sequence[Any],
        offsets: Sequence[Offsets],
        on_done: Callable[[list[int]], None] | None = None,
    ) -> None:
        """Write the rows that tasks return.

        Parameters
        ----------
        tasks : sequence of tasks
            Each returns `ArrayRows`.
        offsets : sequence of dict of str to int
            For each task, the index of its first row in each array.
        on_done : callable, optional
            Called with the indices of the tasks that are done.
        """
        report = on_done or (lambda _: None)
        files = [{name: self.files[place_in(self.segment, name)] for name in own} for own in offsets]
        if self.is_shared:
            persist_tasks([task(_write_rows, *each) for each in zip(tasks, files, offsets, strict=True)], report)
            return
        for i, (each, own, firsts) in enumerate(zip(tasks, files, offsets, strict=True)):
            _write_rows(compute_tasks([each])[0], own, firsts)
            report(list(range(i + 1)))

    def write_here(self, name: str, first: int, rows: Array) -> None:
        """Write a few rows from this process."""
        self.files[place_in(self.segment, name)].write(first, rows)

    def finish(self) -> None:
        """Add the arrays, which are complete, to the folder."""
        names, files = list(self.files), list(self.files.values())
        stored = compute_tasks([task(_finish, file) for file in files]) if self.is_shared else map(_finish, files)
        for name, each in zip(names, stored, strict=True):
            self.out.adopt(name, each)


def has_access(marker: str, token: str) -> bool:
    """Return whether this process finds a file that another one wrote, and may write to it."""
    try:
        with Path(marker).open("r+") as file:
            return file.read() == token
    except OSError:
        return False


def _write_rows(rows_by_array: ArrayRows, files: dict[str, SharedArray], offsets: Offsets) -> None:
    for name, rows in rows_by_array.items():
        files[name].write(offsets[name], rows)


def _finish(file: SharedArray) -> Any:
    return file.finish()
