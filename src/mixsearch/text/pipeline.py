"""Convert files, tables and texts to counts: find out what was given, and count it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from mixsearch._typing import TableLike
from mixsearch.io.files import Source, describe_source, find_files
from mixsearch.io.frames import is_frame
from mixsearch.text.corpus import Corpus
from mixsearch.text.count.collector import collect_texts
from mixsearch.text.count.matrix import MATRIX_FORMAT, collect_matrix, read_matrix
from mixsearch.text.count.vocabulary import KnownWords
from mixsearch.text.options import CorpusOptions, list_named_columns
from mixsearch.text.read.documents import (
    TABLE,
    ChunkLoader,
    ReadState,
    are_texts,
    check_no_columns,
    read_documents,
    read_frame,
    read_strings,
)

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
        JSON lines, CSV, TSV, Parquet or text files, a folder, or a pattern of such; or a file of ready-made counts,
        written by `scipy.sparse.save_npz`. Files may be compressed (gz, zst). "-" is standard input: JSON
        lines, CSV, or a text on each line. Or a table in memory: of pandas, Polars or Arrow, any other with the Arrow
        stream interface, or a mapping from names to columns. Or texts: a Series, an array, a list, a generator. A list
        of strings is read as paths if one is a file or none contains a space.
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
    if is_frame(source) or are_texts(source):
        return _read_memory(source, options, known)
    sources = find_files(source, options.format, list_named_columns(options))
    state = ReadState(options, describe_source(source), notes=list(sources.notes))
    report = None if on_progress is None else partial(_report, on_progress, state, sources.n_bytes)
    if sources.format == MATRIX_FORMAT:
        return collect_matrix(read_matrix(sources, state), state, known, report)
    return collect_texts(read_documents(sources, state), state, known, report)


def _read_memory(source: Any, options: CorpusOptions, known: KnownWords | None) -> Corpus:
    """Count the words of a data frame, or of texts."""
    if is_frame(source):
        state = ReadState(options, TABLE)
        return collect_texts(read_frame(source, state), state, known, None)
    state = ReadState(options)
    check_no_columns(state)
    texts = source.to_pylist() if hasattr(source, "to_pylist") else source  # an array of Arrow
    return collect_texts(read_strings(texts, None, state), state, known, None)


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

    Examples
    --------
    >>> from mixsearch.text import count_texts
    >>> with count_texts(["good sushi", "good, good ramen"]) as corpus:
    ...     print(corpus.vocabulary, corpus.to_counts().toarray().tolist())
    ['good', 'ramen', 'sushi'] [[1, 0, 1], [2, 1, 0]]
    """
    if isinstance(texts, str):
        raise TypeError("texts must be an iterable of strings, got a single string: pass [text], or read_corpus(path).")
    state = ReadState(options or CorpusOptions())
    return collect_texts(read_strings(texts, names, state), state, known, None)


def count_documents(
    loaders: Iterable[ChunkLoader], options: CorpusOptions | None = None, *, known: KnownWords | None = None
) -> Corpus:
    """Count the words of documents that are read chunk by chunk, with their names and columns."""
    return collect_texts(loaders, ReadState(options or CorpusOptions()), known, None)


def _report(on_progress: OnProgress, state: ReadState, total: int | None) -> None:
    done = state.n_bytes
    on_progress(done if total is None else min(done, total), total)
