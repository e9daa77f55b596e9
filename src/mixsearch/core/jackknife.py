"""Standard errors and confidence from estimates that leave out one group of samples at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.tuning import TUNING
from mixsearch.machine import one_blas_thread


class StandardErrors(NamedTuple):
    """Standard errors of a component: a 95% interval is 1.96 of them to each side.

    Attributes
    ----------
    center : array of shape (d,)
        The standard error of each coordinate of the center.
    weight : float
        The standard error of the weight.
    """

    center: Array
    weight: float


def jackknife(replicates: Array) -> Array:
    """Return the standard error of an estimate from its replicates, (B, ...) -> (...)."""
    n_groups = len(replicates)
    return np.asarray(np.sqrt((n_groups - 1) * np.var(replicates, axis=0)))


def whitened(replicates: Replicates) -> tuple[Array, Array, Array]:
    """Return R and m of every replicate in its own frame, and the A^(-1/2) that whitens it, (B, k, k)."""
    values, vectors = np.linalg.eigh(replicates.second)
    scaled = vectors / np.sqrt(np.maximum(values, TUNING.min_second))[:, None, :]
    root = scaled @ vectors.transpose(0, 2, 1)
    return root @ replicates.hinted @ root, np.einsum("bij,bj->bi", root, replicates.mean), root


def replicate_component(replicates: Replicates, direction: Array) -> tuple[Array, Array]:
    """Return the component of each replicate: points in the frame of all samples, (B, k), and weights, (B,).

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
    residuals: Array,
    to_features: Callable[[Array], Array] = np.asarray,
) -> StandardErrors:
    """Return the standard errors of a moment estimate.

    Notes
    -----
    Eigenvectors are not recomputed. Inside the signal space of all samples every replicate is solved exactly. Outside,
    the center of a replicate is P⊥ A W u / ⟨u, W'm⟩, where P⊥A is itself of first order in 1/B: using the replicate's
    own u and m would change terms of second order only.
    """
    points, weights = replicate_component(replicates, direction)
    found = float(np.sqrt(weights.mean()))
    centers = frame.unwhiten(points.T) + frame.residual(residuals) / found
    return StandardErrors(jackknife(to_features(centers).T), float(jackknife(weights)))


N_DRAWS = 10_000


def simulate_preferences(
    hinted: Hinted,
    replicates: Replicates,
    axes: Array,
    *,
    choose: str,
    hint_shifts: Array | None = None,
) -> Array:
    """Return what the components are sorted by on simulated samples, (N_DRAWS, q).

    Notes
    -----
    Scores on new samples are simulated as those found, plus normal noise with the covariance of the jackknife. The
    eigenvectors of R would not do: noise mixes those of two components with close scores and drives the two eigenvalues
    apart, so that the answer always looks more certain than it is.
    """
    with one_blas_thread:  # many small matrices: threads would only wait for each other
        return _simulate(hinted, replicates, axes, choose, hint_shifts)


def _simulate(hinted: Hinted, replicates: Replicates, axes: Array, choose: str, hint_shifts: Array | None) -> Array:
    matrices, means, _ = whitened(replicates)
    along, overlaps = _along(axes, matrices), hinted.mean @ axes
    if hint_shifts is not None:  # ⟨μᵢ, v⟩ = ⟨W'μᵢ, c⟩, with W'μᵢ = uᵢ / √αᵢ
        along += hint_shifts @ axes / np.where(overlaps == 0, np.inf, overlaps)
    scores = _along(axes, hinted.matrix[None])[0]
    if choose != "share":
        drawn = draw_estimates(scores, along)
        return np.abs(drawn) if choose == "absolute" else drawn
    q = len(scores)
    drawn = draw_estimates(np.append(scores, overlaps), np.hstack([along, means @ axes]))
    return np.asarray(drawn[:, :q] * np.abs(drawn[:, q:]))


def probability_of_first(preferences: Array, index: int) -> float:
    """Return the fraction of simulated samples on which a component comes first."""
    return float(np.mean(np.all(preferences <= preferences[:, [index]], axis=1)))


def interval_of_lead(preferences: Array, index: int) -> tuple[float, float]:
    """Return a 95% interval of the factor by which a component leads the best other one.

    As in `Candidates.separation`, the factor is infinite if only the other preference is negative, and 0 if only the
    component's own is.
    """
    if preferences.shape[1] == 1:
        return (np.inf, np.inf)
    mine, other = preferences[:, index], np.delete(preferences, index, axis=1).max(axis=1)
    both = mine * other > 0
    factor = np.divide(mine, other, where=both, out=np.where(mine > other, np.inf, 0.0))
    factor = np.where(both & (mine < 0), 1 / np.where(both, factor, 1.0), factor)
    low, high = np.quantile(factor, (0.025, 0.975), method="nearest")  # interpolation between infinities is NaN
    return float(low), float(high)


def _along(axes: Array, matrices: Array) -> Array:
    """Return the diagonals of matrices in the coordinates of the axes, (B, q)."""
    return np.asarray(np.sum((matrices @ axes) * axes, axis=1))


def draw_estimates(estimate: Array, replicates: Array) -> Array:
    """Draw estimates as new samples would give them, (n, q)."""
    n_groups = len(replicates)
    deviations = (replicates - replicates.mean(axis=0)) * np.sqrt((n_groups - 1) / n_groups)
    root: Array = np.asarray(np.linalg.qr(deviations, mode="r"))  # of their covariance
    return np.asarray((root.T @ _standard_draws(len(root)) + estimate[:, None]).T)


@lru_cache(maxsize=4)
def _standard_draws(n_rows: int) -> Array:
    """Return standard normal draws, (n_rows, N_DRAWS), the same every time."""
    draws = np.random.default_rng(0).standard_normal((n_rows, N_DRAWS))
    draws.setflags(write=False)
    return draws
