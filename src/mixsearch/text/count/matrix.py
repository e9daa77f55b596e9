"""Convert a matrix of ready-made counts to a corpus: choose among its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mixsearch.data.files.types import find_column_types
from mixsearch.text.corpus import Corpus
from mixsearch.text.count.chunks import Chunk, CountedChunk
from mixsearch.text.count.collector import open_collector
from mixsearch.text.count.dropped import describe_dropped, list_others, take_dropped
from mixsearch.text.count.known_words import KnownWords, recall_columns
from mixsearch.text.count.matrix_files import CountMatrix
from mixsearch.text.count.vocabulary import Frequencies, build_vocabulary, choose_words, find_bounds, leave_out
from mixsearch.text.count.wordlists import list_stop_words
from mixsearch.text.options import choose_limits
from mixsearch.text.read.documents import ReadState


def collect_matrix(
    matrix: CountMatrix, state: ReadState, known: KnownWords | None, report: Callable[[], None] | None
) -> Corpus:
    """Return the documents of a matrix, with the words that are known or else those chosen by their frequencies."""
    options = state.options
    with open_collector(options) as collector:
        for chunk in _list_chunks(matrix):
            collector.add(chunk)
            if report is not None:
                report()
        stop_words = list_stop_words(options)
        listed = set(stop_words)
        stop_keys = np.array([i for i, word in enumerate(matrix.words) if word in listed], dtype=np.uint64)
        kept = leave_out(collector.sum_frequencies(state.source), stop_keys)
        bounds = None
        if known is not None:
            vocabulary = recall_columns(known.words, matrix.words, kept)
        else:
            limits = choose_limits(options, collector.n_documents, are_texts=False)
            bounds = find_bounds(collector.n_documents, limits)
            chosen = choose_words(kept, collector.n_documents, limits)
            words = _spell_words(chosen, matrix)
            vocabulary = build_vocabulary(chosen, words, limits.max_words, by_alphabet=False)
        others = take_dropped(list_others(kept, vocabulary), None)
        dropped = describe_dropped(others, _spell_words(others, matrix), bounds, stop_words)
        return collector.finish(vocabulary, dropped, state.list_notes())


def _list_chunks(matrix: CountMatrix) -> Iterator[CountedChunk]:
    """Yield the chunks of a matrix, each with the names and columns of its documents."""
    first = 0
    for counts in matrix.chunks:
        n = counts.n_documents
        names = None if matrix.names is None else matrix.names[first : first + n]
        columns = None if matrix.columns is None else matrix.columns.slice(first, n)
        chunk = Chunk(counts, np.arange(n), names, None, np.zeros(n, dtype=np.int64), columns)
        yield CountedChunk(chunk, np.empty(0), types=None if columns is None else find_column_types(columns))
        first += n


def _spell_words(frequencies: Frequencies, matrix: CountMatrix) -> list[str]:
    """Return the words of frequencies, whose keys are columns of the matrix."""
    return [matrix.words[key] for key in frequencies.keys.tolist()]
