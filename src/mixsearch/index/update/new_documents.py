"""Documents to add to an index: counted, compared with those that it has, and written as a new segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.display import pluralize
from mixsearch.errors import Option, SearchError
from mixsearch.index.build.dropped import PostingsCollector, join_dropped, list_dropped, tabulate_dropped
from mixsearch.index.build.fit import check_n_added, select_documents
from mixsearch.index.build.segments import ContentWriter
from mixsearch.index.column_file import check_schema, drop_known, read_schema, read_segment
from mixsearch.index.documents import SHORT
from mixsearch.index.topic_index import TopicIndex
from mixsearch.io.folder import Folder, FolderWriter
from mixsearch.text.corpus import Corpus, CountChunk
from mixsearch.topics.corpus import get_min_words, is_damped
from mixsearch.topics.dropped import DroppedTable, load_dropped, store_dropped
from mixsearch.topics.segments import Segment, place_in

Existing = Literal["error", "skip", "replace"]
# Documents that are too short have no index in the corpus.
_SHORT = -1


@dataclass
class NewDocuments:
    """Documents to add to an index, in memory."""

    counts: sp.csr_array
    rows: Array
    kept: list[tuple[CountChunk, Array]]  # chunks, and the indices of documents that are long enough
    short: list[tuple[CountChunk, Array]]
    dropped: DroppedTable
    replaced: list[int]
    replaced_short: list[str]  # names of documents that are too short
    n_skipped: int
    new_words: float

    @property
    def n_characters(self) -> int:
        """The number of characters of all texts."""
        chunks = [*self.kept, *self.short]
        return sum(len(chunk.texts[i]) for chunk, rows in chunks if chunk.texts is not None for i in rows)

    @property
    def n_short(self) -> int:
        """The number of documents that are too short for a topic."""
        return sum(len(rows) for _, rows in self.short)


def collect_documents(corpus: Corpus, index: TopicIndex, existing: Existing) -> NewDocuments:
    """Return the documents of a corpus that are not in an index yet."""
    names = _ExistingNames(index, existing)
    damping, min_words = is_damped(index.topics), get_min_words(index.topics)
    first_row = index.n_rows
    counts: list[Any] = [sp.csr_array((0, len(index.vocabulary)), dtype=np.float32)]
    rows: list[Array] = [np.zeros(0, dtype=np.int64)]
    kept_of: list[tuple[CountChunk, Array]] = []
    short_of: list[tuple[CountChunk, Array]] = []
    added, d = list_dropped(corpus, index.reading, is_added=True), corpus.n_features
    collector, n_words, n_new = PostingsCollector(added), 0.0, 0.0
    stop_words = set((index.tokens or {}).get("stop_words") or ())
    is_meant = np.array([word not in stop_words for word in corpus.words], dtype=bool)
    is_new_word = np.array([not index.knows(word) for word in added.words], dtype=bool)
    for read in corpus.chunks():
        chunk = names.apply(replace(read, rows=np.asarray(read.rows, dtype=np.int64) + first_row))
        own, kept = select_documents(chunk.counts[:, :d], damping, min_words)
        collector.add(chunk.counts[:, d:][kept], np.asarray(own.sum(axis=1)), sum(map(len, rows)))
        counts.append(own)
        check_n_added(sum(each.nnz for each in counts))
        rows.append(chunk.rows[kept])
        kept_of.append((chunk, kept))
        rest = np.setdiff1d(np.arange(len(chunk.rows)), kept)
        short_of += [(chunk, rest)] if len(rest) else []
        n_words += float(chunk.counts[:, is_meant].sum())
        n_new += float(chunk.counts[:, d:][:, is_new_word].sum())
    names.check()
    return NewDocuments(
        counts=sp.csr_array(sp.vstack(counts, format="csr", dtype=np.float32)),
        rows=np.concatenate(rows),
        kept=kept_of,
        short=short_of,
        dropped=tabulate_dropped(added, collector.finish()),
        replaced=sorted(set(names.replaced)),
        replaced_short=names.replaced_short,
        n_skipped=names.n_skipped,
        new_words=n_new / max(n_words, 1),
    )


class _ExistingNames:
    """The names that an index has, and which documents to add have them too."""

    def __init__(self, index: TopicIndex, existing: Existing) -> None:
        self._index, self._existing = index, existing
        self._known: dict[str, list[int]] = {}  # several documents may have the same name
        for i, name in enumerate(index.names()):
            if name:
                self._known.setdefault(name, []).append(i)
        # Documents that are too short have no index in the corpus.
        for name in index.short_names():
            if name:
                self._known.setdefault(name, []).append(_SHORT)
        self.replaced: list[int] = []
        self.replaced_short: list[str] = []
        self.n_skipped = 0
        self._n_existing, self._first_existing = 0, ""

    def apply(self, chunk: CountChunk) -> CountChunk:
        """Return the documents of a chunk that are to be added, after a note of those whose names are known."""
        found = [name for name in chunk.names or [] if name in self._known]
        if not found:
            return chunk
        if self._existing == "error":
            self._first_existing = self._first_existing or found[0]
            self._n_existing += len(found)
            return chunk
        if self._existing == "skip":
            self.n_skipped += len(found)
            return chunk.take(np.flatnonzero([name not in self._known for name in chunk.names or []]))
        self.replaced += [i for name in found for i in self._known[name] if i != _SHORT]
        self.replaced_short += [name for name in found if _SHORT in self._known[name]]
        return chunk

    def check(self) -> None:
        """Raise if the index has documents of the chunks, and they are an error."""
        if self._n_existing:
            raise SearchError(
                "{n_existing:,} of the documents to add "
                + pluralize(self._n_existing, "is", "are")
                + " in the index '{path}' already"
                + (": {name!r}." if self._n_existing == 1 else ", the first one is {name!r}.")
                + " Set {argument} to 'skip' or 'replace'.",
                code="documents_exist",
                n_existing=self._n_existing,
                path=str(self._index.path),
                name=self._first_existing,
                argument=Option("existing"),
            )


def write_contents(
    folder: Folder, out: FolderWriter, index: TopicIndex, absorbed: Sequence[Segment], new: NewDocuments, name: str
) -> None:
    """Write texts, names, columns and dropped words of a new segment, after those of the ones that it absorbs."""
    contents = ContentWriter(out, name)
    for segment in absorbed:
        contents.write(*_read_contents(folder, index, segment, folder[segment.place("documents/rows")]))
    _append(contents, folder, index, new.kept)
    contents.close()
    write_short(folder, out, index, absorbed, new, name)
    tables = [load_dropped(folder, segment) for segment in absorbed]
    known = [(table, segment) for table, segment in zip(tables, absorbed, strict=True) if table is not None]
    firsts = [segment.first - absorbed[0].first for _, segment in known]
    n_before = sum(segment.n_documents for segment in absorbed)
    joined = join_dropped([*(table for table, _ in known), new.dropped], [*firsts, n_before])
    store_dropped(out, *joined, segment=name)
    for segment in absorbed:
        out.remove(segment.name)
        out.facts.pop(segment.place("dropped"), None)


def write_short(
    folder: Folder, out: FolderWriter, index: TopicIndex, absorbed: Sequence[Segment], new: NewDocuments, name: str
) -> None:
    """Write the documents that are too short, after those of absorbed segments."""
    short = ContentWriter(out, place_in(name, SHORT))
    for segment in absorbed:
        group = segment._replace(name=segment.place(SHORT))
        if group.place("rows") in folder:
            short.write(*_read_contents(folder, index, group, folder[group.place("rows")]))
    _append(short, folder, index, new.short)
    short.close()


def _read_contents(folder: Folder, index: TopicIndex, segment: Segment, rows: Array) -> tuple[Any, ...]:
    texts = list(folder.texts(segment.place("texts"))) if index.has_texts else None
    names = list(folder.texts(segment.place("names"))) if index.has_names else None
    frame = read_segment(folder, segment)
    return np.asarray(rows), texts, names, None if frame is None else drop_known(frame)


def _append(
    writer: ContentWriter, folder: Folder, index: TopicIndex, chunks: Sequence[tuple[CountChunk, Array]]
) -> None:
    """Write documents of chunks, with texts and names if the index has them."""
    schema = read_schema(folder)
    for chunk, kept in chunks:
        rows, names, texts, columns = chunk.take_contents(kept)
        if columns is not None:
            check_schema(schema, columns.schema)
        empty = [""] * len(rows)
        writer.write(
            rows,
            (texts or empty) if index.has_texts else None,
            (names or empty) if index.has_names else None,
            columns,
        )
