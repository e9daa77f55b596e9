"""Columns of texts: compressed in blocks, with random access to every text."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mixsearch.errors import DamagedFolderError, StorageError
from mixsearch.storage.arrays import Array, Stream
from mixsearch.storage.manifest import damage_error

# zlib looks back 32 KiB: larger blocks hardly compress better, and reading one text costs one block.
BLOCK_BYTES = 1 << 16
BLOCK_TEXTS = 1 << 16
# Ends within a block are stored in 32 bits.
MAX_TEXT_BYTES = (1 << 32) - BLOCK_BYTES - 1
# 16 MB: all of a small corpus, and of a large one what several people read at the same time.
CACHED_BLOCKS = 256
# On news articles nearly twice as fast as zlib's default of 6, with 3 % more bytes.
COMPRESSION_LEVEL = 4
# zlib packs at most 1,032 bytes into one, and a little less for its header.
MAX_EXPANSION = 1032

# The three arrays behind a column of texts: its compressed bytes; for each block the first byte and the first text,
# and a last row with the totals; for each text its end among the bytes of its block.
TEXT_ARRAYS: Mapping[str, tuple[type[np.generic], tuple[int, ...]]] = {
    "bytes": (np.uint8, ()),
    "blocks": (np.int64, (2,)),
    "ends": (np.uint32, ()),
}


class TextWriter(Stream):
    """A column of texts that is written as a stream. Texts are read back exactly as they were appended."""

    def __init__(self, stream: Callable[..., Stream], name: str) -> None:
        self._name = name
        self._parts = {part: stream(f"{name}/{part}", dtype, rows) for part, (dtype, rows) in TEXT_ARRAYS.items()}
        self._pending: list[bytes] = []
        self._pending_bytes = self._stored_bytes = self._stored_texts = 0
        self._closed = False

    def append(self, texts: Iterable[str | None]) -> None:
        """Add texts at the end."""
        if self._closed:
            raise StorageError(
                "The texts '{name}' are closed; nothing can be appended.", code="array_closed", name=self._name
            )
        if isinstance(texts, str | bytes):
            raise TypeError(f"append needs a list of texts, got one {type(texts).__name__}. Put it in a list.")
        with self._abandon_on_error():
            for text in texts:
                self._add(_encode(text))

    def close(self) -> None:
        """Write everything to the disk. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        with self._abandon_on_error():
            if self._pending:
                self._write_block()
            self._parts["blocks"].append([[self._stored_bytes, self._stored_texts]])
            for part in self._parts.values():
                part.close()

    def abandon(self) -> None:
        """Discard the column, unless it was closed."""
        self._closed = True
        for part in self._parts.values():
            part.abandon()

    @contextmanager
    def _abandon_on_error(self) -> Iterator[None]:
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


class CompressedTexts(NamedTuple):
    """The arrays of a column of texts, in memory."""

    bytes: Array
    blocks: Array
    ends: Array


class _MemoryStream(Stream):
    """An `ArrayStream` in memory."""

    def __init__(self, _: str, dtype: npt.DTypeLike, row_shape: tuple[int, ...]) -> None:
        self._dtype, self._parts = dtype, [np.empty((0, *row_shape), dtype)]

    def append(self, rows: npt.ArrayLike) -> None:
        self._parts.append(np.asarray(rows, self._dtype))

    def close(self) -> None:
        """Nothing is open."""

    abandon = close

    def to_array(self) -> Array:
        return np.concatenate(self._parts)


def compress_texts(texts: Iterable[str | None]) -> CompressedTexts:
    """Compress texts as they are stored. Columns can be concatenated block by block."""
    streams: list[_MemoryStream] = []

    def stream(*what: Any) -> _MemoryStream:
        streams.append(_MemoryStream(*what))
        return streams[-1]

    with TextWriter(stream, "texts") as writer:
        writer.append(texts)
    return CompressedTexts(*(each.to_array() for each in streams))


def _encode(text: str | None) -> bytes:
    if text is None:
        return b""
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is a {type(text).__name__}, not a text. Convert it, or pass None.")
    # Lone surrogates, as broken files contain, are stored as they are: texts are read back exactly.
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) > MAX_TEXT_BYTES:
        raise StorageError(
            "A text of {n_bytes:,} bytes is too long: the maximum is {maximum:,}. Split it.",
            code="text_too_long",
            n_bytes=len(encoded),
            maximum=MAX_TEXT_BYTES,
        )
    return encoded


