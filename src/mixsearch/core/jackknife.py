"""Standard errors from estimates that leave out one group of samples at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from mixsearch._typing import Array
from mixsearch.core.extraction import prefer
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.tuning import TUNING


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
    overlap = float(np.sqrt(weights.mean()))
    centers = frame.unwhiten(points.T) + frame.residual(residuals) / overlap
    return StandardErrors(jackknife(to_features(centers).T), float(jackknife(weights)))


def estimate_p_first(
    hinted: Hinted, replicates: Replicates, axes: Array, index: int, choose: str, hint_covariance: Array | None = None
) -> float:
    """Estimate the probability that one of several components, with directions `axes`, (k, q), leads on new samples.

    Notes
    -----
    The eigenvalues of R would not do as scores: noise mixes eigenvectors whose eigenvalues are close, and drives these
    apart, so that the answer would always look more certain than it is. Along fixed directions the errors of scores are
    normal, and the jackknife tells their covariance.
    """
    if axes.shape[1] == 1:
        return 1.0
    matrices, means, _ = whitened(replicates)
    scores, overlaps = np.sum((hinted.matrix @ axes) * axes, axis=0), hinted.mean @ axes
    varied = np.sum((matrices @ axes) * axes, axis=1)
    preferences, varied = prefer(scores, overlaps**2, choose), prefer(varied, (means @ axes) ** 2, choose)
    leads: Any = preferences[index] - np.delete(preferences, index)
    variances = jackknife(varied[:, [index]] - np.delete(varied, index, axis=1)) ** 2
    if hint_covariance is not None:  # ⟨μᵢ, v⟩ = ⟨W'μᵢ, c⟩, with W'μᵢ = uᵢ / √αᵢ
        points = axes / np.where(overlaps == 0, np.inf, overlaps)
        apart = points[:, [index]] - np.delete(points, index, axis=1)
        variances = variances + np.sum((hint_covariance @ apart) * apart, axis=0)
    return float(ndtr(leads / np.sqrt(np.maximum(variances, np.finfo(np.float64).tiny))).min())
