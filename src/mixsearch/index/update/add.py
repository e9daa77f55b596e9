"""Add documents to an index: count its words, project into its frame, and write a new segment."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch.core.validation import check_choice
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.index.build.options import OnProgress
from mixsearch.index.column_file import ID, ROW
from mixsearch.index.growth import Growth, read_growth, store_growth
from mixsearch.index.topic_index import TopicIndex
from mixsearch.index.update.new_documents import Existing, collect_documents, write_contents, write_short
from mixsearch.index.update.remove import DocumentSelection, remove_from, remove_short
from mixsearch.io.folder import Folder, FolderWriter, update_folder
from mixsearch.text.corpus import Corpus
from mixsearch.text.count import read_corpus
from mixsearch.text.options import CorpusOptions, KeptColumns
from mixsearch.text.read import has_columns, name_columns
from mixsearch.topics.segments import BY_DOCUMENT, Segment, fits_segment, open_counts, read_segments, write_segments
from mixsearch.topics.update import (
    measure_documents_in,
    measure_drift,
    scale_masses,
    store_changed_sums,
    store_new_segment,
    sum_corpus,
)

# A segment is joined with the one before it unless that has more than this many times as many documents: so each
# document is written again a number of times that is logarithmic in the number of additions.
_MERGE_FACTOR = 2
# Options that say where the texts are.
_PLACES = ("text", "id", "keep", "format", "encoding", "no_header", "skip_bad_rows")


@dataclass(frozen=True)
class Added:
    """The summary of an addition."""

    path: Path
    n_documents: int
    n_short: int
    n_duplicates: int
    n_skipped: int
    n_replaced: int
    n_all: int
    growth: Growth
    notes: tuple[SearchWarning, ...]


def add_documents(
    path: str | os.PathLike[str],
    source: Any,
    reading: CorpusOptions | None = None,
    *,
    existing: Existing = "error",
    on_progress: OnProgress | None = None,
) -> Added:
    """Add documents to an index. They can be searched at once.

    Parameters
    ----------
    path : path
        The folder of the index.
    source : path, URL or sequence of them
        What to add, as `read_corpus` takes it.
    reading : CorpusOptions, optional
        Where the texts are: `text`, `id`, `keep`, `format`, `encoding`. By default as when the index was made. Words
        are always counted as they were then.
    existing : {"error", "skip", "replace"}, default="error"
        What to do with documents whose names the index has.
    on_progress : callable, optional
        Called with the step of the work, units done, units in all (None if unknown), and the name of the unit.

    Returns
    -------
    Added
        The summary. Its `growth` says whether to refit the topics.

    Notes
    -----
    The index is changed completely or not at all. Readers that have it open keep what they opened.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, add_documents, build_index
    >>> texts = make_reviews(500, random_state=0).text
    >>> built = build_index(texts, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> added = add_documents(built.path, make_reviews(50, random_state=1).text)
    >>> added.n_documents, added.n_all
    (50, 550)
    """
    check_choice("existing", existing, ("error", "skip", "replace"))
    report = on_progress or (lambda *_: None)
    with update_folder(path) as (folder, out):
        index = TopicIndex(folder)
        options, known = _choose_reading(index, reading)
        if not has_columns(source, options):
            options = replace(options, text=None, id=None, keep=None)
        elif options.keep == "auto":
            options = replace(options, keep=_choose_columns(index, source, options))
        with read_corpus(
            source, options, known=known, on_progress=lambda done, total: report("Reading", done, total, "bytes")
        ) as corpus:
            added = _add_corpus(folder, out, index, corpus, existing, report)
    return replace(added, path=Path(path))


def _choose_reading(index: TopicIndex, given: CorpusOptions | None) -> tuple[CorpusOptions, list[str]]:
    """Return how to read and count documents for an index."""
    stored = index.reading
    if not index.vocabulary:
        raise SearchError(
            "The index '{path}' has no vocabulary, so no other documents can be counted for it. Build it again.",
            code="no_vocabulary",
            path=str(index.path),
        )
    known = index.vocabulary
    if stored is None and index.has_texts:
        raise SearchError(
            "The index '{path}' does not know how its texts were counted. Build it with {argument}.",
            code="no_tokenizer",
            path=str(index.path),
            argument=Option("reading"),
        )
    stored = stored or CorpusOptions()
    # Words that the corpus chose as stop words were counted before they were left out.
    counted = replace(stored, stop_words=None) if stored.stop_words == "auto" else stored
    if given is None:
        return counted, known
    places = {name: getattr(given, name) for name in _PLACES}
    return replace(counted, **{name: value for name, value in places.items() if value is not None}), known


def _choose_columns(index: TopicIndex, source: Any, options: CorpusOptions) -> KeptColumns:
    """Return the columns of the index that the documents to add have; others are kept only if they are named."""
    if (isinstance(source, str) and source == "-") or not index.columns.names:
        return "auto"  # standard input can be read once
    there = name_columns(source, options)
    return [name for name in index.columns.names if name in there and name not in (ROW, ID)]


def _add_corpus(
    folder: Folder, out: FolderWriter, index: TopicIndex, corpus: Corpus, existing: Existing, on_progress: OnProgress
) -> Added:
    search, segments = index.topics, read_segments(folder)
    new = collect_documents(corpus, index, existing)
    segments = scale_masses(search, folder, segments)
    sums = sum_corpus(search)
    n_replaced = len(new.replaced)
    if n_replaced:
        mask = np.zeros(index.n_documents, dtype=bool)
        mask[new.replaced] = True
        segments, sums = remove_from(folder, out, index, segments, sums, mask)
    short = DocumentSelection(ids=frozenset(new.replaced_short))
    n_short_replaced = remove_short(folder, out, index, short) if new.replaced_short else 0
    growth = read_growth(folder.facts, index.n_documents)
    growth = replace(growth, n_removed=growth.n_removed + n_replaced)
    n_new = new.counts.shape[0]
    if n_new:
        on_progress("Adding", 0, n_new, "documents")
        measured = measure_documents_in(search, new.counts, new.rows)
        absorbed = [] if n_replaced or n_short_replaced else _choose_absorbed(folder, segments, new.counts)
        name = _name_segment(folder)
        segment = store_new_segment(out, search, folder, absorbed, measured.chunk, name)
        segments = [*segments[: len(segments) - len(absorbed)], segment]
        write_contents(folder, out, index, absorbed, new, name)
        sums = sums.add(measured.sums)
        outside = measure_drift(search, [*_open_added(folder, new.counts.shape[1]), new.counts], sums.n_documents)
        n_added = growth.n_added + n_new
        new_words = (growth.new_words * growth.n_added + new.new_words * n_new) / n_added
        growth = replace(growth, n_added=n_added, outside=outside, new_words=new_words)
        on_progress("Adding", n_new, n_new, "documents")
    elif new.short:
        write_short(folder, out, index, [], new, _name_segment(folder))
    store_changed_sums(out, search, sums)
    write_segments(out, segments)
    store_growth(out.facts, growth)
    _count_facts(out, corpus, index.n_rows, sums.n_documents, new.n_characters)
    return Added(
        index.path,
        n_new,
        new.n_short,
        corpus.n_dropped,
        new.n_skipped,
        n_replaced + n_short_replaced,
        sums.n_documents,
        growth,
        corpus.notes,
    )


def _choose_absorbed(folder: Folder, segments: Sequence[Segment], new: sp.csr_array) -> list[Segment]:
    """Return the last segments that are joined with new documents; never those of the fit, nor more than one holds."""
    absorbed: list[Segment] = []
    size, n_nonzeros = new.shape[0], int(new.nnz)
    for segment in reversed(segments):
        n_nonzeros += len(folder[segment.place(f"{BY_DOCUMENT}/data")])
        if segment.is_fitted or segment.n_documents > _MERGE_FACTOR * size or not fits_segment(n_nonzeros):
            break
        absorbed.insert(0, segment)
        size += segment.n_documents
    return absorbed


def _name_segment(folder: Folder) -> str:
    """Return a name that no group of the folder has, including short documents whose segment is gone."""
    used = [int(match[1]) for name in folder if (match := re.match(r"segment_(\d+)/", name))]
    return f"segment_{max(used, default=0) + 1}"


def _open_added(folder: Folder, n_words: int) -> list[sp.csr_array]:
    """Return the counts of the documents that were added since the fit, segment by segment."""
    return [open_counts(folder, segment, n_words)[0] for segment in read_segments(folder) if not segment.is_fitted]


def _count_facts(out: FolderWriter, corpus: Corpus, n_rows: int, n_documents: int, n_characters: int) -> None:
    """Change the numbers that the manifest stores."""
    out.facts["n_rows"] = n_rows + corpus.n_documents + corpus.n_dropped
    out.facts["fit"]["n_dropped"] = out.facts["n_rows"] - n_documents
    for name, n_added in (("n_duplicates", corpus.n_dropped), ("n_characters", n_characters)):
        out.facts["corpus"][name] += n_added
