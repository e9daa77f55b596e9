"""The joint model of x and y, in which x differs between regressions: its EM, and where it is preferred."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.stats import chi2

from mixsearch._typing import Array, Samples
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.regression.design import Design, estimate_features, n_feature_parameters
from mixsearch.regression.em import N_CONTINUED, N_STARTS, MStepSums, m_step, weigh_sums
from mixsearch.regression.mixture import STEP_ROWS, RegressionMixture, Regressors, Responsibilities, e_step

Joint = Literal["auto"] | bool
# How often x that does not differ between regressions may seem to.
MAX_P_VALUE = 1e-3
# A covariance of x takes r² numbers, and its shrinkage is meant for few.
MAX_FEATURES = 50
# Iterations from every start, and from the best ones.
START, OPTIONS = EMOptions(max_iter=15, tol=0.5), EMOptions(max_iter=100, tol=0.05)


@dataclass(frozen=True)
class WholePartition(Partition):
    """Standardized samples, some of which may be known members of the first component."""

    features: Array  # (z, 1), (n, r + 1)
    responses: Array  # (n,)
    is_held: Array  # whether a sample is an example, (n,)


@dataclass(frozen=True)
class WholeSamples:
    """Samples as EM in all dimensions sees them."""

    regressors: Regressors
    partitions: Partitions[WholePartition]
    n_held: int = 0  # the number of examples

    @property
    def n_rows(self) -> int:
        """The number of samples."""
        return self.partitions.n_rows

    @property
    def n_features(self) -> int:
        """The dimension of standardized x."""
        return self.regressors.design.n_coordinates


def take_whole(regressors: Regressors) -> WholeSamples:
    """Return all samples of a fit."""
    return WholeSamples(regressors, regressors.partitions.map(_standardize, regressors.design).persist())


def _standardize(partition: SamplePartition, design: Design) -> WholePartition:
    Z = design.predict(partition.samples, np.eye(design.n_coordinates))
    n = len(Z)
    features = np.column_stack([Z, np.ones(n)])
    return WholePartition(partition.first, features, partition.responses, np.zeros(n, dtype=bool))


def hold_examples(regressors: Regressors, X: Samples, responses: Array) -> WholeSamples:
    """Return all samples of a fit, in the memory of this process, with examples as members of the first component."""
    given = SamplePartition(0, X, responses)
    examples = replace(_standardize(given, regressors.design), is_held=np.ones(len(responses), dtype=bool))
    whole = take_whole(regressors.collect())
    samples = whole.partitions.collect().partition
    is_held, is_new = samples.is_held.copy(), np.ones(len(responses), dtype=bool)
    table = np.column_stack([samples.features, samples.responses])
    for index, row in enumerate(np.column_stack([examples.features, responses])):
        is_same = np.all(np.isclose(table, row, rtol=1e-9, atol=1e-12), axis=1) & ~is_held
        if is_same.any():
            is_held[np.argmax(is_same)], is_new[index] = True, False
    held = WholePartition.joined([replace(samples, is_held=is_held), examples.take(is_new)])
    layout = whole.partitions.layout._replace(n_rows=held.n_rows)
    partitions = replace(whole.partitions.collect(), layout=layout, partition=held)
    return replace(whole, partitions=partitions, n_held=len(responses))


def maximize_whole(samples: WholeSamples, start: RegressionMixture, options: EMOptions) -> EMResult[RegressionMixture]:
    """Run EM in all dimensions."""

    def step(mixture: RegressionMixture) -> tuple[RegressionMixture, float]:
        sums = samples.partitions.reduce(_step_sums, mixture)
        before = np.vstack([mixture.slopes, mixture.levels])
        return _next_mixture(samples, before, sums, has_features=mixture.features is not None), sums.objective

    return run_em(start, step, options)


def mixture_from_resp(samples: WholeSamples, resp: Array) -> RegressionMixture:
    """Return the mixture that responsibilities ask for, (n, k), with distributions of x."""
    partition = samples.partitions.collect().partition
    residuals = np.repeat(partition.responses[:, None], resp.shape[1], axis=1)
    sums = weigh_sums(partition.features, residuals, resp, 0.0)
    before = np.zeros((partition.features.shape[1], resp.shape[1]))
    return _next_mixture(samples, before, sums, has_features=True)


def evaluate_whole(samples: WholeSamples, mixture: RegressionMixture) -> Responsibilities:
    """Return residuals, responsibilities and the log-likelihood of samples in the memory of this process."""
    return _e_step(samples.partitions.collect().partition, mixture, slice(None))


def likelihood_of_responses(samples: WholeSamples, mixture: RegressionMixture) -> float:
    """Return the log-likelihood of the responses given x, which a mixture with distributions of x defines too."""
    return float(samples.partitions.reduce(_response_likelihood, mixture).total)


def _next_mixture(samples: WholeSamples, before: Array, sums: MStepSums, *, has_features: bool) -> RegressionMixture:
    """Return the mixture after an M-step, from the lines before, (r + 1, k)."""
    regressors, r = samples.regressors, samples.n_features
    lines = sums
    if not regressors.has_intercepts:
        lines = sums._replace(squares=sums.squares[:, :r, :r], products=sums.products[:, :r])
        before = before[:r]
    mixture = m_step(regressors, np.eye(r), before, lines)
    features = estimate_features(regressors.design, sums.squares) if has_features else None
    return mixture._replace(features=features)


def _step_sums(partition: WholePartition, mixture: RegressionMixture) -> MStepSums:
    def sum_rows(rows: slice) -> MStepSums:
        residuals, resp, objective = _e_step(partition, mixture, rows)
        return weigh_sums(partition.features[rows], residuals, resp, objective)

    return sum_chunks(sum_rows, row_slices(len(partition.features), STEP_ROWS))


def _e_step(partition: WholePartition, mixture: RegressionMixture, rows: slice) -> Responsibilities:
    """Return the E-step, in which examples are members of the first component."""
    Z = partition.features[rows, :-1]
    log_features = None if mixture.features is None else mixture.features.log_densities(Z)
    residuals, resp, objective = e_step(mixture, Z @ mixture.slopes, partition.responses[rows], log_features)
    is_held = partition.is_held[rows]
    if is_held.any():
        objective += float(np.log(np.maximum(resp[is_held, 0], np.finfo(np.float64).tiny)).sum())
        resp[is_held] = np.eye(mixture.n_components)[0]
    return Responsibilities(residuals, resp, objective)


def _response_likelihood(partition: WholePartition, mixture: RegressionMixture) -> ArraySum:
    def sum_rows(rows: slice) -> ArraySum:
        Z = partition.features[rows, :-1]
        if mixture.features is None:
            return ArraySum(e_step(mixture, Z @ mixture.slopes, partition.responses[rows]).objective)
        log_features = mixture.features.log_densities(Z)
        both = e_step(mixture, Z @ mixture.slopes, partition.responses[rows], log_features).objective
        return ArraySum(both - float(np.logaddexp.reduce(log_features + mixture.log_weights, axis=1).sum()))

    return sum_chunks(sum_rows, row_slices(len(partition.features), STEP_ROWS))


def can_be_joint(regressors: Regressors, n_components: int) -> bool:
    """Return whether a joint model can be estimated."""
    n_features = regressors.design.n_coordinates
    is_dense = not regressors.partitions.layout.is_sparse
    return is_dense and n_components > 1 and 0 < n_features <= MAX_FEATURES


def choose_model(
    regressors: Regressors, part: Regressors, plain: EMResult[RegressionMixture], joint: Joint, options: EMOptions
) -> EMResult[RegressionMixture]:
    """Choose between a mixture of regressions and the joint model of x and y."""
    if joint is False or not can_be_joint(regressors, plain.state.n_components):
        return plain
    samples = take_whole(part)
    found = fit_joint(samples, plain.state)
    if joint == "auto" and not prefers_joint(samples, found.state, plain.state):
        return plain
    return maximize_whole(take_whole(regressors), found.state, options)


def fit_joint(samples: WholeSamples, plain: RegressionMixture) -> EMResult[RegressionMixture]:
    """Fit the joint model: from the members of the plain one, and from clusters of (x, y)."""
    resp = evaluate_whole(samples, plain).resp
    starts = [mixture_from_resp(samples, resp), *draw_clusters(samples, plain.n_components)]
    return likeliest_whole(samples, starts, OPTIONS)


def likeliest_whole(
    samples: WholeSamples, starts: list[RegressionMixture], options: EMOptions
) -> EMResult[RegressionMixture]:
    """Return the likeliest of the mixtures that starts lead to; most of them are given up after a few iterations.

    Notes
    -----
    Examples are all of one component because somebody chose them so. The weight of that component counts once, as in
    `posterior_of_all`, and not for each of them: a large component is not likelier for that.
    """
    n_chosen = max(samples.n_held - 1, 0)

    def value(result: EMResult[RegressionMixture]) -> float:
        return result.objectives[-1] - n_chosen * float(result.state.log_weights[0])

    tried = sorted((maximize_whole(samples, start, START) for start in starts), key=value, reverse=True)
    return max((maximize_whole(samples, each.state, options) for each in tried[:N_CONTINUED]), key=value)


def prefers_joint(samples: WholeSamples, joint: RegressionMixture, plain: RegressionMixture) -> bool:
    """Return whether x differs between regressions, by the likelihood of y given x.

    Notes
    -----
    Both models say how likely y is given x: the joint one with weights that depend on x. The likelihood of x itself
    does not enter, or components would be spent on an x that is not normal, whatever y is. If x does not differ, twice
    the gain is at most a chi-square variable with as many degrees of freedom as the further k - 1 Gaussians have
    parameters.
    """
    gain = likelihood_of_responses(samples, joint) - likelihood_of_responses(samples, plain)
    return gain > min_gain(samples, joint.n_components)


def min_gain(samples: WholeSamples, n_components: int) -> float:
    """Return what distributions of x must gain, in nats."""
    return 0.5 * float(chi2.isf(MAX_P_VALUE, n_feature_parameters(n_components - 1, samples.n_features)))


def draw_clusters(
    samples: WholeSamples, n_components: int, first: Array | None = None, n_starts: int = N_STARTS
) -> list[RegressionMixture]:
    """Draw joint models of samples near points that are far from each other, as k-means++ does."""
    rng = np.random.default_rng(0)  # the same answer every time
    partition = samples.partitions.collect().partition
    unit = np.sqrt(samples.regressors.response_variance)
    points = np.column_stack([partition.features[:, :-1], partition.responses / unit])
    start = None if first is None else np.append(first[:-1], first[-1] / unit)
    return [mixture_from_resp(samples, _draw_resp(points, n_components, start, rng)) for _ in range(n_starts)]


def _draw_resp(points: Array, n_components: int, first: Array | None, rng: np.random.Generator) -> Array:
    """Return responsibilities of round clusters around points far from each other, (n, k)."""
    squares = np.empty((len(points), n_components))
    center = points[rng.integers(len(points))] if first is None else first
    for index in range(n_components):
        squares[:, index] = np.sum((points - center) ** 2, axis=1)
        nearest = squares[:, : index + 1].min(axis=1) + np.finfo(np.float64).tiny
        center = points[rng.choice(len(points), p=nearest / nearest.sum())]
    logs = -0.5 * squares
    return np.asarray(np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None]))
