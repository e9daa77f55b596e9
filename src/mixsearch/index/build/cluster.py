"""Build an index on a Dask cluster: workers read, count, store and fit."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import ArraySum
from mixsearch.data.dask.cluster import check_workers, connected
from mixsearch.data.dask.partitions import DaskPartitions
from mixsearch.data.dask.tasks import broadcast, compute_tasks, item, on_every_worker, persist_tasks, task
from mixsearch.data.files.types import ColumnTypes
from mixsearch.data.partitions import Layout
from mixsearch.errors import ArgumentError, Option, SearchWarning
from mixsearch.index.build.counts import ColumnChunk, concatenate_columns, slice_columns
from mixsearch.index.build.dropped import DroppedRange, PostingsCollector, write_dropped
from mixsearch.index.build.fit import check_n_documents, choose_search, fit_search, select_documents
from mixsearch.index.build.options import IndexOptions, OnProgress
from mixsearch.index.build.segments import ContentWriter
from mixsearch.index.build.summary import Built, describe_corpus, summarize_build
from mixsearch.index.column_file import ColumnWriter
from mixsearch.index.documents import SHORT
from mixsearch.storage.arrays import SharedArray
from mixsearch.storage.publication import write_folder
from mixsearch.storage.texts import TEXT_ARRAYS, CompressedTexts, compress_texts
from mixsearch.storage.writer import FolderWriter
from mixsearch.text.corpus import Corpus
from mixsearch.text.count.cluster import DistributedCorpus, inspect_files, read_on_cluster
from mixsearch.text.count.dropped import DroppedWords
from mixsearch.text.count.partitions import CountedPartition
from mixsearch.text.count.vocabulary import Vocabulary
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.corpus import FittedCorpus, get_min_words, is_damped
from mixsearch.topics.documents import CountPartition, TopicPartition
from mixsearch.topics.search import TopicSearch
from mixsearch.topics.segments import (
    BY_DOCUMENT,
    BY_WORD,
    DOCUMENTS,
    Segment,
    limit_segments,
    name_fitted,
    place_in,
    write_segments,
)
from mixsearch.topics.storage import KIND, VERSION, store_search

# Counts that one task transposes: 128 MB, and half as much again while it runs.
_NONZEROS_PER_TASK = 1 << 24
# Rows of arrays, and the index of the first of them, by the names of the arrays.
ArrayRows = dict[str, Array]
Offsets = dict[str, int]
_MARKER = "seen-by-all"


def build_on_cluster(
    source: Any, path: Path, options: IndexOptions, reading: CorpusOptions, scheduler: str, on_progress: OnProgress
) -> Built:
    """Index the texts of files on a cluster; see `build_index` for the parameters."""
    if isinstance(source, Corpus):
        raise ArgumentError(
            "A Corpus is on this machine, so a cluster cannot read it. Leave out {argument}, or pass files.",
            code="corpus_is_local",
            argument=Option("scheduler"),
        )
    if options.memory is not None:
        raise ArgumentError(
            "{argument} has no effect on a cluster, whose workers have their own limit. Leave it out, and start them "
            "with `dask worker --memory-limit`.",
            code="memory_of_cluster",
            argument=Option("memory"),
            value=options.memory,
        )
    # The folder first: the cluster must stop before the files are removed that its workers write to.
    with ExitStack() as stack:
        out = stack.enter_context(write_folder(path, kind=KIND, version=VERSION, overwrite=options.overwrite))
        files = inspect_files(source, reading)
        check_workers(stack.enter_context(connected(scheduler)))
        corpus = read_on_cluster(files, lambda done, total: on_progress("Reading", done, total, "bytes"))
        writer = DistributedWriter.create(out)
        counted = _write(writer, corpus, options, reading, on_progress)
    return summarize_build(path, replace(corpus, notes=(*corpus.notes, *_list_notes(path, writer))), counted)


def _list_notes(path: Path, writer: DistributedWriter) -> list[SearchWarning]:
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
    writer: DistributedWriter,
    corpus: DistributedCorpus,
    options: IndexOptions,
    reading: CorpusOptions,
    on_progress: OnProgress,
) -> dict[str, int]:
    n_words = len(corpus.vocabulary)
    search = choose_search(options, n_words)
    documents = assemble_documents(corpus, search, on_progress)
    corpus.release()
    columns = [name for name, is_there in (("texts", reading.keep_texts), ("names", corpus.has_names)) if is_there]
    _store_documents(writer, documents, columns, on_progress)
    for segment in documents.split():
        _store_columns(writer.within(segment.name), segment.partitions(n_words), segment.first, on_progress)
    fit_search(search, options, documents.partitions(n_words), corpus, documents.n_short, on_progress)
    _store_fit(writer, search, documents)
    writer.finish()
    store_search(writer.out, search)
    write_dropped(writer.out, corpus.dropped, documents.dropped, documents.dropped_ranges)
    writer.out.facts["corpus"] = describe_corpus(
        corpus, reading, has_texts="texts" in columns, has_names="names" in columns
    )
    writer.out.facts["n_rows"] = corpus.n_documents + corpus.n_dropped
    writer.out.facts["n_components"] = options.n_components
    return {
        "n_documents": documents.n_documents,
        "n_short": documents.n_short,
        "n_words": n_words,
        "n_nonzeros": documents.n_nonzeros,
        "n_components": search.n_components_,
    }


def _store_documents(
    writer: DistributedWriter, documents: DistributedDocuments, columns: Sequence[str], on_progress: OnProgress
) -> None:
    """Write the counts of documents, some columns of texts, and their other contents, which the workers then forget."""
    for segment in documents.split():
        own = writer.within(segment.name)
        _store_counts(own, segment, on_progress)
        for name in columns:
            _store_texts(own, segment, name)
        _store_contents(writer.out, segment)
    _store_short(writer.out, documents)
    for tasks in (documents.texts, documents.contents, documents.short):
        tasks.clear()


def _store_contents(out: FolderWriter, documents: DistributedDocuments) -> None:
    """Write columns, partition by partition."""
    columns = ColumnWriter(out, documents.name)
    for each in documents.contents:
        for contents in compute_tasks([each])[0]:
            columns.append(*contents)
    columns.close()


def _store_short(out: FolderWriter, documents: DistributedDocuments) -> None:
    """Write the documents that are too short, partition by partition."""
    short = ContentWriter(out, SHORT)
    for each in documents.short:
        for (rows, names, own_columns), texts in compute_tasks([each])[0]:
            short.write(rows, texts, names, own_columns)
    short.close()


def _store_counts(writer: DistributedWriter, documents: DistributedDocuments, on_progress: OnProgress) -> None:
    n_documents, n_nonzeros = documents.n_documents, documents.n_nonzeros
    writer.allocate(f"{BY_DOCUMENT}/data", (n_nonzeros,), np.float32)
    writer.allocate(f"{BY_DOCUMENT}/indices", (n_nonzeros,), np.int32)
    writer.allocate(f"{BY_DOCUMENT}/indptr", (n_documents + 1,), np.int64)  # starts with the 0 that is there already
    writer.allocate("documents/rows", (n_documents,), np.int64)
    starts = compute_offsets(each.n_nonzeros for each in documents.sizes)
    offsets = [
        {
            f"{BY_DOCUMENT}/data": start,
            f"{BY_DOCUMENT}/indices": start,
            f"{BY_DOCUMENT}/indptr": first + 1,
            "documents/rows": first,
        }
        for start, first in zip(starts, documents.offsets, strict=True)
    ]
    sizes = [each.n_documents for each in documents.sizes]
    writer.write(
        [task(_get_counts, partition, start) for partition, start in zip(documents.tasks, starts, strict=True)],
        offsets,
        lambda done: on_progress("Storing", sum(sizes[i] for i in done), n_documents, "documents"),
    )


def _get_counts(partition: CountPartition, start: int) -> ArrayRows:
    counts = partition.by_document
    return {
        f"{BY_DOCUMENT}/data": counts.data,
        f"{BY_DOCUMENT}/indices": counts.indices,
        f"{BY_DOCUMENT}/indptr": counts.indptr[1:].astype(np.int64) + start,
        "documents/rows": partition.rows,
    }


def _store_texts(writer: DistributedWriter, documents: DistributedDocuments, name: str) -> None:
    """Write a column of texts: the compressed blocks of all partitions."""
    blocks = compute_offsets(each.n_blocks[name] for each in documents.sizes)
    bytes_ = compute_offsets(each.n_bytes[name] for each in documents.sizes)
    n_blocks = sum(each.n_blocks[name] for each in documents.sizes)
    n_bytes = sum(each.n_bytes[name] for each in documents.sizes)
    sizes = {"bytes": n_bytes, "blocks": n_blocks + 1, "ends": documents.n_documents}
    for part, (dtype, row_shape) in TEXT_ARRAYS.items():
        writer.allocate(f"{name}/{part}", (sizes[part], *row_shape), dtype)
    starts = list(zip(bytes_, blocks, documents.offsets, strict=True))
    writer.write(
        [
            task(_get_texts, texts, name, (start, first))
            for texts, (start, _, first) in zip(documents.texts, starts, strict=True)
        ],
        [{f"{name}/{part}": start for part, start in zip(TEXT_ARRAYS, own, strict=True)} for own in starts],
    )
    writer.write_here(f"{name}/blocks", n_blocks, np.array([[n_bytes, documents.n_documents]]))


def _get_texts(texts: dict[str, CompressedTexts], name: str, before: tuple[int, int]) -> ArrayRows:
    """Return texts of a column, given the numbers of compressed bytes and of texts before them."""
    column = texts[name]
    return {
        f"{name}/bytes": column.bytes,
        f"{name}/blocks": column.blocks[:-1] + np.array(before),
        f"{name}/ends": column.ends,
    }


def _store_columns(
    writer: DistributedWriter, partitions: DaskPartitions[CountPartition], first_row: int, on_progress: OnProgress
) -> None:
    """Write the counts word by word: slice every partition at the same words, and concatenate each slice."""
    per_word = partitions.reduce(_count_by_word).total
    ends = np.concatenate([[0], np.cumsum(per_word)]).astype(np.int64)
    writer.allocate(f"{BY_WORD}/indptr", ends.shape, np.int64)
    writer.write_here(f"{BY_WORD}/indptr", 0, ends)
    for part, dtype in (("data", np.float32), ("indices", np.int32)):
        writer.allocate(f"{BY_WORD}/{part}", (int(ends[-1]),), dtype)
    cuts = _choose_cuts(ends)
    sliced = [task(_slice_words, part, cuts, first_row) for part in partitions.parts]
    joined = [
        task(_join_words, [item(slices, i) for slices in sliced], per_word[first:last])
        for i, (first, last) in enumerate(pairwise(cuts))
    ]
    offsets = [{f"{BY_WORD}/data": int(ends[first]), f"{BY_WORD}/indices": int(ends[first])} for first in cuts[:-1]]
    stops = ends[cuts[1:]]
    writer.write(
        joined,
        offsets,
        lambda done: on_progress("Listing words", int(np.diff(stops, prepend=0)[done].sum()), int(ends[-1]), "counts"),
    )


def _count_by_word(partition: CountPartition) -> ArraySum:
    return ArraySum(np.diff(partition.by_word.indptr).astype(np.int64))


def _choose_cuts(ends: Array) -> list[int]:
    """Return columns to cut at, so that the counts in between fit into memory; at least one column each."""
    cuts = [0]
    while cuts[-1] < len(ends) - 1:
        last = int(np.searchsorted(ends, ends[cuts[-1]] + _NONZEROS_PER_TASK, side="right")) - 1
        cuts.append(max(last, cuts[-1] + 1))
    return cuts


def _slice_words(partition: CountPartition, cuts: Sequence[int], first_row: int) -> list[ColumnChunk]:
    before = partition.first - first_row
    return [slice_columns(partition.by_word, first, last, before) for first, last in pairwise(cuts)]


def _join_words(chunks: list[ColumnChunk], per_word: Array) -> ArrayRows:
    values, rows = concatenate_columns(chunks, per_word, np.float32)
    return {f"{BY_WORD}/data": values, f"{BY_WORD}/indices": rows}


def _store_fit(writer: DistributedWriter, search: TopicSearch, documents: DistributedDocuments) -> None:
    """Write what the fit computed for each document; weights so that those of a segment sum to one."""
    corpus = FittedCorpus(search)
    fitted: Any = corpus.partitions.persist()
    stored, is_one = [], len(documents.segments) == 1
    for own, segment in zip(documents.segments, documents.split(), strict=True):
        parts = fitted.parts[own]
        masses = [1.0] if is_one else compute_tasks([task(_sum_weights, part, corpus.is_distinct) for part in parts])
        stored.append(Segment(segment.name, segment.n_documents, sum(masses)))
        _store_fitted(writer.within(segment.name), parts, segment, search.n_components_, stored[-1].mass)
    if not is_one:
        write_segments(writer.out, stored)


def _store_fitted(
    writer: DistributedWriter, parts: Sequence[Any], segment: DistributedDocuments, n_components: int, mass: float
) -> None:
    writer.allocate("documents/projected", (segment.n_documents, n_components), np.float32)
    names = [name for name in DOCUMENTS if name != "rows"]
    for name in names:
        writer.allocate(f"documents/{name}", (segment.n_documents,), np.float64)
    arrays = ["documents/projected", *(f"documents/{name}" for name in names)]
    offsets = [dict.fromkeys(arrays, offset) for offset in segment.offsets]
    writer.write([task(_get_fit, part, names, mass) for part in parts], offsets)


def _sum_weights(partition: TopicPartition, distinct: bool) -> float:
    return float(partition.document_weights(distinct).sum())


def _get_fit(partition: TopicPartition, names: Sequence[str], mass: float) -> ArrayRows:
    scaled = partition.scale_weights(1 / mass)
    return {f"documents/{name}": getattr(scaled, name) for name in ("projected", *names)}


class _Sizes(NamedTuple):
    """Sizes of one partition, from which its position on disk follows."""

    n_documents: int
    n_short: int
    n_nonzeros: int
    n_blocks: dict[str, int]  # of texts and names
    n_bytes: dict[str, int]


class Contents(NamedTuple):
    """The stored parts of documents other than counts and texts: columns, and documents that are too short."""

    rows: Array
    names: list[str] | None
    columns: Any  # a record batch or table, or None


class ShortContents(NamedTuple):
    """Documents that are too short for a topic."""

    contents: Contents
    texts: list[str] | None


class _Assembled(NamedTuple):
    """One partition as its worker makes it."""

    partition: CountPartition
    texts: dict[str, CompressedTexts]  # texts and names, of the same documents
    sizes: _Sizes
    dropped: PostingsCollector  # documents numbered from 0
    contents: list[Contents]
    short: list[ShortContents]


class DistributedDocuments(NamedTuple):
    """Documents that are long enough, on the workers: all of them, or those of a segment."""

    tasks: list[Any]  # of `CountPartition`, numbered
    texts: list[Any]  # tasks of their texts and names
    sizes: list[_Sizes]
    n_short: int
    dropped: PostingsCollector
    contents: list[Any]  # tasks of the `Contents` of each partition
    short: list[Any]  # tasks of the `ShortContents` of each partition, also of those without other documents
    segments: list[slice]  # the partitions of each segment
    dropped_ranges: list[DroppedRange]  # as `write_dropped` takes them
    name: str = ""  # of the segment
    first: int = 0  # the index of its first document

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return sum(each.n_documents for each in self.sizes)

    @property
    def n_nonzeros(self) -> int:
        """The number of non-zero counts."""
        return sum(each.n_nonzeros for each in self.sizes)

    @property
    def offsets(self) -> list[int]:
        """The index of each partition's first document."""
        return compute_offsets(each.n_documents for each in self.sizes)

    def split(self) -> list[DistributedDocuments]:
        """Return the documents of each segment, without those that are too short."""
        return [
            self._replace(
                tasks=self.tasks[own],
                texts=self.texts[own],
                sizes=self.sizes[own],
                contents=self.contents[own],
                short=[],
                name=name_fitted(i),
                first=sum(each.n_documents for each in self.sizes[: own.start]),
            )
            for i, own in enumerate(self.segments)
        ]

    def partitions(self, n_words: int) -> DaskPartitions[CountPartition]:
        """Return the documents as a fit takes them."""
        return DaskPartitions(
            Layout(self.n_documents, n_words, np.dtype(np.float32), is_sparse=True), tuple(self.tasks)
        )


