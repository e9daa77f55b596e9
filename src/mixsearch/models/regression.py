"""Mixtures of linear regressions: y = ⟨x, μᵢ⟩ + bᵢ + noise, with x standard normal after its design is undone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch.linalg import frame_above, top_eigenpairs
from mixsearch.models.design import Design, fit_design, refuse_constant
from mixsearch.models.second_moment import cores_for, second_moment_of_rows, squared_distances, weighted_gram
from mixsearch.shards import shards_of
from mixsearch.types import Array, Candidates, Frame, Hinted, Samples


class Lines(NamedTuple):
    """All regressions of a mixture, t = ⟨z, slope⟩ + level + noise, for a standardised z."""

    slopes: Array  # (r, k)
    levels: Array  # (k,)
    variances: Array  # of the noise, (k,)
    weights: Array  # (k,)

    def with_first(self, place: int) -> Lines:
        """The same with one of them moved to the front."""
        order = np.argsort(np.arange(len(self.levels)) != place, kind="stable")
        return Lines(self.slopes[:, order], self.levels[order], self.variances[order], self.weights[order])

    def odds(self, predicted: Array, responses: Array) -> Array:
        """The probability of each regression that all samples are of it, (k,), from what its slope predicts, (n, k)."""
        squares = np.sum((responses[:, None] - predicted - self.levels) ** 2, axis=0)
        weights = np.maximum(self.weights, np.finfo(np.float64).tiny)
        logs = np.log(weights) - 0.5 * (squares / self.variances + len(responses) * np.log(self.variances))
        return np.asarray(softmax(logs))


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
    projected: Array  # Y = ZW, (n, k)
    responses: Array  # t = y - offset, (n,)
    samples: Samples  # X itself, not a copy: likelihood steps and error bars read it
    noise: float  # t2 / 2, the level above which eigenvalues are signal
    beside: Array  # |z|² outside the signal space, (n,)
    fit_intercept: bool = True
    n_components: int = 0  # where they are more than x has coordinates, so that the frame holds no moments
    n_fitted: int = 0  # dimensions of the signal space before any were left out: `noise` and `beside` are of the others

    @property
    def has_moments(self) -> bool:
        """Whether moments can tell the components: their coefficients may be linearly independent."""
        return self.n_components <= self.frame.n_components

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
            n_components=k,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            intercepts=self.intercepts[:k],
            energies=self.energies[:k],
            projected=self.projected[:, :k],
        )

    def lines(self, candidates: Candidates) -> Lines:
        """The regressions that the moments show.

        Notes
        -----
        ⟨u₁, W'Σ αᵢbᵢμᵢ⟩ = √α₁b₁ gives the level, or else it is what a line through zero has at the mean of x;
        ⟨u₁, W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ⟩ the noise, which is never below a thousandth of what the line explains.
        """
        slopes = self.frame.unwhiten(candidates.points)
        levels = candidates.points.T @ self.intercepts
        if not self.fit_intercept:
            levels = self.design.center @ self.design.coefficients(slopes) - self.offset
        explained = np.sum(slopes**2, axis=0)
        noise = candidates.points.T @ self.energies - explained - levels**2
        return Lines(slopes, levels, np.maximum(noise, 1e-3 * explained), candidates.weights)

    def thin(self, step: int) -> RegressionModel:
        """The same fit with every so many-th sample only."""
        return replace(
            self,
            weight_function=self.weight_function[::step],
            projected=self.projected[::step],
            responses=self.responses[::step],
            samples=self.samples[::step],
            beside=self.beside[::step],
        )


class Signal(NamedTuple):
    """The signal space, and the level t2 / 2 above which its eigenvalues are signal."""

    frame: Frame
    noise: float


def _signal_of_one(X: Samples, y: Array) -> Signal:
    """A single regression has A = mm', and m = E[yx] is far less noisy than any fourth moment."""
    m = np.asarray(X.T @ y, dtype=np.float64) / len(y)
    length = float(np.linalg.norm(m))
    return Signal(frame_above(np.array([length**2]), m[:, None] / (length or 1.0)), 0.0)


def _signal_of_many(X: Samples, y: Array, n_components: int, noise: str, seed: int) -> Signal:
    """The top eigenvectors of E[y²xx'] / 2 = A + (t2/2) I."""
    second = second_moment_of_rows(X, y**2 / (2 * len(y)))
    with cores_for(shards_of(X)):
        values, vectors, _ = top_eigenpairs(second, n_components, seed=seed)
        smallest = -top_eigenpairs(-second, 1, seed=seed).values[0] if noise == "paper" else None
    level = _noise_level(X, y, values) if smallest is None else float(smallest)
    return Signal(frame_above(values, vectors, level, precision=X.dtype), level)


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
        k. Moments tell at most as many as x has independent coordinates.
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
    if not intercept:
        refuse_constant(plan)
    Z: Any = plan.standardise(X)
    # Where X is centered, lines through zero no longer pass through it: y must be centered as well.
    offset = float(y.mean()) if intercept or design == "covariance" else 0.0
    t = np.asarray(y, dtype=np.float64) - offset
    energy = float(np.mean(t**2))
    r = Z.shape[1]
    if n_components > r:
        frame, level = Frame(np.eye(r), np.ones(r)), 0.0  # the whole space: likelihood alone tells so many apart
    elif n_components == 1:
        frame, level = _signal_of_one(Z, t)
    else:
        frame, level = _signal_of_many(Z, t, n_components, noise, seed)
    Y = frame.whiten(Z).astype(X.dtype, copy=False)
    cube = t**3 if noise == "paper" else t**3 - 3 * energy * t

    def averaged(weights: Array) -> Array:
        return np.asarray(Y.T @ weights.astype(Y.dtype) / n, dtype=np.float64)

    mean, levels = averaged(t), averaged(t**2) / 2
    if intercept and mean.any():
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
        responses=t,
        samples=X,
        noise=level,
        beside=squared_distances(Z, np.zeros(r)) - (Y.astype(np.float64) ** 2) @ frame.values,
        fit_intercept=intercept,
        n_components=n_components,
        n_fitted=frame.n_components,
    )
