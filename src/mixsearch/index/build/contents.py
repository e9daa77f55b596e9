"""What an index stores of its documents beside their counts: texts, names and columns."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.arrow import take_rows
from mixsearch.index.columns import ColumnWriter
from mixsearch.storage import FolderWriter, TextWriter
from mixsearch.text import CountChunk
from mixsearch.topics import place_in

# Documents that are too short for a fit. They are part of the corpus again when the index is refreshed, since what
# words are counted depends on them too.
SHORT = "short"


class ContentWriter:
    """Writes texts, names and columns of documents, chunk by chunk.

    Parameters
    ----------
    out : FolderWriter
        The folder of the index.
    segment : str, default=""
        The group of the arrays.

    Attributes
    ----------
    has_texts, has_names : bool
        Whether the documents have texts and names.
    """

    def __init__(self, out: FolderWriter, segment: str = "") -> None:
        self._out, self._segment = out, segment
        self._texts: TextWriter | None = None
        self._names: TextWriter | None = None
        self._columns = ColumnWriter(out, segment)
        self._rows: list[Array] = []

    @property
    def has_texts(self) -> bool:
        """Whether the documents have texts."""
        return self._texts is not None

    @property
    def has_names(self) -> bool:
        """Whether the documents have names."""
        return self._names is not None

    def append(self, chunk: CountChunk, kept: Array) -> None:
        """Add some documents of a chunk, by their indices in it."""
        rows = np.asarray(chunk.rows)[kept]
        names = None if chunk.names is None else [chunk.names[i] for i in kept]
        if chunk.texts is not None:
            self._texts = self._texts or self._out.texts(place_in(self._segment, "texts"))
            self._texts.append(chunk.texts[i] for i in kept)
        if names is not None:
            self._names = self._names or self._out.texts(place_in(self._segment, "names"))
            self._names.append(names)
        if chunk.columns is not None:
            self._columns.append(rows, names, take_rows(chunk.columns, kept))
        self._rows.append(rows)

    def close(self) -> None:
        """Complete the files."""
        for writer in (self._texts, self._names):
            if writer is not None:
                writer.close()
        self._columns.close()
        if self._segment == SHORT:
            self._out.save(f"{SHORT}/rows", np.concatenate([np.zeros(0, dtype=np.int64), *self._rows]))
