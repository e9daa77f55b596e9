"""Standard errors of mixtures of any shape: what EM would find without each group of samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

from mixsearch._typing import Array
from mixsearch.data.chunks import row_slices, sum_chunks
from mixsearch.data.partitions import Partitions, SamplePartition, sums_by_group
from mixsearch.gaussian._shapes import CHUNK_ROWS, ShapedMixture, ShapeSums, mixture_from_sums, sum_shapes
from mixsearch.gaussian._units import Units

# Samples whose component is less certain than this make parameters depend on each other.
MIN_DOUBT = 1e-4
# The step of the derivative, relative to all sums.
STEP = 1e-3
# When its equations are solved. With 1e-2, error bars of components that overlap are up to a fifth shorter than those
# of refits; with this one they agree within a few percent.
TOLERANCE, MAX_ITER = 1e-4, 50


class MixtureReplicates(NamedTuple):
    """Weights and centers of all components from all samples but one group."""

    weights: Array  # (B, k)
    centers: Array  # (B, k, d), in the units of the fit


def replicate_mixture(
    partitions: Partitions[SamplePartition], mixture: ShapedMixture, units: Units, least: float, rows: Array
) -> MixtureReplicates:
    """Return the mixture without each group of the jackknife in turn, to first order.

    Parameters
    ----------
    partitions : Partitions of samples of shape (n, d)
    mixture : ShapedMixture
        Where EM ended.
    units : Units
    least : float
        From `min_variance`.
    rows : array of shape (m, d)
        Some of the samples, in these units.

    Returns
    -------
    MixtureReplicates

    Notes
    -----
    EM ends where the sums s of the M-step are those of its own E-step, s = S(s). Without a group, s moves by δ with
    δ = J δ - s(group), where J is the derivative of S: leaving out a group takes its sums away, and what that changes
    in the parameters moves other samples. J is small where components are far apart, since only samples of an uncertain
    component move. Some of the samples suffice to measure it, along one direction at a time.
    """
    by_group = sums_by_group(partitions, _sum_rows, mixture, units)
    groups = [ShapeSums(*(field[index] for field in by_group)) for index in range(len(by_group.sizes))]
    total = ShapeSums(*(field.sum(axis=0) for field in by_group))
    moved = _Moved(mixture, total, least, rows, partitions.n_rows / len(rows))
    found = [_unflatten(_flatten(total) + moved.solve(-_flatten(group)), total) for group in groups]
    sizes = np.array([np.maximum(each.sizes, np.finfo(np.float64).tiny) for each in found])
    totals = np.array([each.totals for each in found])
    return MixtureReplicates(sizes / sizes.sum(axis=1, keepdims=True), totals / sizes[:, :, None])


def _sum_rows(partition: SamplePartition, rows: slice, mixture: ShapedMixture, units: Units) -> ShapeSums:
    samples = partition.samples[rows]

    def sum_chunk(chunk: slice) -> ShapeSums:
        X = units.standardize(samples[chunk])
        return sum_shapes(X, mixture.posterior(X)[0], mixture.shape)

    return sum_chunks(sum_chunk, row_slices(samples.shape[0], CHUNK_ROWS))


class _Moved:
    """The change of the E-step's sums with the parameters, measured on some samples."""

    def __init__(self, mixture: ShapedMixture, total: ShapeSums, least: float, rows: Array, factor: float) -> None:
        resp, _ = mixture.posterior(rows)
        is_uncertain = resp.max(axis=1) < 1 - MIN_DOUBT
        self._rows, self._factor = rows[is_uncertain], factor
        self._total, self._shape, self._least = total, mixture.shape, least
        self._center = _flatten(total)
        self._unmoved = self._sum(self._center)

    def _sum(self, sums: Array) -> Array:
        mixture = mixture_from_sums(_unflatten(sums, self._total), self._shape, self._least)
        resp, _ = mixture.posterior(self._rows)
        return self._factor * _flatten(sum_shapes(self._rows, resp, self._shape))

    def _derivative(self, direction: Array) -> Array:
        """Return J times a direction."""
        length = float(np.linalg.norm(direction))
        if length == 0:
            return direction
        step = STEP * float(np.linalg.norm(self._center)) / length
        return (self._sum(self._center + step * direction) - self._unmoved) / step

    def solve(self, direction: Array) -> Array:
        """Return δ with δ = Jδ + direction."""
        if not len(self._rows):
            return direction
        size = len(direction)
        operator = LinearOperator((size, size), matvec=lambda x: x.ravel() - self._derivative(x.ravel()), dtype=float)
        solution, _ = gmres(operator, direction, x0=direction, rtol=TOLERANCE, restart=MAX_ITER, maxiter=1)
        return np.asarray(solution)


def _flatten(sums: ShapeSums) -> Array:
    return np.concatenate([field.ravel() for field in sums])


def _unflatten(flat: Array, like: ShapeSums) -> ShapeSums:
    ends = np.cumsum([field.size for field in like])[:-1]
    return ShapeSums(*(part.reshape(field.shape) for part, field in zip(np.split(flat, ends), like, strict=True)))
