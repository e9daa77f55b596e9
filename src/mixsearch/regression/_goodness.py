"""Goodness-of-fit test of a mixture of regressions."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from mixsearch._typing import Array
from mixsearch.regression._evaluation import Regressors
from mixsearch.regression._mixture import RegressionMixture
from mixsearch.regression._starts import make_features

# Bins of the distribution of all responses, with at least this many samples each.
MAX_BINS, MIN_PER_BIN = 20, 20
# A noise variance below this fraction of the variance of y is rounding, and the share of samples that may exceed it.
MIN_NOISE, MAX_OFF = 1e-8, 0.01
# Directions of x in which the spread of responses may change.
N_DIRECTIONS = 4


def fit_p_value(part: Regressors, mixture: RegressionMixture) -> float:
    """Return how often samples of a mixture would suit it as badly as these.

    Parameters
    ----------
    part : Regressors
        Some samples, in the memory of this process.
    mixture : RegressionMixture

    Returns
    -------
    float

    Notes
    -----
    The distribution function of a response given x, under the mixture, is uniform if the mixture is right, and
    independent of x. Pearson's test of the first, and White's of the second: whether squares of its normal quantiles
    are a quadratic function of x. It is in the directions in which the slopes of a component too few differ from the
    others; half of the samples find them, the other half tests them.
    """
    samples = part.partitions.collect().partition
    Z = make_features(part, samples)[:, : len(mixture.slopes)]
    residuals = samples.responses[:, None] - Z @ mixture.slopes - mixture.levels
    if np.all(mixture.variances < MIN_NOISE * part.response_variance):  # without noise every sample lies on a line
        return float(np.mean(np.min(residuals**2, axis=1) > MIN_NOISE * part.response_variance) < MAX_OFF)
    u = ndtr(residuals / np.sqrt(mixture.variances)) @ mixture.weights
    squares = ndtri(np.clip(u, 1e-9, 1 - 1e-9)) ** 2
    squares -= squares.mean()
    directions = _find_directions(squares[::2], Z[::2])
    return min(1.0, 2 * min(_uniform_p_value(u), _independence_p_value(squares[1::2], Z[1::2] @ directions)))


def _find_directions(values: Array, Z: Array) -> Array:
    """Return the directions in which values depend most on the square of a coordinate, (r, q)."""
    eigenvalues, vectors = np.linalg.eigh((Z * values[:, None]).T @ Z)
    return np.asarray(vectors[:, np.argsort(-np.abs(eigenvalues))[:N_DIRECTIONS]])


def _uniform_p_value(u: Array) -> float:
    n_bins = min(MAX_BINS, len(u) // MIN_PER_BIN)
    if n_bins < 2:
        return 1.0
    counts, expected = np.histogram(u, n_bins, (0, 1))[0], len(u) / n_bins
    return float(chi2.sf(np.sum((counts - expected) ** 2) / expected, n_bins - 1))


def _independence_p_value(values: Array, x: Array) -> float:
    """Return the p-value of a regression of values on all products of coordinates."""
    n, q = x.shape
    rows, columns = np.triu_indices(q)
    features = np.column_stack([np.ones(n), x, x[:, rows] * x[:, columns]])
    if n < 10 * features.shape[1]:
        return 1.0
    fitted = features @ np.linalg.lstsq(features, values, rcond=None)[0]
    explained, total = np.sum((fitted - values.mean()) ** 2), np.sum((values - values.mean()) ** 2)
    return float(chi2.sf(n * explained / max(total, np.finfo(float).tiny), features.shape[1] - 1))
