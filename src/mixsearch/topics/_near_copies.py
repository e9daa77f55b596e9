"""Documents that are near-copies of each other: filled-in templates, repeated paragraphs.

A hundred copies of a template say little more about a word than one does, but would outvote all other documents that
contain it. So near-copies together have as many votes as the root of their number. A template that always has the word
is another matter: it is what the word means here. All constants rest on docs/decisions/text-engine.md.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array

# Two documents are near-copies if the cosine of their sets of words, weighted by inverse document frequency, is larger.
MIN_COSINE = 0.5
# Words are hashed into 2^8 signed sums, which estimate a cosine with a standard error of at most 0.06.
SKETCH_BITS = 8
# Each document is compared with this many others, at even steps.
MAX_COMPARED = 64
# Copies are usual if at least this share of the documents have this many near-copies, themselves included.
USUAL_SHARE, MIN_COPIES = 0.5, 3
# Fixed words of a template are in this share of its copies. Fewer of them than the minimum make no template: in a small
# vocabulary all documents look like copies.
FIXED_SHARE, MIN_FIXED, MAX_FIXED = 0.95, 3, 5
# About this many of each group of near-copies take part in local EM, unless fewer documents than that minimum are left.
MAX_COPIES, MIN_DISTINCT = 3, 10
# Odd, with well-mixed upper bits.
_MIX = np.uint64(0x9E3779B97F4A7C15)
# Its multiples modulo 1 are spread evenly, so that a share of any group can be kept without knowing the groups.
_GOLDEN_RATIO = (np.sqrt(5) - 1) / 2


class NearCopies(NamedTuple):
    """Near-copies among some documents."""

    n_copies: Array  # an estimate of how many documents are near-copies of each one, itself included, (m,)
    largest: Array  # rows of the largest group of near-copies

    @property
    def are_usual(self) -> bool:
        """Whether most of the documents have near-copies."""
        return bool(np.mean(self.n_copies >= MIN_COPIES) >= USUAL_SHARE)


def find_copies(counts: sp.csr_array, inverse_frequency: Array) -> NearCopies:
    """Find near-copies among documents.

    Parameters
    ----------
    counts : sparse array of shape (m, d)
        The words of the documents, of which there is at least one.
    inverse_frequency : array of shape (d,)
        The weight of each word.

    Returns
    -------
    NearCopies
    """
    m = counts.shape[0]
    sketches, lengths = _sketch_words(counts, inverse_frequency)
    compared = np.linspace(0, m - 1, min(m, MAX_COMPARED)).astype(np.intp)
    are_near = sketches @ sketches[compared].T > MIN_COSINE * np.outer(lengths, lengths[compared])
    # No document is a copy of itself.
    are_near[compared, np.arange(len(compared))] = False
    n_others = np.full(m, len(compared))
    n_others[compared] -= 1
    n_copies = 1 + np.count_nonzero(are_near, axis=1) * ((m - 1) / np.maximum(n_others, 1))
    center = int(np.argmax(np.count_nonzero(are_near, axis=0)))
    return NearCopies(n_copies, np.append(np.flatnonzero(are_near[:, center]), compared[center]))


def thin_copies(counts: sp.csr_array, inverse_frequency: Array) -> Array:
    """Return the rows of documents to keep so that about three of each group of near-copies are left, (n,)."""
    rows = np.arange(counts.shape[0])
    kept = rows[rows * _GOLDEN_RATIO % 1 < MAX_COPIES / find_copies(counts, inverse_frequency).n_copies]
    return kept if len(kept) >= MIN_DISTINCT else rows


def list_fixed_words(counts: sp.csr_array, inverse_frequency: Array) -> Array:
    """Return the columns of the rarest words that nearly all copies of a template have, (n,).

    Parameters
    ----------
    counts : sparse array of shape (m, d)
        The words of the copies.
    inverse_frequency : array of shape (d,)
        The weight of each word; at most 0 for words that do not matter.

    Returns
    -------
    array of shape (n,)
        Empty if there are too few for a template.
    """
    n_with = np.bincount(counts.indices, minlength=counts.shape[1])
    fixed = np.flatnonzero((n_with >= FIXED_SHARE * counts.shape[0]) & (inverse_frequency > 0))
    rarest = fixed[np.argsort(-inverse_frequency[fixed], kind="stable")[:MAX_FIXED]]
    return rarest if len(rarest) >= MIN_FIXED else rarest[:0]


@lru_cache(maxsize=8)
def _hash_words(n_words: int) -> tuple[Array, Array]:
    """Return the index of the sum that each word is added to, and its sign there, (n_words,)."""
    hashes = np.arange(n_words, dtype=np.uint64) * _MIX
    signs = np.where(hashes >> np.uint64(63 - SKETCH_BITS) & np.uint64(1), 1.0, -1.0)
    return (hashes >> np.uint64(64 - SKETCH_BITS)).astype(np.int32), signs


def _sketch_words(counts: sp.csr_array, inverse_frequency: Array) -> tuple[Array, Array]:
    """Return vectors whose scalar products estimate those of sets of words, (m, 2^8), and the lengths of these."""
    buckets, signs = _hash_words(counts.shape[1])
    values = (signs * inverse_frequency).astype(np.float32).take(counts.indices)
    hashed = buckets.take(counts.indices)
    sketches, squares = (
        sp.csr_array((each, hashed, counts.indptr), shape=(counts.shape[0], 1 << SKETCH_BITS))
        for each in (values, values**2)
    )
    return np.asarray(sketches.toarray()), np.sqrt(squares @ np.ones(1 << SKETCH_BITS, np.float32))
