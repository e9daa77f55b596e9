"""Changing an index: add documents, remove documents, fit it again.

Every change is a new generation of the folder, published completely or not at all: readers keep what they opened, a
second writer is refused, and a killed one leaves the generation before.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import row_slices
from mixsearch.core.validation import check_choice
from mixsearch.display import pluralize
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.io.column_names import list_names
from mixsearch.io.folder import Folder, FolderWriter, update_folder, write_folder
from mixsearch.io.tables import concat
from mixsearch.text.corpus import Corpus, CountChunk
from mixsearch.text.count import count_documents, read_corpus
from mixsearch.text.options import CorpusOptions
from mixsearch.text.read import Documents, SourceReader, has_columns, name_columns
from mixsearch.topics.build import Built, OnProgress, summarize, write_index
from mixsearch.topics.fitted_corpus import Segment, damp_counts, place_documents
from mixsearch.topics.index import TopicIndex, open_index
from mixsearch.topics.records import ID, ROW, check_schema, make_records, read_records, write_records
from mixsearch.topics.storage import (
    GROWTH,
    SEGMENTS,
    WORDS,
    Growth,
    join_segments,
    name_segment,
    read_growth,
    take_documents,
    write_segment,
)

Existing = Literal["error", "skip", "replace"]
# A segment is joined with the one before it unless that has more than this many times as many documents: so each
# document is written again a number of times that is logarithmic in the number of additions.
_MERGE_FACTOR = 2
# Options that say where the texts are.
_PLACES = ("text", "id", "keep", "encoding", "skip_bad_rows")


@dataclass(frozen=True)
class Added:
    """The summary of an addition."""

    path: Path
    n_documents: int
    n_empty: int  # of them, without features
    n_skipped: int
    n_replaced: int
    n_all: int
    growth: Growth
    notes: tuple[SearchWarning, ...]


@dataclass(frozen=True)
class Removed:
    """The summary of a removal."""

    path: Path
    n_documents: int
    n_all: int
    growth: Growth
    notes: tuple[SearchWarning, ...] = ()


class _Changes:
    """The segments of an index while they are changed."""

    def __init__(self, folder: Folder, out: FolderWriter) -> None:
        self.out, self.index = out, TopicIndex(folder)
        self.segments = dict(zip(folder.facts[SEGMENTS], self.index.corpus.segments, strict=True))  # but rewritten ones
        self._first_rows = {name: int(segment.rows[0]) for name, segment in self.segments.items()}
        self._stored = set(self.segments)  # those that are as they were

    def remove(self, is_removed: Array) -> None:
        """Write the segments that hold documents of a mask again without them."""
        first = 0
        for name, segment in list(self.segments.items()):
            is_left, first = ~is_removed[first : first + len(segment.rows)], first + len(segment.rows)
            if is_left.all():
                continue
            self._drop(name)
            if is_left.any():
                self._first_rows[name] = int(segment.rows[is_left.argmax()])
                write_segment(self.out, name, take_documents(segment, is_left))
                write_records(self.out, name, [read_records(self.index.folder, name).filter(is_left)])

    def add(self, segment: Segment, records: pl.DataFrame) -> None:
        """Write new documents as a segment, together with small ones before it, but not with those of the fit."""
        joined, listed = [segment], [records]
        name = name_segment(1 + max((int(name.split("_")[1]) for name in self._first_rows), default=0))
        for before in sorted(self._stored - {name_segment(0)}, key=self._first_rows.__getitem__, reverse=True):
            if len(self.segments[before].rows) > _MERGE_FACTOR * sum(len(each.rows) for each in joined):
                break
            joined.insert(0, self.segments[before])
            listed.insert(0, read_records(self.index.folder, before))
            self._drop(before)
        self.segments[name] = join_segments(joined)
        self._first_rows[name] = int(self.segments[name].rows[0])
        write_segment(self.out, name, self.segments[name])
        write_records(self.out, name, [concat(listed)])

    def _drop(self, name: str) -> None:
        self.out.remove(name)
        self._stored.discard(name)
        del self.segments[name], self._first_rows[name]

    def finish(self, growth: Growth, **changed: Any) -> None:
        """Write what is known of all documents."""
        self.out.facts[SEGMENTS] = sorted(self._first_rows, key=self._first_rows.__getitem__)
        self.out.facts[GROWTH] = asdict(growth)
        self.out.facts["corpus"] = {**self.index.facts, **changed}


# ---- Adding ---------------------------------------------------------------------------------------------------------


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
        Where the texts are: `text`, `id`, `keep`, `encoding`. By default as when the index was made. Words
        are always counted as they were then.
    existing : {"error", "skip", "replace"}, default="error"
        What to do with documents whose names the index has.
    on_progress : callable, optional
        Called with the step of the work, units done, units in all (None if unknown), and the name of the unit.

    Returns
    -------
    Added
        The summary. Its `growth` says whether to fit the index again.

    Notes
    -----
    The index is changed completely or not at all. Readers that have it open keep what they opened.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.topics.build import IndexOptions, build_index
    >>> from mixsearch.topics.update import add_documents
    >>> texts = make_reviews(500, random_state=0).text
    >>> built = build_index(texts, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> added = add_documents(built.path, make_reviews(50, random_state=1).text)
    >>> added.n_documents, added.n_all
    (50, 550)
    """
    check_choice("existing", existing, ("error", "skip", "replace"))
    report = on_progress or (lambda *_: None)
    with update_folder(path) as (folder, out):
        changes = _Changes(folder, out)
        with read_corpus(
            source,
            _choose_reading(changes.index, source, reading),
            features=changes.index.corpus.words[: changes.index.corpus.n_features],
            on_progress=lambda done, total: report("Reading", done, total, "bytes"),
        ) as added:
            return _add_corpus(changes, added, existing, report)


