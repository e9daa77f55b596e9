"""Texts to counts: find words in threads, number them in order, choose the features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp

from mixsearch._typing import Array, TableLike
from mixsearch.display import pluralize
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.io.files import Source, describe_source, find_files
from mixsearch.io.frames import is_frame
from mixsearch.io.tables import concat
from mixsearch.io.types import find_types
from mixsearch.machine import map_in_order
from mixsearch.text.corpus import Chunk, Corpus, Entries, Spool, Words
from mixsearch.text.duplicates import compute_bands, find_copies
from mixsearch.text.options import CorpusOptions, WordLimits, choose_limits
from mixsearch.text.phrases import Phrases, Sequences, find_phrases, number_parts
from mixsearch.text.read import TABLE, Documents, SourceReader, are_texts
from mixsearch.text.ready_counts import MATRIX_FORMAT, CountMatrix, read_matrix
from mixsearch.text.stop_words import AUTO, StopWordCounter, list_stop_words
from mixsearch.text.tokens import Lexicon, find_tokens, is_default

OnProgress = Callable[[int, int | None], None]
# Nobody asks for what has more letters: encoded files and the like.
_MAX_LETTERS = 60


def read_corpus(
    source: Source | TableLike,
    options: CorpusOptions | None = None,
    *,
    known: Sequence[str] | None = None,
    on_progress: OnProgress | None = None,
) -> Corpus:
    r"""Read files, a data frame or texts, count their words, and store the counts on disk.

    Parameters
    ----------
    source : path, list of paths, data frame or iterable of str
        JSON lines, CSV, TSV, Parquet or text files, a folder, or a pattern of such; or a file of ready-made counts,
        written by `scipy.sparse.save_npz`. Files may be compressed (gz, zst). "-" is standard input: JSON
        lines, CSV, or a text on each line. Or a table in memory: of pandas, Polars or Arrow, any other with the Arrow
        stream interface, or a mapping from names to columns. Or texts: a Series, an array, a list, a generator. A list
        of strings is read as paths if one is a file or none contains a space.
    options : CorpusOptions, optional
        How to read and count.
    known : sequence of str, optional
        The features, whatever the frequencies of the words are.
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
    counts is row i of the input unless duplicates are dropped. The result does not depend on `memory`.

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
    if is_frame(source):
        reader = SourceReader(options, TABLE)
        return _collect_texts(reader.read_frame(source), reader, known)
    if are_texts(source):
        reader = SourceReader(options)
        reader.check_no_columns()
        return _collect_texts(reader.read_strings(source, None), reader, known)  # type: ignore[arg-type]
    sources = find_files(source, options.format, options.named_columns)
    reader = SourceReader(options, describe_source(source))
    report = None if on_progress is None else partial(_report, on_progress, reader, sources.n_bytes)
    if sources.format == MATRIX_FORMAT:
        return _collect_matrix(read_matrix(sources, reader), reader, known, report)
    return _collect_texts(reader.read_files(sources), reader, known, report)


