"""The mixture on a subset of the samples: the start of EM, and a test of the spherical model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2, kstwobign

from mixsearch._typing import Array
from mixsearch.core.em import MAX_ITER, EMOptions, EMResult
from mixsearch.core.example_fit import TypicalSquares, typical_squares
from mixsearch.core.noise_edge import noise_edge
from mixsearch.core.tensor import all_components
from mixsearch.data.partitions import Partitions
from mixsearch.gaussian.family import GaussianFamily
from mixsearch.gaussian.mixture import (
    FeaturePartition,
    SphericalMixture,
    feature_partitions,
    mixture_from_moments,
    responsibilities,
    run_spherical_em,
)

# The subset has this many samples, and this many per component.
MIN_SAMPLES, PER_COMPONENT = 2000, 200
# Random starts, if samples are less likely than this to follow the mixture found from moments; all run for a few
# iterations, and the likeliest ones to the end.
N_STARTS, N_CONTINUED, MIN_P_VALUE = 20, 5, 0.1
START = EMOptions(max_iter=30, tol=0.5)
DEFAULT_OPTIONS = EMOptions(MAX_ITER, tol=0.01)
# A component has this many samples per dimension of the signal space, or its shape is not tested.
SAMPLES_PER_DIMENSION, TOLERANCE = 5, 2.0
# In more features than this, further directions of the members of a component are not looked for.
MAX_FEATURES = 2000
# Samples with a smaller responsibility do not matter for a component.
MIN_OWN = 0.01
# A component has more than this many samples, in the sum of its responsibilities.
MIN_MEMBERS = 1.0


class SubsetFit(NamedTuple):
    """The mixture fitted to a subset of the samples. It depends on no hint, so one serves every search."""

    family: GaussianFamily
    mixture: SphericalMixture
    n_samples: int
    likelihood: float
    p_values: Array  # how often samples of each component would look as little like it, (k,)
    typical: tuple[TypicalSquares, ...]  # of the members of each component

    @property
    def p_value(self) -> float:
        """The p-value of the test whether the samples follow the mixture."""
        return float(min(1.0, len(self.p_values) * self.p_values.min()))

    @property
    def criterion(self) -> float:
        """Akaike's criterion: the log-likelihood less the number of parameters, of centers in all dimensions."""
        return self.likelihood - len(self.p_values) * (self.mixture.n_dims + 2)

    def best_p_values(self, Z: Array) -> Array:
        """Return how often members of the best component would be as far out as samples, given as features, (n,)."""
        each = [typical.p_values(self.mixture.squared_distances(i, Z)) for i, typical in enumerate(self.typical)]
        return np.asarray(np.max(each, axis=0))


def fit_subset(family: GaussianFamily, options: EMOptions = DEFAULT_OPTIONS, step: int | None = None) -> SubsetFit:
    """Fit the mixture to a subset, from all contractions of its third moment, by EM.

    Notes
    -----
    Moments find the start that leads to the maximum of the likelihood if samples follow the model. If they do not, EM
    also starts from samples far from each other (k-means++), and the likeliest mixture is kept; but not if the number
    of iterations is limited, so that the mixture stays near that of the moments.
    """
    part = family.thin(step or subset_step(family))
    partitions = feature_partitions(part).collect()
    Z = partitions.partition.features.T
    rough = mixture_from_moments(family, all_components(part.tensor(np.eye(len(family.mean))), family.mean))
    result = run_spherical_em(partitions, rough, options)
    fitted = _test_mixture(part, result, Z)
    is_good = fitted.p_value >= MIN_P_VALUE and result.state.weights.min() * Z.shape[1] > MIN_MEMBERS
    if is_good or options.max_iter < MAX_ITER:
        return fitted
    return _test_mixture(part, _try_random_starts(partitions, Z, result, options), Z)