def _choose_reading(index: TopicIndex, source: Any, given: CorpusOptions | None) -> CorpusOptions:
    """Choose how to read and count documents for an index."""
    places = {} if given is None else {name: getattr(given, name) for name in _PLACES}
    # All words are counted: which are features is known.
    options = replace(
        index.reading, stop_words=None, **{name: value for name, value in places.items() if value is not None}
    )
    if not has_columns(source, options):
        return replace(options, text=None, id=None, keep=None)
    if options.keep == "auto" and not (isinstance(source, str) and source == "-"):
        # Columns that the index does not have are kept only if they are named. Standard input can be read once.
        there = name_columns(source, options)
        options = replace(options, keep=[column.name for column in index.columns.stored if column.name in there])
    return options


def _add_corpus(changes: _Changes, added: Corpus, existing: Existing, on_progress: OnProgress) -> Added:
    index = changes.index
    # 1) counts over the words of the index and then new ones, which may be in one document: others may come later
    words, column_of = _join_words(index.corpus.words, added)
    is_unknown = column_of >= index.corpus.n_words
    parts, listed, totals = [], [], np.zeros(len(column_of))
    for chunk in added.chunks():
        X = chunk.counts
        totals += np.bincount(X.indices, X.data, minlength=len(column_of))
        parts.append(sp.csr_array((X.data, column_of[X.indices], X.indptr), shape=(X.shape[0], len(words))))
        listed.append(_make_records(index, chunk))
    records, counts = concat(listed), damp_counts(sp.vstack(parts, "csr"))
    # 2) the documents that the index does not have, in its frame
    is_new, replaced = _compare_names(index, records, existing)
    rows = records[ROW].to_numpy()
    segment, records = take_documents(_place(index, counts, added.copy_of, rows), is_new), records.filter(is_new)
    n_new, n_replaced = len(segment.rows), int(np.count_nonzero(replaced))
    # 3) written as a segment, in place of those that they replace
    on_progress("Adding", 0, n_new, "documents")
    changes.remove(replaced)
    if n_new:
        changes.add(segment, records)
        changes.out.save_texts(WORDS, words)
    # 4) how much of them the fit does not know
    n_all = index.n_documents - n_replaced + n_new
    growth = read_growth(index.folder)
    growth = replace(growth, n_removed=growth.n_removed + n_replaced, n_added=growth.n_added + n_new)
    if n_new:
        share = n_new / growth.n_added
        unknown = float(totals[is_unknown].sum() / max(totals.sum(), 1))
        growth = replace(growth, new_words=growth.new_words * (1 - share) + unknown * share)
    changes.finish(growth, n_rows=index.n_rows + added.n_documents)
    return Added(
        path=index.path,
        n_documents=n_new,
        n_empty=int(np.count_nonzero(segment.placed.lengths == 0)),
        n_skipped=int(np.count_nonzero(~is_new)),
        n_replaced=n_replaced,
        n_all=n_all,
        growth=growth,
        notes=added.notes,
    )


