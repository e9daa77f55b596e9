"""The parameters of all regressions of a mixture, and their likelihood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
from mixsearch.core.example_fit import posterior_of_all
from mixsearch.data.chunks import CACHED_ROWS, ArraySum, add_all, chunk_rows, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.regression.design import Design, FeatureGaussians, n_feature_parameters, sum_centered

if TYPE_CHECKING:
    from mixsearch.regression.family import RegressionFamily

# A noise variance from moments is at least this fraction of the variance that the regression explains.
MIN_NOISE = 1e-3
# The first iterations run on this many samples, and this many per parameter.
START_SAMPLES, START_PER_PARAMETER = 20_000, 20
# Lower bounds of a noise variance, as fractions of the average one and of the variance of y: a line through a few
# samples would have an infinite likelihood.
MIN_VARIANCE, MIN_RESPONSE_VARIANCE = 1e-3, 1e-10
# Directions in which all slopes together are shorter than this fraction of the longest are outside their span.
MIN_SPAN = 1e-3
# A mean of z that is shorter than this is rounding.
MIN_MEAN = 1e-6
# Up to this many of their scores, and with so many samples per parameter, the distributions of x count as estimates in
# the errors of all other parameters.
MAX_FEATURE_SCORES, MIN_PER_PARAMETER = 20_000_000, 5
# Samples per chunk: its intermediate results stay in cache.
STEP_ROWS = 8 * CACHED_ROWS


class RegressionMixture(NamedTuple):
    """All regressions of a mixture, t = ⟨z, slope⟩ + level + noise, for a standardized z."""

    slopes: Array  # (r, k)
    levels: Array  # (k,)
    variances: Array  # of the noise, (k,)
    weights: Array  # (k,)
    features: FeatureGaussians | None = None  # of x in every component, if it differs between them

    @property
    def n_components(self) -> int:
        """The number of regressions."""
        return len(self.levels)

    def with_first(self, index: int) -> RegressionMixture:
        """Return the mixture with one component moved to the front."""
        order = np.argsort(np.arange(self.n_components) != index, kind="stable")
        features = None if self.features is None else self.features.take(order)
        return RegressionMixture(
            self.slopes[:, order], self.levels[order], self.variances[order], self.weights[order], features
        )

    def log_features(self, X: Samples) -> Array:
        """Return the log density of x in each component, (n, k), or (1, 1) zero if x does not differ between them."""
        if self.features is None:
            return np.zeros((1, 1))
        return self.features.log_densities(self.features.standardize(X))

    def log_densities(self, predicted: Array, responses: Array, log_features: Array | float = 0.0) -> Array:
        """Return log αᵢpᵢ of each sample and component up to a constant, (n, k)."""
        squares = (responses[:, None] - predicted - self.levels) ** 2
        of_responses = -0.5 * (squares / self.variances + np.log(self.variances))
        return np.asarray(self.log_weights + of_responses + log_features)

    @property
    def log_weights(self) -> Array:
        """The logarithms of the weights, (k,), finite also for components without any."""
        return np.log(np.maximum(self.weights, np.finfo(np.float64).tiny))

    def posterior_of_all(self, predicted: Array, responses: Array, log_features: Array | float = 0.0) -> Array:
        """Return the probability of each component that all of some samples are its own, (k,)."""
        return posterior_of_all(self.log_densities(predicted, responses, log_features), self.log_weights)


def mixture_from_moments(family: RegressionFamily, candidates: Candidates) -> RegressionMixture:
    """Return the parameters of all candidates, for standardized x.

    Notes
    -----
    ⟨u₁, W'Σ αᵢbᵢμᵢ⟩ = √α₁b₁ gives the level. Without intercepts, it is the value at the mean of x of a regression
    through zero. ⟨u₁, W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ⟩ gives the noise variance.
    """
    slopes = family.frame.unwhiten(candidates.points)
    levels = candidates.points.T @ family.intercepts
    if not family.fit_intercept:
        levels = family.design.center @ family.design.to_coefficients(slopes) - family.offset
    explained = np.sum(slopes**2, axis=0)
    noise = candidates.points.T @ family.energies - explained - levels**2
    return RegressionMixture(slopes, levels, np.maximum(noise, MIN_NOISE * explained), candidates.weights)


class Responsibilities(NamedTuple):
    """The result of an E-step."""

    residuals: Array  # (n, k)
    resp: Array  # (n, k)
    objective: float


class Totals(NamedTuple):
    """Sums over all samples."""

    responses: float  # Σ t
    squares: float  # Σ t²
    rows: Array  # Σ (x - center), (d, 1)


@dataclass(frozen=True)
class Regressors:
    """Samples as EM sees them: standardized around their mean, or around zero without intercepts."""

    design: Design
    partitions: Partitions[SamplePartition]
    has_intercepts: bool
    min_variance: float = MIN_VARIANCE

    @cached_property
    def _totals(self) -> Totals:
        return self.partitions.reduce(_totals, self.design.center)

    @cached_property
    def response_variance(self) -> float:
        """The variance of y, or a trace of one if y is constant."""
        n, totals = self.partitions.n_rows, self._totals
        return max(totals.squares / n - (totals.responses / n) ** 2, np.finfo(float).tiny)

    @cached_property
    def mean_axis(self) -> Array:
        """The direction of the mean of z as a column, (r, 1), or (r, 0) if the mean is zero.

        It belongs to the span, so that z has mean zero outside of it.
        """
        mean = self.design.standardize_sums(self._totals.rows)
        length = float(np.linalg.norm(mean))
        return mean / length if length > MIN_MEAN * self.partitions.n_rows else mean[:, :0]

    def floor_variances(self, variances: Array, weights: Array) -> Array:
        """Return noise variances, none of which is too small, (k,)."""
        average, total = float(weights @ variances), self.response_variance
        return np.maximum(variances, max(self.min_variance * average, MIN_RESPONSE_VARIANCE * total))

    def thin(self, step: int) -> Regressors:
        """Return every `step`-th sample only."""
        return replace(self, partitions=self.partitions.thin(step).persist())

    def collect(self) -> Regressors:
        """Return the samples in the memory of this process."""
        return replace(self, partitions=self.partitions.collect())


def _totals(partition: SamplePartition, center: Array) -> Totals:
    t = partition.responses
    ones = np.ones((len(t), 1))
    return Totals(float(t.sum()), float(t @ t), sum_centered(partition.samples, center, ones))


class Span(NamedTuple):
    """The span of all slopes, with the maps from samples into it."""

    axes: Array  # from x - center to p projections, (d, p)
    center: Array  # (d,)
    to_basis: Array  # from projections to coordinates in an orthonormal basis, (p, q)
    to_predictions: Array  # from projections to the predictions of all slopes, (p, k)
    has_intercepts: bool

    def project(self, chunk: Any) -> Array:
        """Return the projections of centered samples, (n, p)."""
        if sp.issparse(chunk):
            return np.asarray(chunk @ self.axes - self.center @ self.axes, dtype=np.float64)
        return np.asarray(chunk @ self.axes.astype(chunk.dtype), dtype=np.float64)

    def make_features(self, projections: Array) -> Array:
        """Return coordinates in the span, (n, q), with a column of ones if components have intercepts, (n, q + 1)."""
        inside = projections @ self.to_basis
        return np.column_stack([inside, np.ones(len(inside))]) if self.has_intercepts else inside


def find_span(regressors: Regressors, mixture: RegressionMixture, *, whole_space: bool = False) -> tuple[Array, Span]:
    """Return an orthonormal basis of the span of all slopes, (r, q), and the maps from samples into it."""
    k, r = mixture.n_components, len(mixture.slopes)
    directions = np.eye(r) if whole_space else np.hstack([mixture.slopes, regressors.mean_axis])
    left, values, right = np.linalg.svd(directions, full_matrices=False)
    kept = values > MIN_SPAN * max(float(values.max(initial=0.0)), np.finfo(float).tiny)
    to_predictions = mixture.slopes if whole_space else np.eye(directions.shape[1], k)
    axes, to_basis = regressors.design.to_coefficients(directions), right[kept].T / values[kept]
    return left[:, kept], Span(axes, regressors.design.center, to_basis, to_predictions, regressors.has_intercepts)


def centered_chunks(X: Samples, center: Array) -> Iterator[tuple[slice, Samples]]:
    """Yield chunks of samples; dense ones are centered."""
    if sp.issparse(X):
        chunks = chunk_rows(sp.csr_array(X))
        yield from ((rows, chunks.read(index)) for index, rows in chunks.enumerate())
        return
    middle = center.astype(X.dtype)
    yield from ((rows, X[rows] - middle) for rows in row_slices(X.shape[0], STEP_ROWS))


@dataclass(frozen=True)
class EvaluatedPartition(Partition):
    """Samples in the span of all slopes, with their residuals and responsibilities."""

    features: Array  # zQ, with a column of ones if components have intercepts, (n, q) or (n, q + 1)
    residuals: Array  # (n, k)
    resp: Array  # (n, k)
    of_features: Array | None = None  # scores of the distributions of x, (n, m)

    def scores(self, mixture: RegressionMixture, rows: slice) -> Array:
        """Return derivatives of each sample's log-likelihood, (n, p).

        By slopes, parameters of the distributions of x if there are any, log variances and log weights.
        """
        features, residuals, resp = self.features[rows], self.residuals[rows], self.resp[rows]
        scores = resp * residuals / mixture.variances
        by_slopes = (scores[:, :, None] * features[:, None, :]).reshape(
            len(features), scores.shape[1] * features.shape[1]
        )
        of_features = [] if self.of_features is None else [self.of_features[rows]]
        return np.hstack([by_slopes, *of_features, 0.5 * (scores * residuals - resp), resp - mixture.weights])


class EvaluationSums(NamedTuple):
    """Sums over all samples, with responsibilities p, residuals e and the scores g = pe/variance of predictions."""

    objective: float
    sizes: Array  # Σ p, (k,)
    energies: Array  # Σ pe², (k,)
    by_features: Array  # Σ g ⊗ features, (k, q) or (k, q + 1): the gradient by slopes and levels
    score_gram: Array  # Σ gg', (k, k)
    by_samples: Array  # Σ (x - center) g', (d, k)


class Evaluation(NamedTuple):
    """A mixture with its sums over all samples, and a subset of the samples in the span of its slopes."""

    mixture: RegressionMixture
    basis: Array  # Q of the span, (r, q), orthonormal
    sums: EvaluationSums
    subset: Partitions[EvaluatedPartition]  # some of the samples, or all
    n_rows: int  # of all samples

    @property
    def n_features(self) -> int:
        """The number of features in the span."""
        return int(self.sums.by_features.shape[1])

    def information(self) -> Array:
        """Sum the outer products of the scores of the subset, (p, p)."""
        return np.asarray(self.subset.reduce(_information, self.mixture).total)


def _information(partition: EvaluatedPartition, mixture: RegressionMixture) -> ArraySum:
    def sum_rows(rows: slice) -> ArraySum:
        scores = partition.scores(mixture, rows)
        return ArraySum(scores.T @ scores)

    return sum_chunks(sum_rows, row_slices(len(partition.features)))


def evaluate(
    regressors: Regressors, mixture: RegressionMixture, *, whole_space: bool = False, step: int | None = None
) -> Evaluation:
    """Evaluate a mixture in one pass over the samples."""
    basis, span = find_span(regressors, mixture, whole_space=whole_space)
    n, k, q = regressors.partitions.n_rows, mixture.n_components, basis.shape[1] + regressors.has_intercepts
    n_scores = k * q + 2 * k
    step = step or max(n // max(START_SAMPLES, START_PER_PARAMETER * n_scores), 1)
    n_more = 0 if mixture.features is None else n_feature_parameters(k, len(mixture.slopes))
    has_scores = 0 < n_more * n <= MAX_FEATURE_SCORES * step and n > MIN_PER_PARAMETER * (n_scores + n_more)
    subset, sums = regressors.partitions.map_reduce(_evaluate, span, mixture, step, has_scores)
    layout = subset.layout._replace(n_rows=-(-n // step))
    return Evaluation(mixture, basis, sums, replace(subset, layout=layout), n)


def _evaluate(
    partition: SamplePartition, span: Span, mixture: RegressionMixture, step: int, has_scores: bool
) -> tuple[EvaluatedPartition, EvaluationSums]:
    """Return every `step`-th sample with its responsibilities, and the sums over all samples.

    With `has_scores`, the samples have those of the distributions of x too.
    """
    sums, subset = [], []
    for rows, chunk in centered_chunks(partition.samples, span.center):
        projections = span.project(chunk)
        features = span.make_features(projections)
        predicted, of_features = projections @ span.to_predictions, None
        if mixture.features is None:
            result = e_step(mixture, predicted, partition.responses[rows])
        else:
            Z = mixture.features.standardize(partition.samples[rows])
            log_features = mixture.features.log_densities(Z)
            result = e_step(mixture, predicted, partition.responses[rows], log_features)
            of_features = mixture.features.scores(Z, result.resp) if has_scores else None
        sums.append(_evaluation_sums(chunk, span.center, features, result, mixture))
        first = partition.first + rows.start
        evaluated = EvaluatedPartition(first, features, result.residuals, result.resp, of_features)
        subset.append(evaluated.thin(step))
    return EvaluatedPartition.joined(subset), add_all(sums)


def _evaluation_sums(
    chunk: Any, center: Array, features: Array, result: Responsibilities, mixture: RegressionMixture
) -> EvaluationSums:
    residuals, resp, objective = result
    weighted = resp * residuals
    scores = weighted / mixture.variances
    rows = np.asarray(chunk.T @ scores, dtype=np.float64)
    return EvaluationSums(
        objective=objective,
        sizes=resp.sum(axis=0),
        energies=np.sum(weighted * residuals, axis=0),
        by_features=scores.T @ features,
        score_gram=scores.T @ scores,
        by_samples=rows - np.outer(center, scores.sum(axis=0)) if sp.issparse(chunk) else rows,
    )


def e_step(
    mixture: RegressionMixture, predicted: Array, responses: Array, log_features: Array | None = None
) -> Responsibilities:
    """Return residuals, responsibilities and the log-likelihood, from the predictions of the slopes alone, (n, k).

    With the log densities of x in every component, (n, k), the likelihood is that of x and the response together.
    """
    # One row per component: sums over few columns would be slow.
    residuals = responses - predicted.T - mixture.levels[:, None]
    logs = np.square(residuals)
    logs *= -0.5 / mixture.variances[:, None]
    logs += (np.log(mixture.weights) - 0.5 * np.log(2 * np.pi * mixture.variances))[:, None]
    if log_features is not None:
        logs += log_features.T
    top = logs.max(axis=0)
    logs -= top
    np.exp(logs, out=logs)
    total = logs.sum(axis=0)
    logs /= total
    return Responsibilities(residuals.T, logs.T, float(top.sum() + np.log(total).sum()))
