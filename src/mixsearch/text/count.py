"""Texts to counts: number the tokens in order, count words by their tokens, choose the features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
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
from mixsearch.text.corpus import Corpus, Spool
from mixsearch.text.options import MAX_FEATURES, CorpusOptions, choose_limits
from mixsearch.text.phrases import Sequences, find_phrases, number_parts, number_words, recall_phrases
from mixsearch.text.read import TABLE, Documents, SourceReader, are_texts
from mixsearch.text.stop_words import AUTO, choose_stop_words, list_stop_words
from mixsearch.text.tokens import Lexicon, find_tokens, find_words

OnProgress = Callable[[int, int | None], None]
# Documents, evenly spread, that show the languages of a corpus.
_N_SAMPLE = 10_000
# The share of words, each as often as it occurs, that near copies have in common.
MIN_SIMILARITY = 0.8
# Documents that agree in a band of minima are compared: of similarity 0.8 with probability .88, 0.9 with .98, 0.95 with
# .997 and 0.3 with .08.
_N_BANDS, _BAND_SIZE = 3, 3
_N_COMPARED = 20_000


def read_corpus(
    source: Source | TableLike,
    options: CorpusOptions | None = None,
    *,
    features: Sequence[str] | None = None,
    on_progress: OnProgress | None = None,
) -> Corpus:
    r"""Read files, a data frame or texts, count their words, and store the counts on disk.

    Parameters
    ----------
    source : path, list of paths, data frame or iterable of str
        JSON lines, CSV, TSV, Parquet or text files, a folder, or a pattern of such. Files may be compressed (gz,
        zst). "-" is standard input: JSON lines, CSV, or a text on each line. Or a table in memory: of pandas, Polars or
        Arrow, any other with the Arrow stream interface, or a mapping from names to columns. Or texts: a Series, an
        array, a list, a generator. A list of strings is read as paths if one is a file or none contains a space.
        Of a Dask bag of texts or a Dask frame, one part at a time is in memory.
    options : CorpusOptions, optional
        How to read and count.
    features : sequence of str, optional
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
    counts is row i of the input. The result does not depend on `memory`.

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
        return count_documents(reader.read_frame(source), reader, features)
    if are_texts(source):
        reader = SourceReader(options)
        reader.check_no_columns()
        return count_documents(reader.read_strings(source), reader, features)  # type: ignore[arg-type]
    sources = find_files(source, is_table=bool(options.named_columns))
    reader = SourceReader(options, describe_source(source))

    def report() -> None:
        if on_progress is not None:
            on_progress(min(reader.n_bytes, sources.n_bytes), sources.n_bytes)

    return count_documents(reader.read_files(sources), reader, features, report)


def count_texts(
    texts: Iterable[str | None],
    options: CorpusOptions | None = None,
    *,
    features: Sequence[str] | None = None,
) -> Corpus:
    """Count the words of strings, which are texts whatever they look like, as `read_corpus` does for files."""
    if isinstance(texts, str):
        raise TypeError("texts must be an iterable of strings, got a single string: pass [text], or read_corpus(path).")
    reader = SourceReader(options or CorpusOptions())
    return count_documents(reader.read_strings(texts), reader, features)


def count_documents(
    chunks: Iterable[Documents],
    reader: SourceReader,
    features: Sequence[str] | None = None,
    report: Callable[[], None] = lambda: None,
) -> Corpus:
    """Count texts, and choose the features by their frequencies unless they are given."""
    options = reader.options
    spool = Spool()
    with ExitStack() as stack:
        stack.callback(spool.close)  # after an error; the corpus has it otherwise
        # 1) tokens, numbered as they come; their counts go to disk
        stored = _store_tokens(chunks, reader, spool, report)
        n = spool.starts[-1]
        # 2) documents that nearly repeat an earlier one
        copy_of = find_copies(stored.bands, stored.n_tokens, partial(spool.read_rows, width=len(stored.tokens)))
        # 3) the words that each token is counted as, and their frequencies
        table = _tabulate_words(stored.tokens, spool)
        # 4) features and phrases, by their frequencies
        stop_words, names = _choose_features(table, options, spool) if features is None else ([], features)
        # 5) counts by columns: features, and after them all other words
        columns = None if stored.columns is None else find_types(stored.columns, reader.reading.readings)
        corpus = Corpus(
            n_documents=n,
            copy_of=copy_of,
            notes=(*reader.list_notes(), *_note_missing(stored.n_missing, n)),
            stop_words=tuple(stop_words),
            n_missing=stored.n_missing,
            columns=columns,
            _spool=spool,
            **_store_counts(pl.Series(names, dtype=pl.String), table, options, spool),
        )
        stack.pop_all()
    return corpus


