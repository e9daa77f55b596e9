"""The moments of a mixture of regressions without one block of samples at a time.

Without a block x has another mean and covariance, by which it would have been standardised: coefficients, unlike
moments, hardly depend on which x were drawn, and error bars must know that. To first order in 1/B only sums inside the
signal space are needed for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.frame import project
from mixsearch.core.moments import Replicates
from mixsearch.core.second_moment import weighted_gram
from mixsearch.core.tensor import sum_cubes
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import leave_one_out, spread_over_groups
from mixsearch.regression._design import sum_centered

if TYPE_CHECKING:
    from mixsearch.regression._moments import RegressionFamily, RegressionPartition


class RegressionSums(NamedTuple):
    """Sums over a block of samples, with y its coordinates in the frame."""

    n: int
    gram: Array  # Σ yy', (k, k)
    second: Array  # Σ t²yy', (k, k)
    third: Array  # Σ f(t)⟨y, c⟩yy', (k, k)
    place: Array  # Σ y, (k,)
    mean: Array  # Σ ty, (k,)
    first: Array  # Σ f(t)y, (k,)
    power: float  # Σ t²
    energy: float  # Σ t²|z|² outside the signal space
    beside: float  # Σ |z|² outside it


class Whole(NamedTuple):
    """What the first-order change of the design acts on: averages over all samples."""

    tensor: Array  # R(c) for each unit vector c, (k, k, k)
    crossed: Array  # Σ αᵢbᵢ W'μᵢμᵢ'W, (k, k)


class WholeSums(NamedTuple):
    """Sums over all samples that give it."""

    third: Array  # Σ f(t) y⊗y⊗y, (k, k, k)
    second: Array  # Σ f(t) yy', (k, k)
    first: Array  # Σ f(t) y, (k,)
    plain: float  # Σ f(t)


def leave_regressions_out(model: RegressionFamily, hint: Array) -> Replicates:
    """The moments of all samples but one block, for each block in turn, under a hint given in the frame.

    Notes
    -----
    With δ and I + E the mean and the covariance of z without the block, coefficients are those of (z - δ)(I + E)^(-1):
    every index of a moment is multiplied by I - E, the identity in Hermite tensors becomes I + E, and the mean takes
    off δ ⊗ (the moment of one order less). The moments lie in the signal space, so that W'EW = e tells all of it, as in
    W'E A W = e D.
    """
    whole = _whole(model)
    sums = leave_one_out(model.partitions, _sums, hint, model.linear)
    replicates = [_moments(model, whole, each, hint) for each in sums]
    return Replicates(*map(np.array, zip(*replicates, strict=True)))


def _sums(partition: RegressionPartition, rows: slice, hint: Array, linear: float) -> RegressionSums:
    y, t, beside = (
        partition.projected[rows].astype(np.float64, copy=False),
        partition.responses[rows],
        partition.beside[rows],
    )
    squares, cubes = t**2, weight_function(t, linear)
    return RegressionSums(
        n=len(y),
        gram=y.T @ y,
        second=(y * squares[:, None]).T @ y,
        third=(y * (cubes * (y @ hint))[:, None]).T @ y,
        place=y.sum(axis=0),
        mean=t @ y,
        first=cubes @ y,
        power=float(squares.sum()),
        energy=float(squares @ beside),
        beside=float(beside.sum()),
    )


def _whole(model: RegressionFamily) -> Whole:
    n, k = model.partitions.n_rows, model.frame.n_components
    third, second, first, plain = model.partitions.reduce(_whole_sums, model.linear)
    crossed = second / n - plain / n * np.diag(model.frame.spread)
    return Whole(model.correct_tensor(third / n, first / n, np.eye(k)), crossed / 6)


def _whole_sums(partition: RegressionPartition, linear: float) -> WholeSums:
    Y, f = partition.projected, weight_function(partition.responses, linear)
    return WholeSums(sum_cubes(Y, Y, f), weighted_gram(Y, f), f @ Y, float(f.sum()))


def _moments(model: RegressionFamily, whole: Whole, sums: RegressionSums, c: Array) -> tuple[Array, Array, Array]:
    """W'AW, W'BW and W'm."""
    n, D, noise_gram = sums.n, model.frame.values, np.diag(model.frame.spread)
    is_fitted = model.design.whitener is not None
    change = sums.gram / n - noise_gram if is_fitted else np.zeros_like(noise_gram)
    place = sums.place / n if is_fitted else np.zeros_like(c)
    noise_gram = noise_gram + change
    mean = sums.mean / n - change @ (D * model.mean)
    if model.n_fitted == 1:  # A = mm'
        return np.outer(mean, mean), np.eye(1), mean
    second = sums.second / (2 * n) - _both(np.outer(place, model.leaning)) / 2 - _both(change * D)
    first = sums.first / n
    third = sums.third / n - _both(np.outer(first, noise_gram @ c)) - (first @ c) * noise_gram
    hinted = np.tensordot(c, whole.tensor, axes=1)
    moved = _both(np.outer(place, whole.crossed @ c)) + (place @ c) * whole.crossed
    moved += _both((change * D) @ hinted) + np.tensordot(D * (change @ c), whole.tensor, axes=1)
    return second - _noise(model, sums, is_fitted=is_fitted) * noise_gram, third / 6 - moved, mean


