"""Standard errors of a subspace that moments found, and jackknife sums over all features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.jackknife import jackknife, whitened
from mixsearch.core.moments import Replicates
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions
from mixsearch.subspace._family import SubspaceFamily
from mixsearch.subspace._moments import SubspacePartition, sums_from_origin
from mixsearch.subspace._weight import weight_replicates

# One pass over the samples sums at most this many entries of cross moments, 32 MB, or one group.
MAX_ENTRIES = 2**22


class SubspaceErrors(NamedTuple):
    """Standard errors of a subspace; a 95% interval is 1.96 of them to each side.

    Attributes
    ----------
    basis : array of shape (d, r)
        Standard error of each entry, after a rotation onto the basis found: a basis is determined only up to a
        rotation.
    weight : float
        Standard error of the weight.
    """

    basis: Array
    weight: float


def subspace_errors(
    family: SubspaceFamily, directions: Array, basis: Array, replicates: Replicates, *, is_fourth: bool
) -> SubspaceErrors:
    """Return the standard errors of a subspace that moments found.

    Parameters
    ----------
    family : SubspaceFamily
    directions : array of shape (k r, r)
        √α W'U, the subspace in the frame.
    basis : array of shape (d, r)
        U.
    replicates : Replicates
    is_fourth : bool
        Whether the weight comes from fourth moments.

    Returns
    -------
    SubspaceErrors

    Notes
    -----
    Inside the span of all subspaces every replicate is solved exactly: its subspace is AWG, with the top solutions G of
    R g = λ A g. Outside it is P⊥AWG. P⊥A itself is of the order of the difference, so the G of all samples suffices.
    """
    scale = np.sqrt(family.frame.values)[:, None]
    images = scale * _replicate_images(replicates, family.dim)
    # The rotation of the G of all samples that is nearest to the image of each replicate.
    fits = np.linalg.lstsq(scale * directions, np.hstack(list(images)), rcond=None)[0]
    rotations = np.split(fits, len(images), axis=1)
    means = _cross_means_without_group(family.partitions, family.origin, family.dim, _scores_along, directions)
    moves = (
        _basis_move(basis, family.frame.basis @ image + family.frame.residual(mean) @ rotation)
        for image, mean, rotation in zip(images, means, rotations, strict=True)
    )
    if family.n_components == 1:
        weights = np.ones(len(images))
    elif is_fourth:
        weights = weight_replicates(replicates, directions)
    else:
        traces = np.einsum("bii,i->b", replicates.second, family.frame.values)
        weights = np.sum(images**2, axis=(1, 2)) / traces
    return SubspaceErrors(jackknife_from_moves(moves), float(jackknife(weights)))


def _replicate_images(replicates: Replicates, dim: int) -> Array:
    """Return AG of every replicate in the frame of all samples, (B, k r, r)."""
    matrices, _, root = whitened(replicates)
    _, U = np.linalg.eigh((matrices + matrices.transpose(0, 2, 1)) / 2)
    return np.linalg.solve(root, U[:, :, -dim:])


def _basis_move(basis: Array, image: Array) -> Array:
    """Return M(U'M)⁻¹ - U, (d, r): how far the span of an image lies from a basis.

    It equals the difference after the best rotation up to second order.
    """
    return np.asarray(image @ np.linalg.inv(basis.T @ image) - basis)


def _scores_along(partition: SubspacePartition, directions: Array) -> Array:
    return np.asarray(partition.projected @ directions)


def _cross_means_without_group(
    partitions: Partitions[Any], origin: Array | None, dim: int, compute_scores: Callable[..., Array], *shared: Any
) -> Iterator[Array]:
    """Yield the mean of x t', (d, r), over all samples but one group, for each group in turn."""
    total = partitions.reduce(_cross_sum, origin, compute_scores, shared).total
    n, n_groups = partitions.n_rows, partitions.n_groups
    for group, own in enumerate(cross_sums_by_group(partitions, origin, dim, compute_scores, *shared)):
        yield (total - own) / (n - len(range(group, n, n_groups)))


def cross_sums_by_group(
    partitions: Partitions[Any], origin: Array | None, dim: int, compute_scores: Callable[..., Array], *shared: Any
) -> Iterator[Array]:
    """Yield Σ x t', (d, r), over the samples of each group in turn: as many groups per pass as memory allows.

    Parameters
    ----------
    partitions : Partitions of samples of shape (n, d)
    origin : array of shape (d,), optional
        Subtracted from every sample.
    dim : int
        r.
    compute_scores : callable
        From a partition and the shared arguments to the scores t of its samples, (n, r).
    *shared
        Passed to `compute_scores`.

    Yields
    ------
    array of shape (d, r)
    """
    n_groups, n_at_once = partitions.n_groups, max(MAX_ENTRIES // (partitions.n_features * dim), 1)
    for start in range(0, n_groups, n_at_once):
        groups = range(start, min(start + n_at_once, n_groups))
        yield from partitions.reduce(_cross_sums, groups, n_groups, origin, compute_scores, shared).total


def _cross_sum(
    partition: Any, origin: Array | None, compute_scores: Callable[..., Array], shared: tuple[Any, ...]
) -> ArraySum:
    return ArraySum(sums_from_origin(partition.samples, compute_scores(partition, *shared), origin))


def _cross_sums(
    partition: Any,
    groups: range,
    n_groups: int,
    origin: Array | None,
    compute_scores: Callable[..., Array],
    shared: tuple[Any, ...],
) -> ArraySum:
    scores, rows = compute_scores(partition, *shared), [partition.rows_at(n_groups, group) for group in groups]
    return ArraySum(np.array([sums_from_origin(partition.samples[own], scores[own], origin) for own in rows]))


def jackknife_from_moves(moves: Iterable[Array]) -> Array:
    """Return the standard error from the move of each replicate. Only sums are kept, not the moves."""
    n_groups, total, squares = 0, np.zeros(1), np.zeros(1)
    for move in moves:
        n_groups, total, squares = n_groups + 1, total + move, squares + move**2
    variance = np.maximum(squares / n_groups - (total / n_groups) ** 2, 0)
    return np.asarray(np.sqrt((n_groups - 1) * variance))