class _Stored(NamedTuple):
    """What is known of documents whose tokens are on disk."""

    tokens: pl.Series  # the distinct ones, by their numbers
    bands: Array  # (n_documents, 4)
    n_tokens: Array  # of each document, (n_documents,)
    columns: pl.DataFrame | None
    n_missing: int


def _store_tokens(
    chunks: Iterable[Documents], reader: SourceReader, spool: Spool, report: Callable[[], None]
) -> _Stored:
    options, lexicon = reader.options, Lexicon()
    columns, n_missing, arrays = list[pl.DataFrame](), 0, list[tuple[Array, ...]]()
    # An error must end the threads at once, not when its traceback is garbage-collected.
    checked = _check_lengths(chunks, options)
    with closing(map_in_order(_tokenize, checked, options.n_threads)) as results:
        for documents, tokens, bounds in results:
            numbers = lexicon.number(tokens)
            is_counted = lexicon.is_counted[numbers]
            of_documents = np.concatenate([[0], np.cumsum(is_counted)])[bounds]
            counts = _count_tokens(numbers[is_counted], of_documents, len(lexicon.hashes))
            arrays.append((compute_bands(counts, lexicon.hashes), np.diff(of_documents)))
            contents = {"text": documents.texts} | ({} if documents.names is None else {"name": documents.names})
            spool.add(pl.DataFrame(contents), counts, Sequences(numbers, bounds))
            # The columns to keep stay in memory: only all of their values show their types.
            columns += [] if documents.columns is None else [documents.columns]
            n_missing += documents.n_missing
            report()
    if spool.starts[-1] == 0:
        raise SearchError(
            "{source!r} has no documents, but at least one is needed. Check that it is the right file.",
            code="no_documents",
            source=reader.source,
        )
    bands, n_tokens = (np.concatenate(listed) for listed in zip(*arrays, strict=True))
    return _Stored(lexicon.tokens, bands, n_tokens, concat(columns) if columns else None, n_missing)


def _check_lengths(chunks: Iterable[Documents], options: CorpusOptions) -> Iterator[Documents]:
    n_documents = 0
    for documents in chunks:
        too_long = documents.texts.str.len_bytes() > options.document_bytes
        if too_long.any():
            raise SearchError(
                "Document {number:,} is longer than {limit:,} bytes, the maximum with this {argument}. Set a larger "
                "one, or split the document.",
                code="document_too_long",
                number=n_documents + (too_long.arg_max() or 0) + 1,
                limit=options.document_bytes,
                argument=Option("memory"),
            )
        n_documents += len(documents.texts)
        yield documents


def _tokenize(documents: Documents) -> tuple[Documents, pl.Series, Array]:
    """Return the tokens of all documents; those from bounds[i] to bounds[i + 1] belong to document i."""
    lists = find_tokens(documents.texts)
    bounds = np.concatenate([[0], np.cumsum(lists.list.len().to_numpy().astype(np.int64))])
    return documents, lists.explode().drop_nulls(), bounds


def _count_tokens(numbers: Array, bounds: Array, n_tokens: int) -> sp.csr_array[Any]:
    """Count the tokens of each document, (n_documents, n_tokens). Sorting keys is faster than SciPy's own sums."""
    documents = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    keys = documents << 32 | numbers
    keys.sort()
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    counts, keys = np.diff(starts, append=len(keys)).astype(np.int32), keys[starts]
    indptr = np.searchsorted(keys, np.arange(len(bounds)) << 32).astype(np.int32)
    return sp.csr_array((counts, (keys & 0xFFFFFFFF).astype(np.int32), indptr), shape=(len(bounds) - 1, n_tokens))


