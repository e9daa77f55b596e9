"""A corpus that a Dask cluster reads and counts. The documents stay on the workers; the words are chosen here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.dask.tasks import (
    broadcast,
    compute_tasks,
    item,
    n_threads,
    on_every_worker,
    persist_tasks,
    task,
    tree_reduce,
)
from mixsearch.data.files.location import File, StoredFile, TableFile, resolve_file
from mixsearch.data.files.sources import Source, SourceFiles, describe_source, find_sources, make_empty_error
from mixsearch.data.files.types import ColumnTypes
from mixsearch.errors import ArgumentError, Option, SearchError, SearchWarning
from mixsearch.text.count.dropped import DroppedWords, describe_dropped, list_others, take_dropped
from mixsearch.text.count.matrix import MATRIX_FORMAT
from mixsearch.text.count.partitions import (
    Partition,
    PartitionSizes,
    choose_partition_bytes,
    count_frequencies,
    count_pairs_in_partition,
    count_partition,
    count_slots_in_partition,
    count_tokens,
    drop_rows,
    find_duplicates,
    find_single_in_partition,
    get_stop_words,
    measure_partition,
    merge_single,
    merge_small_files,
    merge_spellings,
    merge_stop_words,
    merge_types,
    spell_in_partition,
    split_file,
    split_fingerprints,
    sum_arrays,
    sum_frequencies,
)
from mixsearch.text.count.phrases import add_phrases, choose_phrases, list_parts, min_documents, take_frequent
from mixsearch.text.count.stop_words import ChosenStopWords, choose_stop_words, list_stop_words
from mixsearch.text.count.tokens import hash_words
from mixsearch.text.count.vocabulary import (
    Frequencies,
    Vocabulary,
    build_vocabulary,
    choose_words,
    find_bounds,
    find_common,
    leave_out,
    leave_out_sequences,
    to_count,
)
from mixsearch.text.options import CorpusOptions, choose_limits
from mixsearch.text.read.documents import ReadState
from mixsearch.text.read.formats import read_documents
from mixsearch.text.read.frames import are_texts, is_frame


class InspectedFiles(NamedTuple):
    """The files of a corpus, and the columns found in their first documents.

    Attributes
    ----------
    sources : SourceFiles
        The files, with absolute paths.
    state : ReadState
        The options of reading, and the columns.
    """

    sources: SourceFiles
    state: ReadState


def inspect_files(source: Source, options: CorpusOptions) -> InspectedFiles:
    """Find files and their columns on this machine, before a cluster is used."""
    _check_options(source, options)
    sources = _make_absolute(find_sources(source, options.format))
    if sources.format == MATRIX_FORMAT:
        raise SearchError(
            "A cluster reads texts, but the files hold ready-made counts ({format}). Leave out {argument}, or fit "
            "the counts as a Dask array with TopicSearch.",
            code="counts_on_cluster",
            format=sources.format,
            argument=Option("scheduler"),
        )
    return InspectedFiles(sources, _find_columns(sources, ReadState(options, describe_source(source))))


def _check_options(source: Source, options: CorpusOptions) -> None:
    scheduler = Option("scheduler")
    if isinstance(source, str) and source == "-":
        raise ArgumentError(
            "A cluster cannot read standard input. Name files, or leave out {argument}.",
            code="stdin_on_cluster",
            argument=scheduler,
        )
    if is_frame(source) or are_texts(source):
        raise ArgumentError(
            "A cluster reads files, not what this process holds in memory. Name files, or leave out {argument}.",
            code="memory_on_cluster",
            argument=scheduler,
        )
    if options.drop_duplicates == "near":
        raise ArgumentError(
            "{argument} can only be 'exact' on a cluster: near duplicates are found by comparing documents one after "
            "another. Leave it out, or leave out {scheduler}.",
            code="local_option",
            argument=Option("drop_duplicates"),
            scheduler=scheduler,
        )
    if options.skip_bad_rows:
        raise ArgumentError(
            "{argument} cannot be used on a cluster: rows are skipped and counted by one reader. Leave it out, or "
            "leave out {scheduler}.",
            code="local_option",
            argument=Option("skip_bad_rows"),
            scheduler=scheduler,
        )
    if options.n_jobs is not None:
        raise ArgumentError(
            "{argument} has no effect on a cluster, because workers have their own threads. Leave it out.",
            code="local_option",
            argument=Option("n_jobs"),
            value=options.n_jobs,
        )


def _make_absolute(sources: SourceFiles) -> SourceFiles:
    """Return the files with absolute paths: workers run in other folders."""
    are_relative = all(isinstance(path, Path) and not path.is_absolute() for path in sources.paths)
    root = Path.cwd() if sources.root is None and are_relative else sources.root
    paths = [_make_path_absolute(path) for path in sources.paths]
    return replace(sources, paths=paths, root=_make_absolute_file(root) if root else None)


def _make_path_absolute(path: File) -> File:
    return (
        replace(path, file=_make_absolute_file(path.file)) if isinstance(path, TableFile) else _make_absolute_file(path)
    )


def _make_absolute_file(path: StoredFile) -> StoredFile:
    return path.absolute() if isinstance(path, Path) else path


def _find_columns(sources: SourceFiles, state: ReadState) -> ReadState:
    """Return a state with the columns found in the first documents."""
    with closing(read_documents(sources, state)) as loaders:
        next(loaders, None)
    return state


# Bytes for the text that one task counts at a time; a worker needs memory for other things too.
_MAX_MEMORY = 256_000_000


@dataclass(frozen=True)
class DistributedCorpus:
    """Documents that the workers of a cluster have read and counted, and hold in memory.

    Attributes
    ----------
    n_documents, n_characters : int
        Documents that are left, and the characters of their texts.
    n_dropped : int
        Documents that were dropped as duplicates.
    has_names : bool
        Whether documents have names.
    notes : tuple of SearchWarning
        Decisions that the user should know about, such as which column has the text.
    stop_words : tuple of str
        The stop words that were left out because the texts use them as such, if the corpus chose them.
    words : Vocabulary
        The counted words.
    dropped : DroppedWords
        Words of the texts that are not features.
    partitions : list of dask.delayed.Delayed
        Tasks that return a `CountedPartition` each.
    first_rows : list of int
        Index in the input of the first document of each partition.
    types : ColumnTypes or None
        The types of the columns to keep, if there are some.
    """

    n_documents: int
    n_characters: int
    n_dropped: int
    has_names: bool
    notes: tuple[SearchWarning, ...]
    stop_words: tuple[str, ...]
    words: Vocabulary
    dropped: DroppedWords
    partitions: list[Any]
    first_rows: list[int]
    types: ColumnTypes | None

    @property
    def vocabulary(self) -> list[str]:
        """The words of the columns."""
        return self.words.words

    def release(self) -> None:
        """Free the memory of the workers."""
        self.partitions.clear()


def read_on_cluster(files: InspectedFiles, on_progress: Callable[[int, int | None], None]) -> DistributedCorpus:
    """Read and count files on the current Dask cluster, as `read_corpus` does on this machine."""
    sources, state = files
    options = state.options
    _check_visible([sources.paths[0], sources.paths[-1]])
    counted = _count(sources, state, on_progress)
    sizes: list[PartitionSizes] = compute_tasks([task(measure_partition, partition) for partition in counted])
    n_rows = [each.n_rows for each in sizes]
    if sum(n_rows) == 0:
        raise make_empty_error(state.source)
    if options.drop_duplicates == "exact":
        counted = _drop_duplicates(counted)
        sizes = compute_tasks([task(measure_partition, partition) for partition in counted])
    n_documents = sum(each.n_rows for each in sizes)
    used = compute_tasks(tree_reduce(merge_stop_words, [task(get_stop_words, partition) for partition in counted]))[0]
    stop_words = choose_stop_words(used, options)
    words, dropped = _choose_words(counted, n_documents, options, stop_words)
    return DistributedCorpus(
        n_documents=n_documents,
        n_characters=sum(each.n_characters for each in sizes),
        n_dropped=sum(n_rows) - n_documents,
        has_names=any(each.has_names for each in sizes),
        notes=(*sources.notes, *state.notes),
        stop_words=tuple(stop_words.left_out),
        words=words,
        dropped=dropped,
        partitions=counted,
        first_rows=np.cumsum([0, *n_rows[:-1]]).tolist(),
        types=merge_types(each.types for each in sizes if each.types is not None),
    )


def _check_visible(files: Sequence[File]) -> None:
    """Raise if a worker cannot read a file that exists here."""
    for name in dict.fromkeys(map(str, files)):
        reasons = {worker: why for worker, why in on_every_worker(_try_to_read, name).items() if why is not None}
        if reasons:
            worker, reason = next(iter(reasons.items()))
            raise SearchError(
                "{file!r} exists here, but {n_workers} of the workers cannot read it ({worker}: {reason}). Put the "
                "files where all workers see them under the same name: in a shared folder, or at a URL such as s3://.",
                code="file_not_on_workers",
                file=name,
                n_workers=len(reasons),
                worker=worker,
                reason=reason,
            )


def _try_to_read(name: str) -> str | None:
    try:
        with resolve_file(name).open("rb") as file:
            file.read(1)
    # Each system and store raises errors of its own; all are shown to the user.
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _count(sources: SourceFiles, state: ReadState, on_progress: Callable[[int, int | None], None]) -> list[Any]:
    partitions = _split(sources, state)
    sizes, total = [partition.n_bytes for partition in partitions], sources.n_bytes
    options = replace(state.options, n_jobs=1, memory=min(state.options.memory, _MAX_MEMORY))
    given = [broadcast(each) for each in (options, state.columns, np.sort(hash_words(list_stop_words(options))))]
    return persist_tasks(
        [task(count_partition, partition, *given) for partition in partitions],
        lambda done: on_progress(sum(sizes[index] for index in done), total),
    )


def _split(sources: SourceFiles, state: ReadState) -> list[Partition]:
    max_bytes = choose_partition_bytes(sources, n_threads())
    no_files = replace(sources, paths=[])
    if sources.format != "parquet":
        split = [split_file(file, no_files, state.columns, max_bytes) for file in sources.paths]
    else:
        # Each file is opened for its row groups. In a remote store, that is faster in parallel.
        given = broadcast(no_files)
        split = compute_tasks([task(split_file, file, given, state.columns, max_bytes) for file in sources.paths])
    return merge_small_files(chain.from_iterable(split), max_bytes)


def _drop_duplicates(counted: list[Any]) -> list[Any]:
    """Return the partitions without documents that repeat an earlier one exactly."""
    n_groups = min(n_threads(), len(counted))
    split = [task(split_fingerprints, partition, n_groups) for partition in counted]
    found = [task(find_duplicates, [item(own, group) for own in split]) for group in range(n_groups)]
    return persist_tasks(
        [task(drop_rows, partition, [item(rows, i) for rows in found]) for i, partition in enumerate(counted)]
    )


def _choose_words(
    counted: list[Any], n_documents: int, options: CorpusOptions, stop_words: ChosenStopWords
) -> tuple[Vocabulary, DroppedWords]:
    """Choose the words to count. The workers sum frequencies; only those of words that are stored come here."""
    limits = choose_limits(options, n_documents, are_texts=True)
    total = tree_reduce(sum_frequencies, [task(count_frequencies, partition) for partition in counted])[0]
    kept = task(leave_out, total, hash_words(stop_words.left_out))
    chosen, common = persist_tasks([task(each, kept, n_documents, limits) for each in (choose_words, find_common)])
    spelled, spelled_common = (_spell(counted, each) for each in (chosen, common))
    frequencies, words = compute_tasks([chosen, spelled])
    frequencies, words = leave_out_sequences(frequencies, words, stop_words.left_out)
    vocabulary = build_vocabulary(frequencies, words, limits.max_words, by_alphabet=True)
    if options.counts_phrases:
        parts = list_parts(vocabulary, *compute_tasks([common, spelled_common]))
        maximum = to_count(limits.max_df, n_documents)
        pairs, n_tokens = _count_pairs(counted, parts.frequencies.keys, min_documents(n_documents), maximum)
        phrases = choose_phrases(pairs, parts, len(vocabulary.words), n_tokens, stop_words.listed)
        vocabulary = add_phrases(vocabulary, phrases, parts)
    others = persist_tasks([task(list_others, total, broadcast(vocabulary))])[0]
    single = [task(find_single_in_partition, partition, others) for partition in counted]
    is_single = tree_reduce(merge_single, single)[0] if options.ngrams[1] > 1 else None
    stored = persist_tasks([task(take_dropped, others, is_single)])[0]
    rest, names = compute_tasks([stored, _spell(counted, stored)])
    all_stop_words = [*list_stop_words(options), *stop_words.left_out]
    return vocabulary, describe_dropped(rest, names, find_bounds(n_documents, limits), all_stop_words)


def _spell(counted: list[Any], frequencies: Any) -> Any:
    return tree_reduce(merge_spellings, [task(spell_in_partition, partition, frequencies) for partition in counted])[0]


def _count_pairs(counted: list[Any], keys: Array, minimum: int, maximum: float) -> tuple[Frequencies, int]:
    """Return the pairs of words that are frequent, and the number of all words in order."""
    given = broadcast(keys)
    slots = tree_reduce(sum_arrays, [task(count_slots_in_partition, partition, given) for partition in counted])[0]
    found = [task(count_pairs_in_partition, partition, given, slots, minimum) for partition in counted]
    pairs = task(take_frequent, tree_reduce(sum_frequencies, found)[0], minimum, maximum)
    n_tokens = task(sum, [task(count_tokens, partition) for partition in counted])
    counted_pairs, total = compute_tasks([pairs, n_tokens])
    return counted_pairs, total
