"""Newton steps to the maximum of the likelihood of a mixture of regressions, in all dimensions at once.

Outside the span of all slopes a standardized x carries no information about responsibilities, so the information matrix
there is one k x k matrix for every direction. A Newton step costs two thin products with the samples, and three or four
steps reach the maximum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch._typing import Array
from mixsearch.core.em import EMOptions, EMResult
from mixsearch.core.jackknife import invert_information
from mixsearch.regression._evaluation import Evaluation, Regressors, evaluate
from mixsearch.regression._mixture import RegressionMixture

# The largest change of logarithms of variances and weights in one step.
MAX_LOG_STEP = 2.0
# A step keeps at least this fraction of a variance when the slopes outside the span take their part of it.
MIN_KEPT_VARIANCE = 0.1
# The smallest sum of responsibilities, so that no component is divided by zero.
MIN_SIZE = 1e-9
# How often a step that lowers the likelihood is halved before it is given up.
MAX_HALVINGS = 8


class NewtonStep(NamedTuple):
    """A step of all parameters."""

    features: Array  # of the coefficients of the features in the span, (q, k) or (q + 1, k)
    residual: Array  # of the slopes outside the span, (r, k)
    log_variances: Array  # (k,)
    log_weights: Array  # up to a constant, (k,)


def run_newton(regressors: Regressors, start: RegressionMixture, options: EMOptions) -> EMResult[RegressionMixture]:
    """Take Newton steps until one gains less than the tolerance.

    Parameters
    ----------
    regressors : Regressors
    start : RegressionMixture
    options : EMOptions

    Returns
    -------
    EMResult
    """
    state = evaluate(regressors, start)
    objectives = [state.sums.objective]
    while len(objectives) <= options.max_iter:
        following = _next_state(regressors, state)
        is_last = following is None
        following = following or evaluate(regressors, _update_shares(regressors, state))
        if following.sums.objective < state.sums.objective:
            break
        state = following
        objectives.append(state.sums.objective)
        if is_last or objectives[-1] - objectives[-2] < options.tol:
            break
    return EMResult(state.mixture, tuple(objectives))


def _next_state(regressors: Regressors, state: Evaluation) -> Evaluation | None:
    """Return the state after a step, or None if no fraction of the step gains."""
    with np.errstate(over="ignore", invalid="ignore"):  # a component without members has no information
        step = _find_step(regressors, state)
    if not all(np.isfinite(each).all() for each in step):
        return None
    for halvings in range(MAX_HALVINGS + 1):
        moved = _take_step(regressors, state, step, 0.5**halvings)
        following = evaluate(regressors, moved)
        if following.sums.objective >= state.sums.objective:
            return following
    return None


def _update_shares(regressors: Regressors, state: Evaluation) -> RegressionMixture:
    """Return the mixture after an M-step for weights and variances alone.

    Where y has hardly any noise, Newton steps are far too long in the slopes, and keep the weights from their maximum.
    """
    sizes = np.maximum(state.sums.sizes, MIN_SIZE)
    weights = sizes / sizes.sum()
    variances = regressors.floor_variances(state.sums.energies / sizes, weights)
    return state.mixture._replace(variances=variances, weights=weights)


def _find_step(regressors: Regressors, state: Evaluation) -> NewtonStep:
    """Return the Newton step: with the full information in the span, and a k x k one outside of it.

    Notes
    -----
    z outside the span is uncorrelated with everything inside and has covariance I, hence the block form. The sum of the
    outer products of the scores stands for the information: it is never negative, and at the maximum it equals minus
    the second derivative up to the noise of the samples.
    """
    mixture, sums, k = state.mixture, state.sums, state.mixture.n_components
    information = state.information() * (state.n_rows / state.subset.n_rows)
    by_log_variances = 0.5 * (sums.energies / mixture.variances - sums.sizes)
    by_log_weights = sums.sizes - state.n_rows * mixture.weights
    gradient = np.concatenate([sums.by_features.ravel(), by_log_variances, by_log_weights])
    step = invert_information(information) @ gradient
    total = regressors.design.standardize_sums(sums.by_samples)
    residual = total - state.basis @ (state.basis.T @ total)
    return NewtonStep(
        features=step[: -2 * k].reshape(k, -1).T,
        residual=residual @ invert_information(sums.score_gram),
        log_variances=step[-2 * k : -k],
        log_weights=step[-k:],
    )


def _take_step(regressors: Regressors, state: Evaluation, step: NewtonStep, fraction: float) -> RegressionMixture:
    """Return the mixture after a fraction of a step.

    The noise variance included what the slopes lacked outside the span, so it loses what they gain there.
    """
    slopes, levels, variances, weights, _ = state.mixture
    inside, residual = fraction * step.features, fraction * step.residual
    if regressors.has_intercepts:
        levels, inside = levels + inside[-1], inside[:-1]
    longest = MAX_LOG_STEP * fraction
    variances = variances * np.exp(np.clip(fraction * step.log_variances, -longest, longest))
    variances = np.maximum(variances - np.sum(residual**2, axis=0), MIN_KEPT_VARIANCE * variances)
    weights = softmax(np.log(weights) + np.clip(fraction * step.log_weights, -longest, longest))
    slopes = slopes + state.basis @ inside + residual
    return RegressionMixture(slopes, levels, regressors.floor_variances(variances, weights), weights)
