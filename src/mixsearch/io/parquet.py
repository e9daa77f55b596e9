"""Tables in Parquet files: in blocks of bounded size, checked before Polars decodes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.selectors import by_name

from mixsearch.io.disk import damage_error

TEXT = "text"
# Rows of a file at most.
FILE_ROWS = 1 << 15
# Bytes of a block, a row group: it is decoded to read one row. Smaller ones compress worse.
BLOCK_BYTES = 1 << 17
# 32 MB: all of a small corpus, and of a large one what several people read at the same time.
CACHED_BLOCKS = 256
# A file expands to this many bytes, or to this many times its size, at most: a crafted one must not fill the memory.
MAX_EXPANDED, MAX_RATIO = 64 << 20, 100
# Types of Thrift's compact protocol. Integers are 4, 5 and 6; a length has no type.
_LENGTH, _BYTE, _DOUBLE, _BYTES, _LIST, _STRUCT = 0, 3, 7, 8, 9, 12
Part = tuple[int, int, int | None]  # the number of a file, the first row there, and how many; None for all


def encode_frame(frame: pl.DataFrame) -> tuple[bytes, int]:
    """Encode a table, and return the rows per block too."""
    n_bytes, file = int(frame.estimated_size()), BytesIO()
    block_rows = max(1, min(frame.height * BLOCK_BYTES // max(n_bytes, 1), FILE_ROWS))
    frame.write_parquet(file, compression="zstd", row_group_size=block_rows, statistics=False)
    if 2 * n_bytes > max(MAX_EXPANDED, MAX_RATIO * file.tell()):
        file = BytesIO()
        frame.write_parquet(file, compression="uncompressed", row_group_size=block_rows, statistics=False)
    return file.getvalue(), block_rows


@dataclass(frozen=True)
class StoredFile:
    """A file as a manifest lists it. One of a table has rows, in blocks that can be read alone."""

    generation: str
    size: int
    checksum: str
    n_rows: int = 0
    block_rows: int = 1


class Table:
    """Rows in several files. Thread-safe; the blocks read last stay in memory."""

    def __init__(self, names: Sequence[str], files: Mapping[str, StoredFile], load: Callable[[str], bytes]) -> None:
        self._names, self._files, self._load, self._lock = names, [files[name] for name in names], load, Lock()
        self._block_rows = np.array([file.block_rows for file in self._files])
        self._firsts = np.cumsum([0, *(file.n_rows for file in self._files)])
        self._cache: dict[tuple[Any, ...], pl.DataFrame] = {}

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def collect(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read all rows. Columns that the table does not have are left out."""
        return pl.concat(self._decode([(file, 0, None) for file in range(len(self._files))], columns))

    def take(self, rows: npt.ArrayLike, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read some rows in the given order, from the blocks that hold them."""
        indices = np.asarray(rows, dtype=np.int64)
        if len(indices) and not 0 <= indices.min() <= indices.max() < len(self):
            raise IndexError(f"A row is out of range: there are {len(self):,}.")
        owners = np.searchsorted(self._firsts, indices, side="right") - 1
        blocks, places = np.divmod(indices - self._firsts[owners], self._block_rows[owners])
        keys = owners * FILE_ROWS + blocks
        unique = np.unique(keys).tolist()
        frames = self._read_blocks([divmod(key, FILE_ROWS) for key in unique or [0]], columns)
        parts = [frame[places[keys == key]] for frame, key in zip(frames, unique, strict=False)]
        found: pl.DataFrame = pl.concat(parts or [frames[0].clear()])[np.argsort(np.argsort(keys, kind="stable"))]
        return found

    def _read_blocks(self, blocks: list[tuple[int, int]], columns: Sequence[str] | None) -> list[pl.DataFrame]:
        """Decode the blocks that are not in memory, together: that takes a third of the time."""
        names = None if columns is None else tuple(columns)
        with self._lock:
            found = {block: self._cache[*block, names] for block in blocks if (*block, names) in self._cache}
        absent = [block for block in blocks if block not in found]
        sizes = [self._files[owner].block_rows for owner, _ in absent]
        parts = [(owner, block * size, size) for (owner, block), size in zip(absent, sizes, strict=True)]
        found |= zip(absent, self._decode(parts, names), strict=True)
        with self._lock:
            self._cache |= {(*block, names): found[block] for block in absent}
            for key in list(self._cache)[:-CACHED_BLOCKS]:
                del self._cache[key]
        return [found[block] for block in blocks]

    def _decode(self, parts: Sequence[Part], columns: Sequence[str] | None) -> list[pl.DataFrame]:
        chosen, files = (
            pl.all() if columns is None else by_name(*columns, require_all=False),
            {part[0] for part in parts},
        )
        try:
            scans = {file: pl.scan_parquet(self._load(self._names[file])) for file in files}
            frames = pl.collect_all([scans[file].slice(first, n).select(chosen) for file, first, n in parts])
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            names = ", ".join(self._names[file] for file in files)
            raise damage_error("{names} cannot be decoded ({error}).", names=names, error=str(error)) from error
        for (file, first, n), frame in zip(parts, frames, strict=True):
            n_left = self._files[file].n_rows - first
            if frame.height != min(n or n_left, n_left):
                raise damage_error("'{name}' lacks rows.", name=self._names[file])
        return frames


class Texts(Table):
    """A column of texts."""

    def __iter__(self) -> Iterator[str]:
        for file in range(len(self._files)):
            yield from self._decode([(file, 0, None)], (TEXT,))[0][TEXT]

    def read(self, rows: npt.ArrayLike) -> list[str]:
        """Read the texts of some rows, in the given order."""
        return self.take(rows, (TEXT,))[TEXT].to_list()

    def _decode(self, parts: Sequence[Part], columns: Sequence[str] | None) -> list[pl.DataFrame]:
        frames = super()._decode(parts, columns)
        for (file, _, _), frame in zip(parts, frames, strict=True):
            # A text in the dictionary of a file may stand in every row.
            limit, is_text = max(MAX_EXPANDED, MAX_RATIO * self._files[file].size), frame.schema == {TEXT: pl.String}
            if not is_text or frame[TEXT].has_nulls() or frame[TEXT].str.len_bytes().sum() > limit:
                raise damage_error("'{name}' does not hold texts.", name=self._names[file])
        return frames


def check_parquet(data: bytes, n_rows: int) -> None:
    """Check the rows and sizes that a file claims: Polars reserves memory for them, and aborts if there is none."""
    footer, _ = _read_thrift(data, len(data) - 8 - int.from_bytes(data[-8:-4], "little"), _STRUCT)
    n_found = n_bytes = 0
    for group in footer[4]:
        n_found += group[3]
        for column in (chunk[3] for chunk in group[1]):
            at = column.get(11, column[9])  # of the dictionary page, if there is one, else of the first data page
            end, n_values = at + column[7], 0
            while at < end:
                page, at = _read_thrift(data, at, _STRUCT)
                n_own = (page.get(5) or page.get(7) or page[8])[1]
                if min(n_own, page[2], page[3], group[3] - n_own) < 0:
                    raise ValueError("a page has an impossible size")
                n_bytes, at = n_bytes + page[2], at + page[3]
                n_values += 0 if 7 in page else n_own  # values of a dictionary are not those of rows
            if n_values != group[3]:
                raise ValueError(f"a column has {n_values:,} values for {group[3]:,} rows")
    if n_found != n_rows or n_bytes > max(MAX_EXPANDED, MAX_RATIO * len(data)):
        raise ValueError(f"it claims {n_found:,} rows of {n_bytes:,} bytes")


def _read_thrift(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    """Read a value of Thrift's compact protocol, and return the place after it."""
    if kind == _STRUCT:
        fields: dict[int, Any] = {}
        number = 0
        while head := data[at]:
            at, number = at + 1, number + (head >> 4)
            if head < 16:
                number, at = _read_thrift(data, at, 4)
            # The value of a boolean is in its type.
            fields[number], at = (None, at) if head & 15 in (1, 2) else _read_thrift(data, at, head & 15)
        return fields, at + 1
    if kind == _LIST:
        head, items = data[at], []
        size, at = (head >> 4, at + 1) if head < 0xF0 else _read_thrift(data, at + 1, _LENGTH)
        for _ in range(size):
            item, at = _read_thrift(data, at, head & 15)
            items.append(item)
        return items, at
    if kind in (_BYTE, _DOUBLE):
        return None, at + (1 if kind == _BYTE else 8)
    if kind not in (_LENGTH, 4, 5, 6, _BYTES):
        raise ValueError(f"type {kind} of Thrift")
    value = shift = 0
    while data[at] > 127 and shift < 63:
        value, shift, at = value | (data[at] & 127) << shift, shift + 7, at + 1
    value |= data[at] << shift
    if kind == _BYTES:
        return None, at + 1 + value
    return value if kind == _LENGTH else value >> 1 ^ -(value & 1), at + 1