def count_texts(
    texts: Iterable[str | None],
    options: CorpusOptions | None = None,
    *,
    names: Iterable[str] | None = None,
    known: Sequence[str] | None = None,
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
    known : sequence of str, optional
        The features, whatever the frequencies of the words are.

    Returns
    -------
    Corpus
        The counts, on disk.

    Examples
    --------
    >>> from mixsearch.text import count_texts
    >>> with count_texts(["good sushi", "good, good ramen"]) as corpus:
    ...     print(corpus.vocabulary, corpus.to_counts().toarray().tolist())
    ['good', 'ramen', 'sushi'] [[1, 0, 1], [2, 1, 0]]
    """
    if isinstance(texts, str):
        raise TypeError("texts must be an iterable of strings, got a single string: pass [text], or read_corpus(path).")
    reader = SourceReader(options or CorpusOptions())
    return _collect_texts(reader.read_strings(texts, names), reader, known)


def count_documents(chunks: Iterable[Documents], options: CorpusOptions) -> Corpus:
    """Count the words of documents that are read chunk by chunk, with their names and columns."""
    return _collect_texts(chunks, SourceReader(options), None)


def _report(on_progress: OnProgress, reader: SourceReader, total: int | None) -> None:
    on_progress(reader.n_bytes if total is None else min(reader.n_bytes, total), total)


class TokenChunk(NamedTuple):
    """Documents with their tokens."""

    documents: Documents
    tokens: pl.Series  # of all documents, one after another
    bounds: Array  # tokens bounds[i] to bounds[i + 1] belong to document i, (n_documents + 1,)


def _collect_texts(
    chunks: Iterable[Documents],
    reader: SourceReader,
    known: Sequence[str] | None,
    report: Callable[[], None] | None = None,
) -> Corpus:
    """Count texts, and choose the features by their frequencies unless they are known."""
    options, named = reader.options, list_stop_words(reader.options)
    with _open_collector(options) as collector:
        # An error must end the threads at once, not when its traceback is garbage-collected.
        with closing(map_in_order(partial(_tokenize, options=options), chunks, options.n_threads)) as results:
            for chunk in results:
                collector.add_texts(chunk)
                if report is not None:
                    report()
        collector.finish(reader.source)
        frequent, listed = collector.stop_words.choose() if collector.stop_words else ([], [])
        if known is not None:
            words = collector.recall_words(known)
        else:
            words = collector.choose_words([*named, *frequent], [*named, *frequent, *listed])
        return collector.build(words, reader, [*named, *frequent] if known is None else [])


def _collect_matrix(
    matrix: CountMatrix, reader: SourceReader, known: Sequence[str] | None, report: Callable[[], None] | None
) -> Corpus:
    """Take ready-made counts, and choose the features by their frequencies unless they are known."""
    with _open_collector(reader.options, matrix.words) as collector:
        for counts in matrix.chunks:
            collector.add_counts(counts)
            if report is not None:
                report()
        collector.finish(reader.source)
        named = list_stop_words(reader.options)
        words = collector.choose_words(named, named) if known is None else collector.recall_words(known)
        return collector.build(words, reader, named)


def _tokenize(documents: Documents, options: CorpusOptions) -> TokenChunk:
    too_long = documents.texts.str.len_bytes() > options.document_bytes
    if too_long.any():
        raise SearchError(
            "The document in {place} is longer than {limit:,} bytes, the maximum with this {argument}. Set a larger "
            "one, or split the document.",
            code="document_too_long",
            place=documents.locate(too_long.arg_max() or 0),
            limit=options.document_bytes,
            argument=Option("memory"),
        )
    lists = find_tokens(documents.texts, options, documents.locate)
    lengths = lists.list.len().to_numpy().astype(np.int64)
    return TokenChunk(documents, lists.explode().drop_nulls(), np.concatenate([[0], np.cumsum(lengths)]))


def count_entries(documents: Array, numbers: Array, counts: Array, n_documents: int) -> Entries:
    """Add the counts of equal words of a document; documents rise."""
    keys = documents.astype(np.int64) << 32 | numbers
    if len(counts) != len(keys):  # each is one
        keys.sort()
        is_first = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        starts = np.flatnonzero(is_first)
        totals = np.diff(starts, append=len(keys))
    else:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        totals = np.add.reduceat(counts[order], starts) if len(keys) else counts
    keys = keys[starts]
    bounds = np.searchsorted(keys, np.arange(n_documents + 1) << 32)
    return Entries((keys & 0xFFFFFFFF).astype(np.int32), totals.astype(np.int32), bounds)


class Collector:
    """Collects chunks in the order of the input, and the frequencies of their words."""

    def __init__(self, options: CorpusOptions, spool: Spool, words: Sequence[str] | None) -> None:
        self._options, self._spool, self._words = options, spool, words
        self._lexicon = Lexicon(is_default=is_default(options))
        chooses = words is None and options.stop_words == AUTO
        self.stop_words = StopWordCounter(options) if chooses else None
        self._n_characters: list[Array] = [np.zeros(0, dtype=np.int64)]
        self._bands: list[Array] = []
        self._n_words: list[Array] = []
        self._columns: list[pl.DataFrame] = []
        self._documents, self._totals = np.zeros((2, 0 if words is None else len(words)), dtype=np.int64)
        self._n_missing, self._copy_of = 0, np.zeros(0, dtype=np.int64)

    def add_texts(self, chunk: TokenChunk) -> None:
        """Add documents."""
        documents, tokens, bounds = chunk
        numbers, new = self._lexicon.number(tokens)
        n = len(bounds) - 1
        owners = np.repeat(np.arange(n, dtype=np.int32), np.diff(bounds))
        is_word = self._lexicon.is_word
        entries = count_entries(owners, numbers, np.zeros(0), n)
        parts = self._lexicon.count_parts(entries.documents, entries.numbers, entries.counts)
        kept = is_word[entries.numbers]
        counted = (entries.documents[kept], entries.numbers[kept], entries.counts[kept])
        if len(parts[0]):
            owners, numbered, counts = (np.concatenate(pair) for pair in zip(counted, parts, strict=True))
            entries = count_entries(owners, numbered, counts, n)
        else:
            bounds_kept = np.concatenate([[0], np.cumsum(kept)])[entries.bounds]
            entries = Entries(counted[1], counted[2], bounds_kept)
        if self.stop_words is not None:
            self.stop_words.add(new.to_list(), n, entries.documents, entries.numbers, entries.counts)
        self._bands.append(compute_bands(self._lexicon.hashes[entries.numbers], entries.bounds))
        self._n_words.append(np.bincount(entries.documents, entries.counts, n).astype(np.int64))
        sequences = Sequences(numbers, bounds) if self._options.phrases else None
        contents = {"name": documents.names, "text": documents.texts if self._options.keep_texts else None}
        frame = pl.DataFrame({name: column for name, column in contents.items() if column is not None})
        # The columns to keep stay in memory: only all of their values show their types.
        self._columns += [] if documents.columns is None else [documents.columns]
        self._n_missing += documents.n_missing
        self._add(Chunk(entries, sequences, documents.texts.str.len_chars().to_numpy().astype(np.int64), frame))

    def add_counts(self, counts: sp.csr_array[Any]) -> None:
        """Add documents that are counted already."""
        entries = Entries(counts.indices.astype(np.int32), counts.data.astype(np.int32), counts.indptr)
        self._add(Chunk(entries, None, np.zeros(counts.shape[0], dtype=np.int64), pl.DataFrame()))

    def _add(self, chunk: Chunk) -> None:
        n_more = len(self._lexicon.is_word) - len(self._documents)
        if n_more > 0:
            self._documents, self._totals = (np.pad(each, (0, n_more)) for each in (self._documents, self._totals))
        numbers, counts, n = chunk.entries.numbers, chunk.entries.counts, len(self._documents)
        self._documents += np.bincount(numbers, minlength=n)
        self._totals += np.bincount(numbers, counts, n).astype(np.int64)
        self._n_characters.append(chunk.n_characters)
        self._spool.add(chunk)

    def finish(self, source: str) -> None:
        """Mark the copies of documents; raise if there are no documents."""
        n = self._spool.starts[-1]
        if n == 0:
            raise SearchError(
                "{source!r} has no documents, but at least one is needed. Check that it is the right file.",
                code="no_documents",
                source=source,
            )
        self._copy_of = np.arange(n)
        if self._bands:
            n_words = np.concatenate(self._n_words)
            self._copy_of = find_copies(np.concatenate(self._bands), n_words, self._spool.read_rows)
        if self._options.drop_duplicates:
            is_dropped = self._copy_of != np.arange(n)
            for start, entries in zip(self._spool.starts, self._spool.read_entries(), strict=False):
                dropped = is_dropped[start + entries.documents]
                np.subtract.at(self._documents, entries.numbers[dropped], 1)
                np.subtract.at(self._totals, entries.numbers[dropped], entries.counts[dropped])

    @property
    def _n_left(self) -> int:
        n = self._spool.starts[-1]
        return int(np.sum(self._copy_of == np.arange(n))) if self._options.drop_duplicates else n

    def _spell(self) -> pl.Series:
        return self._lexicon.tokens if self._words is None else pl.Series(self._words, dtype=pl.String)

    def choose_words(self, stop_words: Sequence[str], never_in_phrases: Sequence[str]) -> Words:
        """Choose the features by the numbers of documents, and phrases of them and of words that are too common."""
        n, spelled = self._n_left, self._spell()
        limits = choose_limits(self._options, n, are_texts=self._words is None)
        is_stop, is_never = (
            spelled.is_in(pl.Series(sorted(set(words)), dtype=pl.String).implode()).to_numpy()
            for words in (stop_words, never_in_phrases)
        )
        candidates = np.flatnonzero((self._documents > 0) & ~is_stop)
        features = self._choose_features(candidates, spelled, limits, n)
        if self._words is not None:
            return self._tabulate(spelled.gather(features), features, np.arange(len(features)), None)
        names, phrases = spelled.gather(features), None
        if self._options.phrases:
            high = limits.find_bounds(n)[1]
            members = np.union1d(features, candidates[self._documents[candidates] > high])
            parts = number_parts(members[~is_never[members]], len(spelled))
            phrases = find_phrases(self._spool.read_sequences, parts, self._totals, (n, high, len(features)))
            names = pl.concat([names, phrases.spell(spelled)])
        order = names.arg_sort().to_numpy()
        columns = np.argsort(order).astype(np.int32)
        phrases = None if phrases is None else phrases._replace(columns=columns[len(features) :])
        return self._tabulate(names.gather(order), features, columns[: len(features)], phrases)

    def _choose_features(self, candidates: Array, spelled: pl.Series, limits: WordLimits, n: int) -> Array:
        if not len(candidates):
            raise SearchError(
                pluralize(n, "The only document has", "The {n_documents:,} documents have")
                + " no words. Check the text column and the token pattern.",
                code="no_words",
                n_documents=n,
            )
        lower, upper = limits.find_bounds(n)
        documents = self._documents[candidates]
        features = candidates[(documents >= lower) & (documents <= upper)]
        if not len(features):
            raise SearchError(
                "No word occurs in {lower:g} to {upper:g} of the {n_documents:,} documents. Lower {min_df_argument} "
                "({min_df!r}) or raise {max_df_argument} ({max_df!r}).",
                code="no_words_left",
                lower=lower,
                upper=upper,
                n_documents=n,
                min_df_argument=Option("min_df"),
                min_df=limits.min_df,
                max_df_argument=Option("max_df"),
                max_df=limits.max_df,
            )
        if limits.max_words is not None and len(features) > limits.max_words:
            # Of equally frequent words, the first ones in alphabetical order stay.
            rank = spelled.gather(features).rank("ordinal").to_numpy()
            features = np.sort(features[np.lexsort([rank, -self._totals[features]])[: limits.max_words]])
        return features

    def recall_words(self, known: Sequence[str]) -> Words:
        """Take known words as features, in their order."""
        spelled, names = self._spell(), pl.Series("word", known, dtype=pl.String)
        numbers = pl.DataFrame({"word": spelled, "number": np.arange(len(spelled))})
        found = names.to_frame().with_row_index("column").join(numbers, on="word")
        features, columns = found["number"].to_numpy(), found["column"].to_numpy().astype(np.int32)
        halves = [(column, *word.split(" ")) for column, word in enumerate(known) if word.count(" ") == 1]
        if not halves or self._words is not None or not self._options.phrases:
            return self._tabulate(names, features, columns, None)
        pairs = pl.DataFrame(halves, schema=["column", "first", "second"], orient="row")
        for side in ("first", "second"):
            pairs = pairs.join(numbers.rename({"word": side, "number": f"{side} number"}), on=side)
        first, second = (pairs[f"{side} number"].to_numpy() for side in ("first", "second"))
        parts = number_parts(np.union1d(first, second), len(spelled))
        codes = parts.number_of[first] * len(parts.tokens) + parts.number_of[second]
        order = np.argsort(codes)
        of_phrases, zeros = pairs["column"].to_numpy()[order].astype(np.int32), np.zeros(len(order), dtype=np.int64)
        phrases = Phrases(parts, codes[order], of_phrases, zeros, zeros)
        return self._tabulate(names, features, columns, phrases)

    def _tabulate(self, names: pl.Series, features: Array, columns: Array, phrases: Phrases | None) -> Words:
        """Return the names and frequencies of features, given the columns of words and phrases, and of other words."""
        spelled = self._spell()
        is_other = (self._documents > 0) & (spelled.str.len_chars() <= _MAX_LETTERS).to_numpy()
        is_other[features] = False
        others = np.flatnonzero(is_other)
        others = others[spelled.gather(others).arg_sort().to_numpy()]
        column_of = np.full(len(spelled), -1, dtype=np.int32)
        column_of[features], column_of[others] = columns, len(names) + np.arange(len(others))
        documents, totals = np.zeros((2, len(names) + len(others)), dtype=np.int64)
        numbers = np.concatenate([features, others])
        documents[column_of[numbers]], totals[column_of[numbers]] = self._documents[numbers], self._totals[numbers]
        if phrases is not None:
            documents[phrases.columns], totals[phrases.columns] = phrases.documents, phrases.totals
        return Words(pl.concat([names, spelled.gather(others)]), len(names), documents, totals, column_of, phrases)

    def build(self, words: Words, reader: SourceReader, stop_words: Sequence[str]) -> Corpus:
        """Return the corpus of all chunks."""
        n, lengths = self._spool.starts[-1], np.concatenate(self._n_characters)
        dropped = np.flatnonzero(self._copy_of != np.arange(n)) if self._options.drop_duplicates else np.arange(0)
        columns = find_types(concat(self._columns), reader.reading.readings) if self._columns else None
        is_left = np.ones(n, dtype=bool)
        is_left[dropped] = False
        return Corpus(
            n_documents=n - len(dropped),
            n_characters=int(lengths.sum() - lengths[dropped].sum()),
            copy_of=np.arange(n - len(dropped)) if len(dropped) else self._copy_of,
            duplicates=np.stack([dropped, self._copy_of[dropped]], axis=1),
            notes=(*reader.list_notes(), *self._note_missing()),
            stop_words=tuple(sorted(set(stop_words))),
            _words=words,
            _spool=self._spool,
            n_missing=self._n_missing,
            columns=columns.filter(is_left) if columns is not None and len(dropped) else columns,
        )

    def _note_missing(self) -> list[SearchWarning]:
        """Return the note that documents have no text, if there are any."""
        if not self._n_missing:
            return []
        sentence = "{n_missing:,} of {n_rows:,} documents " + pluralize(
            self._n_missing, "has no text.", "have no text."
        )
        return [SearchWarning(sentence, code="missing_texts", n_missing=self._n_missing, n_rows=self._spool.starts[-1])]


@contextmanager
def _open_collector(options: CorpusOptions, words: Sequence[str] | None = None) -> Iterator[Collector]:
    """Open a collector whose files are removed after an error; with the words of the columns of ready-made counts."""
    spool = Spool()
    try:
        yield Collector(options, spool, words)
    except BaseException:
        spool.close()
        raise
