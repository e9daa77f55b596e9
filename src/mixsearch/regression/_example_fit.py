"""Whether examples are members of the regression found: all of them of the same one, and typical of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.example_fit import ExampleFit, TypicalSquares, posterior_of_all, typical_squares
from mixsearch.regression._evaluation import e_step
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._mixture import RegressionMixture

# Samples that suffice for the noise around regressions, and for the residuals of their members.
MAX_SAMPLES = 2000
# Steps of EM for the noise alone. It converges fast, since nothing else moves.
N_STEPS = 8
# The noise variance that EM starts from, as a fraction of the variance of y, and the smallest one, as a fraction of
# the average: regressions from moments are not more exact.
START_NOISE, MIN_VARIANCE = 0.1, 0.1
MIN_WEIGHT = 1e-3


class MemberNoise(NamedTuple):
    """Regressions with the residuals of their members."""

    mixture: RegressionMixture  # for the design of the fit
    typical: list[TypicalSquares]  # of each


def settle_noise(family: RegressionFamily, mixture: RegressionMixture) -> MemberNoise:
    """Return regressions from moments with the noise around them as they were found, by EM for the noise alone.

    Parameters
    ----------
    family : RegressionFamily
    mixture : RegressionMixture
        For the design of the fit. If it lacks some components, a broad one is added for them.

    Returns
    -------
    MemberNoise

    Notes
    -----
    This noise includes the errors of the regressions themselves. The noise from moments does not, and is often
    negative, as the small difference of two large numbers.
    """
    if mixture.n_components < family.n_components:
        mixture = _with_rest(family, mixture)
    samples, predicted, responses = _predict_some(family, mixture)
    start = np.full(mixture.n_components, max(family.noise_variance, START_NOISE * family.power))
    mixture = mixture._replace(variances=start, weights=np.maximum(mixture.weights, MIN_WEIGHT))
    for _ in range(N_STEPS if family.power > 0 else 0):
        residuals, resp, _ = e_step(mixture, predicted, responses)
        energies = np.sum(resp * residuals**2, axis=0)
        average = max(float(energies.sum()) / len(responses), 1e-12 * family.power)
        # As if each component had one more member, of average noise: none may have too few to tell.
        variances = (energies + average) / (resp.sum(axis=0) + 1)
        mixture = mixture._replace(variances=np.maximum(variances, MIN_VARIANCE * average))
    return _measure_residuals(mixture, samples, predicted, responses)


def measure_members(family: RegressionFamily, mixture: RegressionMixture) -> MemberNoise:
    """Return regressions unchanged, with the residuals of their members.

    Parameters
    ----------
    family : RegressionFamily
    mixture : RegressionMixture
        For the design of the fit.

    Returns
    -------
    MemberNoise
    """
    return _measure_residuals(mixture, *_predict_some(family, mixture))


def _measure_residuals(mixture: RegressionMixture, samples: Samples, predicted: Array, responses: Array) -> MemberNoise:
    residuals, resp, _ = e_step(mixture, predicted, responses, mixture.log_features(samples))
    return MemberNoise(mixture, [typical_squares(own**2, p) for own, p in zip(residuals.T, resp.T, strict=True)])


def _with_rest(family: RegressionFamily, mixture: RegressionMixture) -> RegressionMixture:
    rest = max(1 - float(mixture.weights.sum()), MIN_WEIGHT)
    return RegressionMixture(
        np.column_stack([mixture.slopes, np.zeros(len(mixture.slopes))]),
        np.append(mixture.levels, 0.0),
        np.append(mixture.variances, family.power),
        np.append(mixture.weights, rest),
    )


def fit_examples(family: RegressionFamily, noise: MemberNoise, index: int, X: Samples, y: Array) -> ExampleFit:
    """Compare examples with a regression of a mixture, and with its members.

    Parameters
    ----------
    family : RegressionFamily
    noise : MemberNoise
        All regressions, with the residuals of their members.
    index : int
        Of the regression.
    X : array of shape (q, d)
    y : array of shape (q,)

    Returns
    -------
    ExampleFit
    """
    mixture, typical = noise
    predicted, responses = family.design.predict(X, mixture.slopes), y - family.offset
    logs = mixture.log_densities(predicted, responses, mixture.log_features(X))
    squares = (responses[:, None] - predicted - mixture.levels) ** 2
    p_values = np.array([each.p_values(own) for each, own in zip(typical, squares.T, strict=True)])
    return ExampleFit(
        agreement=float(posterior_of_all(logs, mixture.log_weights)[index]),
        posterior=np.exp(logs[:, index] - np.logaddexp.reduce(logs, axis=1)),
        p_values=p_values[index],
        best_p_values=p_values.max(axis=0),
    )


def _predict_some(family: RegressionFamily, mixture: RegressionMixture) -> tuple[Samples, Array, Array]:
    """Return some samples, the predictions of all slopes for them, (n, k), and their responses."""
    step = -(-family.partitions.n_rows // MAX_SAMPLES)
    some = family.partitions.thin(step).collect().partition
    return some.samples, family.design.predict(some.samples, mixture.slopes), some.responses
