"""Documents as vectors of length 1: their words as tf-idf, and their places in the signal space."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import RowChunks, sum_chunks
from mixsearch.data.threads import n_cores

# A place has two unit vectors, of whitened counts times a power of the eigenvalues: a fine one of all directions, and a
# broad one of the leading directions, by a larger power.
FINE_POWER, BROAD_POWER, N_LEADING = 0.5, 0.75, 50


class UnitSums(NamedTuple):
    """Sums over the unit vectors of documents."""

    tfidf: Array  # of values and of their squares, (d, 2)
    places: Array  # (2, k)


class MeanDocument(NamedTuple):
    """Means over the unit vectors of all documents."""

    tfidf: Array  # (d,)
    deviation: Array  # of tf-idf, (d,)
    places: Array  # (2, k)

    @classmethod
    def from_sums(cls, sums: UnitSums, n_documents: int) -> MeanDocument:
        """Return the means from the sums over all documents."""
        mean, square = sums.tfidf.T / n_documents
        return cls(mean, np.sqrt(np.maximum(square - mean**2, 0)), sums.places / n_documents)


def measure_documents(counts: RowChunks, projected: Array, values: Array, idf: Array) -> tuple[Array, MeanDocument]:
    """Return the lengths of all documents as tf-idf vectors, (n,), and the mean document."""
    lengths = np.empty(counts.shape[0])

    def measure(chunk: tuple[int, slice]) -> UnitSums:
        index, rows = chunk
        X = counts.read(index)
        lengths[rows] = tfidf_lengths(X, idf)
        return sum_unit_vectors(X, lengths[rows], projected[rows], values, idf)

    return lengths, MeanDocument.from_sums(sum_chunks(measure, counts.enumerate(), n_cores()), len(lengths))


def sum_unit_vectors(counts: sp.csr_array, lengths: Array, projected: Array, values: Array, idf: Array) -> UnitSums:
    """Return the sums over documents of known lengths as tf-idf vectors."""
    scale = (1 / np.where(lengths > 0, lengths, np.inf)).astype(counts.dtype)
    tfidf = np.column_stack([idf * (counts.T @ scale), idf**2 * (_squares(counts).T @ scale**2)])
    return UnitSums(tfidf, sum_places(projected, values, np.ones(len(lengths))))


def inverse_frequency(document_frequency: Array, n_documents: int) -> Array:
    """Return the idf of words, (d,): smoothed, and 1 for a word that every document contains."""
    return np.asarray(np.log((1 + n_documents) / (1 + document_frequency)) + 1)


def tfidf_lengths(counts: sp.csr_array, idf: Array) -> Array:
    """Return the Euclidean lengths of tf-idf vectors, (n,)."""
    return np.sqrt(np.asarray(_squares(counts) @ idf**2, dtype=np.float64))


def _squares(counts: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((counts.data**2, counts.indices, counts.indptr), shape=counts.shape)


def _place_units(values: Array) -> Array:
    """Return the units of both places from the eigenvalues, (2, k)."""
    units = np.stack([values**FINE_POWER, values**BROAD_POWER])
    units[1, N_LEADING:] = 0
    return units


def _inverse_lengths(projected: Array, units: Array) -> Array:
    """Return 1 over the lengths that both places have before they are scaled to length 1, (n, 2); 1 for zero."""
    squares = projected**2 @ (units**2).T
    return np.asarray(1 / np.sqrt(np.where(squares > 0, squares, 1)))


def sum_places(projected: Array, values: Array, weights: Array) -> Array:
    """Return the sums over the places of documents with weights, (2, k). No vector of length 1 is made."""
    units, exact = _place_units(values), projected.astype(np.float64)
    return np.asarray((_inverse_lengths(exact, units) * weights[:, None]).T @ exact * units)


def project_places(projected: Array, values: Array, directions: Array) -> Array:
    """Return the scalar products of the places of documents with two directions, (2, k) -> (n, 2)."""
    units, exact = _place_units(values), projected.astype(np.float64)
    return np.asarray(exact @ (units * directions).T * _inverse_lengths(exact, units))


def broad_places(projected: Array, values: Array) -> Array:
    """Return the places of documents in the leading directions only, (n, k)."""
    broad = projected * (values**BROAD_POWER).astype(projected.dtype)
    broad[:, N_LEADING:] = 0
    return to_unit_length(broad)


def to_unit_length(vectors: Array) -> Array:
    """Scale a vector, or each of several, to length 1, (..., k). Zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))
