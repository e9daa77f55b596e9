"""Convert texts to a corpus: count them in threads, collect the chunks in order, and choose the words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mixsearch._typing import Array
from mixsearch.display import pluralize
from mixsearch.errors import SearchError, SearchWarning
from mixsearch.io.tables import concat
from mixsearch.io.types import find_types
from mixsearch.machine import map_in_order
from mixsearch.text.corpus import Corpus, Spool
from mixsearch.text.count.characters import parse_word_pattern
from mixsearch.text.count.chunks import CountedChunk, count_chunk
from mixsearch.text.count.dropped import DroppedWords, describe_dropped, find_single, list_others, take_dropped
from mixsearch.text.count.duplicates import DuplicateFinder
from mixsearch.text.count.phrases import (
    PhraseParts,
    add_phrases,
    choose_phrases,
    count_pairs,
    count_slots,
    list_parts,
    min_documents,
    recall_vocabulary,
    take_frequent,
)
from mixsearch.text.count.stop_words import (
    ChosenStopWords,
    StopWordCounts,
    choose_stop_words,
    list_stop_words,
    sum_stop_words,
)
from mixsearch.text.count.tokens import hash_words
from mixsearch.text.count.vocabulary import (
    Frequencies,
    FrequencyCounter,
    KnownWords,
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
from mixsearch.text.options import CorpusOptions, WordLimits, choose_limits, count_threads
from mixsearch.text.read.documents import ChunkLoader, ReadState

if TYPE_CHECKING:
    import polars as pl


def collect_texts(
    loaders: Iterable[ChunkLoader], state: ReadState, known: KnownWords | None, report: Callable[[], None] | None
) -> Corpus:
    """Return the documents of texts, with the words that are known or else those chosen by their frequencies."""
    options = state.options
    stop_words = list_stop_words(options)
    stop_hashes = np.sort(hash_words(stop_words))
    # Fill its cache once, before all threads need it.
    parse_word_pattern(options.token_pattern)
    with open_collector(options) as collector:
        count = partial(count_chunk, options=options, stop_hashes=stop_hashes)
        # An error must end the threads at once, not when its traceback is garbage-collected.
        with closing(map_in_order(count, loaders, count_threads(options))) as results:
            for counted in results:
                collector.add(counted)
                if report is not None:
                    report()
        all_words = collector.sum_frequencies(state.source)
        if known is not None:
            vocabulary = recall_vocabulary(known.words, options, all_words)
            dropped = _drop_others(collector, all_words, vocabulary, options, None, [*stop_words, *known.stop_words])
            return collector.finish(vocabulary, dropped, state.list_notes(), readings=state.reading.readings)
        found = choose_stop_words(collector.stop_words, options)
        vocabulary = _choose_vocabulary(collector, all_words, options, found)
        bounds = find_bounds(collector.n_documents, choose_limits(options, collector.n_documents, are_texts=True))
        dropped = _drop_others(collector, all_words, vocabulary, options, bounds, [*stop_words, *found.left_out])
        return collector.finish(vocabulary, dropped, state.list_notes(), found.left_out, state.reading.readings)


def _choose_vocabulary(
    collector: Collector, all_words: Frequencies, options: CorpusOptions, found: ChosenStopWords
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
    collector: Collector,
    all_words: Frequencies,
    vocabulary: Vocabulary,
    options: CorpusOptions,
    bounds: tuple[float, float] | None,
    stop_words: Sequence[str],
) -> DroppedWords:
    others, read_counts = list_others(all_words, vocabulary), collector.spool.read_counts
    others = take_dropped(others, find_single(others, read_counts()) if options.ngrams[1] > 1 else None)
    return describe_dropped(others, spell_words(others, read_counts()), bounds, stop_words)


def _find_phrases(
    collector: Collector,
    vocabulary: Vocabulary,
    parts: PhraseParts,
    limits: WordLimits,
    stop_words: Sequence[str],
) -> Frequencies:
    read, keys, minimum = collector.spool.read_counts, parts.frequencies.keys, min_documents(collector.n_documents)
    pairs = count_pairs(read(), keys, count_slots(read(), keys), minimum)
    pairs = take_frequent(pairs, minimum, to_count(limits.max_df, collector.n_documents))
    return choose_phrases(pairs, parts, len(vocabulary.words), collector.n_tokens, stop_words)


class Collector:
    """Collects chunks in the order of the input."""

    def __init__(self, options: CorpusOptions, spool: Spool) -> None:
        self.spool, self.frequencies = spool, FrequencyCounter()
        self.n_rows = self.n_documents = self.n_tokens = self.n_missing = 0
        self.stop_words: list[StopWordCounts] = []
        self._columns: list[pl.DataFrame] = []
        self._duplicates = DuplicateFinder(options.drop_duplicates)
        self._n_characters = 0
        self._dropped: list[Array] = []

    def add(self, counted: CountedChunk) -> None:
        """Number the documents, drop the duplicates, and spool the rest."""
        if counted.stop_words is not None:
            self.stop_words = [sum_stop_words([*self.stop_words, counted.stop_words])]
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
        # The columns to keep stay in memory: only all of their values show their types.
        self._columns += [] if chunk.columns is None else [chunk.columns]
        self.spool.add(chunk)

    def sum_frequencies(self, source: str) -> Frequencies:
        """Return the frequencies of all words; raise if there are no documents."""
        if self.n_rows == 0:
            raise SearchError(
                "{source!r} has no documents, but at least one is needed. Check that it is the right file.",
                code="no_documents",
                source=source,
            )
        return self.frequencies.sum()

    def finish(
        self,
        vocabulary: Vocabulary,
        dropped: DroppedWords,
        notes: Iterable[SearchWarning],
        stop_words: Sequence[str] = (),
        readings: Sequence[str] = (),
    ) -> Corpus:
        """Return the corpus of all chunks; the text of columns may have the types of these readings."""
        return Corpus(
            n_documents=self.n_documents,
            n_characters=self._n_characters,
            duplicates=np.concatenate([np.empty((0, 2), dtype=np.int64), *self._dropped]),
            notes=(*notes, *self._note_missing()),
            stop_words=tuple(stop_words),
            dropped=dropped,
            _vocabulary=vocabulary,
            _spool=self.spool,
            n_missing=self.n_missing,
            columns=find_types(concat(self._columns), readings) if self._columns else None,
        )

    def _note_missing(self) -> list[SearchWarning]:
        """Return the note that documents without a text are left out, if there are any."""
        if not self.n_missing:
            return []
        sentence = (
            "{n_missing:,} of {n_rows:,} documents "
            + pluralize(self.n_missing, "has no text, and is", "have no text, and are")
            + " left out."
        )
        return [SearchWarning(sentence, code="missing_texts", n_missing=self.n_missing, n_rows=self.n_rows)]


@contextmanager
def open_collector(options: CorpusOptions) -> Iterator[Collector]:
    """Open a collector whose files are removed after an error."""
    spool = Spool()
    try:
        yield Collector(options, spool)
    except BaseException:
        spool.close()
        raise
