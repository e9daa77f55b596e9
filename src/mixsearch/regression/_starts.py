"""Random starts of EM, and the likeliest of the mixtures that they lead to."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.em import EMOptions, EMResult
from mixsearch.data.partitions import SamplePartition
from mixsearch.regression._em import least_squares, maximize_likelihood, split_levels
from mixsearch.regression._evaluation import Regressors
from mixsearch.regression._mixture import RegressionMixture

# Random starts; after these iterations, the best one is continued to the end, or the best few of few samples.
N_STARTS, START, N_CONTINUED = 20, EMOptions(max_iter=5, tol=1.0), 3
# The noise variance of a line through a few samples, as a fraction of the variance of y.
START_NOISE = 0.05
# Few samples have many maxima with a line of hardly any noise through some of them: deviations may differ tenfold.
MIN_VARIANCE = 0.01


def draw_starts(
    part: Regressors, n_components: int, lines: Array | None = None, n_starts: int = N_STARTS
) -> list[RegressionMixture]:
    """Draw mixtures of lines that each pass near samples which the lines before do not explain.

    Parameters
    ----------
    part : Regressors
        In the memory of this process.
    n_components : int
    lines : array of shape (r + 1, m) or (r, m), optional
        The first lines of every start, with levels if there are intercepts.
    n_starts : int

    Returns
    -------
    list of RegressionMixture
    """
    rng = np.random.default_rng(0)  # the same answer every time
    samples = part.partitions.collect().partition
    Z, y, variance = make_features(part, samples), samples.responses, part.response_variance
    first = np.zeros((Z.shape[1], 0)) if lines is None else lines
    return [_start_mixture(part, _draw_lines(Z, y, first, n_components, variance, rng)) for _ in range(n_starts)]


def rank_starts(part: Regressors, starts: Iterable[RegressionMixture]) -> list[EMResult[RegressionMixture]]:
    """Return the mixtures that a few iterations lead to, the likeliest first.

    Parameters
    ----------
    part : Regressors
    starts : iterable of RegressionMixture

    Returns
    -------
    list of EMResult
    """
    ends = (maximize_likelihood(part, start, START) for start in starts)
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
