"""Ready-made counts that cannot be what they seem: too large, not whole, or more than their file can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.files.location import File, get_size
from mixsearch.data.files.streams import MAX_GROWTH, is_compressed, name_file
from mixsearch.errors import SearchError

# Counts are stored as 32-bit integers.
MAX_COUNT = 2**31 - 1
# Limits on documents and words without any count that a header may promise: in all, and for each count.
_MAX_EMPTY, _MAX_PER_COUNT = 1 << 21, 10


def are_counts(values: Array) -> bool:
    """Return whether values are non-negative integers."""
    if values.dtype.kind not in "biuf":
        return False
    if len(values) and values.min() < 0:
        return False
    return values.dtype.kind != "f" or bool((values == np.floor(values)).all())


def widen(counts: Any) -> Any:
    """Return a sparse matrix whose sums of repeated entries do not wrap."""
    return counts.astype(np.int64) if counts.dtype.kind in "biu" else counts


def merge_duplicates(counts: sp.csr_array[Any]) -> sp.csr_array[Any]:
    """Return counts with repeated entries added and without zeros: the same ones if they have neither."""
    if counts.has_canonical_format and counts.data.all():
        return counts
    merged: sp.csr_array[Any] = widen(counts).copy()
    merged.sum_duplicates()
    merged.eliminate_zeros()
    return merged


def check_largest(values: Array) -> None:
    """Raise if a count is too large to be stored."""
    if len(values) and values.max() > MAX_COUNT:
        raise SearchError(
            "A word occurs {count:,.0f} times in a document, but a count can be {limit:,} at most. Divide the counts, "
            "or correct the file.",
            code="count_too_large",
            count=float(values.max()),
            limit=MAX_COUNT,
        )


def check_sizes(path: File, n_documents: int, n_words: int, n_counts: int, *, min_bytes: int) -> None:
    """Raise if a header promises more than a file of its size can hold, or far more rows or columns than counts."""
    n_bytes = get_size(path)
    if n_bytes is not None and is_compressed(path):
        n_bytes *= MAX_GROWTH
    most = max(_MAX_EMPTY, _MAX_PER_COUNT * n_counts)
    # Of a short file, the reader itself says what is missing.
    fits = n_bytes is None or n_counts * min_bytes <= n_bytes + _MAX_EMPTY
    if not (fits and n_counts >= 0 and 0 <= n_documents <= most and 0 <= n_words <= most):
        raise SearchError(
            "The header of {file!r} promises {n_documents:,} documents, {n_words:,} words and {n_counts:,} counts, "
            "which does not fit the file. It is truncated, or was changed.",
            code="wrong_header",
            file=name_file(path),
            n_documents=n_documents,
            n_words=n_words,
            n_counts=n_counts,
        )


def check_sparse(matrix: Any) -> None:
    """Raise `ValueError` unless pointers and indices of a sparse matrix are in range: compiled code trusts them."""
    # SciPy checks nothing of a matrix whose last pointer is 0.
    if hasattr(matrix, "indptr") and (np.diff(matrix.indptr) < 0).any():
        raise ValueError("row pointers must rise")
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
