"""Is it the regression that was meant? Comparison with EM on part of the samples, rivals, and examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
from mixsearch.core.em import EMOptions
from mixsearch.core.example_fit import ExampleFit, TypicalSquares, posterior_of_all, typical_squares
from mixsearch.core.tensor import all_components
from mixsearch.regression.design import Design
from mixsearch.regression.em import maximize_likelihood
from mixsearch.regression.family import RegressionFamily
from mixsearch.regression.likelier import compare, merge_copies, nearest_index, take_part
from mixsearch.regression.mixture import RegressionMixture, Regressors, e_step, mixture_from_moments
from mixsearch.regression.refinement import convert_to_fit, initial_mixture, make_regressors

# Samples that EM runs on: far more exact than moments of all.
MIN_SAMPLES = 3000
# A single Newton step after EM in the span: an error within a few percent is known then.
OPTIONS = EMOptions(max_iter=1, tol=1.0)
# The trust falls from 1 to 0 in this interval around half of the way to another regression.
WIDTH = 1 / 3
# Samples that suffice for the noise around regressions, and for the residuals of their members.
MAX_SAMPLES = 2000
# Steps of EM for the noise alone. It converges fast, since nothing else moves.
N_STEPS = 8
# The noise variance that EM starts from, as a fraction of the variance of y, and the smallest one, as a fraction of
# the average: regressions from moments are not more exact.
START_NOISE, MIN_VARIANCE = 0.1, 0.1
MIN_WEIGHT = 1e-3


class LikelyMixture(NamedTuple):
    """Regressions that EM on part of the samples finds from those of moments."""

    mixture: RegressionMixture  # for the design of the fit
    errors: Array  # expected length of the error of each one's slopes, (k,): it matters if samples are few
    likeliest: RegressionMixture  # the same for the design of EM
    design: Design  # of EM
    n_samples: int  # that EM ran on


def find_likely(family: RegressionFamily, rivals: RegressionMixture) -> LikelyMixture:
    """Run EM from regressions of moments, on part of the samples."""
    part = take_part(make_regressors(family), rivals.n_components, MIN_SAMPLES)
    # EM makes copies of lines that there are too many of. They are no rivals of each other.
    found = merge_copies(part, maximize_likelihood(part, initial_mixture(family, rivals, part), OPTIONS))
    likeliest = compare(part, found.state).likeliest
    mixture = convert_to_fit(family, part.design, likeliest)
    return LikelyMixture(mixture, _own_errors(part, mixture), likeliest, part.design, part.partitions.n_rows)


def _own_errors(part: Regressors, mixture: RegressionMixture) -> Array:
    """Return the expected length of the errors of slopes from EM itself, (k,)."""
    r, n = part.design.n_coordinates, part.partitions.n_rows
    n_free = n - mixture.n_components * (r + 3)
    if n_free < 1:
        return np.full(mixture.n_components, np.inf)
    weights = np.maximum(mixture.weights, np.finfo(float).tiny)
    return np.asarray(np.sqrt(r * mixture.variances / (weights * n_free)))


class Recognition(NamedTuple):
    """The regression that an estimate from moments is."""

    component: int  # its index among the likely ones
    trust: float  # that it is this one rather than a mixture of several


def recognise(slopes: Array, likely: LikelyMixture) -> Recognition:
    """Find the regression that an estimate from moments is: the nearest one, if less than halfway to any other."""
    index = nearest_index(likely.mixture, slopes)
    own = likely.mixture.slopes[:, [index]]
    others = np.delete(likely.mixture.slopes, index, axis=1)
    halfway = 0.5 * float(np.linalg.norm(others - own, axis=0).min(initial=np.inf))
    error = float(likely.errors[index])
    if error > halfway / 2:
        return Recognition(index, 0.0)
    # What EM changes is the error of the estimate plus its own.
    change = float(np.sqrt(max(np.sum((slopes - own[:, 0]) ** 2) - error**2, 0.0)))
    return Recognition(index, float(np.clip(0.5 + (1 - change / max(halfway, np.finfo(float).tiny)) / WIDTH, 0, 1)))


class MemberNoise(NamedTuple):
    """Regressions with the residuals of their members."""

    mixture: RegressionMixture  # for the design of the fit
    typical: list[TypicalSquares]  # of each


def settle_noise(family: RegressionFamily, mixture: RegressionMixture) -> MemberNoise:
    """Return regressions from moments with the noise around them as they were found, by EM for the noise alone.

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
    """Return regressions unchanged, with the residuals of their members."""
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
    """Compare examples with a regression of a mixture, and with its members."""
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


@dataclass(frozen=True)
class Rivals:
    """All regressions that a hint could mean. What they are depends on no hint, so one serves every search.

    Attributes
    ----------
    family : RegressionFamily
    given : Candidates, optional
        Those that one hint prefers, if there are too many to separate all.
    """

    family: RegressionFamily
    given: Candidates | None = None

    @cached_property
    def candidates(self) -> Candidates:
        """The regressions in the frame, separated by every contraction of the third moment."""
        if self.given is not None:
            return self.given
        return all_components(self.family.tensor(np.eye(self.family.frame.n_components)), self.family.mean)

    @property
    def directions(self) -> Array:
        """√αᵢ W'μᵢ, orthonormal, (k, q)."""
        return np.asarray(self.candidates.points * np.sqrt(self.candidates.weights))

    @cached_property
    def mixture(self) -> RegressionMixture:
        """The mixture for standardized x, with the noise from moments."""
        return mixture_from_moments(self.family, self.candidates)

    @cached_property
    def settled(self) -> MemberNoise:
        """The noise around the regressions from moments, and the residuals of their members."""
        return settle_noise(self.family, self.mixture)

    @cached_property
    def likely(self) -> LikelyMixture:
        """The regressions that EM finds, started at those from moments."""
        return find_likely(self.family, self.mixture)

    @cached_property
    def likely_members(self) -> MemberNoise:
        """The noise of the regressions that EM finds, and the residuals of their members."""
        return measure_members(self.family, self.likely.mixture)
