"""Many short texts in little room: compressed in blocks, any of them read by its number."""

from __future__ import annotations

import operator
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mixsearch.errors import DamagedFolderError, StorageError
from mixsearch.storage.arrays import Array
from mixsearch.storage.manifest import REMEDY

# zlib looks back 32 KiB: larger blocks compress hardly better, and one text costs one block to read.
BLOCK_BYTES = 1 << 16
BLOCK_TEXTS = 1 << 16
# Ends within a block are stored in 32 bits.
LONGEST_TEXT = (1 << 32) - BLOCK_BYTES - 1
# 16 MB: of a small corpus all, of a large one what several people read at the same time.
CACHED_BLOCKS = 256
# On news articles nearly twice as fast as zlib's default of 6, for 3 % more bytes.
COMPRESSION_LEVEL = 4

# The three arrays behind a column of texts: its compressed bytes; for each block the first byte and the first text,
# and a last row with the totals; for each text its end among the bytes of its block.
PARTS: Mapping[str, tuple[type[np.generic], tuple[int, ...]]] = {
    "bytes": (np.uint8, ()),
    "blocks": (np.int64, (2,)),
    "ends": (np.uint32, ()),
}


class Stream(Protocol):
    """An array that grows, as an `ArrayStream` does."""

    def append(self, rows: npt.ArrayLike) -> None:
        """Add rows at the end."""

    def close(self) -> None:
        """Nothing comes any more."""

    def abandon(self) -> None:
        """Forget the array."""


class TextWriter:
    """A column of texts that grows in a stream; what is given back later is what was appended, to the character.

    Parameters
    ----------
    stream : callable
        From the name of an array, its type and the shape of its rows to a new stream, as `FolderWriter.stream` gives.
    name : str
        Name of the column.
    """

    def __init__(self, stream: Callable[..., Stream], name: str) -> None:
        self._name = name
        self._parts = {part: stream(f"{name}/{part}", dtype, rows) for part, (dtype, rows) in PARTS.items()}
        self._pending: list[bytes] = []
        self._pending_bytes = self._stored_bytes = self._stored_texts = 0
        self._closed = False

    def append(self, texts: Iterable[str | None]) -> None:
        """Add texts at the end; None becomes an empty text."""
        if self._closed:
            raise ValueError(f"The texts '{self._name}' are closed: nothing can be appended any more.")
        if isinstance(texts, str | bytes):
            raise TypeError(f"One {type(texts).__name__} was given, where a list of texts is needed: put it in a list.")
        with self._whole_or_not_at_all():
            for text in texts:
                self._add(_encode(text))

    def close(self) -> None:
        """Put everything on the disk; again is no harm."""
        if self._closed:
            return
        self._closed = True
        with self._whole_or_not_at_all():
            if self._pending:
                self._write_block()
            self._parts["blocks"].append([[self._stored_bytes, self._stored_texts]])
            for part in self._parts.values():
                part.close()

    def abandon(self) -> None:
        """Forget the column, unless it was closed."""
        self._closed = True
        for part in self._parts.values():
            part.abandon()

    def __enter__(self) -> TextWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    @contextmanager
    def _whole_or_not_at_all(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.abandon()
            raise

    def _add(self, encoded: bytes) -> None:
        self._pending.append(encoded)
        self._pending_bytes += len(encoded)
        if self._pending_bytes >= BLOCK_BYTES or len(self._pending) >= BLOCK_TEXTS:
            self._write_block()

    def _write_block(self) -> None:
        packed = zlib.compress(b"".join(self._pending), COMPRESSION_LEVEL)
        self._parts["blocks"].append([[self._stored_bytes, self._stored_texts]])
        self._parts["bytes"].append(np.frombuffer(packed, np.uint8))
        self._parts["ends"].append(np.cumsum([len(text) for text in self._pending], dtype=np.uint32))
        self._stored_bytes += len(packed)
        self._stored_texts += len(self._pending)
        self._pending, self._pending_bytes = [], 0


class TextBlocks(NamedTuple):
    """The arrays behind a column of texts, in memory."""

    bytes: Array
    blocks: Array
    ends: Array


class _Growing:
    """Takes blocks as an `ArrayStream` does, and keeps them."""

    def __init__(self, _: str, dtype: npt.DTypeLike, row_shape: tuple[int, ...]) -> None:
        self._dtype, self._parts = dtype, [np.empty((0, *row_shape), dtype)]

    def append(self, rows: npt.ArrayLike) -> None:
        self._parts.append(np.asarray(rows, self._dtype))

    def close(self) -> None:
        """Nothing is open."""

    abandon = close

    def whole(self) -> Array:
        return np.concatenate(self._parts)


def compress_texts(texts: Iterable[str | None]) -> TextBlocks:
    """Texts as they would be stored. Blocks of some texts and of others, one after the other, are those of all."""
    kept: list[_Growing] = []

    def stream(*what: Any) -> _Growing:
        kept.append(_Growing(*what))
        return kept[-1]

    with TextWriter(stream, "texts") as writer:
        writer.append(texts)
    return TextBlocks(*(part.whole() for part in kept))


def _encode(text: str | None) -> bytes:
    if text is None:
        return b""
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is a {type(text).__name__}, where a text is needed: convert it, or give None.")
    # Half a character, as broken files contain, is stored as it is: a text comes back the way it was given.
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) > LONGEST_TEXT:
        raise StorageError(
            f"A text of {len(encoded):,} bytes is too long to store; {LONGEST_TEXT:,} are the most. Split it."
        )
    return encoded