def compute_offsets(sizes: Iterable[int]) -> list[int]:
    """Return where each part of a concatenation starts."""
    return list(accumulate(sizes, initial=0))[:-1]


def assemble_documents(corpus: DistributedCorpus, search: TopicSearch, on_progress: OnProgress) -> DistributedDocuments:
    """Assign columns to the counted words, drop short documents, and number the others."""
    min_words, vocabulary, dropped = get_min_words(search), broadcast(corpus.words), broadcast(corpus.dropped)
    types = broadcast(corpus.types)
    made = persist_tasks(
        [
            task(_assemble, partition, vocabulary, dropped, types, first, is_damped(search), min_words)
            for partition, first in zip(corpus.partitions, corpus.first_rows, strict=True)
        ],
        lambda done: on_progress("Sorting words", len(done), len(corpus.partitions), "partitions"),
    )
    sizes: list[_Sizes] = compute_tasks([item(each, 2) for each in made])
    n_documents, n_short = sum(each.n_documents for each in sizes), sum(each.n_short for each in sizes)
    check_n_documents(n_documents, n_short, min_words, corpus.dropped.left_out)
    full = [i for i, each in enumerate(sizes) if each.n_documents]
    offsets = compute_offsets(each.n_documents for each in sizes)
    nodes = persist_tasks(
        [task(_number_documents, item(made[i], 0), offsets[i]) for i in full]
        + [item(made[i], 1) for i in full]
        + [item(made[i], 4) for i in full]
        + [item(each, 5) for each in made]
    )
    n_full = len(full)
    sizes = [sizes[i] for i in full]
    segments = split_partitions([each.n_nonzeros for each in sizes])
    collected, ranges = PostingsCollector(corpus.dropped), []
    for j, own in enumerate(segments):
        before = collected.count_documents()
        for i in full[own]:
            collected.merge(compute_tasks([item(made[i], 3)])[0], offsets[i])
        first, n_own = offsets[full[own.start]], sum(each.n_documents for each in sizes[own])
        ranges.append(DroppedRange(name_fitted(j), first, first + n_own, collected.count_documents() - before))
    tasks, texts, contents = (nodes[start : start + n_full] for start in (0, n_full, 2 * n_full))
    short = nodes[3 * n_full :]
    ranges = ranges if len(segments) > 1 else []
    return DistributedDocuments(tasks, texts, sizes, n_short, collected, contents, short, segments, ranges)


