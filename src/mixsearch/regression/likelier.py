"""Likelier mixtures than EM has found (random starts, one more component), and goodness of fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from mixsearch._typing import Array
from mixsearch.core.doubts import MIN_P_VALUE
from mixsearch.core.em import EMOptions, EMResult
from mixsearch.regression.em import (
    MIN_VARIANCE,
    N_CONTINUED,
    N_STARTS,
    draw_starts,
    make_features,
    maximize_likelihood,
    rank_starts,
)
from mixsearch.regression.mixture import RegressionMixture, Regressors, e_step

# Bins of the distribution of all responses, with at least this many samples each.
MAX_BINS, MIN_PER_BIN = 20, 20
# A noise variance below this fraction of the variance of y is rounding, and the share of samples that may exceed it.
MIN_NOISE, MAX_OFF = 1e-8, 0.01
# Directions of x in which the spread of responses may change.
N_DIRECTIONS = 4
# Samples, and samples per parameter, that fits are tested on.
MIN_SAMPLES, MIN_PER_PARAMETER = 5000, 20
# Samples that random starts are compared on.
MAX_STARTED = 2000
# A mixture that suits its samples worse than this is compared with others.
SUSPICIOUS = 1e-3
# Starts that keep the lines of the mixture found, and add one.
N_EXTENDED = 5
OPTIONS = EMOptions(max_iter=30, tol=0.1)
# Regressions that are looked for where moments cannot count them.
MAX_COMPONENTS = 5
# This many samples show whether a single line suits them.
MIN_TO_SHOW = 1000
# A gain of this many nats per sample shows another line also if the samples suit those found so far, if no noise
# variance is smaller than this fraction of another: noise that is not normal gives less, or lines of different noise.
DECISIVE, MIN_EVEN = 0.2, 0.1
# Deviations by which a component may change if another one is added.
MAX_CHANGE = 4.0


def fit_p_value(part: Regressors, mixture: RegressionMixture) -> float:
    """Return how often samples of a mixture would suit it as badly as these.

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


class Comparison(NamedTuple):
    """A mixture compared with likelier ones."""

    mixture: RegressionMixture  # the likeliest one with as many components
    p_value: float  # how often samples of it would suit it as badly
    larger: RegressionMixture | None  # one with one more component, if the samples ask for it
    gain: float  # of its likelihood, in nats
    n_samples: int  # that were compared

    @property
    def likeliest(self) -> RegressionMixture:
        """The larger mixture, if there is one."""
        return self.mixture if self.larger is None else self.larger

    def keeps(self, index: int) -> bool:
        """Return whether a component stays what it is if another one is added, up to the noise of the samples."""
        if self.larger is None:
            return True
        nearest = nearest_index(self.larger, self.mixture.slopes[:, index])
        weight, n = float(self.larger.weights[nearest]), self.n_samples
        change = np.linalg.norm(self.larger.slopes[:, nearest] - self.mixture.slopes[:, index])
        noise = np.sqrt(len(self.mixture.slopes) * self.larger.variances[nearest] / (n * weight))
        weight_change = abs(float(self.mixture.weights[index]) - weight)
        return bool(change < MAX_CHANGE * noise and weight_change < MAX_CHANGE * np.sqrt(weight * (1 - weight) / n))


def nearest_index(mixture: RegressionMixture, slopes: Array) -> int:
    """Return the index of the component with the nearest slopes."""
    return int(np.argmin(np.sum((mixture.slopes - slopes[:, None]) ** 2, axis=0)))


