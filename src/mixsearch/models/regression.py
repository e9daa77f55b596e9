"""Mixtures of linear regressions: y = ⟨x, μᵢ⟩ + bᵢ + noise, with x standard normal after its design is undone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from mixsearch.errors import RankError
from mixsearch.linalg import frame_above, top_eigenpairs
from mixsearch.models.second_moment import cores_for, second_moment, squared_distances, weighted_gram
from mixsearch.types import Array, Frame, Hinted, Samples


@dataclass(frozen=True, slots=True)
class Design:
    """How the user's x becomes a standard normal one: x -> (x - center) L^(-T), with LL' the covariance."""

    center: Array  # (d,)
    factor: Array | None  # L, (d, d), lower triangular; None stands for the identity

    def standardise(self, X: Samples) -> Samples:
        """Rows with mean zero and identity covariance."""
        if self.factor is None and not np.any(self.center):
            return X
        centered = np.asarray(X - self.center.astype(X.dtype))
        if self.factor is None:
            return centered
        return np.asarray(scipy.linalg.solve_triangular(self.factor.astype(X.dtype), centered.T, lower=True).T)

    def coefficients(self, standardised: Array) -> Array:
        """Coefficients for the user's x from those for the standardised one, (d,)."""
        if self.factor is None:
            return standardised
        return np.asarray(scipy.linalg.solve_triangular(self.factor, standardised, lower=True, trans="T"))

    def standardised(self, coefficients: Array) -> Array:
        """The other way round: L' coefficients, (d,)."""
        return coefficients if self.factor is None else self.factor.T @ coefficients


def fit_design(X: Samples, design: str) -> Design:
    """Read the mean and the covariance off the samples, or take x as standard normal already."""
    d = X.shape[1]
    if design == "standard":
        return Design(np.zeros(d), None)
    center = np.asarray(X.mean(axis=0), dtype=np.float64)
    covariance = np.atleast_2d(np.cov(np.asarray(X), rowvar=False, bias=True, dtype=np.float64))
    # Columns may come in any units: their correlations say whether they depend on each other.
    units = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(units, units) if units.all() else np.diag(np.sign(units))
    try:
        factor = scipy.linalg.cholesky(correlation, lower=True)
    except scipy.linalg.LinAlgError:
        factor = np.zeros((d, d))
    if np.diag(factor).min() <= 1e-7:
        rank = np.linalg.matrix_rank(correlation, tol=1e-12, hermitian=True)
        raise RankError(
            f"The columns of X are linearly dependent: their covariance has rank {rank}, but {d} columns need {d}. "
            "Drop the constant or repeated columns, give more samples, or pass design='standard'."
        )
    return Design(center, units[:, None] * factor)


@dataclass(frozen=True, slots=True)
class RegressionModel:
    """All that a search among regressions needs."""

    frame: Frame
    design: Design
    offset: float  # taken off y before anything else
    mean: Array  # W'm, (k,)
    intercepts: Array  # W'Σ αᵢbᵢμᵢ, (k,)
    energies: Array  # W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ, (k,)
    weight_function: Array  # f(y) = y³ - 3 E[y²] y, or y³ as the paper has it, (n,)
    projected: Array  # Y = XW, (n, k)

    def hinted(self, hint: Array) -> Hinted:
        """The hinted moment of a hint given in the frame."""
        f, n = self.weight_function, len(self.weight_function)
        third = weighted_gram(self.projected, f * (self.projected @ hint))
        first = np.asarray(self.projected.T @ f.astype(self.projected.dtype), dtype=np.float64)
        return self.corrected(third / n, first / n, hint)

    def corrected(self, third: Array, first: Array, hint: Array) -> Hinted:
        """The hinted moment from W'E[f(y)⟨x,v⟩xx']W, (k, k), and W'E[f(y)x], (k,).

        Notes
        -----
        6B = E[f(y)⟨x,v⟩xx'] - M v' - v M' - ⟨M, v⟩I with M = E[f(y) x]: the third Hermite tensor of x against f(y).
        The paper has f(y) = y³. That tensor has expectation 0 against y itself, so any multiple of y may be taken off
        to lower the variance; 3 E[y²] y is what makes f the third Hermite polynomial of y.
        """
        spread = self.frame.spread
        crossed = np.outer(first, spread * hint)
        matrix = third - crossed - crossed.T - (first @ hint) * np.diag(spread)
        return Hinted(matrix / 6, self.mean, hint)

    def take(self, n_components: int) -> RegressionModel:
        """The same fit with fewer components."""
        k = n_components
        return replace(
            self,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            intercepts=self.intercepts[:k],
            energies=self.energies[:k],
            projected=self.projected[:, :k],
        )