def compute_bands(counts: sp.csr_array[Any], hashes: Array) -> Array:
    """Return keys of each document, of which near copies share one, given the hashes of tokens, (n_documents, 4).

    Notes
    -----
    The minimum of the hashed tokens, under each of several hash functions, agrees for two documents with probability
    |A ∩ B| / |A ∪ B|, their Jaccard similarity (Broder 1997). The last key is equal for equal counts.
    """
    factors = np.random.default_rng(0).integers(0, 2**64, (_N_BANDS, _BAND_SIZE, 2), dtype=np.uint64) | np.uint64(1)
    keys = np.zeros((counts.shape[0], _N_BANDS + 1), dtype=np.uint64)
    present = np.flatnonzero(np.diff(counts.indptr))
    values, starts = hashes[counts.indices], counts.indptr[present]
    if not len(present):
        return keys
    for band in range(_N_BANDS):
        for factor, mix in factors[band]:
            minima = np.minimum.reduceat(values * factor, starts)
            keys[present, band] = (keys[present, band] ^ minima) * mix
    keys[present, _N_BANDS] = np.add.reduceat(values * counts.data.astype(np.uint64), starts)
    return keys


def find_copies(bands: Array, n_tokens: Array, read_rows: Callable[[Array], sp.csr_array[Any]]) -> Array:
    """Return the first document that each document nearly repeats, (n,); itself if it repeats none.

    Documents without words repeat nothing. `n_tokens` has the number of tokens of each document, and `read_rows`
    returns the counts of some documents.
    """
    n, candidates = len(bands), [np.zeros((0, 2), dtype=np.int64)]
    for keys in bands.T:
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        earlier = first[group]
        smaller, larger = (choose(n_tokens, n_tokens[earlier]) for choose in (np.minimum, np.maximum))
        later = np.flatnonzero((earlier < np.arange(n)) & (smaller >= np.maximum(MIN_SIMILARITY * larger, 1)))
        candidates.append(np.stack([later, earlier[later]], axis=1))
    pairs = np.unique(np.concatenate(candidates), axis=0)
    copy_of = np.arange(n)
    for start in range(0, len(pairs), _N_COMPARED):
        later, earlier = pairs[start : start + _N_COMPARED][::-1].T  # the first of several earlier documents comes last
        counts = read_rows(np.concatenate([later, earlier]))
        n_different = np.asarray(abs(counts[: len(later)] - counts[len(later) :]).sum(axis=1))
        n_both = n_tokens[later] + n_tokens[earlier]
        similarity = (n_both - n_different) / (n_both + n_different)  # Jaccard, of multisets
        is_copy = (similarity >= MIN_SIMILARITY) & (earlier < copy_of[later])
        copy_of[later[is_copy]] = earlier[is_copy]
    while (copy_of != copy_of[copy_of]).any():  # a copy of a copy
        copy_of = copy_of[copy_of]
    return copy_of


class _WordTable(NamedTuple):
    """All words of a corpus in alphabetical order, and what is counted as each."""

    tokens: pl.Series  # (n_tokens,)
    words: pl.Series  # (n_words,)
    of_tokens: sp.csr_array[Any]  # 1 where a token is counted as a word, (n_tokens, n_words)
    documents: Array  # number of documents with each word, (n_words,)
    totals: Array  # total count of each word, (n_words,)


def _tabulate_words(tokens: pl.Series, spool: Spool) -> _WordTable:
    pairs = find_words(tokens)
    words = pairs["word"].unique().sort()
    columns = pairs.join(words.to_frame().with_row_index("column"), on="word", how="left")
    places = (columns["token"].to_numpy(), columns["column"].to_numpy().astype(np.int32))
    of_tokens = sp.csr_array((np.ones(len(columns), np.int32), places), shape=(len(tokens), len(words)))
    documents, totals = np.zeros((2, len(words)), dtype=np.int64)
    for place in spool.places:
        _add_frequencies(spool.read_counts(place, len(tokens)) @ of_tokens, documents, totals)
    return _WordTable(tokens, words, of_tokens, documents, totals)


