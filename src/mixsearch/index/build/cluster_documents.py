"""Counted documents on a cluster, made ready for a fit: words in columns, short documents left out, others numbered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch.data.dask.partitions import DaskPartitions
from mixsearch.data.dask.tasks import broadcast, compute_tasks, item, persist_tasks, task
from mixsearch.data.partitions import Layout
from mixsearch.index.build.fit import check_n_features, least_words, long_enough, require_some
from mixsearch.index.build.options import OnProgress
from mixsearch.storage import CompressedTexts, compress_texts
from mixsearch.text import CountedPartition, DistributedCorpus, Vocabulary
from mixsearch.topics import CountPartition, TopicSearch


class _Facts(NamedTuple):
    """Sizes of one shard, from which follows where it goes on disk."""

    n_documents: int
    n_short: int
    n_nonzeros: int
    n_blocks: dict[str, int]  # of texts and names
    n_bytes: dict[str, int]


class _Assembled(NamedTuple):
    """One shard as its worker makes it."""

    partition: CountPartition
    texts: dict[str, CompressedTexts]  # texts and names, of the same documents
    facts: _Facts


class SpreadDocuments(NamedTuple):
    """All documents that are long enough, on the workers."""

    parts: list[Any]  # tasks of `CountPartition`, numbered
    texts: list[Any]  # tasks of their texts and names
    facts: list[_Facts]
    n_short: int

    @property
    def n_documents(self) -> int:
        """How many there are."""
        return sum(each.n_documents for each in self.facts)

    @property
    def n_nonzeros(self) -> int:
        """Counts that are not zero, of all."""
        return sum(each.n_nonzeros for each in self.facts)

    @property
    def firsts(self) -> list[int]:
        """The number of each shard's first document."""
        return starts_of(each.n_documents for each in self.facts)

    def partitions(self, n_words: int) -> DaskPartitions[CountPartition]:
        """The same for a fit."""
        return DaskPartitions(
            Layout(self.n_documents, n_words, np.dtype(np.float32), is_sparse=True), tuple(self.parts)
        )


def starts_of(sizes: Iterable[int]) -> list[int]:
    """Where each of some things starts that lie one after the other."""
    return list(accumulate(sizes, initial=0))[:-1]


def assemble(corpus: DistributedCorpus, search: TopicSearch, say: OnProgress) -> SpreadDocuments:
    """Give the counted words their columns, leave out short documents, and number the others."""
    least, vocabulary = least_words(search), broadcast(corpus.words)
    made = persist_tasks(
        [
            task(_assembled, part, vocabulary, first, search.damping, least)
            for part, first in zip(corpus.partitions, corpus.first_rows, strict=True)
        ],
        lambda done: say("Sorting words", len(done), len(corpus.partitions), "parts"),
    )
    facts: list[_Facts] = compute_tasks([item(each, 2) for each in made])
    n_documents, n_short = sum(each.n_documents for each in facts), sum(each.n_short for each in facts)
    require_some(n_documents, n_short, least)
    check_n_features(sum(each.n_nonzeros for each in facts))
    full = [number for number, each in enumerate(facts) if each.n_documents]
    firsts = starts_of(each.n_documents for each in facts)
    nodes = persist_tasks(
        [task(_numbered, item(made[i], 0), firsts[i]) for i in full] + [item(made[i], 1) for i in full]
    )
    return SpreadDocuments(nodes[: len(full)], nodes[len(full) :], [facts[i] for i in full], n_short)


def _assembled(part: CountedPartition, vocabulary: Vocabulary, first_row: int, damping: bool, least: int) -> _Assembled:
    counts, rows, texts, names = [], [np.empty(0, dtype=np.int64)], [], []
    n_short = 0
    for chunk in part.chunks(vocabulary):
        long, chosen = long_enough(chunk.counts, damping, least)
        counts.append(long)
        rows.append(chunk.rows[chosen] + first_row)
        n_short += len(chunk.rows) - len(chosen)
        if chunk.texts is not None:
            texts += [chunk.texts[row] for row in chosen]
        if chunk.names is not None:
            names += [chunk.names[row] for row in chosen]
    by_document = sp.csr_array(sp.vstack(counts, "csr")) if counts else sp.csr_array((0, len(vocabulary.words)))
    partition = CountPartition(
        first=0,
        by_document=by_document,
        by_word=by_document.tocsc(),
        lengths=np.asarray(by_document.sum(axis=1), np.float64),
        rows=np.concatenate(rows),
    )
    packed = {"texts": compress_texts(texts), "names": compress_texts(names)}
    n_blocks = {name: len(column.blocks) - 1 for name, column in packed.items()}
    n_bytes = {name: len(column.bytes) for name, column in packed.items()}
    return _Assembled(partition, packed, _Facts(by_document.shape[0], n_short, by_document.nnz, n_blocks, n_bytes))


def _numbered(partition: CountPartition, first: int) -> CountPartition:
    return replace(partition, first=first)
