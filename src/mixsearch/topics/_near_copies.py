"""Documents that are near-copies of each other: filled-in templates, repeated paragraphs.

A hundred copies of a template say little more about a word than one does, but would outvote all other documents that
contain it. So near-copies together have as many votes as the root of their number. A template that always has the word
is another matter: it is what the word means here. All constants rest on docs/decisions/text-engine.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array

# Two documents are near-copies if the cosine of their sets of words, weighted by inverse document frequency, is larger.
MIN_COSINE = 0.5
# Each document is compared with this many others, at even steps: fewer if the documents have many words together.
MIN_COMPARED, MAX_COMPARED, MAX_PRODUCTS = 32, 64, 5_000_000
# If this share of the documents have at least so many near-copies, themselves included, copies are the rule.
USUAL_SHARE, MIN_COPIES = 0.5, 3
# Fixed words of a template are in this share of its copies. Fewer of them than the minimum make no template: in a small
# vocabulary all documents look like copies.
FIXED_SHARE, MIN_FIXED, MAX_FIXED = 0.95, 3, 5
# About this many of each group of near-copies take part in local EM, unless fewer documents than that minimum are left.
MAX_COPIES, MIN_DISTINCT = 3, 10
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
    vectors = _make_unit_vectors(counts, inverse_frequency)
    n_compared = int(np.clip(MAX_PRODUCTS // max(counts.nnz, 1), MIN_COMPARED, MAX_COMPARED))
    compared = np.linspace(0, m - 1, min(m, n_compared)).astype(np.intp)
    are_near = vectors @ np.ascontiguousarray(vectors[compared].toarray().T) > MIN_COSINE
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


def _make_unit_vectors(counts: sp.csr_array, inverse_frequency: Array) -> sp.csr_array:
    """Return the sets of words of documents as vectors of length 1, (m, d)."""
    values = inverse_frequency.astype(np.float32).take(counts.indices)
    sums = np.concatenate([[0], np.cumsum(values**2, dtype=np.float64)])
    squares = np.diff(sums[counts.indptr])
    lengths = np.sqrt(np.where(squares > 0, squares, 1)).astype(np.float32)
    values /= np.repeat(lengths, np.diff(counts.indptr))
    return sp.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)