def _choose_features(table: _WordTable, options: CorpusOptions, spool: Spool) -> tuple[list[str], list[str]]:
    """Choose stop words; and features by the numbers of documents, with phrases of them and of too common words."""
    n_documents, never_in_phrases = spool.starts[-1], list_stop_words(options)
    stop_words = never_in_phrases
    if options.stop_words == AUTO:
        sample = np.unique(np.linspace(0, n_documents - 1, _N_SAMPLE).astype(np.int64))
        counts = spool.read_rows(sample, len(table.tokens)) @ table.of_tokens
        stop_words, never_in_phrases = choose_stop_words(table.words.to_list(), counts)
    is_stop, is_never = (table.words.is_in(listed).to_numpy() for listed in (stop_words, never_in_phrases))
    lower, upper = choose_limits(options, n_documents)
    is_candidate = (table.documents > 0) & ~is_stop
    is_feature = is_candidate & (table.documents >= lower) & (table.documents <= upper)
    _check_features(is_candidate, is_feature, (lower, upper), n_documents)
    features = np.flatnonzero(is_feature)
    # Of equally frequent words, the first ones in alphabetical order stay.
    features = np.sort(features[np.argsort(-table.totals[features], kind="stable")[:MAX_FEATURES]])
    names = table.words.gather(features)
    if options.phrases:
        is_feature[:] = False
        is_feature[features] = True
        members = np.flatnonzero((is_feature | (is_candidate & (table.documents > upper))) & ~is_never)
        n_words = int(table.totals.sum())
        parts = number_parts(table.words.gather(members), table.tokens)
        limits = (n_documents, upper, len(features), n_words)
        phrases = find_phrases(
            lambda: map(spool.read_tokens, spool.places), parts, table.totals[members] / n_words, limits
        )
        names = pl.concat([names.filter(~_are_joined(names, phrases)), phrases]).sort()
    return stop_words, names.to_list()


def _are_joined(words: pl.Series, phrases: pl.Series) -> pl.Series:
    """Return which words are phrases with a hyphen. They are counted as the phrase."""
    return words.str.contains("-", literal=True) & words.str.replace("-", " ", literal=True).is_in(phrases.implode())


def _check_features(is_candidate: Array, is_feature: Array, limits: tuple[float, float], n: int) -> None:
    if not is_candidate.any():
        raise SearchError(
            pluralize(n, "The only document has", "The {n_documents:,} documents have")
            + " no words. Check the text column.",
            code="no_words",
            n_documents=n,
        )
    if not is_feature.any():
        raise SearchError(
            "No word occurs in {lower:g} to {upper:g} of the {n_documents:,} documents. Lower {argument}.",
            code="no_words_left",
            lower=limits[0],
            upper=limits[1],
            n_documents=n,
            argument=Option("min_df"),
        )


def _store_counts(names: pl.Series, table: _WordTable, options: CorpusOptions, spool: Spool) -> dict[str, Any]:
    """Store the counts of words, features first, and return the words with their frequencies."""
    phrases = recall_phrases(names if options.phrases else names.clear(), table.tokens)
    are_joined = _are_joined(table.words, names.gather(phrases.columns))
    is_other = (table.documents > 0) & ~(table.words.is_in(names.implode()) | are_joined).to_numpy()
    words = pl.concat([names, table.words.filter(is_other)])
    column_of = number_words(table.words, words)
    rows = np.flatnonzero((column_of >= 0) & ~are_joined.to_numpy())
    moves = (np.ones(len(rows), np.int32), (rows, column_of[rows]))
    columns_of = sp.csr_array(table.of_tokens @ sp.csr_array(moves, shape=(len(table.words), len(words))))
    documents, totals = np.zeros((2, len(words)), dtype=np.int64)
    for place in spool.places:
        counts = spool.read_counts(place, len(table.tokens)) @ columns_of
        if len(phrases.codes):
            pairs = phrases.find(spool.read_tokens(place))
            counts = counts + sp.csr_array((np.ones(len(pairs[0]), np.int32), pairs), shape=counts.shape)
        counts.sort_indices()
        _add_frequencies(counts, documents, totals)
        spool.write_counts(place, counts)
    return {
        "words": words.to_list(),
        "n_features": len(names),
        "document_frequencies": documents,
        "word_counts": totals,
    }


def _add_frequencies(counts: sp.csr_array[Any], documents: Array, totals: Array) -> None:
    """Add the numbers of documents and the total counts of words, (n_words,) each."""
    documents += np.bincount(counts.indices, minlength=len(documents))
    totals += np.bincount(counts.indices, counts.data, len(totals)).astype(np.int64)


def _note_missing(n_missing: int, n_rows: int) -> list[SearchWarning]:
    """Return the note that documents have no text, if there are any."""
    if not n_missing:
        return []
    sentence = "{n_missing:,} of {n_rows:,} documents " + pluralize(n_missing, "has no text.", "have no text.")
    return [SearchWarning(sentence, code="missing_texts", n_missing=n_missing, n_rows=n_rows)]
