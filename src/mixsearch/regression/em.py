"""EM for all regressions of a mixture: random starts, the span of the slopes, then Newton steps in all dimensions.

Outside the span of all slopes a standardized x carries no information about responsibilities, so the information matrix
there is one k x k matrix for every direction. A Newton step costs two thin products with the samples, and three or four
steps reach the maximum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch._typing import Array
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.core.jackknife import invert_information
from mixsearch.data.chunks import row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.regression.mixture import (
    STEP_ROWS,
    Evaluation,
    RegressionMixture,
    Regressors,
    Span,
    centered_chunks,
    e_step,
    evaluate,
    find_span,
)

# The largest change of logarithms of variances and weights in one step.
MAX_LOG_STEP = 2.0
# A step keeps at least this fraction of a variance when the slopes outside the span take their part of it.
MIN_KEPT_VARIANCE = 0.1
# The smallest sum of responsibilities, so that no component is divided by zero.
MIN_SIZE = 1e-9
# How often a step that lowers the likelihood is halved before it is given up.
MAX_HALVINGS = 8
# EM before the Newton steps, which must start near the maximum.
BEFORE_NEWTON = EMOptions(max_iter=30, tol=5.0)
# The gain at which Newton steps on part of the samples stop, in nats.
THINNED_TOL = 1.0
# Up to this many numbers are collected in one process for all iterations of EM.
MAX_COLLECTED = 20_000_000
# Random starts; after these iterations, the best one is continued to the end, or the best few of few samples.
N_STARTS, FIRST_STEPS, N_CONTINUED = 20, EMOptions(max_iter=5, tol=1.0), 3
# The noise variance of a line through a few samples, as a fraction of the variance of y.
START_NOISE = 0.05
# Few samples have many maxima with a line of hardly any noise through some of them: deviations may differ tenfold.
MIN_VARIANCE = 0.01


class NewtonStep(NamedTuple):
    """A step of all parameters."""

    features: Array  # of the coefficients of the features in the span, (q, k) or (q + 1, k)
    residual: Array  # of the slopes outside the span, (r, k)
    log_variances: Array  # (k,)
    log_weights: Array  # up to a constant, (k,)


def run_newton(regressors: Regressors, start: RegressionMixture, options: EMOptions) -> EMResult[RegressionMixture]:
    """Take Newton steps until one gains less than the tolerance."""
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


def maximize_likelihood(
    regressors: Regressors, start: RegressionMixture, options: EMOptions, *, step: int = 1
) -> EMResult[RegressionMixture]:
    """Find the maximum of the likelihood from a rough mixture."""
    part = regressors.thin(step)
    mixture = _run_em_in_span(part, start)
    if step > 1:
        mixture = run_newton(part, mixture, EMOptions(options.max_iter, THINNED_TOL)).state
    return run_newton(regressors, mixture, options)


@dataclass(frozen=True)
class SpanPartition(Partition):
    """Samples in the span of all slopes."""

    features: Array  # (n, q), or (n, q + 1) with a column of ones
    responses: Array  # (n,)


class MStepSums(NamedTuple):
    """Sums for the M-step, with responsibilities p, features s and residuals e."""

    objective: float
    sizes: Array  # Σ p, (k,)
    squares: Array  # Σ p ss', (k, q, q)
    products: Array  # Σ p e s, (k, q)
    energies: Array  # Σ p e², (k,)


def _run_em_in_span(regressors: Regressors, start: RegressionMixture) -> RegressionMixture:
    """Run EM with slopes that stay in their span."""
    basis, span = find_span(regressors, start)
    partitions: Partitions[SpanPartition] = regressors.partitions.map(_project_to_span, span)
    is_small = partitions.n_rows * (basis.shape[1] + 2) < MAX_COLLECTED
    partitions = partitions.collect() if is_small else partitions.persist()

    def step(mixture: RegressionMixture) -> tuple[RegressionMixture, float]:
        levels = [mixture.levels] if regressors.has_intercepts else []
        before = np.vstack([basis.T @ mixture.slopes, *levels])
        sums = partitions.reduce(_m_step_sums, before, mixture)
        return m_step(regressors, basis, before, sums), sums.objective

    return run_em(start, step, BEFORE_NEWTON).state


def m_step(regressors: Regressors, basis: Array, before: Array, sums: MStepSums) -> RegressionMixture:
    """Return the mixture by weighted least squares, from the coefficients of the features before, (q, k)."""
    sizes = np.maximum(sums.sizes, MIN_SIZE)
    explained = sums.products + np.einsum("kij,jk->ki", sums.squares, before)
    fits = least_squares(sums.squares, explained).T
    # Relative to the regressions before: sums around zero would lose the digits of a small noise.
    change = (fits - before).T
    gain = 2 * sums.products - np.einsum("kij,kj->ki", sums.squares, change)
    variances = (sums.energies - np.sum(change * gain, axis=1)) / sizes
    weights = sizes / sizes.sum()
    slopes, levels = split_levels(fits, has_intercepts=regressors.has_intercepts)
    return RegressionMixture(basis @ slopes, levels, regressors.floor_variances(variances, weights), weights)


def split_levels(fits: Array, *, has_intercepts: bool) -> tuple[Array, Array]:
    """Return slopes, (q, k), and levels, (k,), from the coefficients of features, (q, k) or (q + 1, k)."""
    return (fits[:-1], fits[-1]) if has_intercepts else (fits, np.zeros(fits.shape[1]))


def _project_to_span(partition: SamplePartition, span: Span) -> SpanPartition:
    chunks = centered_chunks(partition.samples, span.center)
    features = np.concatenate([span.make_features(span.project(chunk)) for _, chunk in chunks])
    # Column by column: products with one number per sample would be slow with short rows.
    return SpanPartition(partition.first, np.asfortranarray(features), partition.responses)


def _m_step_sums(partition: SpanPartition, fits: Array, mixture: RegressionMixture) -> MStepSums:
    """Sum over samples, given the coefficients of their features, (q, k)."""
    without_levels = mixture._replace(levels=np.zeros_like(mixture.levels))  # levels are among the coefficients

    def sum_rows(rows: slice) -> MStepSums:
        features, responses = partition.features[rows], partition.responses[rows]
        residuals, resp, objective = e_step(without_levels, features @ fits, responses)
        return weigh_sums(features, residuals, resp, objective)

    return sum_chunks(sum_rows, row_slices(len(partition.features), STEP_ROWS))


def weigh_sums(features: Array, residuals: Array, resp: Array, objective: float) -> MStepSums:
    """Return the sums of an M-step, from features, (n, q), residuals and responsibilities, (n, k)."""
    weighted = resp * residuals
    return MStepSums(
        objective=objective,
        sizes=resp.sum(axis=0),
        squares=np.stack([(features * own[:, None]).T @ features for own in resp.T]),
        products=weighted.T @ features,
        energies=np.sum(weighted * residuals, axis=0),
    )


def least_squares(squares: Array, explained: Array) -> Array:
    """Return coefficients of features s from Σ ss' and Σ ts, (..., q); the smallest if samples leave them open."""
    return np.asarray((np.linalg.pinv(squares, rcond=1e-12, hermitian=True) @ explained[..., None])[..., 0])


