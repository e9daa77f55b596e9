"""Third moments in a few coordinates, (k, k, k), and the components that all their contractions show."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.component import Candidates
from mixsearch.data.chunks import CHUNK_ROWS, ArraySum, row_slices, sum_chunks

# Numbers in a chunk of outer products: they stay in cache until they are summed.
CACHED_PRODUCTS = 2**18


def sum_cubes(Y: Array, Z: Array, weights: Array) -> Array:
    """Return Σ wᵢ yᵢ⊗yᵢ⊗zᵢ, (k, k, k), chunk by chunk in double precision."""
    k = Y.shape[1]

    def sum_rows(rows: slice) -> ArraySum:
        part, last = Y[rows].astype(np.float64, copy=False), Z[rows].astype(np.float64, copy=False)
        squares = part[:, :, None] * part[:, None, :]
        return ArraySum(squares.reshape(len(part), k * k).T @ (last * weights[rows, None]))

    slices = row_slices(len(Y), int(np.clip(CACHED_PRODUCTS // k**2, 1, CHUNK_ROWS)))
    return np.asarray(sum_chunks(sum_rows, slices).total).reshape(k, k, k)


def symmetrize(tensor: Array) -> Array:
    """Sum the three cyclic permutations of a tensor that is symmetric in its first two indices, (k, k, k)."""
    return np.asarray(tensor + tensor.transpose(1, 2, 0) + tensor.transpose(2, 0, 1))


def rotate(tensor: Array, basis: Array) -> Array:
    """Return a tensor, (k, k, k), in the coordinates of an orthonormal basis, (k, q): (q, q, q)."""
    return np.tensordot(basis.T, basis.T @ tensor @ basis, axes=1)


# Starting bases: the hint's own eigenvectors, and those of this many random contractions.
N_STARTS = 5


# Iterations converge quadratically: after a change this small, only rounding is left.
MAX_ITER, SMALL_CHANGE = 30, 1e-6


def separate_rest(tensor: Array, candidates: Candidates) -> Candidates:
    """Separate all candidates but the first by the third moment in the frame, (k, k, k).

    Notes
    -----
    Candidates of nearly equal score are arbitrary mixtures of each other. R(c) = Σ ⟨W'μᵢ, c⟩uᵢuᵢ' contracts one tensor
    T = Σ αᵢ^(-1/2) uᵢ⊗uᵢ⊗uᵢ, whatever the hint. Its components are the orthonormal fixed points of
    u -> T(u, u) / |T(u, u)|. Power iterations on all of them at once, each followed by the nearest orthonormal basis,
    converge quadratically. Of several starts the one with the largest Σ T(u, u, u)² is kept: that sum is largest if T
    is diagonal.
    """
    k = candidates.points.shape[0]
    if k <= 2:
        return candidates
    lengths = np.linalg.norm(candidates.points, axis=0)
    directions = np.asarray(candidates.points / np.where(lengths > 0, lengths, 1.0))
    complement = np.linalg.svd(directions[:, :1])[0][:, 1:]
    U = complement @ _diagonalize(_symmetric(rotate(tensor, complement)), complement.T @ directions[:, 1:])
    hinted = (directions * candidates.scores) @ directions.T
    scores = np.einsum("ai,ab,bi->i", U, hinted, U)
    order = np.argsort(-scores, kind="stable")
    U, scores = U[:, order], np.concatenate([candidates.scores[:1], scores[order]])
    overlaps = U.T @ (candidates.points @ candidates.weights)
    return Candidates(
        points=np.column_stack([candidates.points[:, 0], U / np.where(overlaps == 0, np.inf, overlaps)]),
        weights=np.concatenate([candidates.weights[:1], overlaps**2]),
        scores=scores,
        preference=scores,
    )


def all_components(tensor: Array, mean: Array) -> Candidates:
    """Return rough estimates of all components of a mixture, without a hint."""
    U = _diagonalize(_symmetric(tensor), np.linalg.eigh(np.tensordot(mean, tensor, axes=1))[1])
    overlaps = U.T @ mean
    order = np.argsort(-(overlaps**2), kind="stable")
    overlaps, ones = overlaps[order], np.ones(len(mean))
    points = U[:, order] / np.where(overlaps == 0, np.inf, overlaps)
    return Candidates(points, overlaps**2, scores=ones, preference=ones)


def separate_directions(directions: Array, tensor_within: Callable[[Array], Array]) -> Array:
    """Return the orthonormal directions of components, (k, q), that span the same space as rough ones.

    `tensor_within` maps an orthonormal basis, (k, q), to T in its coordinates, (q, q, q).
    """
    basis = _nearest_orthonormal(directions)
    return np.asarray(basis @ _diagonalize(_symmetric(tensor_within(basis)), np.eye(basis.shape[1])))


def _symmetric(T: Array) -> Array:
    """Return the symmetric part of a tensor that noise made asymmetric, (q, q, q)."""
    return np.asarray((T + T.transpose(1, 2, 0) + T.transpose(2, 0, 1)) / 3)


def _diagonalize(tensor: Array, first: Array) -> Array:
    """Return the orthonormal columns in which a symmetric tensor is as diagonal as possible, (q, q)."""
    weights = np.random.default_rng(0).standard_normal((N_STARTS, len(tensor)))
    starts = np.stack([first, *np.linalg.eigh(np.tensordot(weights, tensor, axes=1))[1]])
    bases = _power_iterations(tensor, _nearest_orthonormal(starts))
    diagonals = np.sum(bases * _image(tensor, bases), axis=1)
    return np.asarray(bases[np.argmax(np.sum(diagonals**2, axis=1))])


def _power_iterations(tensor: Array, U: Array) -> Array:
    """Iterate from several bases at once, (s, q, q)."""
    for _ in range(MAX_ITER):
        before, U = U, _nearest_orthonormal(_image(tensor, U))
        if np.abs(U - before).max() < SMALL_CHANGE:
            break
    return U


def _image(tensor: Array, U: Array) -> Array:
    """Return T(u, u) for each column u of each basis, (s, q, q)."""
    return np.asarray(np.einsum("sabj,sbj->saj", tensor @ U[:, None], U))


def _nearest_orthonormal(U: Array) -> Array:
    left, _, right = np.linalg.svd(U, full_matrices=False)
    return np.asarray(left @ right)
