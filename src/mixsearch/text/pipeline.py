"""From files to counts: read chunks, count them in threads, spool them to disk and choose the words."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mixsearch._typing import Array, TableLike
from mixsearch.data.files.sources import Source, describe_source, find_sources, make_empty_error
from mixsearch.data.files.types import ColumnTypes, find_column_types
from mixsearch.errors import SearchWarning
from mixsearch.text.corpus import Corpus
from mixsearch.text.count.annotated import ANNDATA, is_anndata, open_h5ad, read_anndata
from mixsearch.text.count.annotated import FORMAT as H5AD
from mixsearch.text.count.chunks import Chunk, CountedChunk, count_chunk
from mixsearch.text.count.dropped import DroppedWords, describe_dropped, find_single, list_others, take_dropped
from mixsearch.text.count.duplicates import DuplicateFinder
from mixsearch.text.count.known_words import KnownWords, recall_columns, recall_vocabulary
from mixsearch.text.count.matrix_files import MATRIX_FORMATS, CountMatrix, read_matrix
from mixsearch.text.count.patterns import parse_word_pattern
from mixsearch.text.count.phrases import (
    PhraseParts,
    add_phrases,
    choose_phrases,
    count_pairs,
    count_slots,
    list_parts,
    min_documents,
    take_frequent,
)
from mixsearch.text.count.spool import Spool
from mixsearch.text.count.stop_words import ChosenStopWords, StopWordCounts, choose_stop_words, sum_stop_words
from mixsearch.text.count.tokens import hash_words
from mixsearch.text.count.vocabulary import (
    Frequencies,
    FrequencyCounter,
    Vocabulary,
    build_vocabulary,
    choose_words,
    find_bounds,
    find_common,
    leave_out,
    leave_out_sequences,
    spell_words,
    to_count,
)
from mixsearch.text.count.wordlists import list_stop_words
from mixsearch.text.options import CorpusOptions, WordLimits, choose_limits, count_threads
from mixsearch.text.read.documents import ChunkLoader, ReadState
from mixsearch.text.read.formats import check_no_columns, read_documents, read_strings
from mixsearch.text.read.frames import TABLE, are_texts, is_frame, read_frame

OnProgress = Callable[[int, int | None], None]


def read_corpus(
    source: Source | TableLike,
    options: CorpusOptions | None = None,
    *,
    known: KnownWords | None = None,
    on_progress: OnProgress | None = None,
) -> Corpus:
    r"""Read files, a data frame or texts, count their words, and store the counts on disk.

    Parameters
    ----------
    source : path, list of paths, data frame or iterable of str
        JSON lines, CSV, TSV, Parquet or text files, a folder, or a pattern of such; or a UCI docword, Matrix Market
        or SciPy file of ready-made counts. Files may be compressed (gz, bz2, xz, zst). "-" is standard input, with a
        text or a JSON object on each line. Or a table in memory: of pandas, Polars or Arrow, any other with the Arrow
        stream interface, or a mapping from names to columns. Or texts: a Series, an array, a list, a generator. A list
        of strings holds paths if one is a file or none has a blank. Or counts with annotations: an AnnData object or
        an .h5ad file, whose genes are words and whose cells are documents.
    options : CorpusOptions, optional
        How to read and count.
    known : KnownWords, optional
        Count these words, whatever their frequency, in these columns.
    on_progress : callable, optional
        Called as ``on_progress(bytes_done, bytes_total)`` after each chunk, in stored bytes of the files. The total
        is None for standard input.

    Returns
    -------
    Corpus
        The counts, on disk. Use it in a ``with`` statement, which removes its temporary files at the end.

    Raises
    ------
    SearchError
        If a file is missing, broken or empty, a column is missing, or no word is left.

    Notes
    -----
    Documents keep the order of the input. A missing or empty text is a document without words, so that row i of the
    counts is row i of the input unless duplicates are dropped. The result depends neither on `memory` nor on
    `n_jobs`.

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
    if is_anndata(source):
        state = ReadState(options, ANNDATA)
        return _collect_matrix(read_anndata(source, state), state, known, None)
    if is_frame(source) or are_texts(source):
        return _read_memory(source, options, known)
    sources = find_sources(source, options.format)
    state = ReadState(options, describe_source(source), notes=list(sources.notes))
    report = None if on_progress is None else partial(_report, on_progress, state, sources.n_bytes)
    if sources.format == H5AD and len(sources.paths) == 1:
        with open_h5ad(sources.paths[0], state) as matrix:
            return _collect_matrix(matrix, state, known, report)
    if sources.format in MATRIX_FORMATS:
        return _collect_matrix(read_matrix(sources, state), state, known, report)
    return _collect_texts(read_documents(sources, state), state, known, report)