def _join_words(words: Sequence[str], added: Corpus) -> tuple[pl.Series, Array]:
    """Return the words of an index and then those that only a corpus has, and the column of each word of the corpus."""
    stored = pl.DataFrame({"word": pl.Series(words, dtype=pl.String)}).with_row_index("column")
    further = pl.DataFrame({"word": pl.Series(added.words[added.n_features :], dtype=pl.String)})
    columns = further.join(stored, on="word", how="left", maintain_order="left")["column"]
    numbers, is_new = columns.fill_null(0).to_numpy().astype(np.int32), columns.is_null().to_numpy()
    numbers[is_new] = len(words) + np.arange(np.count_nonzero(is_new))
    joined = pl.concat([stored["word"], further["word"].filter(columns.is_null())])
    return joined, np.concatenate([np.arange(added.n_features, dtype=np.int32), numbers])


def _make_records(index: TopicIndex, chunk: CountChunk) -> pl.DataFrame:
    """Make the records of documents to add, with names if the index has them."""
    if chunk.columns is not None and index.columns.described:
        check_schema(index.columns.take(np.arange(1)).schema, chunk.columns.schema)
    rows = np.arange(chunk.counts.shape[0]) + index.n_rows + chunk.start
    names = chunk.names or [""] * len(rows)
    return make_records(rows, chunk.texts, names if index.has_names else None, chunk.columns)


def _place(index: TopicIndex, counts: sp.csr_array, copy_of: Array, rows: Array) -> Segment:
    """Place documents of damped counts in the frame of an index."""
    counts.sort_indices()
    features = sp.csr_array(counts[:, : index.corpus.n_features])
    placed = place_documents(index.corpus.frame, features)
    return Segment(features, sp.csc_array(counts), placed, np.asarray(copy_of, dtype=np.int32), rows)


def _compare_names(index: TopicIndex, records: pl.DataFrame, existing: Existing) -> tuple[Array, Array]:
    """Return which documents are to be added, (n,), and which of the index they replace, (n_documents,)."""
    every, none = np.ones(len(records), dtype=bool), np.zeros(index.n_documents, dtype=bool)
    if not index.has_names:
        return every, none
    names, stored = records[ID], index.columns.read_names()
    is_stored = names.is_in(stored.filter(stored != "").implode())
    repeated = names.filter(is_stored)
    if not len(repeated):
        return every, none
    if existing == "error":
        raise SearchError(
            "{n_existing:,} of the documents to add "
            + pluralize(len(repeated), "is", "are")
            + " in the index '{path}' already"
            + (": {name!r}." if len(repeated) == 1 else ", the first one is {name!r}.")
            + " Set {argument} to 'skip' or 'replace'.",
            code="documents_exist",
            n_existing=len(repeated),
            path=str(index.path),
            name=repeated[0],
            argument=Option("existing"),
        )
    if existing == "skip":
        return (~is_stored).to_numpy(), none
    return every, stored.is_in(repeated.implode()).to_numpy()


# ---- Removing -------------------------------------------------------------------------------------------------------