def _both(matrix: Array) -> Array:
    """A matrix and its transpose."""
    return np.asarray(matrix + matrix.T)


def _noise(model: RegressionFamily, sums: RegressionSums, *, is_fitted: bool) -> float:
    """The level t2 / 2 without the block."""
    n_beside = model.design.n_coordinates - model.n_fitted
    if n_beside == 0:
        return sums.power / sums.n / 2
    energy = sums.energy / sums.n / 2
    if is_fitted:
        energy -= model.noise * (sums.beside / sums.n - n_beside)
    return energy / n_beside


class Pulling(NamedTuple):
    """What the pull of a sample, beside itself, depends on."""

    values: Array  # D, (k,)
    level: float  # t2 / 2
    average: Array | None  # of t²y/2, (k,), where x was standardised by its own moments
    is_single: bool  # whether one regression was fitted: then A = mm'

    @classmethod
    def of(cls, model: RegressionFamily) -> Pulling:
        """Of a fit."""
        average = None if model.design.whitener is None else model.leaning / 2
        return cls(model.frame.values, model.noise, average, model.n_fitted == 1)


def _pulls(partition: RegressionPartition, pulling: Pulling) -> Array:
    """The weights of samples, (n, k), with which Σ x weight is A W up to what lies in the signal space."""
    Y, t, D = partition.projected.astype(np.float64, copy=False), partition.responses[:, None], pulling.values
    if pulling.is_single:
        return np.asarray(t - Y * D)
    squares = t**2 * Y / 2
    return squares if pulling.average is None else squares - Y * (pulling.level + D) - pulling.average


def regressions_outside(model: RegressionFamily, direction: Array) -> Array:
    """A W u of all samples but one block, (r, B), up to what lies in the signal space, where u is a direction."""
    n_groups = model.partitions.n_groups
    total = model.partitions.reduce(_spread_pulls, Pulling.of(model), direction, model.design.center, n_groups).total
    return _without_each(model.design.standardised_sums(total).T, model).T


def _spread_pulls(
    partition: RegressionPartition, pulling: Pulling, direction: Array, center: Array, n_groups: int
) -> ArraySum:
    spread = spread_over_groups(partition, _pulls(partition, pulling) @ direction, n_groups)
    return ArraySum(sum_centered(partition.samples, center, spread))


def regression_hint_shifts(model: RegressionFamily, hint: Array) -> Array:
    """How the coordinates of a hint v for standardised x move with the frame of all samples but one block, (B, k).

    Notes
    -----
    W'A v⊥ is 0 for all samples together, with v⊥ what the signal space lacks of v; without a block it is not.
    """
    design, n_groups = model.design, model.partitions.n_groups
    beside = design.coefficients(model.frame.residual(hint[:, None]))
    sums = model.partitions.reduce(_told_beside, Pulling.of(model), beside, design.center, n_groups)
    return _without_each(sums.total, model)


def _told_beside(
    partition: RegressionPartition, pulling: Pulling, beside: Array, center: Array, n_groups: int
) -> ArraySum:
    told, pulls = (
        np.asarray(project(partition.samples, beside, center), dtype=np.float64)[:, 0],
        _pulls(partition, pulling),
    )
    blocks = [partition.rows_at(n_groups, block) for block in range(n_groups)]
    return ArraySum(np.stack([told[rows] @ pulls[rows] for rows in blocks]))


def _without_each(sums: Array, model: RegressionFamily) -> Array:
    """Averages over all samples but those of one block, (B, q), from the sums over each block."""
    return np.asarray((sums.sum(axis=0) - sums) / (model.partitions.n_rows * (1 - 1 / len(sums))))


def weight_function(responses: Array, linear: float) -> Array:
    """f(t) = t³ - linear t, (n,)."""
    return responses * (responses * responses - linear)
