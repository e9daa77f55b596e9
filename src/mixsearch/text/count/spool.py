"""A temporary folder of counted chunks, kept until the vocabulary is known."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np

from mixsearch.data.arrow import pack_batch, unpack_batch
from mixsearch.errors import SearchError
from mixsearch.storage import TemporaryFolder
from mixsearch.text.count.chunks import Chunk, measure_texts, pack_texts, unpack_texts
from mixsearch.text.count.ngrams import ChunkCounts


class Spool:
    """Chunks on disk, in order. `close` removes them."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._parent = os.fspath(folder) if folder is not None else tempfile.gettempdir()
        try:
            self._folder = TemporaryFolder(folder)
        except OSError as error:
            raise self._make_error(error) from error
        self._n_chunks = 0

    def add(self, chunk: Chunk) -> None:
        """Write a chunk after the others."""
        counts = chunk.counts
        arrays = {
            "keys": counts.keys,
            "bounds": counts.bounds,
            "words": counts.words,
            "counts": counts.counts,
            "letters": counts.letters,
            "lengths": counts.lengths,
            "sequence": counts.sequence,
            "sequence_bounds": counts.sequence_bounds,
            "rows": chunk.rows,
            "n_characters": chunk.n_characters,
        }
        if chunk.names is not None:
            arrays["names"] = pack_texts(chunk.names)
            arrays["name_lengths"] = measure_texts(chunk.names)
        if chunk.texts is not None:
            arrays["texts"] = chunk.texts
        if chunk.columns is not None:
            arrays["columns"] = np.frombuffer(pack_batch(chunk.columns), np.uint8)
        try:
            np.savez(self._get_path(self._n_chunks), **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise self._make_error(error) from error
        self._n_chunks += 1

    def read_counts(self) -> Iterator[ChunkCounts]:
        """Yield the counts of all chunks, in order."""
        self._check_open()
        for i in range(self._n_chunks):
            with np.load(self._get_path(i)) as file:
                yield _load_counts(file)

    def read_chunks(self) -> Iterator[Chunk]:
        """Yield all chunks, in order."""
        self._check_open()
        for i in range(self._n_chunks):
            with np.load(self._get_path(i)) as file:
                names = unpack_texts(file["names"], file["name_lengths"]) if "names" in file else None
                texts = file.get("texts")
                columns = unpack_batch(file["columns"].tobytes()) if "columns" in file else None
                yield Chunk(_load_counts(file), file["rows"], names, texts, file["n_characters"], columns)

    def close(self) -> None:
        """Remove the folder."""
        self._folder.close()

    def _check_open(self) -> None:
        if not self._folder.path.is_dir():
            raise SearchError(
                "The corpus is closed and its temporary files are gone. Read its chunks inside the with statement.",
                code="corpus_closed",
            )

    def _get_path(self, i: int) -> Path:
        return self._folder.path / f"chunk-{i:06d}.npz"

    def _make_error(self, error: OSError) -> SearchError:
        return SearchError(
            "Cannot write temporary files in {folder!r} ({reason}). Free some space there, or choose another folder "
            "with the environment variable TMPDIR.",
            code="tmp_dir_failed",
            folder=self._parent,
            reason=error.strerror or str(error),
        )


def _load_counts(file: np.lib.npyio.NpzFile) -> ChunkCounts:
    return ChunkCounts(*(file[field.name] for field in fields(ChunkCounts)))
