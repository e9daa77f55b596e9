"""Documents that are near-copies of each other: filled-in templates, repeated paragraphs.

A thousand copies of a template say little more about a word than one does, but would outvote all other documents that
contain it. So near-copies share one vote.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array

# Two documents are near-copies if the cosine of their sets of words, weighted by inverse document frequency, is larger.
# Chosen on a planted template and on labelled texts: see docs/decisions/text-engine.md.
MIN_COSINE = 0.5
# Words are hashed into 2^8 signed sums, which estimate a cosine with a standard error of at most 0.06.
SKETCH_BITS = 8
# Each document is compared with this many others, at even steps.
MAX_COMPARED = 256
# About this many of each group of near-copies take part in local EM, unless fewer documents than that minimum are left.
MAX_COPIES, MIN_DISTINCT = 3, 10
# Odd, with well-mixed upper bits.
_MIX = np.uint64(0x9E3779B97F4A7C15)
# Its multiples modulo 1 are spread evenly, so that a share of any group can be kept without knowing the groups.
_GOLDEN_RATIO = (np.sqrt(5) - 1) / 2


def count_copies(counts: sp.csr_array, inverse_frequency: Array) -> Array:
    """Return an estimate of how many documents are near-copies of each one, itself included, (m,).

    Parameters
    ----------
    counts : sparse array of shape (m, d)
        The words of the documents.
    inverse_frequency : array of shape (d,)
        The weight of each word.

    Returns
    -------
    array of shape (m,)
        At least 1.
    """
    m = counts.shape[0]
    sketches = _sketch_words(counts, inverse_frequency)
    compared = sketches[np.linspace(0, m - 1, min(m, MAX_COMPARED)).astype(np.intp)]
    n_near = np.count_nonzero(sketches @ compared.T > MIN_COSINE, axis=1)
    return np.asarray(np.maximum(n_near * (m / max(len(compared), 1)), 1.0))


def thin_copies(counts: sp.csr_array, inverse_frequency: Array) -> Array:
    """Return the rows of documents to keep so that about three of each group of near-copies are left, (n,)."""
    rows = np.arange(counts.shape[0])
    kept = rows[rows * _GOLDEN_RATIO % 1 < MAX_COPIES / count_copies(counts, inverse_frequency)]
    return kept if len(kept) >= MIN_DISTINCT else rows


def _sketch_words(counts: sp.csr_array, inverse_frequency: Array) -> Array:
    """Return vectors whose scalar products estimate the cosines of the sets of words of documents, (m, 2^8)."""
    hashes = np.arange(counts.shape[1], dtype=np.uint64) * _MIX
    buckets = (hashes >> np.uint64(64 - SKETCH_BITS)).astype(np.int32)
    signs = np.where(hashes >> np.uint64(63 - SKETCH_BITS) & np.uint64(1), 1.0, -1.0)
    values = (signs * inverse_frequency).astype(np.float32)[counts.indices]
    weighted = sp.csr_array((values**2, counts.indices, counts.indptr), shape=counts.shape)
    squares: Array = np.asarray(weighted.sum(axis=1))
    lengths = np.sqrt(np.where(squares > 0, squares, 1)).astype(np.float32)
    values /= np.repeat(lengths, np.diff(counts.indptr))
    shape = (counts.shape[0], 1 << SKETCH_BITS)
    return np.asarray(sp.csr_array((values, buckets[counts.indices], counts.indptr), shape=shape).toarray())
