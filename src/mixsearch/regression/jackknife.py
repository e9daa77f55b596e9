"""Standard errors of a refined regression, and the probability that a direction means it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from mixsearch._typing import Array, Samples
from mixsearch.core.extraction import prefer
from mixsearch.core.frame import project
from mixsearch.core.jackknife import StandardErrors, invert_information
from mixsearch.regression.design import Design
from mixsearch.regression.family import RegressionFamily
from mixsearch.regression.mixture import Evaluation, RegressionMixture, evaluate
from mixsearch.regression.partition import RegressionPartition
from mixsearch.regression.refinement import RefinedRegression, convert_to_fit, make_regressors

# Draws of scores of new samples.
N_DRAWS = 1000
# Samples, and samples per parameter, that the covariance of scores is estimated from.
MIN_SAMPLES, MIN_PER_PARAMETER = 5000, 20
# Up to this many scores of samples, the span is the whole space.
MAX_SCORES = 20_000_000


def refined_regression_errors(family: RegressionFamily, refined: RefinedRegression) -> StandardErrors:
    """Return the standard errors of a refined regression.

    Notes
    -----
    Leaving out one sample moves the estimate by a Newton step, the inverse information times the sample's scores. With
    the outer products of the scores as the information, the squares of all these moves add up to its inverse: the full
    one in the span of the slopes, and the k x k one for every direction outside of it. If that takes no more work than
    a step, the span is the whole space: then x may have any distribution.
    """
    design, mixture = refined.design, refined.mixture
    k, state = mixture.n_components, _evaluate_all(family, refined)
    covariance, q = _covariance(state), state.basis.shape[1]
    axes = design.to_coefficients(state.basis)
    inside = np.einsum("iq,qp,ip->i", axes, covariance[:q, :q], axes)
    outside = np.maximum(design.squares - np.sum(axes**2, axis=1), 0) * invert_information(state.sums.score_gram)[0, 0]
    by_log_weights = mixture.weights[0] * (np.eye(k)[0] - mixture.weights)
    weight_variance = by_log_weights @ covariance[-k:, -k:] @ by_log_weights
    return StandardErrors(np.sqrt(inside + outside), float(np.sqrt(weight_variance)))


def prediction_errors(family: RegressionFamily, refined: RefinedRegression, X: Samples) -> Array:
    """Return the standard errors of the predictions of a refined regression, (n,)."""
    design, state = refined.design, _evaluate_all(family, refined)
    Z = design.predict(X, np.eye(design.n_coordinates))
    inside = Z @ state.basis
    features = np.column_stack([inside, np.ones(len(Z))]) if family.fit_intercept else inside
    q = state.n_features
    variances = np.einsum("nq,qp,np->n", features, _covariance(state)[:q, :q], features)
    outside = np.maximum(np.sum(Z**2, axis=1) - np.sum(inside**2, axis=1), 0)
    return np.asarray(np.sqrt(variances + outside * invert_information(state.sums.score_gram)[0, 0]))


def _evaluate_all(family: RegressionFamily, refined: RefinedRegression) -> Evaluation:
    """Return the scores at the maximum, in the whole space if that takes no more work than a step."""
    n_scores = refined.mixture.n_components * (len(refined.mixture.slopes) + 3) * family.partitions.n_rows
    regressors = make_regressors(family, refined.design)
    # Responsibilities depend on all of x if it differs between components.
    whole_space = n_scores < MAX_SCORES or refined.mixture.features is not None
    state = evaluate(regressors, refined.mixture, whole_space=whole_space, step=1)
    return _with_residual_variances(state)


def _with_residual_variances(state: Evaluation) -> Evaluation:
    """Return the state with √(se) for noise variances s that a lower bound kept above those of the residuals, e.

    The scores of slopes, residuals over variances, then carry the information 1/s per sample, as they do if s = e. With
    s they would carry e/s², almost none if y has no noise.
    """
    sums, bounded = state.sums, state.mixture.variances
    observed = sums.energies / np.maximum(sums.sizes, 1e-9)
    variances = bounded * np.sqrt(np.clip(observed / bounded, np.finfo(np.float64).tiny, 1.0))
    score_gram = sums.score_gram * np.outer(bounded / variances, bounded / variances)
    mixture = state.mixture._replace(variances=variances)
    return state._replace(mixture=mixture, sums=sums._replace(score_gram=score_gram))


def _covariance(state: Evaluation) -> Array:
    """Return the covariance of all parameters in the span, in the order of their scores, (p, p)."""
    k, sums, information = state.mixture.n_components, state.sums, state.information()
    # A noise variance at its lower bound carries no information about the weights.
    is_free = np.ones(len(information))
    is_free[-2 * k : -k] = 0.5 * (sums.energies / state.mixture.variances - sums.sizes) > -0.25 * sums.sizes
    return invert_information(information * np.outer(is_free, is_free))


class RefinedScores(NamedTuple):
    """Scores of refined regressions under a direction, the one found first, and their covariance on new samples."""

    scores: Array  # (k,)
    covariance: Array  # (k, k)
    weights: Array  # of the regressions, (k,)

    def probability_of_first(self, choose: str) -> float:
        """Return the probability that the first regression is preferred on new samples too."""
        values, vectors = np.linalg.eigh(self.covariance)
        draws = np.random.default_rng(0).standard_normal((N_DRAWS, len(values)))  # the same answer every time
        scores = self.scores + draws * np.sqrt(np.maximum(values, 0)) @ vectors.T
        return float(np.mean(prefer(scores, self.weights, choose).argmax(axis=1) == 0))

    def information_p_value(self) -> float:
        """Return how often a direction in which the regressions do not differ would score them as differently."""
        k = len(self.scores)
        center = np.eye(k) - 1 / k
        covariance = np.linalg.pinv(center @ self.covariance @ center, rcond=1e-10, hermitian=True)
        differences = center @ self.scores
        return float(chi2.sf(differences @ covariance @ differences, k - 1))


def refined_scores(
    family: RegressionFamily, mixture: RegressionMixture, design: Design, v: Array, n_samples: int | None = None
) -> RefinedScores:
    """Return the scores of refined regressions under a direction, and how they vary.

    Notes
    -----
    Scores vary with the slopes, by their covariance in the span, and with the samples that x was standardized by: they
    are averages of ⟨z, μᵢ⟩⟨z, v⟩ over those.
    """
    n_parameters, n = mixture.n_components * (design.n_coordinates + 3), family.partitions.n_rows
    step = max(n // max(MIN_SAMPLES, MIN_PER_PARAMETER * n_parameters), 1)
    some = family.thin(step)
    covariance = _score_covariance(some, mixture, design, v) * (some.partitions.n_rows / (n_samples or n))
    slopes = convert_to_fit(family, design, mixture).slopes
    if family.design.whitener is not None:
        covariance = covariance + _standardization_covariance(some, slopes, v) / step
    return RefinedScores(slopes.T @ v, covariance, mixture.weights)


def _score_covariance(family: RegressionFamily, mixture: RegressionMixture, design: Design, v: Array) -> Array:
    """Return the covariance of the scores, (k, k), as the slopes vary."""
    state = _with_residual_variances(evaluate(make_regressors(family, design), mixture, step=1))
    k, q = mixture.n_components, state.basis.shape[1]
    basis = RegressionMixture(state.basis, np.zeros(q), mixture.variances, mixture.weights)
    axes = convert_to_fit(family, design, basis).slopes
    by_slopes = np.zeros((k, state.n_features * k))
    for i in range(k):
        by_slopes[i, i * state.n_features :][:q] = axes.T @ v
    n_slopes = by_slopes.shape[1]
    return np.asarray(by_slopes @ _covariance(state)[:n_slopes, :n_slopes] @ by_slopes.T)


def _standardization_covariance(family: RegressionFamily, slopes: Array, v: Array) -> Array:
    """Return the covariance of the scores, (k, k), as the samples vary that x was standardized by."""
    n = family.partitions.n_rows
    coefficients = family.design.to_coefficients(np.column_stack([slopes, v]))
    total, squares = family.partitions.reduce(_score_products, coefficients, family.design.center)
    return np.asarray((squares - np.outer(total, total) / n) / (n - 1) / n)


class ScoreSums(NamedTuple):
    """Sums over samples of ⟨z, μᵢ⟩⟨z, v⟩, whose averages are the scores."""

    total: Array  # (k,)
    squares: Array  # of the outer products, (k, k)


def _score_products(partition: RegressionPartition, coefficients: Array, center: Array) -> ScoreSums:
    """Sum products of predictions, from the slopes and the hint for the user's x, (d, k + 1)."""
    predicted = np.asarray(project(partition.samples, coefficients, center), dtype=np.float64)
    products = predicted[:, :-1] * predicted[:, -1:]
    return ScoreSums(products.sum(axis=0), products.T @ products)