def split_partitions(n_nonzeros: Sequence[int]) -> list[slice]:
    """Return which partitions each segment consists of, given the number of counts of each partition."""
    limits, cuts, n_own = limit_segments(sum(n_nonzeros)), [0], 0
    for i, n in enumerate(n_nonzeros):
        if n_own and (n_own >= limits.enough or n_own + n > limits.maximum):
            cuts.append(i)
            n_own = 0
        n_own += n
    return [slice(*ends) for ends in pairwise([*cuts, len(n_nonzeros)])]


def _assemble(
    partition: CountedPartition,
    vocabulary: Vocabulary,
    dropped: DroppedWords,
    types: ColumnTypes | None,
    first_row: int,
    damping: bool,
    min_words: int,
) -> _Assembled:
    counts, rows, texts, names = [], [np.empty(0, dtype=np.int64)], [], []
    n_short, collected = 0, PostingsCollector(dropped)
    contents: list[Contents] = []
    short: list[ShortContents] = []
    for chunk in partition.chunks(vocabulary, dropped.vocabulary, types):
        chunk = replace(chunk, rows=chunk.rows + first_row)
        long_counts, chosen = select_documents(chunk.counts, damping, min_words)
        collected.add(chunk.dropped[chosen], np.asarray(long_counts.sum(axis=1)), sum(map(len, rows)))
        counts.append(long_counts)
        n_short += len(chunk.rows) - len(chosen)
        own_rows, own_names, own_texts, columns = chunk.take_contents(chosen)
        rows.append(own_rows)
        texts += own_texts or []
        names += own_names or []
        contents += [] if columns is None else [Contents(own_rows, own_names, columns)]
        rest = np.setdiff1d(np.arange(len(chunk.rows)), chosen)
        if len(rest):
            own_rows, own_names, own_texts, columns = chunk.take_contents(rest)
            short.append(ShortContents(Contents(own_rows, own_names, columns), own_texts))
    by_document = sp.csr_array(sp.vstack(counts, "csr")) if counts else sp.csr_array((0, len(vocabulary.words)))
    counted = CountPartition(
        first=0,
        by_document=by_document,
        by_word=by_document.tocsc(),
        lengths=np.asarray(by_document.sum(axis=1), np.float64),
        rows=np.concatenate(rows),
    )
    packed = {"texts": compress_texts(texts), "names": compress_texts(names)}
    n_blocks = {name: len(column.blocks) - 1 for name, column in packed.items()}
    n_bytes = {name: len(column.bytes) for name, column in packed.items()}
    sizes = _Sizes(by_document.shape[0], n_short, by_document.nnz, n_blocks, n_bytes)
    return _Assembled(counted, packed, sizes, collected.limited(), contents, short)


