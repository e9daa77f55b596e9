"""The stored parts of the documents in a new segment, other than their counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.arrow import take_rows
from mixsearch.index.build.contents import ContentWriter
from mixsearch.index.column_file import check_schema, drop_known, read_schema, read_segment
from mixsearch.index.documents import SHORT
from mixsearch.index.topic_index import TopicIndex
from mixsearch.index.update.dropped import join_dropped, write_table
from mixsearch.index.update.new_documents import NewDocuments
from mixsearch.storage import Folder, FolderWriter
from mixsearch.text import CountChunk
from mixsearch.topics import Segment, load_dropped, place_in


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
    write_table(out, join_dropped([*(table for table, _ in known), new.dropped], [*firsts, n_before]), name)
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
    table = read_segment(folder, segment)
    return np.asarray(rows), texts, names, None if table is None else drop_known(table)


def _append(
    writer: ContentWriter, folder: Folder, index: TopicIndex, chunks: Sequence[tuple[CountChunk, Array]]
) -> None:
    """Write documents of chunks, with texts and names if the index has them."""
    schema = read_schema(folder)
    for chunk, kept in chunks:
        if chunk.columns is not None:
            check_schema(schema, chunk.columns.schema)
        texts = chunk.texts or [""] * len(chunk.rows)
        names = chunk.names or [""] * len(chunk.rows)
        writer.write(
            chunk.rows[kept],
            [texts[i] for i in kept] if index.has_texts else None,
            [names[i] for i in kept] if index.has_names else None,
            None if chunk.columns is None else take_rows(chunk.columns, kept),
        )
