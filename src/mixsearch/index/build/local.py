"""Building an index: counts go to disk by document and by word, the fit reads them, the end publishes all of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rows import Chunks, chunk_rows
from mixsearch.errors import ArgumentError
from mixsearch.index.build.counts import open_columns, open_counts, read_rows, store_by_word
from mixsearch.index.build.dropped import DroppedRange, PostingsCollector, list_dropped, write_dropped
from mixsearch.index.build.fit import (
    check_n_documents,
    choose_search,
    fit_search,
    select_documents,
)
from mixsearch.index.build.options import DEFAULT_COMPONENTS, IndexOptions, OnProgress
from mixsearch.index.build.segments import ContentWriter, SegmentWriter, StoredSegment
from mixsearch.index.build.summary import Built, describe_corpus, summarize_build
from mixsearch.index.documents import SHORT
from mixsearch.io.folder import FolderWriter, write_folder
from mixsearch.text.corpus import Corpus, CountChunk
from mixsearch.text.count import read_corpus
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.corpus import get_min_words, is_damped
from mixsearch.topics.old_lda import WordCountChunk, corpus_in_memory, join_corpora
from mixsearch.topics.search import TopicSearch
from mixsearch.topics.segments import place_in
from mixsearch.topics.storage import store_documents, store_search


def build_index(
    source: Any,
    output: str | os.PathLike[str],
    options: IndexOptions | None = None,
    reading: CorpusOptions | None = None,
    *,
    on_progress: OnProgress | None = None,
) -> Built:
    """Index the texts or counts of files, of a data frame or of a list.

    Parameters
    ----------
    source : path, URL, sequence of them, data frame, iterable of str, or Corpus
        What to index, as `read_corpus` takes it, or what it returned.
    output : path
        The folder of the index. It is written completely or not at all.
    options : IndexOptions, optional
        How to fit.
    reading : CorpusOptions, optional
        How to read and count. For a Corpus, the options it was read with: they are needed for texts as hints.
    on_progress : callable, optional
        Called with the step of the work, units done, units in all (None if unknown), and the name of the unit.

    Returns
    -------
    Built
        The summary of the index.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index
    >>> reviews = make_reviews(500, random_state=0)
    >>> built = build_index(reviews.text, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> built.n_documents
    500
    """
    options, report = options or IndexOptions(), on_progress or (lambda *_: None)
    counting = reading or CorpusOptions(memory=max(options.memory_part, 1))
    # Errors that do not depend on the corpus are raised before an hour of reading.
    choose_search(options, options.n_components if isinstance(options.n_components, int) else DEFAULT_COMPONENTS)
    _check_path(os.fspath(output))
    with ExitStack() as stack:
        out = stack.enter_context(write_folder(output, overwrite=options.overwrite))
        if isinstance(source, Corpus):
            corpus = source
        else:
            corpus = stack.enter_context(
                read_corpus(source, counting, on_progress=lambda done, total: report("Reading", done, total, "bytes"))
            )
        counted = write_index(out, corpus, options, reading if isinstance(source, Corpus) else counting, report)
    return summarize_build(Path(output), corpus, counted)


def _check_path(path: str) -> None:
    """Reject a URL: files are memory-mapped by a search, which only works in a file system."""
    # `pathlib` makes one slash of two; a drive of Windows has one letter.
    if re.match(r"[a-z][a-z0-9+]+:/", path):
        url = re.sub(":/+", "://", path, count=1)
        raise ArgumentError(
            "An index needs a folder in a file system, got the URL {url!r}. Write it to a folder, and copy that.",
            code="path_is_url",
            url=url,
        )


def write_index(
    out: FolderWriter,
    corpus: Corpus,
    options: IndexOptions,
    reading: CorpusOptions | None,
    on_progress: OnProgress,
    rows: Array | None = None,
) -> dict[str, int]:
    """Write the index of a corpus, and return its size."""
    n_words = len(corpus.vocabulary)
    search = choose_search(options, n_words)
    stored = _store_documents(out, corpus, search, on_progress, rows, reading)
    check_n_documents(stored.n_documents, stored.n_short, get_min_words(search))
    documents = _open_documents(out, stored.segments, n_words, options.memory_part, on_progress)
    names = iter([segment.name for segment in stored.segments])
    allocate = partial(_allocate_projected, out, names)
    fit_search(search, options, documents, corpus, stored.n_short, on_progress, allocate)
    store_documents(out, search)
    store_search(out, search)
    write_dropped(out, list_dropped(corpus, reading), stored.dropped, stored.dropped_ranges)
    out.facts["corpus"] = describe_corpus(corpus, reading, has_texts=stored.has_texts, has_names=stored.has_names)
    out.facts["n_rows"] = corpus.n_documents + corpus.n_dropped if rows is None else int(rows[-1]) + 1
    out.facts["n_components"] = options.n_components
    return {
        "n_documents": stored.n_documents,
        "n_short": stored.n_short,
        "n_missing": corpus.n_missing,
        "n_words": n_words,
        "n_nonzeros": stored.n_nonzeros,
        "n_components": search.n_components_,
    }


@dataclass
class _Stored:
    """Facts about the documents that are known once they are on disk."""

    segments: list[StoredSegment]
    n_short: int
    has_texts: bool
    has_names: bool
    dropped: PostingsCollector
    dropped_ranges: list[DroppedRange]

    @property
    def n_documents(self) -> int:
        return sum(len(segment.rows) for segment in self.segments)

    @property
    def n_nonzeros(self) -> int:
        return sum(segment.n_nonzeros for segment in self.segments)


def _store_documents(
    out: FolderWriter,
    corpus: Corpus,
    search: TopicSearch,
    on_progress: OnProgress,
    rows: Array | None,
    reading: CorpusOptions | None,
) -> _Stored:
    """Write the counts, names, texts and columns of documents that are long enough, and the texts of the others."""
    damping, min_words, n_short = is_damped(search), get_min_words(search), 0
    short = ContentWriter(out, SHORT)
    with SegmentWriter(out, corpus, list_dropped(corpus, reading)) as writer:
        for n_done, chunk in _count_documents(corpus.chunks()):
            own = chunk if rows is None else replace(chunk, rows=rows[chunk.rows])
            counts, kept = select_documents(chunk.counts[:, : corpus.n_features], damping, min_words)
            n_short += len(own.rows) - len(kept)
            writer.append(own, counts, kept)
            short.append(own, np.setdiff1d(np.arange(len(own.rows)), kept))
            on_progress("Storing", n_done, corpus.n_documents, "documents")
    short.close()
    return _Stored(writer.segments, n_short, writer.has_texts, writer.has_names, writer.dropped, writer.list_dropped())


def _open_documents(
    out: FolderWriter, segments: list[StoredSegment], n_words: int, memory: int, on_progress: OnProgress
) -> Chunks[WordCountChunk]:
    """Write the counts of all segments word by word, and return them as a fit takes them."""
    n_done, n_all = 0, sum(segment.n_nonzeros for segment in segments)
    fits, corpora = n_all * 8 <= memory, []
    for segment in segments:
        report = partial(_report_part, on_progress, n_done, n_all)
        on_disk = read_rows(out, n_words, segment.name)
        counts = chunk_rows(open_counts(out, on_disk.shape, segment.name, copy=True)) if fits else on_disk
        store_by_word(out, counts, segment.per_word, memory, report, segment.name)
        by_document = open_counts(out, counts.shape, segment.name)
        by_word = open_columns(out, counts.shape, segment.name)
        corpora.append(corpus_in_memory(by_document, by_word, segment.rows, stored=counts))
        n_done += segment.n_nonzeros
    return join_corpora(corpora)


def _report_part(on_progress: OnProgress, n_before: int, n_all: int, step: str, n_done: int, _: Any, unit: str) -> None:
    on_progress(step, n_before + n_done, n_all, unit)


def _count_documents(chunks: Iterator[CountChunk]) -> Iterator[tuple[int, CountChunk]]:
    """Yield chunks with the number of documents up to the end of each."""
    n_done = 0
    for chunk in chunks:
        n_done += len(chunk.rows)
        yield n_done, chunk


def _allocate_projected(out: FolderWriter, names: Iterator[str], shape: tuple[int, int], dtype: Any) -> Array:
    """Return an array on disk for the projected documents of the next segment, so that they take no memory."""
    return out.allocate(place_in(next(names), "documents/projected"), shape, dtype)