class Texts:
    """A stored column of texts: `texts[7]` is one, `texts.read(rows)` many, `list(texts)` all.

    Safe to read from several threads.
    """

    def __init__(self, arrays: Mapping[str, Array], name: str) -> None:
        self._name = name
        self._bytes, blocks, self._ends = (arrays[f"{name}/{part}"] for part in PARTS)
        self._first_bytes, self._first_texts = np.array(blocks.T, order="C")
        self._inflate_cached = lru_cache(CACHED_BLOCKS)(self._inflate)

    def __len__(self) -> int:
        return int(self._first_texts[-1])

    def __getitem__(self, row: int) -> str:
        return self.read([operator.index(row)])[0]

    def __iter__(self) -> Iterator[str]:
        for block, first in enumerate(self._first_texts[:-1]):
            data, start = self._inflate(block), 0
            for end in self._ends[first : self._first_texts[block + 1]].tolist():
                yield self._decode(data[start:end])
                start = end

    def read(self, rows: npt.ArrayLike) -> list[str]:
        """The texts of some rows, in the order asked for.

        Parameters
        ----------
        rows : array of int of shape (n,)
            Numbers of texts, in any order, repeated or not; negative ones count from the end.

        Returns
        -------
        list of str
            One per row.
        """
        numbers = self._check_rows(np.asarray(rows))
        blocks = np.searchsorted(self._first_texts, numbers, side="right") - 1
        starts = np.where(numbers > self._first_texts[blocks], self._ends[numbers - 1], 0)
        found = [""] * len(numbers)
        # Block by block, so that each is unpacked once however the rows are ordered.
        order = np.argsort(blocks, kind="stable")
        columns = (order, blocks[order], starts[order], self._ends[numbers[order]])
        for i, block, start, end in zip(*(column.tolist() for column in columns), strict=True):
            found[i] = self._decode(self._inflate_cached(block)[start:end])
        return found

    def _check_rows(self, rows: Array) -> Array:
        if rows.ndim != 1 or not (rows.size == 0 or np.issubdtype(rows.dtype, np.integer)):
            raise TypeError(
                f"Rows of {rows.dtype} and shape {rows.shape} were given, where a list of row numbers is needed."
            )
        numbers = rows.astype(np.int64)
        outside = (numbers < -len(self)) | (numbers >= len(self))
        if outside.any():
            raise IndexError(
                f"There is no row {numbers[outside][0]:,} among the {len(self):,} texts of '{self._name}'."
            )
        return np.where(numbers < 0, numbers + len(self), numbers)

    def _inflate(self, block: int) -> bytes:
        try:
            return zlib.decompress(self._bytes[self._first_bytes[block] : self._first_bytes[block + 1]].data)
        except zlib.error as error:
            raise self._damage(error) from error

    def _decode(self, data: bytes) -> str:
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise self._damage(error) from error

    def _damage(self, error: Exception) -> DamagedFolderError:
        return DamagedFolderError(f"The texts '{self._name}' are damaged ({error}). {REMEDY}")