def draw_starts(
    part: Regressors, n_components: int, lines: Array | None = None, n_starts: int = N_STARTS
) -> list[RegressionMixture]:
    """Draw mixtures of lines that each pass near samples which the lines before do not explain."""
    rng = np.random.default_rng(0)  # the same answer every time
    samples = part.partitions.collect().partition
    Z, y, variance = make_features(part, samples), samples.responses, part.response_variance
    first = np.zeros((Z.shape[1], 0)) if lines is None else lines
    return [_start_mixture(part, _draw_lines(Z, y, first, n_components, variance, rng)) for _ in range(n_starts)]


def rank_starts(part: Regressors, starts: Iterable[RegressionMixture]) -> list[EMResult[RegressionMixture]]:
    """Return the mixtures that a few iterations lead to, the likeliest first."""
    ends = (maximize_likelihood(part, start, FIRST_STEPS) for start in starts)
    return sorted(ends, key=lambda each: -each.objectives[-1])


def fit_line(Z: Array, y: Array) -> Array:
    """Return the line of a few samples, (q,), from their features, (n, q)."""
    return least_squares(Z.T @ Z, Z.T @ y)


def make_features(regressors: Regressors, partition: SamplePartition) -> Array:
    """Return a few standardized samples, with a column of ones if there are intercepts, (n, r) or (n, r + 1)."""
    Z = regressors.design.predict(partition.samples, np.eye(regressors.design.n_coordinates))
    return np.column_stack([Z, np.ones(len(Z))]) if regressors.has_intercepts else Z


def _draw_lines(
    Z: Array, y: Array, first: Array, n_components: int, variance: float, rng: np.random.Generator
) -> Array:
    """Return the first lines, and lines through samples that no line before explains, (r + 1, k) or (r, k)."""
    fits, unexplained = list(first.T), np.full(len(y), np.inf)
    for line in fits:
        unexplained = np.minimum(unexplained, (y - Z @ line) ** 2)
    for _ in range(n_components - len(fits)):
        # Squares are bounded: one outlier must not be in every draw.
        odds = np.minimum(unexplained, START_NOISE * variance) + 1e-9 * variance
        rows = rng.choice(len(y), size=min(Z.shape[1] + 2, len(y)), replace=False, p=odds / odds.sum())
        fits.append(fit_line(Z[rows], y[rows]))
        unexplained = np.minimum(unexplained, (y - Z @ fits[-1]) ** 2)
    return np.column_stack(fits)


def _start_mixture(regressors: Regressors, fits: Array) -> RegressionMixture:
    """Return a mixture of lines with the same noise variance and weight each."""
    k = fits.shape[1]
    slopes, levels = split_levels(fits, has_intercepts=regressors.has_intercepts)
    noise = START_NOISE * regressors.response_variance
    return RegressionMixture(slopes, levels, np.full(k, noise), np.full(k, 1 / k))
