"""How far a subspace can be trusted: standard errors of its basis and weight, and whether the hint picked it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.jackknife import jackknife, whitened
from mixsearch.core.moments import Replicates
from mixsearch.core.second_moment import weighted_sums
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions
from mixsearch.subspace._moments import SubspaceFamily, SubspacePartition

# Entries of all sums that one pass over the samples brings back, where a single one has not more: 32 MB.
MOST_ENTRIES = 2**22


class SubspaceErrors(NamedTuple):
    """How far a subspace would vary from sample to sample: a 95% interval is 1.96 of them to both sides."""

    basis: Array  # (d, r), each after a rotation onto the basis found: a basis is only known up to one
    weight: float


def subspace_errors(model: SubspaceFamily, directions: Array, basis: Array, replicates: Replicates) -> SubspaceErrors:
    """Standard errors of a subspace that moments found.

    Parameters
    ----------
    model : SubspaceFamily
    directions : array of shape (k r, r)
        √α W'U, the subspace in the frame.
    basis : array of shape (d, r)
        U.
    replicates : Replicates

    Notes
    -----
    Inside the span of all samples every replicate is solved exactly: its subspace is AWG, where G are the top solutions
    of R g = λ A g. Outside it is P⊥AWG, where P⊥A itself is of the order of the difference, so that the G of all
    samples will do.
    """
    scale = np.sqrt(model.frame.values)[:, None]
    images = scale * _images(replicates, directions.shape[1])
    traces = np.einsum("bii,i->b", replicates.second, model.frame.values)
    # The rotation of the G of all samples that is nearest to the image of each replicate.
    turns = np.linalg.lstsq(scale * directions, np.hstack(list(images)), rcond=None)[0]
    turned = np.split(turns, len(images), axis=1)
    outside = means_left_out(model.partitions, directions.shape[1], _along, directions)
    moves = (
        _turned_onto(basis, model.frame.basis @ image + model.frame.residual(beside) @ turn)
        for image, beside, turn in zip(images, outside, turned, strict=True)
    )
    return SubspaceErrors(jackknife_of_moves(moves), float(jackknife(np.sum(images**2, axis=(1, 2)) / traces)))


def _images(replicates: Replicates, r: int) -> Array:
    """AG of every replicate in the frame of all samples, (B, k r, r)."""
    matrices, _, root = whitened(replicates)
    _, U = np.linalg.eigh((matrices + matrices.transpose(0, 2, 1)) / 2)
    return np.linalg.solve(root, U[:, :, -r:])


def _turned_onto(basis: Array, image: Array) -> Array:
    """How far the subspace of an image lies from a basis, (d, r): M(U'M)⁻¹ - U.

    Up to second order the same as after the best rotation.
    """
    return np.asarray(image @ np.linalg.inv(basis.T @ image) - basis)


def _along(partition: SubspacePartition, directions: Array) -> Array:
    return np.asarray(partition.projected @ directions)


def means_left_out(partitions: Partitions[Any], r: int, tell: Callable[..., Array], *shared: Any) -> Iterator[Array]:
    """The mean of x t' over all samples but one block, (d, r), for each block in turn; see `sums_by_group`."""
    total, n, n_groups = partitions.reduce(_sum_told, tell, shared).total, partitions.n_rows, partitions.n_groups
    for block, own in enumerate(sums_by_group(partitions, r, tell, *shared)):
        yield (total - own) / (n - len(range(block, n, n_groups)))


def sums_by_group(partitions: Partitions[Any], r: int, tell: Callable[..., Array], *shared: Any) -> Iterator[Array]:
    """Σ x t' over the samples of each block of the jackknife in turn, (d, r): as many in one pass as memory allows.

    Parameters
    ----------
    partitions : Shards of samples of shape (n, d)
    r : int
    tell : callable
        From a shard and what is shared to the t of its samples, (n, r).
    *shared
        Passed to `tell`.
    """
    n_groups, at_once = partitions.n_groups, max(MOST_ENTRIES // (partitions.n_features * r), 1)
    for start in range(0, n_groups, at_once):
        blocks = range(start, min(start + at_once, n_groups))
        yield from partitions.reduce(_sum_told_by_block, blocks, n_groups, tell, shared).total


def _sum_told(partition: Any, tell: Callable[..., Array], shared: tuple[Any, ...]) -> ArraySum:
    return ArraySum(weighted_sums(partition.samples, tell(partition, *shared)).rows)


def _sum_told_by_block(
    partition: Any, blocks: range, n_groups: int, tell: Callable[..., Array], shared: tuple[Any, ...]
) -> ArraySum:
    told, rows = tell(partition, *shared), [partition.rows_at(n_groups, block) for block in blocks]
    return ArraySum(np.array([weighted_sums(partition.samples[some], told[some]).rows for some in rows]))


def jackknife_of_moves(moves: Iterable[Array]) -> Array:
    """The standard error from how far each replicate moved; they come one at a time, and none is kept."""
    n_groups, total, squares = 0, np.zeros(1), np.zeros(1)
    for move in moves:
        n_groups, total, squares = n_groups + 1, total + move, squares + move**2
    variance = np.maximum(squares / n_groups - (total / n_groups) ** 2, 0)
    return np.asarray(np.sqrt((n_groups - 1) * variance))


def nearest_subspace(frame: Frame, subspaces: Array, directions: Array) -> Array:
    """The number of the subspace that directions in the frame, (n, k r, q), have most in common with, (n,)."""
    spans, _ = np.linalg.qr(np.sqrt(frame.values)[:, None] * directions)
    common = np.einsum("kpi,npj->nkij", subspaces, spans, optimize=True)
    return np.asarray(np.sum(common**2, axis=(2, 3)).argmax(axis=1))
