"""A corpus that a Dask cluster reads and counts: files in parts, the words chosen here, the documents never here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

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
from mixsearch.errors import SearchError
from mixsearch.text.count.partitions import (
    Part,
    PartFacts,
    count_part,
    cut_file,
    drop_rows,
    facts_of,
    find_repeats,
    join_small,
    join_spellings,
    part_bytes,
    spell_part,
    split_marks,
    sum_tallies,
    tally_part,
)
from mixsearch.text.count.tokens import hash_words
from mixsearch.text.count.vocabulary import Vocabulary, choose_words, order_words
from mixsearch.text.count.wordlists import stop_list
from mixsearch.text.options import CorpusOptions
from mixsearch.text.pipeline import named_source
from mixsearch.text.read.documents import Reading
from mixsearch.text.read.files import File, file_of
from mixsearch.text.read.formats import read_documents
from mixsearch.text.read.sources import Source, Sources, find_sources

# Of the text that one task counts at a time; a worker has other things in its memory.
_MEMORY = 256_000_000
# Options of a machine's own work, which the workers arrange for themselves.
_ONE_MACHINE = ("n_jobs", "tmp_dir")


@dataclass(frozen=True)
class DistributedCorpus:
    """Documents that the workers of a cluster have read and counted, and keep."""

    n_documents: int
    n_characters: int
    n_dropped: int  # as duplicates
    has_names: bool
    notes: tuple[str, ...]
    words: Vocabulary
    parts: list[Any]  # a task of each, whose result is a `CountedPartition`
    first_rows: list[int]  # the number of each part's first document in the input

    @property
    def vocabulary(self) -> list[str]:
        """The words of the columns."""
        return self.words.words

    def release(self) -> None:
        """Let the workers forget what they have counted."""
        self.parts.clear()


class Files(NamedTuple):
    """The files of a corpus, and what their first documents tell of all."""

    sources: Sources
    reading: Reading


def find_files(source: Source, options: CorpusOptions) -> Files:
    """What this machine can tell of a corpus before any cluster is asked.

    Parameters
    ----------
    source : path, URL or list of them
        As `read_corpus` takes them, but for standard input and ready-made counts.
    options : CorpusOptions
        How to read and count; duplicates are found where they are exact.
    """
    _check_options(source, options)
    sources = _absolute(find_sources(source, options.format))
    if sources.format in ("docword", "mtx", "npz"):
        raise SearchError(
            f"Found ready-made counts ({sources.format}), needed texts: counts are indexed on one machine, without "
            "scheduler=, or fitted as a Dask array by TopicSearch."
        )
    return Files(sources, _settled(sources, Reading(options, named_source(source))))


def read_on_cluster(files: Files, on_progress: Callable[[int, int | None], None]) -> DistributedCorpus:
    """Read and count files on the current Dask cluster, as `read_corpus` does on this machine.

    Parameters
    ----------
    files : Files
        Every worker must see them under the same names.
    on_progress : callable
        Told the bytes of the files that were read, and of all.
    """
    sources, reading = files
    options = reading.options
    _check_seen([sources.paths[0], sources.paths[-1]])
    counted = _count(sources, reading, on_progress)
    facts: list[PartFacts] = compute_tasks([task(facts_of, part) for part in counted])
    n_rows = [each.n_rows for each in facts]
    if sum(n_rows) == 0:
        raise SearchError(f"Found no documents in {reading.source}, needed at least one: is it the right file?")
    if options.drop_duplicates == "exact":
        counted = _without_repeats(counted)
        facts = compute_tasks([task(facts_of, part) for part in counted])
    n_documents = sum(each.n_rows for each in facts)
    return DistributedCorpus(
        n_documents=n_documents,
        n_characters=sum(each.n_characters for each in facts),
        n_dropped=sum(n_rows) - n_documents,
        has_names=any(each.has_names for each in facts),
        notes=(*([] if sources.note is None else [sources.note]), *reading.notes),
        words=_choose_words(counted, n_documents, options),
        parts=counted,
        first_rows=np.cumsum([0, *n_rows[:-1]]).tolist(),
    )


def _check_options(source: Source, options: CorpusOptions) -> None:
    if source == "-":
        raise SearchError("Found standard input, needed files: a cluster cannot read it. Leave out scheduler=.")
    if options.drop_duplicates == "near":
        raise SearchError(
            "Found drop_duplicates='near', which compares each document with all before it, on one machine: ask for "
            "'exact', or leave out scheduler=."
        )
    for name in _ONE_MACHINE:
        if getattr(options, name) is not None:
            raise SearchError(
                f"Found {name}={getattr(options, name)!r} for work on a cluster, whose workers have threads and "
                "temporary files of their own: leave it out."
            )


def _absolute(sources: Sources) -> Sources:
    """The same files under names that mean the same to workers, which run in folders of their own."""
    are_relative = all(isinstance(path, Path) and not path.is_absolute() for path in sources.paths)
    root = Path.cwd() if sources.root is None and are_relative else sources.root
    return replace(sources, paths=[_from_root(path) for path in sources.paths], root=_from_root(root) if root else None)


def _from_root(path: File) -> File:
    return path.absolute() if isinstance(path, Path) else path


def _settled(sources: Sources, reading: Reading) -> Reading:
    """A reading that knows its columns, found here in the first documents."""
    with closing(read_documents(sources, reading)) as loads:
        next(loads, None)
    return reading


def _check_seen(files: Sequence[File]) -> None:
    """Raise where a worker cannot read a file that is there."""
    for name in dict.fromkeys(map(str, files)):
        reasons = {worker: why for worker, why in on_every_worker(_why_unread, name).items() if why is not None}
        if reasons:
            worker, why = next(iter(reasons.items()))
            raise SearchError(
                f"Found {name!r} here, but {len(reasons)} of the workers cannot read it ({worker}: {why}). Put the "
                "files where all of them see them under the same name, in a shared folder or at a URL such as s3://."
            )


def _why_unread(name: str) -> str | None:
    try:
        with file_of(name).open("rb") as file:
            file.read(1)
    # Whatever the worker's system or store raises, it is for the user to read.
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _count(sources: Sources, reading: Reading, on_progress: Callable[[int, int | None], None]) -> list[Any]:
    parts = _cut(sources, reading)
    sizes, total = [part.n_bytes for part in parts], sources.n_bytes
    options = replace(reading.options, n_jobs=1, memory=min(reading.options.memory, _MEMORY))
    given = [broadcast(each) for each in (options, reading.columns, np.sort(hash_words(stop_list(options))))]
    return persist_tasks(
        [task(count_part, part, *given) for part in parts],
        lambda done: on_progress(sum(sizes[number] for number in done), total),
    )


def _cut(sources: Sources, reading: Reading) -> list[Part]:
    most = part_bytes(sources, n_threads())
    about = replace(sources, paths=[])
    if sources.format != "parquet":
        cut = [cut_file(file, about, reading.columns, most) for file in sources.paths]
    else:
        # Each file has to be opened for its row groups: far from a store, that is quicker side by side.
        given = broadcast(about)
        cut = compute_tasks([task(cut_file, file, given, reading.columns, most) for file in sources.paths])
    return join_small(chain.from_iterable(cut), most)


def _without_repeats(counted: list[Any]) -> list[Any]:
    """The parts without documents that repeat an earlier one, letter by letter."""
    n_shares = min(n_threads(), len(counted))
    split = [task(split_marks, part, n_shares) for part in counted]
    found = [task(find_repeats, [item(own, share) for own in split]) for share in range(n_shares)]
    return persist_tasks(
        [task(drop_rows, part, [item(rows, number) for rows in found]) for number, part in enumerate(counted)]
    )


def _choose_words(counted: list[Any], n_documents: int, options: CorpusOptions) -> Vocabulary:
    """The words to count. How often each occurs is summed up on the workers; those that are chosen come here."""
    total = tree_reduce(sum_tallies, [task(tally_part, part) for part in counted])[0]
    chosen = persist_tasks([task(choose_words, total, n_documents, options)])[0]
    spelled = tree_reduce(join_spellings, [task(spell_part, part, chosen) for part in counted])[0]
    tally, words = compute_tasks([chosen, spelled])
    return order_words(tally, words, options.max_words, by_alphabet=True)