def take_part(regressors: Regressors, n_components: int, min_samples: int = MIN_SAMPLES) -> Regressors:
    """Return enough samples to compare mixtures, in the memory of this process."""
    n_parameters = n_components * (regressors.design.n_coordinates + 3)
    step = max(regressors.partitions.n_rows // max(min_samples, MIN_PER_PARAMETER * n_parameters), 1)
    return replace(regressors.thin(step).collect(), min_variance=MIN_VARIANCE)


def compare(part: Regressors, mixture: RegressionMixture, *, is_trusted: bool = True) -> Comparison:
    """Compare a mixture with likelier ones, if it does not suit the samples or is not to be trusted."""
    n, k = part.partitions.n_rows, mixture.n_components
    p_value = fit_p_value(part, mixture)
    if p_value >= SUSPICIOUS and is_trusted:
        return Comparison(mixture, p_value, None, 0.0, n)
    found, other = maximize_likelihood(part, mixture, OPTIONS), fit_random(part, k)
    # EM may have stopped on a plateau, from which further iterations lead away.
    is_left = found.objectives[-1] > _log_likelihood(part, mixture) + penalty(part)
    if is_left or other.objectives[-1] > found.objectives[-1] + 1:
        found = max(found, other, key=lambda each: each.objectives[-1])
        mixture = found.state
        p_value = fit_p_value(part, mixture)
    if p_value >= SUSPICIOUS:
        return Comparison(mixture, p_value, None, 0.0, n)
    larger = _fit_larger(part, found.state)
    gain = larger.objectives[-1] - found.objectives[-1]
    return Comparison(mixture, p_value, larger.state if gain > penalty(part) else None, gain, n)


def _log_likelihood(part: Regressors, mixture: RegressionMixture) -> float:
    samples = part.partitions.collect().partition
    return e_step(mixture, part.design.predict(samples.samples, mixture.slopes), samples.responses)[2]


def penalty(part: Regressors) -> float:
    """Return what one more component must gain in likelihood, in nats: half of the BIC's penalty."""
    n_parameters = part.design.n_coordinates + part.has_intercepts + 2
    return 0.5 * n_parameters * float(np.log(part.partitions.n_rows))


def merge_copies(part: Regressors, found: EMResult[RegressionMixture]) -> EMResult[RegressionMixture]:
    """Merge regressions that the samples cannot tell apart, and leave out those without members.

    As long as the likelihood falls by less than the penalty.
    """
    while found.state.n_components > 1:
        supported = _with_members(part, found.state)
        smaller = _merge_nearest(supported) if supported.n_components == found.state.n_components else supported
        merged = maximize_likelihood(part, smaller, OPTIONS)
        if found.objectives[-1] - merged.objectives[-1] > penalty(part):
            break
        found = maximize_likelihood(part, found.state, OPTIONS)  # it may not have been at its maximum
        if found.objectives[-1] - merged.objectives[-1] > penalty(part):
            break
        found = merged
    return found


def _with_members(part: Regressors, mixture: RegressionMixture) -> RegressionMixture:
    """Return the regressions that have more members than any line could pass through, or the largest one."""
    n, r = part.partitions.n_rows, part.design.n_coordinates
    kept = mixture.weights >= min(r / n, float(mixture.weights.max()))
    weights = mixture.weights[kept]
    return RegressionMixture(
        mixture.slopes[:, kept], mixture.levels[kept], mixture.variances[kept], weights / weights.sum()
    )


def _merge_nearest(mixture: RegressionMixture) -> RegressionMixture:
    """Merge the two regressions whose merging costs least.

    Best is by Runnalls' bound of what the likelihood loses: ½[(α+β) log s - α log s₁ - β log s₂] per sample, for two
    weights α and β, noise variances s₁ and s₂, and the variance s around the line between them.
    """
    lines, variances, weights = np.vstack([mixture.slopes, mixture.levels]), mixture.variances, mixture.weights
    total = weights[:, None] + weights
    apart = np.sum((lines[:, :, None] - lines[:, None, :]) ** 2, axis=0)
    energies = weights * variances
    pooled = (energies[:, None] + energies + weights[:, None] * weights / total * apart) / total
    logs = weights * np.log(variances)
    losses = total * np.log(pooled) - logs[:, None] - logs + np.diag(np.full(len(weights), np.inf))
    i, j = np.unravel_index(int(np.argmin(losses)), losses.shape)
    line = (weights[i] * lines[:, i] + weights[j] * lines[:, j]) / total[i, j]
    others = np.delete(np.arange(len(weights)), [i, j])
    return RegressionMixture(
        np.column_stack([mixture.slopes[:, others], line[:-1]]),
        np.append(mixture.levels[others], line[-1]),
        np.append(variances[others], pooled[i, j]),
        np.append(weights[others], total[i, j]),
    )


def choose_n_components(part: Regressors, fit: Callable[[int], EMResult[RegressionMixture]]) -> int:
    """Count the regressions: one more as long as BIC prefers it, and the samples do not suit those found so far.

    Notes
    -----
    BIC alone finds more lines in noise that is not normal, unless its gain is decisive. Few samples do not show that a
    single line does not suit them, so there BIC alone decides on a second one.
    """
    n, found = part.partitions.n_rows, fit(1)
    for k in range(1, MAX_COMPONENTS):
        following = fit(k + 1)
        is_suited = (k > 1 or n >= MIN_TO_SHOW) and fit_p_value(part, found.state) >= MIN_P_VALUE
        gain = following.objectives[-1] - found.objectives[-1]
        variances = following.state.variances
        is_decisive = gain / n > DECISIVE and variances.min() > MIN_EVEN * variances.max()
        if gain <= penalty(part) or (is_suited and not is_decisive):
            return k
        found = following
    return MAX_COMPONENTS


def fit_random(part: Regressors, n_components: int) -> EMResult[RegressionMixture]:
    """Fit a mixture from random starts."""
    some = take_part(part, n_components, MAX_STARTED)
    return _continue_best(part, some, draw_starts(some, n_components, n_starts=N_STARTS if n_components > 1 else 1))


def _continue_best(part: Regressors, some: Regressors, starts: list[RegressionMixture]) -> EMResult[RegressionMixture]:
    """Return the likeliest end of the best starts, which are compared on some of the samples."""
    n_continued = N_CONTINUED if part.partitions.n_rows <= MAX_STARTED else 1
    ends = (maximize_likelihood(part, each.state, OPTIONS) for each in rank_starts(some, starts)[:n_continued])
    return max(ends, key=lambda each: each.objectives[-1])


def _fit_larger(part: Regressors, mixture: RegressionMixture) -> EMResult[RegressionMixture]:
    """Fit one more component, from random starts and from the lines found with another one."""
    k = mixture.n_components + 1
    some = take_part(part, k, MAX_STARTED)
    lines = np.vstack([mixture.slopes, mixture.levels]) if part.has_intercepts else mixture.slopes
    return _continue_best(part, some, draw_starts(some, k) + draw_starts(some, k, lines, N_EXTENDED))
