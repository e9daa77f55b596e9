"""Documents that repeat an earlier one, letter by letter or nearly."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from mixsearch._typing import Array
from mixsearch.text.count.ngrams import hash_sequences
from mixsearch.text.count.tokens import Tokens

# Words in a sequence: enough that chance agreement is rare, few enough that a changed word spoils only three.
_SEQUENCE = 3
# With 8 bands of 6, documents with 8 of 10 sequences in common meet in some band with probability .91, those with 9 of
# 10 with .998, those with half of them with .12, and are then compared.
_N_BANDS, _BAND = 8, 6
_LEAST_SIMILARITY = 0.8


@dataclass
class Duplicates:
    """The documents seen so far, to tell which of the next ones repeat them.

    Notes
    -----
    Near duplicates are found by MinHash: the smallest of the hashed sequences of three words, under each of 48 hash
    functions, agrees for two documents with probability |A ∩ B| / |A ∪ B|, their similarity. Documents that agree in
    a whole band are compared, and are duplicates where at least 8 in 10 of all 48 agree. The work for a document does
    not grow with the number of documents. Of several earlier documents with the same band, only the first is compared.
    """

    kind: Literal["exact", "near"] | None
    row_of_mark: dict[int, int] = field(default_factory=dict)
    signature_of_row: dict[int, Array] = field(default_factory=dict)

    def find(self, marks: Array, rows: Array, is_empty: Array) -> Array:
        """For each document the row that it repeats, or -1; documents without words repeat nothing."""
        found = np.full(len(rows), -1)
        if self.kind is None:
            return found
        find = self._find_exact if self.kind == "exact" else self._find_near
        bands = (marks if self.kind == "exact" else _bands(marks)).tolist()
        for i in np.flatnonzero(~is_empty).tolist():
            found[i] = find(int(rows[i]), bands[i], marks[i])
        return found

    def _find_exact(self, row: int, digest: int, _: Array) -> int:
        first = self.row_of_mark.setdefault(digest, row)
        return -1 if first == row else first

    def _find_near(self, row: int, bands: list[int], signature: Array) -> int:
        for candidate in sorted({self.row_of_mark[band] for band in bands if band in self.row_of_mark}):
            if np.mean(self.signature_of_row[candidate] == signature) >= _LEAST_SIMILARITY:
                return candidate
        for band in bands:
            self.row_of_mark.setdefault(band, row)
        # A copy: a view would keep the signatures of the whole block.
        self.signature_of_row[row] = signature.copy()
        return -1


def marks_of(kind: Literal["exact", "near"] | None, texts: Sequence[str], tokens: Tokens) -> Array:
    """What to compare of each document, computed before its turn comes; empty where nothing is asked for."""
    if kind == "exact":
        return np.array([_digest(text) for text in texts], dtype=np.uint64)
    if kind == "near":
        return _signatures(tokens)
    return np.empty(0, dtype=np.uint64)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest(), "little")


def _signatures(tokens: Tokens) -> Array:
    """The 48 smallest hashes of each document, (n_documents, 48); zeros where it has no words."""
    sizes = np.diff(tokens.bounds)
    # A document shorter than a sequence is one sequence.
    short = _short_hashes(tokens, sizes)
    ends = np.repeat(tokens.bounds[1:], sizes)
    starts = np.flatnonzero(np.arange(len(ends)) + _SEQUENCE <= ends)
    hashes = hash_sequences(tokens, starts, _SEQUENCE)
    signatures = np.zeros((len(sizes), _N_BANDS * _BAND), dtype=np.uint32)
    long = np.flatnonzero(sizes >= _SEQUENCE)
    first = np.searchsorted(starts, tokens.bounds[long])
    for column, (factor, shift) in enumerate(_functions()):
        if len(long):
            signatures[long, column] = np.minimum.reduceat(_mix(hashes, factor, shift), first)
        signatures[short[0], column] = _mix(short[1], factor, shift)
    return signatures


def _short_hashes(tokens: Tokens, sizes: Array) -> tuple[Array, Array]:
    """Documents of one or two words, and a hash of each."""
    ones, twos = np.flatnonzero(sizes == 1), np.flatnonzero(sizes == 2)
    hashes = [hash_sequences(tokens, tokens.bounds[:-1][some], n) for n, some in ((1, ones), (2, twos))]
    return np.concatenate([ones, twos]), np.concatenate(hashes)


def _mix(hashes: Array, factor: np.uint64, shift: np.uint64) -> Array:
    return ((hashes * factor + shift) >> np.uint64(32)).astype(np.uint32)


@lru_cache(maxsize=1)
def _functions() -> list[tuple[np.uint64, np.uint64]]:
    drawn = np.random.default_rng(0).integers(0, 2**64, (_N_BANDS * _BAND, 2), dtype=np.uint64)
    return [(factor | np.uint64(1), shift) for factor, shift in drawn]


def _bands(signatures: Array) -> Array:
    """One hash for each band of each document, (n_documents, 8), different for different bands."""
    factors, shifts = np.array(_functions()).T
    mixed = signatures * factors
    return np.asarray(mixed.reshape(-1, _N_BANDS, _BAND).sum(axis=2, dtype=np.uint64) + shifts[:_N_BANDS])
