"""The moments of a mixture of regressions without one block of samples at a time.

Without a block x has another mean and covariance, by which it would have been standardised: coefficients, unlike
moments, hardly depend on which x were drawn, and error bars must know that. To first order in 1/B only sums inside the
signal space are needed for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch.blocks import Product, leave_one_out, spread_over_blocks
from mixsearch.models.regression import RegressionModel
from mixsearch.models.second_moment import weighted_gram
from mixsearch.types import Array, Replicates


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
    levels: Array  # E[t²y], (k,)
    crossed: Array  # Σ αᵢbᵢ W'μᵢμᵢ'W, (k, k)


def leave_regressions_out(model: RegressionModel, hint: Array) -> Replicates:
    """The moments of all samples but one block, for each block in turn, under a hint given in the frame.

    Notes
    -----
    With δ and I + E the mean and the covariance of z without the block, coefficients are those of (z - δ)(I + E)^(-1):
    every index of a moment is multiplied by I - E, the identity in Hermite tensors becomes I + E, and the mean takes
    off δ ⊗ (the moment of one order less). The moments lie in the signal space, so that W'EW = e tells all of it, as in
    W'E A W = e D.
    """
    Y, t, f = model.projected, model.responses, model.weight_function

    def summarize(rows: slice) -> RegressionSums:
        y, squares, cubes = Y[rows].astype(np.float64, copy=False), t[rows] ** 2, f[rows]
        return RegressionSums(
            n=len(y),
            gram=y.T @ y,
            second=(y * squares[:, None]).T @ y,
            third=(y * (cubes * (y @ hint))[:, None]).T @ y,
            place=y.sum(axis=0),
            mean=t[rows] @ y,
            first=cubes @ y,
            power=float(squares.sum()),
            energy=float(squares @ model.beside[rows]),
            beside=float(model.beside[rows].sum()),
        )

    whole = _whole(model)
    replicates = [_moments(model, whole, sums, hint) for sums in leave_one_out(summarize, len(t))]
    return Replicates(*map(np.array, zip(*replicates, strict=True)))


def _whole(model: RegressionModel) -> Whole:
    n, k, f = len(model.responses), model.frame.n_components, model.weight_function
    crossed = weighted_gram(model.projected, f) / n - f.mean() * np.diag(model.frame.spread)
    return Whole(
        tensor=np.stack([model.hinted(c).matrix for c in np.eye(k)]),
        levels=np.asarray(model.responses**2 @ model.projected, dtype=np.float64) / n,
        crossed=crossed / 6,
    )


def _moments(model: RegressionModel, whole: Whole, sums: RegressionSums, c: Array) -> tuple[Array, Array, Array]:
    """W'AW, W'BW and W'm."""
    n, D, noise_gram = sums.n, model.frame.values, np.diag(model.frame.spread)
    is_fitted = model.design.whitener is not None
    change = sums.gram / n - noise_gram if is_fitted else np.zeros_like(noise_gram)
    place = sums.place / n if is_fitted else np.zeros_like(c)
    noise_gram = noise_gram + change
    mean = sums.mean / n - change @ (D * model.mean)
    if model.n_fitted == 1:  # A = mm'
        return np.outer(mean, mean), np.eye(1), mean
    second = sums.second / (2 * n) - _both(np.outer(place, whole.levels)) / 2 - _both(change * D)
    first = sums.first / n
    third = sums.third / n - _both(np.outer(first, noise_gram @ c)) - (first @ c) * noise_gram
    hinted = np.tensordot(c, whole.tensor, axes=1)
    moved = _both(np.outer(place, whole.crossed @ c)) + (place @ c) * whole.crossed
    moved += _both((change * D) @ hinted) + np.tensordot(D * (change @ c), whole.tensor, axes=1)
    return second - _noise(model, sums, is_fitted=is_fitted) * noise_gram, third / 6 - moved, mean


def _both(matrix: Array) -> Array:
    """A matrix and its transpose."""
    return np.asarray(matrix + matrix.T)


def _noise(model: RegressionModel, sums: RegressionSums, *, is_fitted: bool) -> float:
    """The level t2 / 2 without the block."""
    n_beside = model.design.n_coordinates - model.n_fitted
    if n_beside == 0:
        return sums.power / sums.n / 2
    energy = sums.energy / sums.n / 2
    if is_fitted:
        energy -= model.noise * (sums.beside / sums.n - n_beside)
    return energy / n_beside


def regressions_outside(model: RegressionModel, direction: Array) -> Array:
    """A W u of all samples but one block, (r, B), up to what lies in the signal space, where u is a direction."""
    spread = spread_over_blocks(_pulls(model) @ direction)
    sums = model.design.sum_rows(model.samples, spread)
    return np.asarray((sums.sum(axis=1, keepdims=True) - sums) / (len(spread) * (1 - 1 / spread.shape[1])))


def regression_hint_moves(model: RegressionModel, hint: Array) -> Array:
    """How the coordinates of a hint v for standardised x move with the frame of all samples but one block, (B, k).

    Notes
    -----
    W'A v⊥ is 0 for all samples together, with v⊥ what the signal space lacks of v; without a block it is not.
    """
    beside = model.design.predict(model.samples, model.frame.reject(hint[:, None]))[:, 0]
    pulls = _pulls(model)
    sums = leave_one_out(lambda rows: Product(beside[rows] @ pulls[rows]), len(beside))
    return np.array([each.total for each in sums]) / (len(beside) * (1 - 1 / len(sums)))


def _pulls(model: RegressionModel) -> Array:
    """The weights of samples, (n, k), with which Σ x weight is A W up to what lies in the signal space."""
    Y, t, D = model.projected.astype(np.float64, copy=False), model.responses, model.frame.values
    if model.n_fitted == 1:
        return np.asarray(t[:, None] - Y * D)
    squares = t[:, None] ** 2 * Y / 2
    return squares if model.design.whitener is None else squares - Y * (model.noise + D) - squares.mean(axis=0)
