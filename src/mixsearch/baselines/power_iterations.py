"""Power iterations: eigenpairs of a symmetric tensor of shape (k, k, k)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.validation import check_positive_int
from mixsearch.data.chunks import row_slices
from mixsearch.errors import SearchError

# Where no coordinate moves by more, what is left is rounding.
SMALL_CHANGE = 1e-12
# Numbers in a block of starting points, each taken with itself: k² of them each.
BLOCK_PRODUCTS = 2**20


class PowerPairs(NamedTuple):
    """Eigenpairs of a symmetric tensor."""

    values: Array  # λ, (q,), in the order in which they were found
    vectors: Array  # (k, q), unit columns


def robust_power_iterations(
    tensor: Array, n_restarts: int, n_iterations: int, rng: np.random.Generator, *, n_components: int | None = None
) -> PowerPairs:
    """Eigenpairs of a symmetric tensor, one after the other: the robust power method.

    Parameters
    ----------
    tensor : array of shape (k, k, k)
        Symmetric and near Σ λᵢ uᵢ⊗uᵢ⊗uᵢ, with orthonormal uᵢ.
    n_restarts : int
        L, starting points at random for each pair.
    n_iterations : int
        N, steps u -> T(·, u, u) / |T(·, u, u)| from each, and N more from the one with the largest T(u, u, u).
    rng : Generator
    n_components : int, optional
        How many pairs; k by default.

    Notes
    -----
    Algorithm 1 of the authors: a pair found is taken off, T - λ u⊗u⊗u, before the next is looked for. Steps end early
    where nothing moves any more, and starting points take theirs together, in one product of matrices.
    """
    k = len(tensor)
    n_pairs = k if n_components is None else n_components
    check_positive_int("n_restarts", n_restarts)
    check_positive_int("n_iterations", n_iterations)
    if n_pairs > k:
        raise SearchError(f"A tensor of shape {tensor.shape} holds {k} components at most; {n_pairs} were asked for.")
    left, found = tensor, []
    for _ in range(n_pairs):
        pair = _strongest_pair(left, n_restarts, n_iterations, rng)
        u = pair.vectors[:, 0]
        left = left - pair.values * np.multiply.outer(np.outer(u, u), u)
        found.append(pair)
    return PowerPairs(np.concatenate([each.values for each in found]), np.hstack([each.vectors for each in found]))


def _strongest_pair(tensor: Array, n_restarts: int, n_iterations: int, rng: np.random.Generator) -> PowerPairs:
    """The pair of the largest eigenvalue that any starting point leads to."""
    k = len(tensor)
    best = PowerPairs(np.array([-np.inf]), np.zeros((k, 1)))
    for starts in row_slices(n_restarts, max(BLOCK_PRODUCTS // k**2, 1)):
        ends = power_steps(tensor, rng.standard_normal((k, starts.stop - starts.start)), n_iterations)
        top = int(np.argmax(ends.values))
        if ends.values[top] > best.values[0]:
            best = PowerPairs(ends.values[[top]], ends.vectors[:, [top]])
    return power_steps(tensor, best.vectors, n_iterations)


def power_steps(tensor: Array, starts: Array, n_iterations: int) -> PowerPairs:
    """From several starting points at once, (k, q)."""
    U = _unit_columns(starts, instead=starts)
    for _ in range(n_iterations):
        before, U = U, _unit_columns(_image(tensor, U), instead=U)
        if np.abs(U - before).max() < SMALL_CHANGE:
            break
    return PowerPairs(np.sum(U * _image(tensor, U), axis=0), U)


def _image(tensor: Array, U: Array) -> Array:
    """T(·, u, u) of each column, (k, q)."""
    k = len(tensor)
    return np.asarray(tensor.reshape(k, -1) @ (U[:, None] * U).reshape(k * k, -1))


def _unit_columns(columns: Array, instead: Array) -> Array:
    """Columns of length one, (k, q); where one is zero, that of another array."""
    lengths = np.linalg.norm(columns, axis=0)
    return np.where(lengths > 0, columns / np.where(lengths > 0, lengths, 1.0), instead)
