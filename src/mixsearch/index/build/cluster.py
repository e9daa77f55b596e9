"""From files to an index on a Dask cluster: the workers read, count, fit and, where they see its folder, write it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.chunks import ArraySum
from mixsearch.data.dask.cluster import check_workers, connected
from mixsearch.data.dask.partitions import DaskPartitions
from mixsearch.data.dask.tasks import item, task
from mixsearch.errors import SearchError, SearchWarning
from mixsearch.index.build.cluster_documents import SpreadDocuments, assemble, starts_of
from mixsearch.index.build.cluster_writer import Pieces, SpreadWriter
from mixsearch.index.build.fit import checked_search, fit_search
from mixsearch.index.build.options import IndexOptions, OnProgress
from mixsearch.index.build.summary import Built, facts_of, summed_up
from mixsearch.index.build.transpose import ColumnPiece, cut_columns, join_columns
from mixsearch.storage import TEXT_ARRAYS, CompressedTexts, write_folder
from mixsearch.text import Corpus, CorpusOptions, DistributedCorpus, inspect_files, read_on_cluster
from mixsearch.topics import (
    BY_DOCUMENT,
    BY_WORD,
    DOCUMENTS,
    KIND,
    VERSION,
    CountPartition,
    TopicPartition,
    TopicSearch,
    store_search,
)

# Counts that one task puts in the order of their words: 128 MB, and half as much again while it does.
_NONZEROS_AT_ONCE = 1 << 24


def build_on_cluster(
    source: Any, path: Path, options: IndexOptions, reading: CorpusOptions, scheduler: str, say: OnProgress
) -> Built:
    """Index the texts of files on a cluster; `build_index` has the parameters."""
    if isinstance(source, Corpus):
        raise SearchError("Found a Corpus, which is on this machine, needed files: leave out scheduler=.")
    if options.memory is not None:
        raise SearchError(
            f"Found memory={options.memory:,} for work on a cluster, whose workers have memory of their own: leave it "
            "out, and start them with `dask worker --memory-limit`."
        )
    # The folder first: what ends the work must reach the cluster before the files go that its workers write to.
    with ExitStack() as stack:
        out = stack.enter_context(write_folder(path, kind=KIND, version=VERSION, overwrite=options.overwrite))
        files = inspect_files(source, reading)
        check_workers(stack.enter_context(connected(scheduler)))
        corpus = read_on_cluster(files, lambda done, total: say("Reading", done, total, "bytes"))
        writer = SpreadWriter.on(out)
        counted = _write(writer, corpus, options, reading, say)
    return summed_up(path, replace(corpus, notes=(*corpus.notes, *_notes(path, writer))), counted)


def _notes(path: Path, writer: SpreadWriter) -> list[SearchWarning]:
    if writer.is_shared:
        return []
    return [
        SearchWarning(
            "The workers do not see the folder {folder!r}, so this machine received their results and wrote them.",
            code="folder_not_shared",
            folder=str(path),
        )
    ]


def _write(
    writer: SpreadWriter, corpus: DistributedCorpus, options: IndexOptions, reading: CorpusOptions, say: OnProgress
) -> dict[str, int]:
    n_words = len(corpus.vocabulary)
    search = checked_search(options, n_words)
    documents = assemble(corpus, search, say)
    corpus.release()
    _store_counts(writer, documents, say)
    columns = [name for name, is_there in (("texts", reading.keep_texts), ("names", corpus.has_names)) if is_there]
    for name in columns:
        _store_texts(writer, documents, name)
    documents.texts.clear()
    partitions = documents.partitions(n_words)
    _store_columns(writer, partitions, say)
    fit_search(search, partitions, say)
    _store_fit(writer, search, documents)
    writer.finish()
    search.n_dropped_ = documents.n_short + corpus.n_dropped
    search.name_words(corpus.vocabulary)
    store_search(writer.out, search)
    writer.out.facts["corpus"] = facts_of(corpus, reading, has_texts="texts" in columns, has_names="names" in columns)
    return {
        "n_documents": documents.n_documents,
        "n_short": documents.n_short,
        "n_words": n_words,
        "n_nonzeros": documents.n_nonzeros,
        "n_components": search.n_components_,
    }


def _store_counts(writer: SpreadWriter, documents: SpreadDocuments, say: OnProgress) -> None:
    n_documents, n_nonzeros = documents.n_documents, documents.n_nonzeros
    writer.make(f"{BY_DOCUMENT}/data", (n_nonzeros,), np.float32)
    writer.make(f"{BY_DOCUMENT}/indices", (n_nonzeros,), np.int32)
    writer.make(f"{BY_DOCUMENT}/indptr", (n_documents + 1,), np.int64)  # begins with the 0 that is there already
    writer.make("documents/rows", (n_documents,), np.int64)
    starts = starts_of(each.n_nonzeros for each in documents.facts)
    places = [
        {
            f"{BY_DOCUMENT}/data": start,
            f"{BY_DOCUMENT}/indices": start,
            f"{BY_DOCUMENT}/indptr": first + 1,
            "documents/rows": first,
        }
        for start, first in zip(starts, documents.firsts, strict=True)
    ]
    sizes = [each.n_documents for each in documents.facts]
    writer.put(
        [task(_count_pieces, part, start) for part, start in zip(documents.parts, starts, strict=True)],
        places,
        lambda done: say("Storing", sum(sizes[number] for number in done), n_documents, "documents"),
    )


def _count_pieces(partition: CountPartition, start: int) -> Pieces:
    counts = partition.by_document
    return {
        f"{BY_DOCUMENT}/data": counts.data,
        f"{BY_DOCUMENT}/indices": counts.indices,
        f"{BY_DOCUMENT}/indptr": counts.indptr[1:].astype(np.int64) + start,
        "documents/rows": partition.rows,
    }


def _store_texts(writer: SpreadWriter, documents: SpreadDocuments, name: str) -> None:
    """Write a column of texts: the compressed blocks of every shard, one after the other."""
    blocks = starts_of(each.n_blocks[name] for each in documents.facts)
    bytes_ = starts_of(each.n_bytes[name] for each in documents.facts)
    n_blocks, n_bytes = (sum(getattr(each, of)[name] for each in documents.facts) for of in ("n_blocks", "n_bytes"))
    sizes = {"bytes": n_bytes, "blocks": n_blocks + 1, "ends": documents.n_documents}
    for part, (dtype, row_shape) in TEXT_ARRAYS.items():
        writer.make(f"{name}/{part}", (sizes[part], *row_shape), dtype)
    starts = list(zip(bytes_, blocks, documents.firsts, strict=True))
    writer.put(
        [
            task(_text_pieces, texts, name, (start, first))
            for texts, (start, _, first) in zip(documents.texts, starts, strict=True)
        ],
        [{f"{name}/{part}": place for part, place in zip(TEXT_ARRAYS, own, strict=True)} for own in starts],
    )
    writer.put_here(f"{name}/blocks", n_blocks, np.array([[n_bytes, documents.n_documents]]))


def _text_pieces(texts: dict[str, CompressedTexts], name: str, before: tuple[int, int]) -> Pieces:
    """Some texts of a column that has so many compressed bytes, and texts, before them."""
    column = texts[name]
    return {
        f"{name}/bytes": column.bytes,
        f"{name}/blocks": column.blocks[:-1] + np.array(before),
        f"{name}/ends": column.ends,
    }


def _store_columns(writer: SpreadWriter, partitions: DaskPartitions[CountPartition], say: OnProgress) -> None:
    """Write the counts word by word: every shard is cut at the same words, and each stretch of words joined."""
    per_word = partitions.reduce(_holding).total
    ends = np.concatenate([[0], np.cumsum(per_word)]).astype(np.int64)
    writer.make(f"{BY_WORD}/indptr", ends.shape, np.int64)
    writer.put_here(f"{BY_WORD}/indptr", 0, ends)
    for part, dtype in (("data", np.float32), ("indices", np.int32)):
        writer.make(f"{BY_WORD}/{part}", (int(ends[-1]),), dtype)
    cuts = _word_cuts(ends)
    cut = [task(_cut_words, part, cuts) for part in partitions.parts]
    joined = [
        task(_word_pieces, [item(pieces, number) for pieces in cut], per_word[first:last])
        for number, (first, last) in enumerate(pairwise(cuts))
    ]
    places = [{f"{BY_WORD}/data": int(ends[first]), f"{BY_WORD}/indices": int(ends[first])} for first in cuts[:-1]]
    stops = ends[cuts[1:]]
    writer.put(
        joined,
        places,
        lambda done: say("Listing words", int(np.diff(stops, prepend=0)[done].sum()), int(ends[-1]), "counts"),
    )


def _holding(partition: CountPartition) -> ArraySum:
    return ArraySum(np.diff(partition.by_word.indptr).astype(np.int64))


def _word_cuts(ends: Array) -> list[int]:
    """Words at which to cut, so that the counts in between fit into memory; one word at least, however frequent."""
    cuts = [0]
    while cuts[-1] < len(ends) - 1:
        last = int(np.searchsorted(ends, ends[cuts[-1]] + _NONZEROS_AT_ONCE, side="right")) - 1
        cuts.append(max(last, cuts[-1] + 1))
    return cuts


def _cut_words(partition: CountPartition, cuts: Sequence[int]) -> list[ColumnPiece]:
    return [cut_columns(partition.by_word, first, last, partition.first) for first, last in pairwise(cuts)]


def _word_pieces(pieces: list[ColumnPiece], per_word: Array) -> Pieces:
    values, rows = join_columns(pieces, per_word, np.float32)
    return {f"{BY_WORD}/data": values, f"{BY_WORD}/indices": rows}


def _store_fit(writer: SpreadWriter, search: TopicSearch, documents: SpreadDocuments) -> None:
    """Write what the fit has found out about each document."""
    fitted: Any = search._family.partitions.persist()
    n, k = documents.n_documents, search.n_components_
    writer.make("documents/projected", (n, k), np.float32)
    names = [name for name in DOCUMENTS if name != "rows"]
    for name in names:
        writer.make(f"documents/{name}", (n,), np.float64)
    places = [
        dict.fromkeys(["documents/projected", *(f"documents/{name}" for name in names)], f) for f in documents.firsts
    ]
    writer.put([task(_fit_pieces, part, names) for part in fitted.parts], places)


def _fit_pieces(partition: TopicPartition, names: Sequence[str]) -> Pieces:
    return {f"documents/{name}": getattr(partition, name) for name in ("projected", *names)}
