"""Documents that nearly repeat an earlier one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array

# The share of words, each as often as it occurs, that two documents have in common.
MIN_SIMILARITY = 0.8
# Documents that agree in a band of minima are compared: of similarity 0.8 with probability .88, 0.9 with .98, 0.95 with
# .997 and 0.3 with .08.
_N_BANDS, _BAND_SIZE = 3, 3
_N_COMPARED = 20_000


def compute_bands(hashes: Array, bounds: Array) -> Array:
    """Return a key for each band of each document, given the hashes of its different words, (n_documents, 3).

    Notes
    -----
    The minimum of the hashed words, under each of several hash functions, agrees for two documents with probability
    |A ∩ B| / |A ∪ B|, their Jaccard similarity (Broder 1997).
    """
    factors = np.random.default_rng(0).integers(0, 2**64, (_N_BANDS, _BAND_SIZE, 2), dtype=np.uint64) | np.uint64(1)
    keys = np.zeros((len(bounds) - 1, _N_BANDS), dtype=np.uint64)
    present = np.flatnonzero(np.diff(bounds))
    for band in range(_N_BANDS):
        for factor, mix in factors[band]:
            minima = np.minimum.reduceat(hashes * factor, bounds[present]) if len(present) else hashes
            keys[present, band] = (keys[present, band] ^ minima) * mix
    return keys


def find_copies(bands: Array, n_words: Array, read_rows: Callable[[Array], sp.csr_array]) -> Array:
    """Return the first document that each document nearly repeats, (n,); itself if it repeats none.

    Documents without words repeat nothing. `n_words` has the number of words of each document, and `read_rows` returns
    the counts of some documents.
    """
    n, candidates = len(bands), [np.zeros((0, 2), dtype=np.int64)]
    for keys in bands.T:
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        earlier = first[group]
        smaller, larger = (choose(n_words, n_words[earlier]) for choose in (np.minimum, np.maximum))
        later = np.flatnonzero((earlier < np.arange(n)) & (smaller >= np.maximum(MIN_SIMILARITY * larger, 1)))
        candidates.append(np.stack([later, earlier[later]], axis=1))
    pairs = np.unique(np.concatenate(candidates), axis=0)
    copy_of = np.arange(n)
    for start in range(0, len(pairs), _N_COMPARED):
        later, earlier = pairs[start : start + _N_COMPARED][::-1].T  # the first of several earlier documents comes last
        counts = read_rows(np.concatenate([later, earlier]))
        n_different = np.asarray(abs(counts[: len(later)] - counts[len(later) :]).sum(axis=1))
        n_both = n_words[later] + n_words[earlier]
        similarity = (n_both - n_different) / (n_both + n_different)  # Jaccard, of multisets
        is_copy = (similarity >= MIN_SIMILARITY) & (earlier < copy_of[later])
        copy_of[later[is_copy]] = earlier[is_copy]
    while (copy_of != copy_of[copy_of]).any():  # a copy of a copy
        copy_of = copy_of[copy_of]
    return copy_of