def _read_memory(source: Any, options: CorpusOptions, known: KnownWords | None) -> Corpus:
    """Count the words of a data frame, or of texts."""
    if is_frame(source):
        state = ReadState(options, TABLE)
        return _collect_texts(read_frame(source, state), state, known, None)
    state = ReadState(options)
    check_no_columns(state)
    texts = source.to_pylist() if hasattr(source, "to_pylist") else source  # an array of Arrow
    return _collect_texts(read_strings(texts, None, state), state, known, None)


def count_texts(
    texts: Iterable[str | None],
    options: CorpusOptions | None = None,
    *,
    names: Iterable[str] | None = None,
    known: KnownWords | None = None,
) -> Corpus:
    """Count the words of strings, as `read_corpus` does for files.

    Parameters
    ----------
    texts : iterable of str
        One per document. It is read once, so it can be a generator.
    options : CorpusOptions, optional
        How to count.
    names : iterable of str, optional
        One per document.
    known : KnownWords, optional
        Count these words, whatever their frequency, in these columns.

    Returns
    -------
    Corpus
        The counts, on disk.
    """
    if isinstance(texts, str):
        raise TypeError("texts must be an iterable of strings, got a single string: pass [text], or read_corpus(path).")
    state = ReadState(options or CorpusOptions())
    return _collect_texts(read_strings(texts, names, state), state, known, None)


def count_documents(
    loaders: Iterable[ChunkLoader], options: CorpusOptions | None = None, *, known: KnownWords | None = None
) -> Corpus:
    """Count the words of documents that are read chunk by chunk, with their names and columns.

    Parameters
    ----------
    loaders : iterable of callables
        Each returns a `DocumentChunk`. They are called in threads.
    options : CorpusOptions, optional
        How to count.
    known : KnownWords, optional
        Count these words, whatever their frequency, in these columns.

    Returns
    -------
    Corpus
        The counts, on disk.
    """
    return _collect_texts(loaders, ReadState(options or CorpusOptions()), known, None)


