"""Tables in Parquet files: in blocks of bounded size, checked before Polars decodes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from mixsearch.io.disk import damage_error

TEXT = "text"
# Rows of a file at most.
FILE_ROWS = 1 << 15
# Files of a table that stay in memory, decoded: of a small corpus all, of a large one what several people read.
CACHED_FILES = 32
# A file expands to this many bytes, or to this many times its size, at most: a crafted one must not fill the memory.
MAX_EXPANDED, MAX_RATIO = 64 << 20, 100


def encode_frame(frame: pl.DataFrame) -> bytes:
    """Encode a table as one row group; uncompressed, if it would expand to more than a reader accepts."""
    for compression in ("zstd", "uncompressed"):
        file = BytesIO()
        frame.write_parquet(file, compression=compression, row_group_size=FILE_ROWS, statistics=False)
        if 2 * frame.estimated_size() <= max(MAX_EXPANDED, MAX_RATIO * file.tell()):
            break
    return file.getvalue()


@dataclass(frozen=True)
class StoredFile:
    """A file as a manifest lists it. One of a table has rows."""

    size: int
    checksum: str
    n_rows: int = 0


class StoredTable:
    """Rows in several files. Thread-safe; the files read last stay in memory."""

    def __init__(self, files: Mapping[str, StoredFile], load: Callable[[str], bytes]) -> None:
        self._files, self._load = files, load
        self._names, self._firsts = list(files), np.cumsum([0, *(file.n_rows for file in files.values())])
        self._read = lru_cache(CACHED_FILES)(self._decode)

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def collect(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read all rows. Columns that the table does not have are left out."""
        return pl.concat([self._decode(name, columns) for name in self._names])

    def take(self, rows: npt.ArrayLike, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read rows in the given order, from the files that hold them."""
        indices, chosen = np.asarray(rows, dtype=np.int64), None if columns is None else tuple(columns)
        if not len(indices):
            return self._read(self._names[0], chosen).clear()
        if not 0 <= indices.min() <= indices.max() < len(self):
            raise IndexError(f"A row is out of range: there are {len(self):,}.")
        owners = np.searchsorted(self._firsts, indices, side="right") - 1
        places = indices - self._firsts[owners]
        frames = [self._read(self._names[file], chosen)[places[owners == file]] for file in np.unique(owners).tolist()]
        frame: pl.DataFrame = pl.concat(frames)[np.argsort(np.argsort(owners, kind="stable"))]
        return frame

    def _decode(self, name: str, columns: Sequence[str] | None) -> pl.DataFrame:
        data, n_rows = self._load(name), self._files[name].n_rows
        try:
            check_parquet(data, n_rows)
            selector = pl.all() if columns is None else pl.selectors.by_name(*columns, require_all=False)
            frame = pl.scan_parquet(data).select(selector).collect()
        except (Exception, pl.exceptions.PanicException) as error:
            raise damage_error("'{name}' cannot be decoded ({error}).", name=name, error=str(error)) from error
        if frame.height != n_rows:
            raise damage_error("'{name}' lacks rows.", name=name)
        return frame


class Texts(StoredTable):
    """A column of texts."""

    def __iter__(self) -> Iterator[str]:
        for name in self._names:
            yield from self._decode(name, (TEXT,))[TEXT]

    def read(self, rows: npt.ArrayLike) -> list[str]:
        """Read the texts of rows, in the given order."""
        return self.take(rows, (TEXT,))[TEXT].to_list()

    def _decode(self, name: str, columns: Sequence[str] | None) -> pl.DataFrame:
        frame = super()._decode(name, columns)
        # A text in the dictionary of a file may stand in every row.
        limit, is_text = max(MAX_EXPANDED, MAX_RATIO * self._files[name].size), frame.schema == {TEXT: pl.String}
        if not is_text or frame[TEXT].has_nulls() or frame[TEXT].str.len_bytes().sum() > limit:
            raise damage_error("'{name}' does not hold texts.", name=name)
        return frame


def check_parquet(data: bytes, n_rows: int) -> None:
    """Check the rows and sizes that a file claims: Polars reserves memory for them, and aborts if there is none."""
    file = BytesIO(data)
    file.seek(len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
    groups = _read_struct(file)[4]
    n_bytes = file.seek(0)
    for n_values, column in [(group[3], chunk[3]) for group in groups for chunk in group[1]]:
        start = column.get(11, column[9])  # of the dictionary page, if there is one, else of the first data page
        if start < file.tell():
            raise ValueError("columns overlap")  # a page that counts for many columns would take hours
        end = file.seek(start) + column[7]
        while file.tell() < end:
            page = _read_struct(file)
            n_page = (page.get(5) or page.get(7) or page[8])[1]
            if min(n_page, page[2], page[3], n_values - n_page) < 0:
                raise ValueError("a page has an impossible size")
            n_values -= 0 if 7 in page else n_page  # values of a dictionary are not those of rows
            n_bytes += page[2]
            file.seek(page[3], 1)
        if n_values:
            raise ValueError("a column lacks values")
    if sum(group[3] for group in groups) != n_rows or n_bytes > max(MAX_EXPANDED, MAX_RATIO * len(data)):
        raise ValueError(f"it claims {n_bytes:,} bytes, or other than {n_rows:,} rows")


def _read_struct(file: BytesIO) -> dict[int, Any]:
    """Read the fields of a struct in Thrift's compact protocol, by their numbers."""
    fields: dict[int, Any] = {}
    number = 0
    while head := file.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _read_value(file, 4)
        fields[number] = None if head & 15 in (1, 2) else _read_value(file, head & 15)  # a boolean has no bytes
    return fields


def _read_value(file: BytesIO, kind: int) -> Any:
    """Read an integer, a list, a struct, or the length of one (0). A byte or a text is skipped."""
    if kind == 12:
        return _read_struct(file)
    if kind == 9:
        head = file.read(1)[0]
        return [_read_value(file, head & 15) for _ in range(head >> 4 if head < 0xF0 else _read_value(file, 0))]
    if kind in (3, 8):
        return file.seek(1 if kind == 3 else _read_value(file, 0), 1)
    if kind not in (0, 4, 5, 6):
        raise ValueError(f"type {kind} of Thrift")
    value = shift = 0
    while (byte := file.read(1)[0]) > 127 and shift < 63:
        value, shift = value | (byte & 127) << shift, shift + 7
    value |= byte << shift
    return value >> 1 ^ -(value & 1) if kind else value