def _number_documents(partition: CountPartition, first: int) -> CountPartition:
    return replace(partition, first=first)


@dataclass(frozen=True)
class DistributedWriter:
    """Writes the results of tasks to arrays of a folder."""

    out: FolderWriter
    is_shared: bool
    files: dict[str, SharedArray] = field(default_factory=dict)
    segment: str = ""

    @classmethod
    def create(cls, out: FolderWriter) -> Self:
        """Return a writer for a folder, after a check whether the workers see it."""
        marker, token = out.staging.absolute() / _MARKER, secrets.token_hex(8)
        marker.write_text(token)
        try:
            return cls(out, all(on_every_worker(has_access, str(marker), token).values()))
        finally:
            marker.unlink()

    def within(self, segment: str) -> DistributedWriter:
        """Return a writer for the arrays of a segment."""
        return replace(self, segment=segment)

    def allocate(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        """Create an array of zeros."""
        placed = place_in(self.segment, name)
        self.files[placed] = self.out.share(placed, shape, dtype)

    def write(
        self,
        tasks: Sequence[Any],
        offsets: Sequence[Offsets],
        on_done: Callable[[list[int]], None] | None = None,
    ) -> None:
        """Write the rows that tasks return."""
        report = on_done or (lambda _: None)
        files = [{name: self.files[place_in(self.segment, name)] for name in own} for own in offsets]
        if self.is_shared:
            persist_tasks([task(_write_rows, *each) for each in zip(tasks, files, offsets, strict=True)], report)
            return
        for i, (each, own, firsts) in enumerate(zip(tasks, files, offsets, strict=True)):
            _write_rows(compute_tasks([each])[0], own, firsts)
            report(list(range(i + 1)))

    def write_here(self, name: str, first: int, rows: Array) -> None:
        """Write a few rows from this process."""
        self.files[place_in(self.segment, name)].write(first, rows)

    def finish(self) -> None:
        """Add the arrays, which are complete, to the folder."""
        names, files = list(self.files), list(self.files.values())
        stored = compute_tasks([task(_finish, file) for file in files]) if self.is_shared else map(_finish, files)
        for name, each in zip(names, stored, strict=True):
            self.out.adopt(name, each)


def has_access(marker: str, token: str) -> bool:
    """Return whether this process finds a file that another one wrote, and may write to it."""
    try:
        with Path(marker).open("r+") as file:
            return file.read() == token
    except OSError:
        return False


def _write_rows(rows_by_array: ArrayRows, files: dict[str, SharedArray], offsets: Offsets) -> None:
    for name, rows in rows_by_array.items():
        files[name].write(offsets[name], rows)


def _finish(file: SharedArray) -> Any:
    return file.finish()
