"""From files to counts: read in blocks, counted side by side, spooled, and handed out again."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.text.corpus import Corpus
from mixsearch.text.count.chunks import Counted, count_load, take_documents
from mixsearch.text.count.duplicates import Duplicates
from mixsearch.text.count.matrix_files import read_bags
from mixsearch.text.count.ngrams import BlockCounts
from mixsearch.text.count.spool import Block, Spool
from mixsearch.text.count.tokens import hash_words, words_of_pattern
from mixsearch.text.count.vocabulary import (
    GrowingTally,
    PartitionCounts,
    Vocabulary,
    choose_words,
    name_words,
    order_words,
)
from mixsearch.text.count.wordlists import stop_list
from mixsearch.text.options import CorpusOptions
from mixsearch.text.read.documents import Load, Reading
from mixsearch.text.read.formats import read_documents, read_strings
from mixsearch.text.read.sources import Source, find_sources

OnProgress = Callable[[int, int | None], None]


def read_corpus(
    source: Source, options: CorpusOptions | None = None, *, on_progress: OnProgress | None = None
) -> Corpus:
    r"""Read files, count their words, and keep the counts on disk.

    Parameters
    ----------
    source : path or list of paths
        JSON lines, CSV, TSV, Parquet, text files, a folder or a pattern of such; a UCI docword, Matrix Market or SciPy
        file of ready-made counts; any of them compressed (gz, bz2, xz, zst). "-" is standard input, with a text or a
        JSON object on each line.
    options : CorpusOptions, optional
        How to read and count.
    on_progress : callable, optional
        Called here as ``on_progress(bytes_done, bytes_total)`` after each block, in bytes of the files on disk; the
        total is None for standard input.

    Returns
    -------
    Corpus
        Use it in a ``with`` statement: its temporary files go when that ends.

    Raises
    ------
    SearchError
        Where a file is missing, broken or empty, a column is missing, or no word is left.

    Notes
    -----
    Documents keep the order of the input, and a null or empty text is a document without words, so that rows can be
    told by number. The result depends neither on `memory` nor on `n_jobs`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "reviews.csv")
    ...     _ = path.write_text('id,review\n1,Good sushi\n2,"Good, good ramen"\n')
    ...     with read_corpus(path, CorpusOptions(text="review")) as corpus:
    ...         print(corpus.vocabulary, corpus.to_counts().toarray().tolist())
    ['good', 'ramen', 'sushi'] [[1, 0, 1], [2, 1, 0]]
    """
    options = options or CorpusOptions()
    sources = find_sources(source, options.format)
    notes = [] if sources.note is None else [sources.note]
    reading = Reading(options, named_source(source), notes=notes)
    report = None if on_progress is None else partial(_report, on_progress, reading, sources.n_bytes)
    if sources.format in ("docword", "mtx", "npz"):
        bags = read_bags(sources, reading)
        return _collect_bags(bags.blocks, bags.words, reading, report)
    return _collect(read_documents(sources, reading), reading, report)


def count_texts(
    texts: Iterable[str | None], options: CorpusOptions | None = None, *, names: Iterable[str] | None = None
) -> Corpus:
    """Count the words of texts that are already in Python, as `read_corpus` does for files.

    Parameters
    ----------
    texts : iterable of str
        One for each document; read once, so a generator will do.
    options : CorpusOptions, optional
        How to count.
    names : iterable of str, optional
        One for each document.

    Returns
    -------
    Corpus
        The counts, on disk.
    """
    if isinstance(texts, str):
        raise TypeError("Found a single string, needed an iterable of texts: pass [text], or read_corpus(path).")
    reading = Reading(options or CorpusOptions())
    return _collect(read_strings(texts, names, reading), reading, None)


class _Collection:
    """Blocks in the order of the input, as they arrive."""

    def __init__(self, reading: Reading, spool: Spool) -> None:
        self.spool, self.tally = spool, GrowingTally()
        self.seen = Duplicates(reading.options.drop_duplicates)
        self.n_rows = self.n_documents = self.n_characters = 0
        self.dropped: list[Array] = []

    def add(self, counted: Counted) -> None:
        """Number the documents, drop the duplicates, and spool the rest."""
        block = replace(counted.block, rows=counted.block.rows + self.n_rows)
        self.n_rows += len(block.rows)
        is_empty = np.diff(block.counts.bounds) == 0
        repeated = self.seen.find(counted.marks, block.rows, is_empty)
        if (repeated >= 0).any():
            self.dropped.append(np.stack([block.rows, repeated], axis=1)[repeated >= 0])
            block = take_documents(block, repeated < 0)
        self.n_documents += len(block.rows)
        self.n_characters += int(block.n_characters.sum())
        self.tally.add(block.counts)
        self.spool.add(block)

    def finish(self, vocabulary: Vocabulary, notes: list[str]) -> Corpus:
        """The corpus of all blocks."""
        duplicates = np.concatenate([np.empty((0, 2), dtype=np.int64), *self.dropped])
        return Corpus(self.n_documents, self.n_characters, duplicates, tuple(notes), vocabulary, self.spool)


def _collect(loads: Iterable[Load], reading: Reading, report: Callable[[], None] | None) -> Corpus:
    options = reading.options
    stop_hashes = np.sort(hash_words(stop_list(options)))
    # Made once, before all threads ask for it.
    words_of_pattern(options.token_pattern)
    with _spool_of(reading) as collection:
        work = partial(count_load, options=options, stop_hashes=stop_hashes)
        # An error must end the threads now, not when its traceback is forgotten.
        with closing(_map_in_order(work, loads, options.n_threads)) as results:
            for counted in results:
                collection.add(counted)
                if report is not None:
                    report()
        tally = _choose(collection, reading)
        words = name_words(tally, collection.spool.counts())
        return collection.finish(order_words(tally, words, options.max_words, by_alphabet=True), reading.notes)


def _collect_bags(
    blocks: Iterable[BlockCounts], all_words: list[str], reading: Reading, report: Callable[[], None] | None
) -> Corpus:
    options = reading.options
    with _spool_of(reading) as collection:
        for counts in blocks:
            rows = np.arange(counts.n_documents)
            block = Block(counts, rows, None, None, np.zeros(counts.n_documents, dtype=np.int64))
            collection.add(Counted(block, np.empty(0)))
            if report is not None:
                report()
        stopped = set(stop_list(options))
        tally = _choose(collection, reading, [column for column, word in enumerate(all_words) if word in stopped])
        words = [all_words[key] for key in tally.keys.tolist()]
        return collection.finish(order_words(tally, words, options.max_words, by_alphabet=False), reading.notes)


@contextmanager
def _spool_of(reading: Reading) -> Iterator[_Collection]:
    """A collection whose files do not outlive an error."""
    spool = Spool(reading.options.tmp_dir)
    try:
        yield _Collection(reading, spool)
    except BaseException:
        spool.close()
        raise


def _choose(collection: _Collection, reading: Reading, stopped_keys: Sequence[int] = ()) -> PartitionCounts:
    if collection.n_rows == 0:
        raise SearchError(f"Found no documents in {reading.source}, needed at least one: is it the right file?")
    tally = collection.tally.total()
    tally = tally.take(~np.isin(tally.keys, np.array(stopped_keys, dtype=np.uint64)))
    return choose_words(tally, collection.n_documents, reading.options)


def named_source(source: Source) -> str:
    """What to call all files in a sentence."""
    if source == "-":
        return "standard input"
    named = [source] if isinstance(source, str | os.PathLike) else list(source)
    return repr(os.fspath(named[0]) + (" and others" if len(named) > 1 else ""))


def _map_in_order(
    work: Callable[[Load], Counted], loads: Iterable[Load], n_threads: int
) -> Generator[Counted, None, None]:
    """Work on several blocks at once, but never on more than there are threads, and one."""
    if n_threads == 1:
        yield from map(work, loads)
        return
    pending: deque[Future[Counted]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for load in loads:
                pending.append(pool.submit(work, load))
                if len(pending) > n_threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _report(on_progress: OnProgress, reading: Reading, total: int | None) -> None:
    done = reading.progress.done
    on_progress(done if total is None else min(done, total), total)
