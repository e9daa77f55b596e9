"""Fit the topics of an index again, from its current documents."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.core.rows import row_slices
from mixsearch.errors import SearchError
from mixsearch.index.build.local import write_index
from mixsearch.index.build.options import IndexOptions, OnProgress
from mixsearch.index.build.summary import Built, summarize_build
from mixsearch.index.column_file import ROW, drop_known, read_segment
from mixsearch.index.documents import list_short
from mixsearch.index.topic_index import TopicIndex
from mixsearch.io.folder import Folder, write_folder
from mixsearch.io.parquet import Texts
from mixsearch.io.tables import concat
from mixsearch.text.count import count_documents
from mixsearch.text.options import CorpusOptions
from mixsearch.text.read import Documents
from mixsearch.topics.segments import Segment, read_segments
from mixsearch.topics.storage import open_search

# Documents that are read together: about a megabyte of text.
_CHUNK_DOCUMENTS = 1_000


def refresh_index(
    path: str | os.PathLike[str], *, memory: int | None = None, on_progress: OnProgress | None = None
) -> Built:
    """Choose the words and fit the topics of an index again, from its current documents.

    Parameters
    ----------
    path : path
        The folder of the index.
    memory : int, optional
        About how many bytes the work may take; half of the machine's memory by default.
    on_progress : callable, optional
        Called with the step of the work, units done, units in all (None if unknown), and the name of the unit.

    Returns
    -------
    Built
        The summary of the index.

    Notes
    -----
    The result is that of `build_index` for the same documents in the same order. Only the row numbers stay the same, so
    that a document has the same row before and after.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, add_documents, build_index, refresh_index
    >>> texts = make_reviews(500, random_state=0).text
    >>> built = build_index(texts, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> added = add_documents(built.path, make_reviews(300, random_state=1).text)
    >>> refresh_index(built.path).n_documents
    800
    """
    report = on_progress or (lambda *_: None)
    _check_texts(TopicIndex(open_search(path)))
    with write_folder(path, overwrite=True) as out:
        folder = open_search(path)
        index = TopicIndex(folder)
        reading = _check_texts(index)
        stored = _open_documents(folder, index)
        with count_documents(_read_chunks(stored, report), reading) as corpus:
            options = IndexOptions(
                n_components=folder.facts["n_components"], search=_read_search(folder), memory=memory
            )
            counted = write_index(out, corpus, options, reading, report, stored.rows)
        out.facts["n_rows"] = index.n_rows
        out.facts["fit"]["n_dropped"] = index.n_rows - counted["n_documents"]
    return summarize_build(Path(path), corpus, counted)


def _check_texts(index: TopicIndex) -> CorpusOptions:
    """Return how the index counts, or raise if it cannot count its documents again."""
    reading = index.reading
    if reading is None or not index.has_texts:
        raise SearchError(
            "The index '{path}' cannot be refreshed: it holds no texts, or does not know how they were counted. Build "
            "it again from the files.",
            code="cannot_refresh",
            path=str(index.path),
        )
    return reading


def _read_search(folder: Folder) -> dict[str, Any]:
    return {name: value for name, value in folder.facts["search"].items() if name != "n_components"}


class _StoredDocuments(NamedTuple):
    """All documents of an index, also those that are too short for a topic."""

    rows: Array  # rising
    order: Array  # indices of the documents in the order of their rows
    texts: Texts
    names: Texts | None
    columns: pl.DataFrame | None


def _open_documents(folder: Folder, index: TopicIndex) -> _StoredDocuments:
    segments = read_segments(folder)
    short = [Segment(name, len(folder[f"{name}/rows"]), 0.0) for name in list_short(folder)]
    rows = [folder[segment.place("documents/rows")] for segment in segments]
    rows += [folder[group.place("rows")] for group in short]
    groups = [*segments, *short]
    joined = np.concatenate(rows).astype(np.int64)
    order = np.argsort(joined, kind="stable")
    return _StoredDocuments(
        joined[order],
        order,
        folder.texts(*(group.place("texts") for group in groups)),
        folder.texts(*(group.place("names") for group in groups)) if index.has_names else None,
        _join_columns(folder, groups, index),
    )


def _join_columns(folder: Folder, groups: list[Segment], index: TopicIndex) -> pl.DataFrame | None:
    if not index.columns.names:
        return None
    frames = [read_segment(folder, group) for group in groups]
    filled = [
        pl.DataFrame({ROW: np.zeros(group.n_documents, dtype=np.int64)}) if frame is None else frame
        for frame, group in zip(frames, groups, strict=True)
    ]
    return drop_known(concat(filled))


def _read_chunks(stored: _StoredDocuments, on_progress: OnProgress) -> Iterator[Documents]:
    n = len(stored.order)
    for part in row_slices(n, _CHUNK_DOCUMENTS):
        yield _load(stored, part)
        on_progress("Reading", min(part.stop, n), n, "documents")


def _load(stored: _StoredDocuments, part: slice) -> Documents:
    own = stored.order[part]
    columns = None if stored.columns is None else stored.columns[own]
    names = None if stored.names is None else pl.Series(stored.names.read(own), dtype=pl.String)
    texts = pl.Series(stored.texts.read(own), dtype=pl.String)
    return Documents(texts, names, columns)
