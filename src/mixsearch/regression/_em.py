"""EM for all regressions of a mixture, in the span of their slopes, followed by Newton steps in all dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.data.chunks import row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.regression._evaluation import STEP_ROWS, Regressors, Span, centered_chunks, e_step, find_span
from mixsearch.regression._mixture import RegressionMixture
from mixsearch.regression._newton import MIN_SIZE, run_newton

# EM before the Newton steps, which must start near the maximum.
START = EMOptions(max_iter=30, tol=5.0)
# The gain at which Newton steps on part of the samples stop, in nats.
THINNED_TOL = 1.0
# Up to this many numbers are collected in one process for all iterations of EM.
MAX_COLLECTED = 20_000_000


def maximize_likelihood(
    regressors: Regressors, start: RegressionMixture, options: EMOptions, *, step: int = 1
) -> EMResult[RegressionMixture]:
    """Find the maximum of the likelihood from a rough mixture.

    Parameters
    ----------
    regressors : Regressors
    start : RegressionMixture
    options : EMOptions
    step : int, default=1
        Start with every `step`-th sample only.

    Returns
    -------
    EMResult
    """
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
    partitions = _collect_features(regressors, span, n_columns=basis.shape[1] + 2)

    def step(mixture: RegressionMixture) -> tuple[RegressionMixture, float]:
        levels = [mixture.levels] if regressors.has_intercepts else []
        before = np.vstack([basis.T @ mixture.slopes, *levels])
        sums = partitions.reduce(_m_step_sums, before, mixture)
        return m_step(regressors, basis, before, sums), sums.objective

    return run_em(start, step, START).state


def _collect_features(regressors: Regressors, span: Span, n_columns: int) -> Partitions[SpanPartition]:
    """Return the samples in the span, in the memory of this process if they fit."""
    partitions: Partitions[SpanPartition] = regressors.partitions.map(_project_to_span, span)
    return partitions.collect() if partitions.n_rows * n_columns < MAX_COLLECTED else partitions.persist()


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
