"""Standard errors of a refined regression, and the probability that a direction means it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.frame import project
from mixsearch.core.jackknife import StandardErrors, invert_information
from mixsearch.regression._em import Position, information_of, look
from mixsearch.regression._moments import RegressionFamily, RegressionPartition
from mixsearch.regression._refinement import MOST_SCORES, N_DRAWS, RefinedRegression, for_fit, regressors_of


def refined_regression_errors(model: RegressionFamily, refined: RefinedRegression) -> StandardErrors:
    """Standard errors of a refined regression.

    Notes
    -----
    Leaving out one sample moves the estimate by a Newton step, the inverse information times the sample's scores. With
    the outer products of the scores as the information, the squares of all these moves add up to its inverse: the full
    one for all that lies in the span of the slopes, and the k x k one for every direction outside of it. Where that is
    no more work than a step, the span is taken to be the whole space: then x may have any distribution.
    """
    design, lines = refined.design, refined.mixture
    is_small = len(lines.levels) * (len(lines.slopes) + 3) * model.partitions.n_rows < MOST_SCORES
    here = _with_noise_seen(look(regressors_of(model, design), lines, whole=is_small, every=1))
    covariance, (k, q) = _covariance(here), (len(lines.levels), here.basis.shape[1])
    axes = design.coefficients(here.basis)
    inside = np.einsum("iq,qp,ip->i", axes, covariance[:q, :q], axes)
    outside = invert_information(here.sums.pulls)[0, 0]
    beside = np.maximum(design.squares - np.sum(axes**2, axis=1), 0)
    slope = lines.weights[0] * (np.eye(k)[0] - lines.weights)  # of the weight by all logarithms
    return StandardErrors(np.sqrt(inside + outside * beside), float(np.sqrt(slope @ covariance[-k:, -k:] @ slope)))


def _with_noise_seen(here: Position) -> Position:
    """The same where noise variances s were kept from falling to those of the residuals, e: then √(se) for both.

    The scores of slopes, residuals over variances, then tell 1/s per sample, as they do where s = e; with s they would
    tell e/s², next to nothing where y has no noise.
    """
    sums, kept = here.sums, here.lines.variances
    seen = sums.energies / np.maximum(sums.sizes, 1e-9)
    between = kept * np.sqrt(np.clip(seen / kept, np.finfo(np.float64).tiny, 1.0))
    pulls = sums.pulls * np.outer(kept / between, kept / between)
    return here._replace(lines=here.lines._replace(variances=between), sums=sums._replace(pulls=pulls))


def _covariance(here: Position) -> Array:
    """Of all parameters in the span, in the order of their scores, (p, p)."""
    k, sums, information = len(here.lines.levels), here.sums, information_of(here)
    # A noise variance that was kept from falling tells nothing of the weights.
    told = np.ones(len(information))
    told[-2 * k : -k] = 0.5 * (sums.energies / here.lines.variances - sums.sizes) > -0.25 * sums.sizes
    return invert_information(information * np.outer(told, told))


def chance_of_refined(model: RegressionFamily, refined: RefinedRegression, v: Array, *, choose: str) -> float:
    """The part of imagined samples on which a direction still prefers a refined regression.

    Parameters
    ----------
    model : RegressionFamily
    refined : RefinedRegression
    v : array of shape (r,)
        The hint, for the design of the fit.
    choose : {"largest", "share"}
        What puts the components in order.

    Notes
    -----
    Scores move with the slopes, by their covariance in the span, and with the samples that x was standardised by: they
    are averages of ⟨z, μᵢ⟩⟨z, v⟩ over those.
    """
    design, lines = refined.design, refined.mixture
    here = _with_noise_seen(look(regressors_of(model, design), lines, every=1))
    (k, q), n = (len(lines.levels), here.basis.shape[1]), model.partitions.n_rows
    axes = for_fit(model, design, lines._replace(slopes=here.basis, levels=np.zeros(q))).slopes
    by_slopes = np.zeros((k, here.n_features * k))
    for i in range(k):
        by_slopes[i, i * here.n_features :][:q] = axes.T @ v
    covariance = by_slopes @ _covariance(here)[: -2 * k, : -2 * k] @ by_slopes.T
    slopes = for_fit(model, design, lines).slopes
    if model.design.whitener is not None:
        seen = model.design.coefficients(np.column_stack([slopes, v]))
        total, squares = model.partitions.reduce(_score_products, seen, model.design.center)
        covariance = covariance + (squares - np.outer(total, total) / n) / (n - 1) / n
    values, vectors = np.linalg.eigh(covariance)
    draws = np.random.default_rng(0).standard_normal((N_DRAWS, k)) * np.sqrt(np.maximum(values, 0)) @ vectors.T
    scores = slopes.T @ v + draws
    preference = scores if choose == "largest" else scores * np.sqrt(lines.weights)
    return float(np.mean(preference.argmax(axis=1) == 0))


class ScoreSums(NamedTuple):
    """Sums over samples of ⟨z, μᵢ⟩⟨z, v⟩, whose averages are the scores."""

    total: Array  # (k,)
    squares: Array  # of the outer products, (k, k)


def _score_products(partition: RegressionPartition, axes: Array, center: Array) -> ScoreSums:
    """From the slopes and the hint for the user's x, (d, k + 1)."""
    seen = np.asarray(project(partition.samples, axes, center), dtype=np.float64)
    products = seen[:, :-1] * seen[:, -1:]
    return ScoreSums(products.sum(axis=0), products.T @ products)
