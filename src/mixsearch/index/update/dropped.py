"""Dropped words of segments that are joined, or lose documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixsearch._typing import Array
from mixsearch.storage import FolderWriter
from mixsearch.text import REASONS, DroppedWords
from mixsearch.topics import MAX_DROPPED_DOCUMENTS, DroppedTable, Postings, store_dropped


def tabulate_dropped(dropped: DroppedWords, postings: Postings) -> DroppedTable:
    """Return the dropped words of documents that were counted."""
    reasons = [REASONS[reason] for reason in dropped.reasons.tolist()]
    return DroppedTable(list(dropped.vocabulary.words), reasons, postings)


def join_dropped(tables: Sequence[DroppedTable], firsts: Sequence[int]) -> DroppedTable:
    """Return the dropped words of segments that follow each other, given the index of the first document of each."""
    columns: dict[str, int] = {}
    reasons: list[str] = []
    for table in tables:
        for word, reason in zip(table.words, table.reasons, strict=True):
            if word not in columns:
                columns[word] = len(columns)
                reasons.append(reason)
    n_documents = np.zeros(len(columns), dtype=np.int64)
    parts = []
    for table, first in zip(tables, firsts, strict=True):
        own = np.array([columns[word] for word in table.words], dtype=np.int64)
        np.add.at(n_documents, own, table.postings.n_documents)
        parts.append((own[table.postings.words], table.postings.documents + first, table.postings.counts))
    words, documents, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort([documents, words])
    return _limit(
        DroppedTable(list(columns), reasons, Postings(n_documents, words[order], documents[order], counts[order]))
    )


def _limit(table: DroppedTable) -> DroppedTable:
    """Keep the documents with most of each word, as many as its reason allows."""
    n_documents, words, documents, counts = table.postings
    limits = np.array([MAX_DROPPED_DOCUMENTS[reason] for reason in table.reasons], dtype=np.int64)
    order = np.lexsort([documents, -counts.astype(np.int64), words])
    starts = np.searchsorted(words, np.arange(len(limits)))
    kept = np.sort(order[np.arange(len(order)) - starts[words[order]] < limits[words[order]]])
    return table._replace(postings=Postings(n_documents, words[kept], documents[kept], counts[kept]))


def keep_documents(table: DroppedTable, kept: Array) -> DroppedTable:
    """Return the dropped words of the documents of a mask, (n,). Only documents that are listed count as removed."""
    n_documents, words, documents, counts = table.postings
    is_kept = kept[documents]
    gone = np.bincount(words[~is_kept], minlength=len(table.words))
    new_indices = np.cumsum(kept) - 1
    postings = Postings(n_documents - gone, words[is_kept], new_indices[documents[is_kept]], counts[is_kept])
    return table._replace(postings=postings)


def write_table(out: FolderWriter, table: DroppedTable, segment: str) -> None:
    """Write the dropped words of a segment."""
    store_dropped(out, table.words, table.reasons, table.postings, segment)