def subset_step(family: GaussianFamily) -> int:
    """Return the step from one sample of the subset to the next."""
    return max(family.partitions.n_rows // max(MIN_SAMPLES, PER_COMPONENT * family.n_components), 1)


def fit_supported(family: GaussianFamily, fitted: SubsetFit) -> SubsetFit:
    """Return the mixture of the subset without components that neither directions nor the likelihood support."""
    fewer = fit_subset(family.supported(), step=subset_step(family))
    return max(fitted, fewer, key=lambda each: each.criterion)


def _test_mixture(family: GaussianFamily, result: EMResult[SphericalMixture], Z: Array) -> SubsetFit:
    """Compare the components with their samples."""
    mixture = result.state
    resp = responsibilities(mixture, Z)
    tests = [[test(mixture, index, own, Z) for test in (_test_tails, _test_shape)] for index, own in enumerate(resp)]
    p_values = np.minimum(1.0, 2 * np.min(tests, axis=1)) if family.has_noise else np.ones(len(resp))
    if family.has_noise and not family.has_enough_components and family.partitions.n_features <= MAX_FEATURES:
        p_values[_have_more_signal(family, resp)] = 0
    # Without noise all distances are rounding, and none of them is large.
    members = resp if family.has_noise else np.zeros_like(resp)
    typical = [typical_squares(mixture.squared_distances(index, Z), own) for index, own in enumerate(members)]
    return SubsetFit(family, mixture, Z.shape[1], result.objectives[-1], p_values, tuple(typical))


def _have_more_signal(family: GaussianFamily, resp: Array) -> Array:
    """Return which components have samples that differ in more directions than by noise, (k,): they are several."""
    samples = family.partitions.collect().partition.samples
    centered = (samples.toarray() if sp.issparse(samples) else samples) - family.sample_mean
    noise = centered - (centered @ family.noise.signal) @ family.noise.signal.T
    return np.array([_has_more_signal(noise, own, family.noise.n_dims) for own in resp])


def _has_more_signal(noise: Array, own: Array, n_dims: int) -> bool:
    """Return whether some direction of the noise stands out among samples with given responsibilities."""
    size = float(own.sum())
    if size < SAMPLES_PER_DIMENSION:
        return False
    away = noise[own > MIN_OWN] - own @ noise / size
    weighted = away * np.sqrt(own[own > MIN_OWN] / size)[:, None]
    largest, level = float(np.linalg.norm(weighted, 2)) ** 2, float(np.sum(weighted**2)) / n_dims
    return largest > noise_edge(np.sum(away**2, axis=1), round(size), n_dims) * level


def _test_tails(mixture: SphericalMixture, index: int, own: Array, Z: Array) -> float:
    return test_tails(mixture.squared_distances(index, Z) / mixture.variances[index], own, mixture.n_dims)


def test_tails(squares: Array, own: Array, n_dims: int) -> float:
    """Return the p-value of a Kolmogorov-Smirnov test of squared Mahalanobis distances against chi-squared.

    Notes
    -----
    `squares`, (n,), are the squared Mahalanobis distances of samples from the center of a component, and `own`, (n,),
    its responsibilities. Weighted by responsibilities, the samples of a component have the distribution of the
    component, however much it overlaps with others: that of χ², in units of its variance.
    """
    levels = chi2.cdf(squares, n_dims)
    order, size = np.argsort(levels), float(own.sum())
    if size <= MIN_MEMBERS:
        return 1.0
    above = np.cumsum(own[order]) / size
    gap = max(float(np.max(above - levels[order])), float(np.max(levels[order] - above + own[order] / size)))
    return float(kstwobign.sf(gap * np.sqrt(size)))


def _test_shape(mixture: SphericalMixture, index: int, own: Array, Z: Array) -> float:
    """Return the p-value of the likelihood ratio test of a spherical component, against one with any covariance.

    Notes
    -----
    In the noise space only the trace of the covariance is known. Half of the statistic is left to the signal space,
    which was found from the same samples.
    """
    q, size, m = int(mixture.centers.shape[1]), float(own.sum()), mixture.n_noise
    n_free = q * (q + 1) // 2 - int(m == 0)
    if size < SAMPLES_PER_DIMENSION * (q + 2) or not n_free:
        return 1.0
    away = Z[:-2] - mixture.centers[index][:, None]
    inside = np.linalg.eigvalsh((away * own) @ away.T / size)
    outside = np.full(m, float(own @ (Z[-2] - np.einsum("ij,ij->j", Z[:-2], Z[:-2]))) / size / max(m, 1))
    values = np.maximum(np.append(inside, outside), np.finfo(np.float64).tiny)
    corrected = size - (2 * q + 3) / 6  # as Bartlett does for few samples
    gain = mixture.n_dims * np.log(values.mean()) - np.log(values).sum()
    return float(chi2.sf(corrected * gain / TOLERANCE, n_free))


def _try_random_starts(
    partitions: Partitions[FeaturePartition], Z: Array, result: EMResult[SphericalMixture], options: EMOptions
) -> EMResult[SphericalMixture]:
    """Return the likeliest of a mixture and of those that random starts lead to."""
    rng = np.random.default_rng(0)  # the same answer every time
    starts = [draw_start(Z, result.state, rng) for _ in range(N_STARTS)]
    rough = [run_spherical_em(partitions, start, START) for start in starts]
    best = sorted(rough, key=_likelihood, reverse=True)[:N_CONTINUED]
    continued = [run_spherical_em(partitions, each.state, options) for each in best]
    return max(result, *continued, key=_likelihood)


def _likelihood(result: EMResult[SphericalMixture]) -> float:
    return result.objectives[-1]


def draw_start(Z: Array, mixture: SphericalMixture, rng: np.random.Generator) -> SphericalMixture:
    """Draw a mixture whose centers are samples, each with a probability proportional to its squared distance."""
    k, n = len(mixture.weights), Z.shape[1]
    rows = [int(rng.integers(n))]
    distances = _distances(Z, rows[0])
    while len(rows) < k and distances.any():
        rows.append(int(rng.choice(n, p=distances / distances.sum())))
        distances = np.minimum(distances, _distances(Z, rows[-1]))
    centers = mixture.centers.copy()
    centers[: len(rows)] = Z[:-2, rows].T
    noise = Z[-2] - np.sum(Z[:-2] ** 2, axis=0)
    variance = float(np.mean(distances + noise)) / mixture.n_dims
    variance = max(variance, float(mixture.variances.min()))
    return mixture._replace(centers=centers, variances=np.full(k, variance), weights=np.full(k, 1 / k))


def _distances(Z: Array, row: int) -> Array:
    """Return the squared distance of all samples from one of them in the signal space, (n,)."""
    return np.asarray(np.sum((Z[:-2] - Z[:-2, [row]]) ** 2, axis=0))
