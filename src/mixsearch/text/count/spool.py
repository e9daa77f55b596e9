"""A temporary folder of counted blocks: what has been read, until it is known which words are kept."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.text.count.ngrams import BlockCounts


@dataclass(frozen=True)
class Block:
    """A block of documents as it is spooled."""

    counts: BlockCounts
    rows: Array  # row numbers in the input, (n_documents,)
    names: list[str] | None
    texts: Array | None  # packed, see `pack_texts`
    n_characters: Array  # of each text, (n_documents,)


class Spool:
    """Blocks on disk, in order; a context that removes them."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._where = os.fspath(folder) if folder is not None else tempfile.gettempdir()
        try:
            # Kept until `close`, or until nobody holds the spool any more.
            self._folder = tempfile.TemporaryDirectory(prefix="mixsearch-", dir=folder, ignore_cleanup_errors=True)
        except OSError as error:
            raise self._failure(error) from error
        self._n_blocks = 0

    def add(self, block: Block) -> None:
        """Write a block after the others."""
        counts = block.counts
        arrays = {
            "keys": counts.keys,
            "bounds": counts.bounds,
            "words": counts.words,
            "counts": counts.counts,
            "letters": counts.letters,
            "lengths": counts.lengths,
            "rows": block.rows,
            "n_characters": block.n_characters,
        }
        if block.names is not None:
            arrays["names"] = pack_texts(block.names)
            arrays["name_lengths"] = lengths_of(block.names)
        if block.texts is not None:
            arrays["texts"] = block.texts
        try:
            np.savez(self._path(self._n_blocks), **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise self._failure(error) from error
        self._n_blocks += 1

    def counts(self) -> Iterator[BlockCounts]:
        """The counts of all blocks, in order."""
        self._check_open()
        for i in range(self._n_blocks):
            with np.load(self._path(i)) as file:
                yield _load_counts(file)

    def blocks(self) -> Iterator[Block]:
        """All blocks, in order."""
        self._check_open()
        for i in range(self._n_blocks):
            with np.load(self._path(i)) as file:
                names = unpack_texts(file["names"], file["name_lengths"]) if "names" in file else None
                texts = file.get("texts")
                yield Block(_load_counts(file), file["rows"], names, texts, file["n_characters"])

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()

    def _check_open(self) -> None:
        if not os.path.isdir(self._folder.name):
            raise SearchError("Found a closed corpus, whose files are gone: read its blocks inside the with statement.")

    def _path(self, i: int) -> Path:
        return Path(self._folder.name, f"block-{i:06d}.npz")

    def _failure(self, error: OSError) -> SearchError:
        return SearchError(
            f"Could not write temporary files in {self._where!r} ({error.strerror or error}): free some space there, "
            "or choose another place with the option tmp_dir= or the environment variable TMPDIR."
        )


def pack_texts(texts: Sequence[str]) -> Array:
    """Texts as bytes, (n,)."""
    # Not compressed: that takes about as long as the counting, and the folder lives for one run.
    return np.frombuffer("".join(texts).encode("utf-8"), dtype=np.uint8)


def lengths_of(texts: Sequence[str]) -> Array:
    """The number of characters of each text, (n,)."""
    return np.fromiter(map(len, texts), np.int64, len(texts))


def unpack_texts(packed: Array, lengths: Array) -> list[str]:
    """The texts again, cut at their lengths."""
    joined = packed.tobytes().decode("utf-8")
    ends = np.cumsum(lengths).tolist()
    return [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _load_counts(file: np.lib.npyio.NpzFile) -> BlockCounts:
    return BlockCounts(*(file[name] for name in ("keys", "bounds", "words", "counts", "letters", "lengths")))