def remove_documents(
    path: str | os.PathLike[str], *, where: str | None = None, ids: Iterable[str] | None = None
) -> Removed:
    """Remove documents from an index, with their texts, names and columns.

    Exactly one of `where` and `ids` is given.

    Parameters
    ----------
    path : path
        The folder of the index.
    where : str, optional
        A condition on columns, such as ``"date < 2020-01-01"`` or ``"row in (3, 17)"``.
    ids : iterable of str, optional
        Names of documents.

    Returns
    -------
    Removed
        The summary. Its `growth` says whether to fit the index again.

    Notes
    -----
    The index is changed completely or not at all. Readers that have it open keep what they opened.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.topics.build import IndexOptions, build_index
    >>> from mixsearch.topics.update import remove_documents
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> removed = remove_documents(built.path, where="stars = 1")
    >>> removed.n_documents, removed.n_all
    (20, 480)
    """
    if (where is None) == (ids is None):
        raise SearchError(
            "Give either {where} or {ids}, the documents to remove.",
            code="one_selection_needed",
            where=Option("where"),
            ids=Option("ids"),
        )
    with update_folder(path) as (folder, out):
        changes, notes = _Changes(folder, out), list[SearchWarning]()
        if where is not None:
            is_removed = changes.index.columns.match(where)
        else:
            is_removed = _find_names(changes.index, {str(each) for each in ids or ()}, notes)
        n_removed = int(np.count_nonzero(is_removed))
        n_left = changes.index.n_documents - n_removed
        if not n_removed:
            raise SearchError(
                "No document of '{path}' matches. Nothing was removed.", code="nothing_to_remove", path=str(path)
            )
        if not n_left:
            raise SearchError(
                "An index needs a document, but none of {n_documents:,} would be left. Nothing was removed.",
                code="too_few_documents",
                n_documents=n_removed,
            )
        changes.remove(is_removed)
        growth = read_growth(folder)
        growth = replace(growth, n_removed=growth.n_removed + n_removed)
        changes.finish(growth)
    return Removed(Path(path), n_removed, n_left, growth, tuple(notes))


def _find_names(index: TopicIndex, wanted: set[str], notes: list[SearchWarning]) -> Array:
    """Return which documents have one of some names, (n,), and note the names that none has."""
    if not index.has_names:
        raise SearchError(
            "The documents of '{path}' have no ids. Remove them by a condition on columns, such as row = 3.",
            code="no_ids",
            path=str(index.path),
        )
    names = index.columns.read_names()
    unknown = sorted(wanted.difference(names))
    if unknown:
        notes.append(
            SearchWarning(
                "{n_unknown:,} " + pluralize(len(unknown), "id is", "ids are") + " not in the index: {listed}.",
                code="unknown_ids",
                n_unknown=len(unknown),
                listed=list_names(unknown),
            )
        )
    return names.is_in(list(wanted)).to_numpy()


# ---- Fitting again --------------------------------------------------------------------------------------------------


def refresh_index(path: str | os.PathLike[str], *, on_progress: OnProgress | None = None) -> Built:
    """Choose the words of an index and fit it again, from its current documents.

    Parameters
    ----------
    path : path
        The folder of the index.
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
    >>> from mixsearch.topics.build import IndexOptions, build_index
    >>> from mixsearch.topics.update import add_documents, refresh_index
    >>> texts = make_reviews(500, random_state=0).text
    >>> built = build_index(texts, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> added = add_documents(built.path, make_reviews(300, random_state=1).text)
    >>> refresh_index(built.path).n_documents
    800
    """
    report = on_progress or (lambda *_: None)
    with write_folder(path, overwrite=True) as out:
        index = open_index(path)
        with count_documents(_read_documents(index, report), SourceReader(index.reading)) as corpus:
            n_components = index.folder.facts["n_components"]
            counted = write_index(out, corpus, n_components, index.reading, report, index.corpus.rows)
        out.facts["corpus"]["n_rows"] = index.n_rows
    return summarize(Path(path), corpus, counted)


def _read_documents(index: TopicIndex, on_progress: OnProgress) -> Iterator[Documents]:
    """Iterate over the stored documents, in chunks."""
    chosen = [column.name for column in index.columns.stored]
    columns = index.columns.select(chosen) if chosen else None
    names = index.columns.read_names() if index.has_names else None
    for part in row_slices(index.n_documents):
        texts = pl.Series(index.texts.read(np.arange(part.start, part.stop)), dtype=pl.String)
        yield Documents(
            texts,
            None if names is None else names[part],
            None if columns is None else columns[part],
        )
        on_progress("Reading", part.stop, index.n_documents, "documents")
