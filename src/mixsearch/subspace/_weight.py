"""The weight of a subspace that moments found: from second moments, unless fourth moments contradict them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.moments import Replicates
from mixsearch.data.chunks import row_slices, sum_chunks
from mixsearch.subspace._family import SubspaceFamily
from mixsearch.subspace._moments import SubspacePartition

# Standard errors by which the two weights of a subspace differ if its variance is not that of the others.
MAX_DEVIATIONS = 2.5


class MomentWeight(NamedTuple):
    """The weight of a subspace that moments found."""

    value: float
    is_fourth: bool  # whether it comes from fourth moments


def trace_share(family: SubspaceFamily, directions: Array) -> float:
    """Return the part that a subspace has in the trace of A, given its directions in the frame, (k r, r)."""
    values = family.frame.values
    return float(values @ np.sum(directions**2, axis=1) / values.sum())


def moment_weight(family: SubspaceFamily, directions: Array) -> MomentWeight:
    """Return the weight of a subspace.

    Parameters
    ----------
    family : SubspaceFamily
    directions : array of shape (k r, r)
        √α W'U, the subspace in the frame.

    Returns
    -------
    MomentWeight

    Notes
    -----
    The part in the trace of A is the weight if all subspaces have the same total variance. Fourth moments need no such
    assumption: the coordinates s = G'y of a sample have the second moment I over all samples, and are zero outside the
    subspace but for noise. Its members are normal with covariance I / α, so that E|s|⁴ = r (r + 2) / α. That weight
    has more variance, so it is used only if both differ by more than chance.
    """
    share, r = trace_share(family, directions), directions.shape[1]
    sizes, turn = np.linalg.eigh(directions.T @ (family.frame.values[:, None] * directions))
    sums = family.partitions.reduce(_weight_sums, directions @ turn, sizes, family.frame.values)
    noise = family.correct(np.zeros((len(directions), len(directions))), directions @ directions.T)
    fourth = sums.total[0] / sums.n + float(np.sum(directions * (noise @ directions)))
    if not fourth > 0:
        return MomentWeight(share, is_fourth=False)
    weight, trace = min(r * (r + 2) / fourth, 1.0), float(family.frame.values.sum())
    # Derivatives of the difference of both weights by the means of the four sums.
    slopes = np.array([-(weight**2) / (r * (r + 2)), 2 * weight / r, -1 / trace, share / trace])
    is_fourth = (weight - share) ** 2 > MAX_DEVIATIONS**2 * float(slopes @ sums.covariance @ slopes) / sums.n
    return MomentWeight(weight if is_fourth else share, is_fourth)


class WeightSums(NamedTuple):
    """Sums over samples of |s|⁴, |s|², of the squared length of the part in the subspace and of that in the span."""

    n: int
    total: Array  # (4,)
    products: Array  # (4, 4)

    @property
    def covariance(self) -> Array:
        """The covariance of the four, (4, 4)."""
        mean = self.total / self.n
        return np.asarray(self.products / self.n - np.outer(mean, mean))


def _weight_sums(partition: SubspacePartition, directions: Array, sizes: Array, values: Array) -> WeightSums:
    def sum_rows(rows: slice) -> WeightSums:
        Y = partition.projected[rows].astype(np.float64, copy=False)
        squares = (Y @ directions) ** 2
        lengths = squares @ np.ones(len(sizes))
        columns = np.column_stack([lengths**2, lengths, squares @ sizes, Y**2 @ values])
        return WeightSums(len(Y), columns.sum(axis=0), columns.T @ columns)

    return sum_chunks(sum_rows, row_slices(len(partition.projected)))


def weight_replicates(replicates: Replicates, directions: Array) -> Array:
    """Return the weight from fourth moments of every replicate, (B,).

    Parameters
    ----------
    replicates : Replicates
        Of the fourth moment contracted with the directions.
    directions : array of shape (k r, r)
        G.

    Returns
    -------
    array of shape (B,)

    Notes
    -----
    The directions of a replicate are G(G'AG)^(-1/2) and a part outside of G, which changes E|s|⁴ in second order only.
    To first order, E|s|⁴ = r (2 tr(G'RG (G'AG)⁻¹) - tr G'RG).
    """
    r = directions.shape[1]
    own = directions.T @ replicates.hinted @ directions
    scaled = np.linalg.solve(directions.T @ replicates.second @ directions, own)
    return np.asarray((r + 2) / (2 * np.trace(scaled, axis1=1, axis2=2) - np.trace(own, axis1=1, axis2=2)))
