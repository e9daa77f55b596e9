"""Chunks of counts in the order of the input: numbered, without duplicates, and spooled to disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.files.sources import make_empty_error
from mixsearch.data.files.types import ColumnTypes
from mixsearch.display import pluralize
from mixsearch.errors import SearchWarning
from mixsearch.text.corpus import Corpus
from mixsearch.text.count.chunks import CountedChunk
from mixsearch.text.count.dropped import DroppedWords
from mixsearch.text.count.duplicates import DuplicateFinder
from mixsearch.text.count.spool import Spool
from mixsearch.text.count.stop_words import StopWordCounts, sum_stop_words
from mixsearch.text.count.vocabulary import Frequencies, FrequencyCounter, Vocabulary
from mixsearch.text.options import CorpusOptions


class Collector:
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

    def sum_frequencies(self, source: str) -> Frequencies:
        """Return the frequencies of all words; raise if there are no documents."""
        if self.n_rows == 0:
            raise make_empty_error(source)
        return self.frequencies.sum()

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
        sentence = (
            "{n_missing:,} of {n_rows:,} documents "
            + pluralize(self.n_missing, "has no text, and is", "have no text, and are")
            + " left out."
        )
        return [SearchWarning(sentence, code="missing_texts", n_missing=self.n_missing, n_rows=self.n_rows)]


@contextmanager
def open_collector(options: CorpusOptions) -> Iterator[Collector]:
    """Open a collector whose files are removed after an error."""
    spool = Spool(options.tmp_dir)
    try:
        yield Collector(options, spool)
    except BaseException:
        spool.close()
        raise
