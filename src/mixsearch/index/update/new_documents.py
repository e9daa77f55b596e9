"""Documents to add to an index: counted, and compared with those that it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import Option, SearchError
from mixsearch.index.build.dropped import PostingsCollector
from mixsearch.index.build.fit import select_documents
from mixsearch.index.topic_index import TopicIndex
from mixsearch.index.update.dropped import tabulate_dropped
from mixsearch.text import Corpus, CountChunk
from mixsearch.topics import DroppedTable, get_min_words, is_damped

Existing = Literal["error", "skip", "replace"]
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
    """Return the documents of a corpus that are not in an index yet.

    Parameters
    ----------
    corpus : Corpus
        Counted with the words of the index.
    index : TopicIndex
        The index.
    existing : {"error", "skip", "replace"}
        What to do with documents whose names the index has.

    Returns
    -------
    NewDocuments
    """
    known = {name: i for i, name in enumerate(index.names()) if name}
    # Documents that are too short have no index in the corpus.
    known |= {name: _SHORT for name in index.short_names() if name}
    damping, min_words = is_damped(index.topics), get_min_words(index.topics)
    first_row = index.n_rows
    counts: list[Any] = [sp.csr_array((0, len(index.vocabulary)), dtype=np.float32)]
    rows: list[Array] = [np.zeros(0, dtype=np.int64)]
    kept_of: list[tuple[CountChunk, Array]] = []
    short_of: list[tuple[CountChunk, Array]] = []
    collector, n_skipped, n_words, n_new = PostingsCollector(corpus.dropped), 0, 0.0, 0.0
    replaced: list[int] = []
    replaced_short: list[str] = []
    is_new_word = np.array([not index.knows(word) for word in corpus.dropped.vocabulary.words], dtype=bool)
    for chunk in corpus.chunks():
        chunk = replace(chunk, rows=np.asarray(chunk.rows, dtype=np.int64) + first_row)
        found = [known[name] for name in chunk.names if name in known] if chunk.names is not None else []
        if found and existing == "error":
            raise _make_existing_error(index, [name for name in chunk.names or [] if name in known])
        if existing == "replace":
            replaced += [i for i in found if i != _SHORT]
            replaced_short += [name for name in chunk.names or [] if known.get(name) == _SHORT]
        if found and existing == "skip":
            fresh = np.array([name not in known for name in chunk.names or []])
            n_skipped += int(np.count_nonzero(~fresh))
            chunk = chunk.take(np.flatnonzero(fresh))
        own, kept = select_documents(chunk.counts, damping, min_words)
        collector.add(chunk.dropped[kept], np.asarray(own.sum(axis=1)), sum(map(len, rows)))
        counts.append(own)
        rows.append(chunk.rows[kept])
        kept_of.append((chunk, kept))
        rest = np.setdiff1d(np.arange(len(chunk.rows)), kept)
        short_of += [(chunk, rest)] if len(rest) else []
        n_words += float(chunk.counts.sum() + chunk.dropped.sum())
        n_new += float(chunk.dropped[:, is_new_word].sum())
    joined = sp.csr_array(sp.vstack(counts, format="csr", dtype=np.float32))
    table = tabulate_dropped(corpus.dropped, collector.finish())
    return NewDocuments(
        joined,
        np.concatenate(rows),
        kept_of,
        short_of,
        table,
        sorted(set(replaced)),
        replaced_short,
        n_skipped,
        n_new / max(n_words, 1),
    )


def _make_existing_error(index: TopicIndex, names: Sequence[str]) -> SearchError:
    return SearchError(
        "{n_existing:,} of the documents to add are in the index '{path}' already, the first one is {name!r}. Set "
        "{argument} to 'skip' or 'replace'.",
        code="documents_exist",
        n_existing=len(names),
        path=str(index.path),
        name=names[0],
        argument=Option("existing"),
    )
