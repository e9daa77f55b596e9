"""The stored parts of documents other than counts: texts, names and columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.index.column_file import ColumnWriter
from mixsearch.index.documents import SHORT
from mixsearch.storage import FolderWriter, TextWriter
from mixsearch.text import CountChunk
from mixsearch.topics import place_in


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

    @property
    def _is_short(self) -> bool:
        return self._segment.endswith(SHORT)

    def append(self, chunk: CountChunk, kept: Array) -> None:
        """Add some documents of a chunk, by their indices in it."""
        rows, names, texts, columns = chunk.take_contents(kept)
        self.write(rows, texts, names, columns)

    def write(self, rows: Array, texts: Iterable[str] | None, names: Sequence[str] | None, columns: Any) -> None:
        """Add documents, all with texts, names and columns or all without.

        Parameters
        ----------
        rows : array of shape (n,)
            Their rows in the input.
        texts, names : sequences of str, optional
            Their texts and names.
        columns : pyarrow.RecordBatch or pyarrow.Table, optional
            Their columns.
        """
        if not len(rows) and self._is_short:
            return  # most chunks have none
        if texts is not None:
            self._texts = self._texts or self._out.texts(place_in(self._segment, "texts"))
            self._texts.append(texts)
        if names is not None:
            self._names = self._names or self._out.texts(place_in(self._segment, "names"))
            self._names.append(names)
        if columns is not None:
            self._columns.append(rows, names, columns)
        self._rows.append(rows)

    def close(self) -> None:
        """Complete the files."""
        for writer in (self._texts, self._names):
            if writer is not None:
                writer.close()
        self._columns.close()
        if self._is_short and self._rows:
            self._out.save(place_in(self._segment, "rows"), np.concatenate(self._rows))