class Texts:
    """A stored column of texts: ``texts.read(rows)`` are some, ``list(texts)`` all. Thread-safe."""

    def __init__(self, arrays: Mapping[str, Array], name: str) -> None:
        self._name = name
        self._bytes, blocks, self._ends = (arrays[f"{name}/{part}"] for part in TEXT_ARRAYS)
        self._check_blocks(blocks)
        self._first_bytes, self._first_texts = np.array(blocks.T, order="C")
        self._inflate_cached = lru_cache(CACHED_BLOCKS)(self._inflate)

    def __len__(self) -> int:
        return int(self._first_texts[-1])

    def _check_blocks(self, blocks: Array) -> None:
        """Check that the blocks cover all bytes and all texts, in order."""
        is_table = blocks.ndim == 2 and blocks.shape[1] == 2 and len(blocks) > 0
        if not is_table or (np.diff(blocks, axis=0) < 0).any() or blocks[0].any():
            raise self._damage("its blocks are not in order")
        if blocks[-1].tolist() != [len(self._bytes), len(self._ends)]:
            raise self._damage("its blocks do not cover the texts")

    def __iter__(self) -> Iterator[str]:
        for block, first in enumerate(self._first_texts[:-1]):
            data, start = self._inflate(block), 0
            for end in self._ends[first : self._first_texts[block + 1]].tolist():
                yield self._decode(data[start:end])
                start = end

    def read(self, rows: npt.ArrayLike) -> list[str]:
        """Return the texts of some rows, in the given order."""
        indices = self._check_rows(np.asarray(rows))
        blocks = np.searchsorted(self._first_texts, indices, side="right") - 1
        starts = np.where(indices > self._first_texts[blocks], self._ends[indices - 1], 0)
        found = [""] * len(indices)
        # Block by block, so that each is decompressed once in any order of rows.
        order = np.argsort(blocks, kind="stable")
        columns = (order, blocks[order], starts[order], self._ends[indices[order]])
        for i, block, start, end in zip(*(column.tolist() for column in columns), strict=True):
            found[i] = self._decode(self._inflate_cached(block)[start:end])
        return found

    def _check_rows(self, rows: Array) -> Array:
        if rows.ndim != 1 or not (rows.size == 0 or np.issubdtype(rows.dtype, np.integer)):
            raise TypeError(f"read needs a list of row numbers, got {rows.dtype} of shape {rows.shape}.")
        indices = rows.astype(np.int64)
        invalid = (indices < 0) | (indices >= len(self))
        if invalid.any():
            raise IndexError(f"Row {indices[invalid][0]:,} is out of range: '{self._name}' has {len(self):,} texts.")
        return indices

    def _inflate(self, block: int) -> bytes:
        packed = self._bytes[self._first_bytes[block] : self._first_bytes[block + 1]]
        ends = self._ends[self._first_texts[block] : self._first_texts[block + 1]].astype(np.int64)
        n_bytes = int(ends[-1]) if len(ends) else 0
        if n_bytes > MAX_EXPANSION * len(packed) or (np.diff(ends) < 0).any():
            raise self._damage(f"block {block} cannot hold {n_bytes:,} bytes in this order")
        unpacker = zlib.decompressobj()
        try:
            data = unpacker.decompress(packed.data, n_bytes + 1)  # no more than that, whatever the block claims
        except zlib.error as error:
            raise self._damage(error) from error
        if len(data) != n_bytes or not unpacker.eof:
            raise self._damage(f"block {block} does not hold the {n_bytes:,} bytes that were written")
        return data

    def _decode(self, data: bytes) -> str:
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise self._damage(error) from error

    def _damage(self, error: Exception | str) -> DamagedFolderError:
        return damage_error("The texts '{name}' are damaged ({error}).", name=self._name, error=str(error))


class JoinedTexts:
    """Columns of texts, one after the other."""

    def __init__(self, columns: Sequence[Texts]) -> None:
        self._columns = list(columns)
        self._firsts = np.cumsum([0, *map(len, self._columns)])

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def __iter__(self) -> Iterator[str]:
        for column in self._columns:
            yield from column

    def read(self, rows: npt.ArrayLike) -> list[str]:
        """Return the texts of some rows, in the given order."""
        indices = np.asarray(rows, dtype=np.int64)
        found = [""] * len(indices)
        owners = np.searchsorted(self._firsts, indices, side="right") - 1
        for owner in np.unique(owners).tolist():
            own = np.flatnonzero(owners == owner)
            for i, text in zip(
                own.tolist(), self._columns[owner].read(indices[own] - self._firsts[owner]), strict=True
            ):
                found[i] = text
        return found
