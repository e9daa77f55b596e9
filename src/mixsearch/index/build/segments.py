"""Documents on their way to disk: counts, texts, names and columns, in as many segments as their counts need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.index.build.counts import CountWriter
from mixsearch.index.build.dropped import DroppedRange, DroppedWords, PostingsCollector
from mixsearch.index.column_file import ColumnWriter
from mixsearch.index.documents import SHORT
from mixsearch.io.folder import FolderWriter
from mixsearch.text.corpus import Corpus, CountChunk
from mixsearch.topics.segments import limit_segments, name_fitted, place_in


class ContentWriter:
    """Writes texts, names and columns of documents, chunk by chunk.

    Attributes
    ----------
    has_texts, has_names : bool
        Whether the documents have texts and names.
    """

    def __init__(self, out: FolderWriter, segment: str = "") -> None:
        self._out, self._segment = out, segment
        self.has_texts = self.has_names = False
        self._columns = ColumnWriter(out, segment)
        self._rows: list[Array] = []

    @property
    def _is_short(self) -> bool:
        return self._segment.endswith(SHORT)

    def append(self, chunk: CountChunk, kept: Array) -> None:
        """Add some documents of a chunk, by their indices in it."""
        rows, names, texts, columns = chunk.take_contents(kept)
        self.write(rows, texts, names, columns)

    def write(self, rows: Array, texts: Iterable[str] | None, names: Sequence[str] | None, columns: Any) -> None:
        """Add documents, all with texts, names and columns or all without."""
        if not len(rows) and self._is_short:
            return  # most chunks have none
        if texts is not None:
            self._out.save_texts(place_in(self._segment, "texts"), texts)
            self.has_texts = True
        if names is not None:
            self._out.save_texts(place_in(self._segment, "names"), names)
            self.has_names = True
        if columns is not None:
            self._columns.append(rows, names, columns)
        self._rows.append(rows)

    def close(self) -> None:
        """Complete the files."""
        self._columns.close()
        if self._is_short and self._rows:
            self._out.save(place_in(self._segment, "rows"), np.concatenate(self._rows))


class StoredSegment(NamedTuple):
    """A segment whose counts by document are on disk."""

    name: str
    rows: Array  # of its documents in the input, (n,)
    n_nonzeros: int
    per_word: Array  # number of documents with each word, (d,)


class SegmentWriter:
    """Writes counts, names, texts and columns of documents, and starts another segment when one has enough counts.

    Attributes
    ----------
    segments : list of StoredSegment
        The segments that are complete.
    dropped : PostingsCollector
        Which documents contain dropped words.
    has_texts, has_names : bool
        Whether the documents have texts and names.
    """

    def __init__(self, out: FolderWriter, corpus: Corpus, dropped: DroppedWords) -> None:
        self._out, self._n_words = out, corpus.n_features
        self._limits = limit_segments(corpus.n_nonzeros)
        self.segments: list[StoredSegment] = []
        self.dropped = PostingsCollector(dropped)
        self._n_dropped = [self.dropped.count_documents()]  # documents with each dropped word, up to every segment
        self.has_texts = self.has_names = False
        self._start()

    @property
    def n_documents(self) -> int:
        """The number of documents so far."""
        return sum(len(segment.rows) for segment in self.segments) + self._n_own

    @property
    def _n_own(self) -> int:
        return sum(map(len, self._rows))

    def append(self, chunk: CountChunk, counts: sp.csr_array, kept: Array) -> None:
        """Add some documents of a chunk."""
        first = 0
        while (last := first + self._count_fitting(counts.indptr[first:])) < len(kept):
            self._write(chunk, counts[first:last], kept[first:last])
            self._finish()
            self._start()
            first = last
        self._write(chunk, counts[first:] if first else counts, kept[first:])

    def list_dropped(self) -> list[DroppedRange]:
        """Return the documents of each segment with the dropped words that they contain; none for a single segment."""
        if len(self.segments) == 1:
            return []
        ends = np.cumsum([0, *(len(segment.rows) for segment in self.segments)]).tolist()
        return [
            DroppedRange(segment.name, ends[i], ends[i + 1], self._n_dropped[i + 1] - self._n_dropped[i])
            for i, segment in enumerate(self.segments)
        ]

    def _count_fitting(self, indptr: Array) -> int:
        """Return how many of the next documents belong to this segment; at least one, if it has none."""
        ends = self._counts.n_nonzeros + indptr.astype(np.int64) - int(indptr[0])
        n_enough = int(np.searchsorted(ends[:-1], self._limits.enough))
        n_most = int(np.searchsorted(ends[1:], self._limits.maximum, side="right"))
        return max(min(n_enough, n_most), 0 if self._n_own else 1)

    def _start(self) -> None:
        name = name_fitted(len(self.segments))
        self._counts = CountWriter(self._out, self._n_words, name)
        self._contents = ContentWriter(self._out, name)
        self._rows: list[Array] = [np.zeros(0, dtype=np.int64)]

    def _write(self, chunk: CountChunk, counts: sp.csr_array, kept: Array) -> None:
        self.dropped.add(chunk.counts[:, self._n_words :][kept], np.asarray(counts.sum(axis=1)), self.n_documents)
        self._counts.append(counts)
        self._rows.append(np.asarray(chunk.rows, dtype=np.int64)[kept])
        self._contents.append(chunk, kept)

    def _finish(self) -> None:
        self._contents.close()
        self.has_texts, self.has_names = self._contents.has_texts, self._contents.has_names
        name, rows = name_fitted(len(self.segments)), np.concatenate(self._rows)
        self.segments.append(StoredSegment(name, rows, self._counts.n_nonzeros, self._counts.per_word))
        self._rows = []
        self._n_dropped.append(self.dropped.count_documents())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._finish()
