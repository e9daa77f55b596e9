"""Documents that repeat an earlier one, exactly or nearly."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from mixsearch._typing import Array
from mixsearch.text.count.ngrams import hash_ngrams
from mixsearch.text.count.tokens import Tokens

# Words in a sequence: enough that chance agreement is rare, few enough that a changed word affects only three.
_NGRAM = 3
# With 8 bands of 6, documents of similarity 0.8 agree in some band with probability .91, those of 0.9 with .998 and
# those of 0.5 with .12, and are then compared.
_N_BANDS, _BAND_SIZE = 8, 6
_MIN_SIMILARITY = 0.8

Kind = Literal["exact", "near"]


@dataclass
class DuplicateFinder:
    """The documents seen so far, by which duplicates among the next ones are found.

    Notes
    -----
    Near duplicates are found by MinHash: the minimum of the hashed sequences of three words, under each of 48 hash
    functions, agrees for two documents with probability |A ∩ B| / |A ∪ B|, their Jaccard similarity. Documents that
    agree in a whole band are compared, and are duplicates if at least 80 % of all 48 minima agree. The work for a
    document does not grow with the number of documents. Of several earlier documents with the same band, only the
    first is compared.
    """

    kind: Kind | None
    row_by_key: dict[int, int] = field(default_factory=dict)
    signature_by_row: dict[int, Array] = field(default_factory=dict)

    def find(self, fingerprints: Array, rows: Array, is_empty: Array) -> Array:
        """Return for each document the row that it repeats, or -1. Documents without words repeat nothing."""
        found = np.full(len(rows), -1)
        if self.kind is None:
            return found
        find = self._find_exact if self.kind == "exact" else self._find_near
        keys = (fingerprints if self.kind == "exact" else _hash_bands(fingerprints)).tolist()
        for i in np.flatnonzero(~is_empty).tolist():
            found[i] = find(int(rows[i]), keys[i], fingerprints[i])
        return found

    def _find_exact(self, row: int, digest: int, _: Array) -> int:
        first = self.row_by_key.setdefault(digest, row)
        return -1 if first == row else first

    def _find_near(self, row: int, bands: list[int], signature: Array) -> int:
        for candidate in sorted({self.row_by_key[band] for band in bands if band in self.row_by_key}):
            if np.mean(self.signature_by_row[candidate] == signature) >= _MIN_SIMILARITY:
                return candidate
        for band in bands:
            self.row_by_key.setdefault(band, row)
        # A copy: a view would keep the signatures of the whole chunk in memory.
        self.signature_by_row[row] = signature.copy()
        return -1


def compute_fingerprints(kind: Kind | None, texts: Sequence[str], tokens: Tokens) -> Array:
    """Return the fingerprint of each document; empty if duplicates are kept."""
    if kind == "exact":
        return np.array([_hash_text(text) for text in texts], dtype=np.uint64)
    if kind == "near":
        return _compute_signatures(tokens)
    return np.empty(0, dtype=np.uint64)


def _hash_text(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest(), "little")


def _compute_signatures(tokens: Tokens) -> Array:
    """Return the 48 minima of each document, (n_documents, 48); zeros if it has no words."""
    sizes = np.diff(tokens.bounds)
    short, short_hashes = _hash_short_documents(tokens, sizes)
    ends = np.repeat(tokens.bounds[1:], sizes)
    starts = np.flatnonzero(np.arange(len(ends)) + _NGRAM <= ends)
    hashes = hash_ngrams(tokens, starts, _NGRAM)
    signatures = np.zeros((len(sizes), _N_BANDS * _BAND_SIZE), dtype=np.uint32)
    long = np.flatnonzero(sizes >= _NGRAM)
    first = np.searchsorted(starts, tokens.bounds[long])
    for column, (factor, shift) in enumerate(_draw_hash_functions()):
        if len(long):
            signatures[long, column] = np.minimum.reduceat(_mix(hashes, factor, shift), first)
        signatures[short, column] = _mix(short_hashes, factor, shift)
    return signatures


def _hash_short_documents(tokens: Tokens, sizes: Array) -> tuple[Array, Array]:
    """Return the documents of one or two words, and a hash of each: they are one sequence."""
    ones, twos = np.flatnonzero(sizes == 1), np.flatnonzero(sizes == 2)
    hashes = [hash_ngrams(tokens, tokens.bounds[:-1][some], n) for n, some in ((1, ones), (2, twos))]
    return np.concatenate([ones, twos]), np.concatenate(hashes)


def _mix(hashes: Array, factor: np.uint64, shift: np.uint64) -> Array:
    return ((hashes * factor + shift) >> np.uint64(32)).astype(np.uint32)


@lru_cache(maxsize=1)
def _draw_hash_functions() -> list[tuple[np.uint64, np.uint64]]:
    drawn = np.random.default_rng(0).integers(0, 2**64, (_N_BANDS * _BAND_SIZE, 2), dtype=np.uint64)
    return [(factor | np.uint64(1), shift) for factor, shift in drawn]


def _hash_bands(signatures: Array) -> Array:
    """Return one hash for each band of each document, (n_documents, 8), different for different bands."""
    factors, shifts = np.array(_draw_hash_functions()).T
    mixed = signatures * factors
    return np.asarray(mixed.reshape(-1, _N_BANDS, _BAND_SIZE).sum(axis=2, dtype=np.uint64) + shifts[:_N_BANDS])
