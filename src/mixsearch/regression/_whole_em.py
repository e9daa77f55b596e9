"""EM in all dimensions: with a distribution of x for every component, and with examples that are held in theirs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.regression._design import Design
from mixsearch.regression._em import MStepSums, m_step, weigh_sums
from mixsearch.regression._evaluation import STEP_ROWS, Regressors, Responsibilities, e_step
from mixsearch.regression._features import estimate_features
from mixsearch.regression._mixture import RegressionMixture


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
    """Return all samples of a fit, in the memory of this process, with examples as members of the first component.

    Parameters
    ----------
    regressors : Regressors
    X : array of shape (q, d)
        The examples. Those that are samples of the fit are counted once.
    responses : array of shape (q,)
        As in the regressors.

    Returns
    -------
    WholeSamples
    """
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
    """Run EM in all dimensions.

    Parameters
    ----------
    samples : WholeSamples
    start : RegressionMixture
        If it has distributions of x, they are estimated as well, and the likelihood is that of x and y together.
    options : EMOptions

    Returns
    -------
    EMResult
    """

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
