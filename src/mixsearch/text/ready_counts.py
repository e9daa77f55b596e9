"""Ready-made counts in files of SciPy: read and checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option, SearchError, SearchWarning
from mixsearch.io.files import SourceFiles
from mixsearch.io.streams import File, check_archive
from mixsearch.text.options import CorpusOptions
from mixsearch.text.read import SourceReader
from mixsearch.text.stop_words import read_words

MATRIX_FORMAT = "npz"

_ROWS_PER_CHUNK = 4096
# Counts are stored as 32-bit integers.
_MAX_COUNT = 2**31 - 1
# Limits on documents and words without any count that a file may promise: in all, and for each count.
_MAX_EMPTY, _MAX_PER_COUNT = 1 << 21, 10
# Options that need texts, with the values that do not.
_TEXT_OPTIONS = {
    "text": None,
    "id": None,
    "keep": None,
    "token_pattern": None,
    "tokenizer": None,
    "drop_duplicates": False,
}


class CountMatrix(NamedTuple):
    """Chunks of counts, and the word of each column."""

    words: list[str]
    chunks: Iterator[sp.csr_array[Any]]


def read_matrix(sources: SourceFiles, reader: SourceReader) -> CountMatrix:
    """Read the counts of one file."""
    if len(sources.files) != 1:
        raise SearchError(
            "Ready-made counts must be in 1 file, got {n_files}. Read them one at a time.",
            code="several_count_files",
            n_files=len(sources.files),
        )
    _check_options(reader.options)
    path = sources.files[0]
    counts = _load_matrix(path)
    reader.n_bytes += path.n_bytes
    words = _name_columns(path, counts.shape[1], reader)
    starts = range(0, max(counts.shape[0], 1), _ROWS_PER_CHUNK)
    return CountMatrix(words, (counts[start : start + _ROWS_PER_CHUNK] for start in starts))


def _check_options(options: CorpusOptions) -> None:
    """Raise if an option needs texts."""
    for name, default in _TEXT_OPTIONS.items():
        if getattr(options, name) not in (default, "auto"):
            raise ArgumentError(
                "{argument} needs texts, but the file holds ready-made counts. Leave it out, or read the texts.",
                code="needs_texts",
                argument=Option(name),
            )


def _name_columns(path: File, n_words: int, reader: SourceReader) -> list[str]:
    given = reader.options.vocabulary
    if given is not None:
        return _read_vocabulary(File(Path(given)), n_words)
    reader.notes.append(
        SearchWarning(
            "{file!r} has no vocabulary, so words are named by their columns, from 'word1'. Set {argument} to a file "
            "with one word per line.",
            code="no_vocabulary",
            file=str(path),
            argument=Option("vocabulary"),
        )
    )
    return [f"word{column}" for column in range(1, n_words + 1)]


def _read_vocabulary(path: File, n_words: int) -> list[str]:
    """Read the word of each column from a file with one word per line."""
    words = read_words(path, "vocabulary", "a file with one word per line")
    if len(words) != n_words:
        raise SearchError(
            "{file!r} has {n_found:,} words, but the counts have {n_words:,} columns. Set {argument} to the file that "
            "belongs to the counts.",
            code="wrong_vocabulary",
            file=str(path),
            n_found=len(words),
            n_words=n_words,
            argument=Option("vocabulary"),
        )
    if len(set(words)) != n_words:
        raise SearchError(
            "{file!r} has the word {word!r} twice, but each line must hold a different word.",
            code="repeated_word",
            file=str(path),
            word=next(word for i, word in enumerate(words) if word in words[:i]),
        )
    return words


def _load_matrix(path: File) -> sp.csr_array[Any]:
    """Return all counts of a file, (n, d), repeated entries added and without zeros. SciPy reads the file at once."""
    try:
        counts = _load_npz(path)
    except SearchError:
        raise
    # Damaged files raise errors of every kind: of archives, of headers, of arrays that do not fit together.
    except Exception as error:
        raise SearchError(
            "Cannot read {file!r} ({reason}). It must be an array written by scipy.sparse.save_npz.",
            code="unreadable_file",
            file=str(path),
            reason=str(error) or type(error).__name__,
        ) from error
    if counts.nnz and counts.data.dtype.kind in "biuf" and counts.data.max() > _MAX_COUNT:
        raise SearchError(
            "A word occurs {count:,.0f} times in a document, but a count can be {limit:,} at most. Divide the counts, "
            "or correct the file.",
            code="count_too_large",
            count=float(counts.data.max()),
            limit=_MAX_COUNT,
        )
    if not _are_counts(counts.data):
        raise SearchError(
            "{file!r} has values that are not counts, but non-negative integers are needed. Pass the counts instead "
            "of weights such as tf-idf.",
            code="not_counts",
            file=str(path),
        )
    if counts.has_canonical_format and counts.data.all():
        return counts
    merged: sp.csr_array[Any] = _widen(counts).copy()
    merged.sum_duplicates()
    merged.eliminate_zeros()
    return merged


def _load_npz(path: File) -> sp.csr_array[Any]:
    check_archive(path)
    with open(path.path, "rb") as file:
        counts = sp.load_npz(file)
    n_documents, n_words = counts.shape
    most = max(_MAX_EMPTY, _MAX_PER_COUNT * counts.nnz)
    if n_documents > most or n_words > most:
        raise SearchError(
            "{file!r} promises {n_documents:,} documents and {n_words:,} words, but has {n_counts:,} counts. It was "
            "changed, or is damaged.",
            code="wrong_header",
            file=str(path),
            n_documents=n_documents,
            n_words=n_words,
            n_counts=counts.nnz,
        )
    # Compiled code trusts pointers and indices. SciPy checks nothing of a matrix whose last pointer is 0.
    if hasattr(counts, "indptr") and (np.diff(counts.indptr) < 0).any():
        raise ValueError("row pointers must rise")
    if hasattr(counts, "check_format"):
        counts.check_format(full_check=True)
    return sp.csr_array(counts if counts.format == "csr" else _widen(counts))  # which may add repeated entries


def _are_counts(values: Array) -> bool:
    """Return whether values are non-negative integers."""
    if values.dtype.kind not in "biuf":
        return False
    if len(values) and values.min() < 0:
        return False
    return values.dtype.kind != "f" or bool((values == np.floor(values)).all())


def _widen(counts: Any) -> Any:
    """Return a sparse matrix whose sums of repeated entries do not wrap."""
    return counts.astype(np.int64) if counts.dtype.kind in "biu" else counts
