"""Standard errors and confidence from estimates that leave out one group of samples at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.data.threads import one_blas_thread


class StandardErrors(NamedTuple):
    """How far an answer would vary from sample to sample: a 95% interval is 1.96 of them to both sides."""

    center: Array  # (d,)
    weight: float


# Without one block in forty the second moment stays near the identity; below this it has lost a direction.
MIN_SECOND = 0.05


def jackknife(replicates: Array) -> Array:
    """The standard error of an estimate from its replicates, (B, ...) -> (...)."""
    n_groups = len(replicates)
    return np.asarray(np.sqrt((n_groups - 1) * np.var(replicates, axis=0)))


def whitened(replicates: Replicates) -> tuple[Array, Array, Array]:
    """R and m of every replicate in a frame of its own, and A^(-1/2) that led there, (B, k, k)."""
    values, vectors = np.linalg.eigh(replicates.second)
    scaled = vectors / np.sqrt(np.maximum(values, MIN_SECOND))[:, None, :]
    root = scaled @ vectors.transpose(0, 2, 1)
    return root @ replicates.hinted @ root, np.einsum("bij,bj->bi", root, replicates.mean), root


def replicate_component(replicates: Replicates, direction: Array) -> tuple[Array, Array]:
    """The component as each replicate has it: its points in the frame of all samples, (B, k), and weights, (B,).

    Parameters
    ----------
    replicates : Replicates
    direction : array of shape (k,)
        u = √α W'μ of the component found from all samples; each replicate's nearest eigenvector stands for it.

    Notes
    -----
    In the fixed frame, R u = λ A u with u'Au = 1; then W'μ = A u / ⟨u, W'm⟩ and α = ⟨u, W'm⟩².
    """
    matrices, means, root = whitened(replicates)
    _, U = np.linalg.eigh((matrices + matrices.transpose(0, 2, 1)) / 2)
    nearest = np.abs(direction @ U).argmax(axis=1)
    u = U[np.arange(len(U)), :, nearest]
    overlaps = np.einsum("bi,bi->b", u, means)
    back = np.linalg.solve(root, u[:, :, None])[:, :, 0]  # A^(1/2) u
    return back / overlaps[:, None], overlaps**2


def component_errors(
    frame: Frame,
    direction: Array,
    replicates: Replicates,
    outside: Array,
    to_features: Callable[[Array], Array] = np.asarray,
) -> StandardErrors:
    """Standard errors of a component that moments found.

    Parameters
    ----------
    frame : Frame
        Of all samples. No replicate finds its own.
    direction : array of shape (k,)
        u = √α W'μ.
    replicates : Replicates
    outside : array of shape (d, B)
        A W u of every replicate, up to what lies in the signal space.
    to_features : callable, optional
        From centers in the features of the frame, (r, B), to those of the user, (d, B).

    Notes
    -----
    Eigenvectors are not found again. Inside the signal space of all samples every replicate is solved exactly. Outside,
    the center of a replicate is P⊥ A W u / ⟨u, W'm⟩, where P⊥A itself is of the order of the difference: what the
    replicate's own u and m would change is smaller by that order again, 1/B.
    """
    points, weights = replicate_component(replicates, direction)
    found = float(np.sqrt(weights.mean()))
    centers = frame.unwhiten(points.T) + frame.residual(outside) / found
    return StandardErrors(jackknife(to_features(centers).T), float(jackknife(weights)))


class NewtonSums(NamedTuple):
    """Sums over samples of their scores."""

    information: Array  # of their outer products, (p, p)
    by_block: Array  # of the scores in each block of the jackknife, (B, p)


def newton_replicates(partitions: Partitions[Any], scores_of: Callable[..., Array], *shared: Any) -> Array:
    """How leaving out each block moves a maximum-likelihood estimate, (B, p).

    Parameters
    ----------
    partitions : Shards of samples
    scores_of : callable
        From a shard and what is shared to the derivatives of each sample's log-likelihood by the parameters, at the
        estimate, (n, p).
    *shared
        Passed to `scores_of`.

    Notes
    -----
    Without a block the scores no longer add up to zero, and one Newton step, with the sum of their outer products as
    the information, takes them back there. What a second one would change is smaller by another factor 1/B.
    """
    sums = partitions.reduce(_newton_sums, scores_of, shared, partitions.n_groups)
    return np.asarray(-sums.by_block @ invert_information(sums.information))


def _newton_sums(
    partition: Partition, scores_of: Callable[..., Array], shared: tuple[Any, ...], n_groups: int
) -> NewtonSums:
    scores = scores_of(partition, *shared)
    by_block = [scores[partition.rows_at(n_groups, block)].sum(axis=0) for block in range(n_groups)]
    return NewtonSums(scores.T @ scores, np.array(by_block))


def invert_information(information: Array) -> Array:
    """The inverse of a sum of outer products of scores, (p, p); of what the samples tell nothing about, zero.

    Each parameter is measured in units of what the samples tell of it: in those of the features, what they tell of a
    center and of a weight may differ by any factor, and the smaller would pass for nothing.
    """
    told = np.sqrt(np.diag(information))
    units = 1 / np.where(told > 0, told, np.inf)
    scaled = information * units[:, None] * units
    return np.asarray(units[:, None] * np.linalg.pinv(scaled, rcond=1e-12, hermitian=True) * units)


N_DRAWS = 10_000


def probability_of_first(
    hinted: Hinted,
    replicates: Replicates,
    axes: Array,
    place: int,
    *,
    choose: str,
    hint_shifts: Array | None = None,
) -> float:
    """The part of imagined samples on which the component found comes first.

    Parameters
    ----------
    hinted : Hinted
        R and W'm of all samples.
    replicates : Replicates
        Of the same hint.
    axes : array of shape (k, q)
        The directions √αᵢW'μᵢ of all components that could come first, orthonormal, as no single hint shows them.
    place : int
        Which of them was found.
    choose : {"largest", "share"}
        What puts the components in order.
    hint_shifts : array of shape (B, k), optional
        How the hint in the frame moves with each replicate, where it does.

    Notes
    -----
    Scores of other samples are imagined as those of these, plus normal noise with the covariance that the jackknife
    gives. The eigenvectors of R themselves would not do: noise turns those of two components with nearly the same score
    into each other, and drives the two eigenvalues apart, so that the answer always looks surer than it is.
    """
    with one_blas_thread:  # many small matrices: other threads would only wait for each other
        return _part_of_draws(hinted, replicates, axes, place, choose, hint_shifts)


def _part_of_draws(
    hinted: Hinted, replicates: Replicates, axes: Array, place: int, choose: str, hint_shifts: Array | None
) -> float:
    matrices, means, _ = whitened(replicates)
    draws = np.random.default_rng(0).standard_normal((N_DRAWS, len(means)))  # the same answer every time
    along, overlaps = _along(axes, matrices), hinted.mean @ axes
    if hint_shifts is not None:  # ⟨μᵢ, v⟩ = ⟨W'μᵢ, c⟩, with W'μᵢ = uᵢ / √αᵢ
        along += hint_shifts @ axes / np.where(overlaps == 0, np.inf, overlaps)
    scores = _imagine(_along(axes, hinted.matrix[None])[0], along, draws)
    if choose == "share":
        scores = scores * np.abs(_imagine(overlaps, means @ axes, draws))
    return float(np.mean(scores.argmax(axis=1) == place))


def _along(axes: Array, matrices: Array) -> Array:
    """The diagonals of matrices in the coordinates of the axes, (B, q)."""
    return np.asarray(np.einsum("ai,bac,ci->bi", axes, matrices, axes, optimize=True))


def _imagine(estimate: Array, replicates: Array, draws: Array) -> Array:
    """Estimates from other samples, (n, q)."""
    n_groups = len(replicates)
    return np.asarray(estimate + draws @ (replicates - replicates.mean(axis=0)) * np.sqrt((n_groups - 1) / n_groups))