class _Collector:
    """Collects chunks in the order of the input."""

    def __init__(self, options: CorpusOptions, spool: Spool) -> None:
        self.spool, self.frequencies = spool, FrequencyCounter()
        self.n_rows = self.n_documents = self.n_tokens = self.n_missing = 0
        self.stop_words: list[StopWordCounts] = []
        self._types: ColumnTypes | None = None
        self._duplicates = DuplicateFinder(options.drop_duplicates)
        self._n_characters = 0
        self._dropped: list[Array] = []

    def add(self, counted: CountedChunk) -> None:
        """Number the documents, drop the duplicates, and spool the rest."""
        if counted.stop_words is not None:
            self.stop_words = [sum_stop_words([*self.stop_words, counted.stop_words])]
        if counted.types is not None:
            self._types = counted.types if self._types is None else self._types.merge(counted.types)
        chunk = replace(counted.chunk, rows=counted.chunk.rows + self.n_rows)
        self.n_rows += len(chunk.rows)
        self.n_missing += counted.n_missing
        is_empty = np.diff(chunk.counts.bounds) == 0
        repeated = self._duplicates.find(counted.fingerprints, chunk.rows, is_empty)
        if (repeated >= 0).any():
            self._dropped.append(np.stack([chunk.rows, repeated], axis=1)[repeated >= 0])
            chunk = chunk.take(repeated < 0)
        self.n_documents += len(chunk.rows)
        self._n_characters += int(chunk.n_characters.sum())
        self.n_tokens += len(chunk.counts.sequence)
        self.frequencies.add(chunk.counts)
        self.spool.add(chunk)

    def finish(
        self,
        vocabulary: Vocabulary,
        dropped: DroppedWords,
        notes: Iterable[SearchWarning],
        stop_words: Sequence[str] = (),
    ) -> Corpus:
        """Return the corpus of all chunks."""
        return Corpus(
            n_documents=self.n_documents,
            n_characters=self._n_characters,
            duplicates=np.concatenate([np.empty((0, 2), dtype=np.int64), *self._dropped]),
            notes=(*notes, *self._note_missing()),
            stop_words=tuple(stop_words),
            dropped=dropped,
            _vocabulary=vocabulary,
            _spool=self.spool,
            _types=self._types,
            n_missing=self.n_missing,
        )

    def _note_missing(self) -> list[SearchWarning]:
        """Return the note that documents without a text are left out, if there are any."""
        if not self.n_missing:
            return []
        sentence = "{n_missing:,} of {n_rows:,} documents have no text, and are left out."
        return [SearchWarning(sentence, code="missing_texts", n_missing=self.n_missing, n_rows=self.n_rows)]


def _collect_texts(
    loaders: Iterable[ChunkLoader], state: ReadState, known: KnownWords | None, report: Callable[[], None] | None
) -> Corpus:
    options = state.options
    stop_words = list_stop_words(options)
    stop_hashes = np.sort(hash_words(stop_words))
    # Fill its cache once, before all threads need it.
    parse_word_pattern(options.token_pattern)
    with _open_collector(options) as collector:
        count = partial(count_chunk, options=options, stop_hashes=stop_hashes)
        # An error must end the threads at once, not when its traceback is garbage-collected.
        with closing(_map_in_order(count, loaders, count_threads(options))) as results:
            for counted in results:
                collector.add(counted)
                if report is not None:
                    report()
        all_words = _sum_frequencies(collector, state)
        if known is not None:
            vocabulary = recall_vocabulary(known.words, options, all_words)
            dropped = _drop_others(collector, all_words, vocabulary, options, None, [*stop_words, *known.stop_words])
            return collector.finish(vocabulary, dropped, state.list_notes())
        found = choose_stop_words(collector.stop_words, options)
        vocabulary = _choose_vocabulary(collector, all_words, options, found)
        bounds = find_bounds(collector.n_documents, choose_limits(options, collector.n_documents, are_texts=True))
        dropped = _drop_others(collector, all_words, vocabulary, options, bounds, [*stop_words, *found.left_out])
        return collector.finish(vocabulary, dropped, state.list_notes(), found.left_out)


def _choose_vocabulary(
    collector: _Collector, all_words: Frequencies, options: CorpusOptions, found: ChosenStopWords
) -> Vocabulary:
    limits, read_counts = choose_limits(options, collector.n_documents, are_texts=True), collector.spool.read_counts
    kept = leave_out(all_words, hash_words(found.left_out))
    frequencies = choose_words(kept, collector.n_documents, limits)
    words = spell_words(frequencies, read_counts())
    frequencies, words = leave_out_sequences(frequencies, words, found.left_out)
    vocabulary = build_vocabulary(frequencies, words, limits.max_words, by_alphabet=True)
    if not options.counts_phrases:
        return vocabulary
    common = find_common(kept, collector.n_documents, limits)
    parts = list_parts(vocabulary, common, spell_words(common, read_counts()))
    return add_phrases(vocabulary, _find_phrases(collector, vocabulary, parts, limits, found.listed), parts)