def _frame_of_one(X: Samples, y: Array) -> Frame:
    """A single regression has A = mm', and m = E[yx] is far less noisy than any fourth moment."""
    m = np.asarray(X.T @ y, dtype=np.float64) / len(y)
    length = float(np.linalg.norm(m))
    return frame_above(np.array([length**2]), m[:, None] / (length or 1.0))


def _frame_of_many(X: Samples, y: Array, n_components: int, noise: str, seed: int) -> Frame:
    """The top eigenvectors of E[y²xx'] / 2 = A + (t2/2) I."""
    second = second_moment(X, y**2 / (2 * len(y)))
    with cores_for(X):
        values, vectors, _ = top_eigenpairs(second, n_components, seed=seed)
        smallest = -top_eigenpairs(-second, 1, seed=seed).values[0] if noise == "paper" else None
    level = _noise_level(X, y, values) if smallest is None else float(smallest)
    return frame_above(values, vectors, level, precision=X.dtype)


def _noise_level(X: Samples, y: Array, values: Array) -> float:
    """Half of t2: the average of the d - k noise eigenvalues, or E[y²], its expectation, where k = d leaves none."""
    d, k = int(X.shape[1]), len(values)
    if d == k:
        return float(np.mean(y**2)) / 2
    energy = np.mean(y**2 * squared_distances(X, np.zeros(d))) / 2
    return max(float(energy) - float(values.sum()), 0.0) / (d - k)


def fit_regression(
    X: Samples, y: Array, n_components: int, *, design: str, intercept: bool, noise: str, seed: int
) -> RegressionModel:
    """Find the signal space of a mixture of regressions and project the samples onto it.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    y : array of shape (n,)
    n_components : int
        k, at most d.
    design : {"covariance", "standard"}
        Standardise X by its own mean and covariance, or take it as standard normal already.
    intercept : bool
        Take the mean off y, and estimate an intercept for each component.
    noise : {"average", "paper"}
        t2 as the average of the d - k smallest eigenvalues of E[y²xx'], or the smallest of them as the paper has it.
    seed : int
        Of the eigen-solver's starting block, where the dimension is large.

    Notes
    -----
    E[y²xx'] = 2A + t2 I with t2 = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), which is E[y²]. Intercepts enter no moment but through t2
    and M, since all that is odd in x has expectation 0; E[y²x] = 2 Σ αᵢbᵢμᵢ gives them back.
    """
    n = X.shape[0]
    plan = fit_design(X, design)
    Z: Any = plan.standardise(X)
    # Where X is centered, lines through zero no longer pass through it: y must be centered as well.
    offset = float(y.mean()) if intercept or design == "covariance" else 0.0
    t = np.asarray(y, dtype=np.float64) - offset
    energy = float(np.mean(t**2))
    frame = _frame_of_one(Z, t) if n_components == 1 else _frame_of_many(Z, t, n_components, noise, seed)
    Y = frame.whiten(Z).astype(X.dtype, copy=False)
    cube = t**3 if noise == "paper" else t**3 - 3 * energy * t

    def averaged(weights: Array) -> Array:
        return np.asarray(Y.T @ weights.astype(Y.dtype) / n, dtype=np.float64)

    mean, levels = averaged(t), averaged(t**2) / 2
    if intercept:
        # Around the mean of y the intercepts average to zero, Σ αᵢbᵢ = ⟨W'm, W'Σ αᵢbᵢμᵢ⟩ = 0: so must the estimate.
        levels = levels - mean * (mean @ levels) / (mean @ mean)
    return RegressionModel(
        frame=frame,
        design=plan,
        offset=offset,
        mean=mean,
        intercepts=levels,
        energies=averaged(t**3) / 3,
        weight_function=cube,
        projected=Y,
    )
