"""Documents are removed from an index: the segments that hold them are written again without them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import chunk_rows, row_slices
from mixsearch.display import pluralize
from mixsearch.errors import SearchError, SearchWarning
from mixsearch.index.build.counts import CountWriter, read_rows, store_by_word
from mixsearch.index.build.dropped import keep_documents
from mixsearch.index.build.options import IndexOptions, OnProgress
from mixsearch.index.build.segments import ContentWriter
from mixsearch.index.column_file import TABLE, drop_known, read_segment
from mixsearch.index.documents import SHORT, list_short
from mixsearch.index.growth import Growth, read_growth, store_growth
from mixsearch.index.topic_index import TopicIndex
from mixsearch.io.filters import Filter
from mixsearch.io.folder import Folder, FolderWriter, update_folder
from mixsearch.topics.dropped import load_dropped, store_dropped
from mixsearch.topics.segments import DOCUMENTS, Segment, open_counts, place_in, read_segments, write_segments
from mixsearch.topics.update import CorpusSums, measure_documents_in, scale_masses, store_changed_sums, sum_corpus

# Documents that are measured together before they are removed, and texts that are read together.
_MAX_MEASURED, _MAX_READ = 50_000, 5_000
# Unknown ids or rows that a note lists.
_MAX_LISTED = 5
# What a segment stores of its documents, without those that are too short.
_GROUPS = ("documents", "words", "texts", "names", "dropped", TABLE)


@dataclass(frozen=True)
class Removed:
    """The summary of a removal."""

    path: Path
    n_documents: int
    n_all: int
    growth: Growth
    notes: tuple[SearchWarning, ...] = ()


def remove_documents(
    path: str | os.PathLike[str],
    *,
    where: str | None = None,
    ids: Iterable[str] | None = None,
    rows: Iterable[int] | None = None,
    on_progress: OnProgress | None = None,
) -> Removed:
    """Remove documents from an index, with their texts, names and columns.

    Exactly one of `where`, `ids` and `rows` is given.

    Parameters
    ----------
    path : path
        The folder of the index.
    where : str, optional
        A condition on columns, such as ``"date < 2020-01-01"``.
    ids : iterable of str, optional
        Names of documents.
    rows : iterable of int, optional
        Rows of documents.
    on_progress : callable, optional
        Called with the step of the work, units done, units in all (None if unknown), and the name of the unit.

    Returns
    -------
    Removed
        The summary. Its `growth` says whether to refit the topics.

    Notes
    -----
    The index is changed completely or not at all. Readers that have it open keep what they opened.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index, remove_documents
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> removed = remove_documents(built.path, where="stars = 1")
    >>> removed.n_documents, removed.n_all
    (16, 484)
    """
    report = on_progress or (lambda *_: None)
    select = DocumentSelection(
        where, None if ids is None else frozenset(map(str, ids)), None if rows is None else [*rows]
    )
    select.check()
    with update_folder(path) as (folder, out):
        index = TopicIndex(folder)
        mask = select.mark_documents(index)
        notes = select.note_unknown(folder, index)
        n_short = remove_short(folder, out, index, select)
        n_removed = int(np.count_nonzero(mask))
        if not n_removed and not n_short:
            raise SearchError(
                "No document of '{path}' matches. Nothing was removed.", code="nothing_to_remove", path=str(index.path)
            )
        n_left = index.n_documents - n_removed
        _check_left(n_left, index.n_documents)
        growth = read_growth(folder.facts, index.n_documents)
        if n_removed:
            segments = scale_masses(index.topics, folder, read_segments(folder))
            segments, sums = remove_from(folder, out, index, segments, sum_corpus(index.topics), mask, report)
            store_changed_sums(out, index.topics, sums)
            write_segments(out, segments)
            growth = replace(growth, n_removed=growth.n_removed + n_removed)
            store_growth(out.facts, growth)
        # Their rows are no longer part of the corpus, like those of documents that were never in it.
        out.facts["fit"]["n_dropped"] = index.n_rows - n_left
    return Removed(Path(path), n_removed + n_short, n_left, growth, notes)


def _check_left(n_left: int, n_documents: int) -> None:
    if n_left < 2:
        raise SearchError(
            "An index needs at least 2 documents, but "
            + ("none" if not n_left else "only {n_left}")
            + " of {n_documents:,} would be left. Nothing was removed.",
            code="too_few_documents",
            n_left=n_left,
            n_documents=n_documents,
        )


@dataclass(frozen=True)
class DocumentSelection:
    """The documents to remove."""

    where: str | None = None
    ids: frozenset[str] | None = None
    rows: list[int] | None = None

    def check(self) -> None:
        """Raise unless the documents are selected in one way."""
        given = [name for name in ("where", "ids", "rows") if getattr(self, name) is not None]
        if len(given) != 1:
            raise SearchError(
                "Removing needs exactly one of where, ids and rows, got {given}.",
                code="one_selection_needed",
                given=" and ".join(given) or "none",
            )

    def mark_documents(self, index: TopicIndex) -> Array:
        """Return which documents of an index are selected, (n,)."""
        if self.where is not None:
            condition = Filter(self.where)
            return condition.mask(index.columns.select(condition.columns))
        if self.ids is not None:
            if not index.has_names:
                raise SearchError(
                    "The documents of '{path}' have no ids. Remove them by rows or by a condition on columns.",
                    code="no_ids",
                    path=str(index.path),
                )
            return np.fromiter((name in self.ids for name in index.names()), bool, index.n_documents)
        return np.isin(index.topics.kept_rows_, np.array(self.rows, dtype=np.int64))

    def note_unknown(self, folder: Folder, index: TopicIndex) -> tuple[SearchWarning, ...]:
        """Return the note that the index does not have some of the ids or rows, if so."""
        if self.ids is not None:
            ids = sorted(self.ids.difference(index.names(), index.short_names()))
            note = SearchWarning(
                "{n_unknown:,} " + pluralize(len(ids), "id is", "ids are") + " not in the index: {listed}.",
                code="unknown_ids",
                n_unknown=len(ids),
                listed=_list_first(ids),
            )
            return (note,) if ids else ()
        if self.rows is not None:
            short = (np.asarray(folder[f"{name}/rows"]).tolist() for name in list_short(folder))
            rows = sorted(set(map(int, self.rows)).difference(index.topics.kept_rows_.tolist(), *short))
            note = SearchWarning(
                "{n_unknown:,} " + pluralize(len(rows), "row is", "rows are") + " not in the index: {listed}.",
                code="unknown_rows",
                n_unknown=len(rows),
                listed=_list_first(rows),
            )
            return (note,) if rows else ()
        return ()

    def mark_short(self, folder: Folder, group: Segment) -> Array:
        """Return which documents of a group of short ones are selected, (n,)."""
        rows = np.asarray(folder[group.place("rows")])
        if self.rows is not None:
            return np.isin(rows, np.array(self.rows, dtype=np.int64))
        if self.ids is not None:
            names = folder.texts(group.place("names"))
            return np.fromiter((name in self.ids for name in names), bool, len(rows))
        frame = read_segment(folder, group)
        return np.zeros(len(rows), bool) if frame is None else Filter(self.where or "").mask(frame)


def _list_first(unknown: Sequence[str] | Sequence[int]) -> str:
    listed, n_more = ", ".join(map(str, unknown[:_MAX_LISTED])), len(unknown) - _MAX_LISTED
    return f"{listed} and {n_more:,} more" if n_more > 0 else listed


def remove_short(folder: Folder, out: FolderWriter, index: TopicIndex, select: DocumentSelection) -> int:
    """Remove selected documents that are too short for a topic, and return their number."""
    n_removed = 0
    for name in list_short(folder):
        group = Segment(name, 0, 0.0)
        removed = select.mark_short(folder, group)
        if not removed.any():
            continue
        n_removed += int(np.count_nonzero(removed))
        _rewrite_contents(folder, out, index, name, np.asarray(folder[f"{name}/rows"]), ~removed)
    return n_removed


def remove_from(
    folder: Folder,
    out: FolderWriter,
    index: TopicIndex,
    segments: Sequence[Segment],
    sums: CorpusSums,
    removed: Array,
    on_progress: OnProgress | None = None,
) -> tuple[list[Segment], CorpusSums]:
    """Write the segments that hold documents of a mask again without them."""
    report, left = on_progress or (lambda *_: None), []
    for segment in segments:
        own = removed[segment.first : segment.first + segment.n_documents]
        if not own.any():
            left.append(segment)
            continue
        counts, _ = open_counts(folder, segment, len(index.vocabulary) or index.topics.n_features_in_)
        gone = np.flatnonzero(own)
        rows = np.asarray(folder[segment.place("documents/rows")])
        mass = 0.0
        for part in row_slices(len(gone), _MAX_MEASURED):
            measured = measure_documents_in(index.topics, counts[gone[part]], rows[gone[part]])
            sums, mass = sums.add(measured.sums, -1), mass + measured.sums.mass
        if own.all() and segment.name:
            _rewrite_contents(folder, out, index, segment.name, rows, ~own)
            for group in _GROUPS:  # its short documents stay
                out.remove(segment.place(group))
            out.facts.pop(segment.place("dropped"), None)
            continue
        _rewrite(folder, out, index, segment, counts, ~own, segment.mass / max(segment.mass - mass, 1e-300), report)
        left.append(segment._replace(n_documents=int(np.count_nonzero(~own)), mass=segment.mass - mass))
    return left, sums


def _rewrite(
    folder: Folder,
    out: FolderWriter,
    index: TopicIndex,
    segment: Segment,
    counts: sp.csr_array,
    kept: Array,
    scale: float,
    on_progress: OnProgress,
) -> None:
    """Write a segment again with the documents of a mask, whose weights are scaled to sum to one."""
    chunks, n_words = chunk_rows(counts), counts.shape[1]
    writer = CountWriter(out, n_words, segment.name)
    for i, part in chunks.enumerate():
        writer.append(chunks.read(i)[np.flatnonzero(kept[part])])
        on_progress("Removing", part.stop, len(kept), "documents")
    written = read_rows(out, n_words, segment.name)
    store_by_word(out, written, writer.per_word, IndexOptions().memory_part, on_progress, segment.name)
    for name in DOCUMENTS:
        values = np.asarray(folder[segment.place(f"documents/{name}")])[kept]
        out.save(segment.place(f"documents/{name}"), values * scale if name.endswith("_weights") else values)
    projected = folder[segment.place("documents/projected")]
    for part in row_slices(len(kept), _MAX_MEASURED):
        out.save(segment.place("documents/projected"), projected[part][kept[part]])
    table = load_dropped(folder, segment)
    if table is not None:
        store_dropped(out, *keep_documents(table, kept), segment=segment.name)
    rows = np.asarray(folder[segment.place("documents/rows")])
    _rewrite_contents(folder, out, index, segment.name, rows, kept)


def _rewrite_contents(
    folder: Folder, out: FolderWriter, index: TopicIndex, group: str, rows: Array, kept: Array
) -> None:
    """Write texts, names and columns again with the documents of a mask."""
    contents, indices = ContentWriter(out, group), np.flatnonzero(kept)
    texts = folder.texts(place_in(group, "texts")) if index.has_texts else None
    names = folder.texts(place_in(group, "names")) if index.has_names else None
    frame = read_segment(folder, Segment(group, 0, 0.0))
    columns = None if frame is None else drop_known(frame)
    if texts is not None:
        gone = np.flatnonzero(~kept)
        lengths = (sum(map(len, texts.read(gone[part]))) for part in row_slices(len(gone), _MAX_READ))
        out.facts["corpus"]["n_characters"] = max(out.facts["corpus"]["n_characters"] - sum(lengths), 0)
    for name in ("texts", "names", TABLE, *(["rows"] if group.endswith(SHORT) else [])):
        out.remove(place_in(group, name))
    for part in row_slices(len(indices), _MAX_READ):
        own = indices[part]
        contents.write(
            rows[own],
            None if texts is None else texts.read(own),
            None if names is None else names.read(own),
            None if columns is None else columns[own],
        )
    contents.close()