def _drop_others(
    collector: _Collector,
    all_words: Frequencies,
    vocabulary: Vocabulary,
    options: CorpusOptions,
    bounds: tuple[float, float] | None,
    stop_words: Sequence[str],
) -> DroppedWords:
    others, read_counts = list_others(all_words, vocabulary), collector.spool.read_counts
    others = take_dropped(others, find_single(others, read_counts()) if options.ngrams[1] > 1 else None)
    return describe_dropped(others, spell_words(others, read_counts()), bounds, stop_words)


def _collect_matrix(
    matrix: CountMatrix, state: ReadState, known: KnownWords | None, report: Callable[[], None] | None
) -> Corpus:
    options = state.options
    with _open_collector(options) as collector:
        for counts in matrix.chunks:
            rows, own = np.arange(counts.n_documents), slice(collector.n_rows, collector.n_rows + counts.n_documents)
            names = None if matrix.names is None else matrix.names[own]
            columns = None if matrix.columns is None else matrix.columns.slice(own.start, counts.n_documents)
            chunk = Chunk(counts, rows, names, None, np.zeros(counts.n_documents, dtype=np.int64), columns)
            types = None if columns is None else find_column_types(columns)
            collector.add(CountedChunk(chunk, np.empty(0), types=types))
            if report is not None:
                report()
        limits = choose_limits(options, collector.n_documents, are_texts=False)
        stop_words = list_stop_words(options)
        listed = set(stop_words)
        stop_keys = np.array([i for i, word in enumerate(matrix.words) if word in listed], dtype=np.uint64)
        kept = leave_out(_sum_frequencies(collector, state), stop_keys)
        bounds = None if known is not None else find_bounds(collector.n_documents, limits)
        if known is not None:
            vocabulary = recall_columns(known.words, matrix.words, kept)
        else:
            frequencies = choose_words(kept, collector.n_documents, limits)
            words = [matrix.words[key] for key in frequencies.keys.tolist()]
            vocabulary = build_vocabulary(frequencies, words, limits.max_words, by_alphabet=False)
        others = take_dropped(list_others(kept, vocabulary), None)
        spelled = [matrix.words[key] for key in others.keys.tolist()]
        return collector.finish(vocabulary, describe_dropped(others, spelled, bounds, stop_words), state.list_notes())


def _find_phrases(
    collector: _Collector,
    vocabulary: Vocabulary,
    parts: PhraseParts,
    limits: WordLimits,
    stop_words: Sequence[str],
) -> Frequencies:
    read, keys, minimum = collector.spool.read_counts, parts.frequencies.keys, min_documents(collector.n_documents)
    pairs = count_pairs(read(), keys, count_slots(read(), keys), minimum)
    pairs = take_frequent(pairs, minimum, to_count(limits.max_df, collector.n_documents))
    return choose_phrases(pairs, parts, len(vocabulary.words), collector.n_tokens, stop_words)


@contextmanager
def _open_collector(options: CorpusOptions) -> Iterator[_Collector]:
    """Open a collector whose files are removed after an error."""
    spool = Spool(options.tmp_dir)
    try:
        yield _Collector(options, spool)
    except BaseException:
        spool.close()
        raise


def _sum_frequencies(collector: _Collector, state: ReadState) -> Frequencies:
    """Return the frequencies of all words; raise if there are no documents."""
    if collector.n_rows == 0:
        raise make_empty_error(state.source)
    return collector.frequencies.sum()


def _map_in_order(
    count: Callable[[ChunkLoader], CountedChunk], loaders: Iterable[ChunkLoader], n_threads: int
) -> Generator[CountedChunk, None, None]:
    """Count chunks in threads and yield them in order, with at most one more chunk in memory than threads."""
    if n_threads == 1:
        yield from map(count, loaders)
        return
    pending: deque[Future[CountedChunk]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for load in loaders:
                pending.append(pool.submit(count, load))
                if len(pending) > n_threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _report(on_progress: OnProgress, state: ReadState, total: int | None) -> None:
    done = state.progress.done
    on_progress(done if total is None else min(done, total), total)
