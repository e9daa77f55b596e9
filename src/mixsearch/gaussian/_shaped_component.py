"""One Gaussian of any shape."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.component import format_interval
from mixsearch.core.doubts import MIN_P_VALUE, check_lead, trust
from mixsearch.core.example_fit import ExampleFit, confidence_without_model, posterior_of_all
from mixsearch.core.extraction import prefer
from mixsearch.core.jackknife import StandardErrors, draw_estimates, interval_of_lead, jackknife, probability_of_first
from mixsearch.data.partitions import DetachedPartitions
from mixsearch.display import plain_chance
from mixsearch.errors import Option, SearchWarning, UnlikelyMixtureWarning
from mixsearch.gaussian._component import (
    MIN_EXAMPLE_MEMBERSHIP,
    MISFIT_FACTOR,
    GaussianComponent,
    no_example_belongs,
    no_members,
)
from mixsearch.gaussian._shaped_fit import ShapedFit
from mixsearch.gaussian._shapes import ShapedMixture
from mixsearch.gaussian._subset import MIN_MEMBERS


@dataclass(frozen=True, repr=False, eq=False)
class ShapedComponent(GaussianComponent):
    """One Gaussian of a mixture of any shape. Its candidates are the components of that mixture."""

    _fit: ShapedFit = field(kw_only=True)
    _start: ShapedFit = field(kw_only=True)  # from part of the samples, before EM of all of them
    _order: Array = field(kw_only=True)  # the index in the mixture of every candidate, (k,)
    _choose: str = field(kw_only=True)
    _hint: Array | None = field(default=None, kw_only=True)  # the direction, (d,), of a search by direction
    _examples: Array | None = field(default=None, kw_only=True)  # (q, d), in the units of the fit
    _held: ShapedMixture | None = field(default=None, kw_only=True)  # with the examples held in their component

    @property
    def _index(self) -> int:
        """The index of this component in its mixture."""
        return int(self._order[self._rank])

    @property
    def _mixture(self) -> ShapedMixture:
        return self._fit.mixture if self._held is None else self._held

    @cached_property
    def center(self) -> Array:
        """The component's parameter μ, (d,)."""
        return self._fit.units.restore(self._mixture.centers[self._index])

    @property
    def weight(self) -> float:
        """The component's share of the mixture."""
        return float(self._mixture.weights[self._index])

    @cached_property
    def covariance(self) -> Array:
        """The covariance of the component, (d, d)."""
        scale = self._fit.units.scale
        return np.asarray(self._mixture.covariance(self._index) * np.outer(scale, scale))

    @property
    def noise_variance(self) -> float:
        """The average variance of a feature within the component."""
        return float(np.trace(self.covariance)) / len(self.center)

    @property
    def moment_estimate(self) -> Self:
        """The estimate before EM of all samples: from part of them, where components were split along moments."""
        start = self._start
        points, weights = start.frame.whiten(start.centers[self._order]).T, start.mixture.weights[self._order]
        candidates = replace(self._candidates, points=points, weights=weights)
        return replace(self, _fit=start, _frame=start.frame, _candidates=candidates, _held=None)

    def _with_rank(self, rank: int) -> Self:
        return replace(self, _rank=rank, _held=None, _doubts=())

    def _membership(self, X: Samples) -> Array:
        resp, _ = self._mixture.posterior(self._fit.units.standardize(X))
        return np.asarray(resp[:, self._index])

    @cached_property
    def stderr(self) -> StandardErrors:
        """Standard errors of `center` and `weight`; a 95% interval is 1.96 of them to each side."""
        replicates = self._fit.replicates
        center = jackknife(replicates.centers[:, self._index]) * self._fit.units.scale
        return StandardErrors(center, float(jackknife(replicates.weights[:, self._index])))

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the component that the hint means.

        For a direction, that it comes first on new samples too. For examples, that they belong to this component and to
        no other. If samples do not follow the model, no such probability is known: then it is what the share of members
        among the examples shows.
        """
        if not self._has_members:
            return 0.0
        suits = trust(self._fit.p_value)
        if self._examples is None:
            return self._hint_confidence * (suits + (1 - suits) * MISFIT_FACTOR)
        memberships = self._fit.mixture.posterior(self._examples)[0][:, self._index]
        return suits * self._example_fit.confidence + (1 - suits) * confidence_without_model(memberships)

    @property
    def _hint_confidence(self) -> float:
        return probability_of_first(self._preferences, self._rank)

    @property
    def separation_interval(self) -> tuple[float, float]:
        """A 95% interval of `separation`, from the noise of the scores."""
        return interval_of_lead(self._preferences, self._rank)

    @cached_property
    def _preferences(self) -> Array:
        """The scores of the components on simulated samples, (n, k)."""
        fit, v = self._fit, self._score_direction
        origin = 0.0 if self._examples is None else fit.mean
        scores = (fit.units.restore(fit.replicates.centers[:, self._order]) - origin) @ v
        replicates = prefer(scores, fit.replicates.weights[:, self._order], self._choose)
        return draw_estimates(self._candidates.preference, replicates)

    @property
    def _score_direction(self) -> Array:
        return discriminant(self._fit, self._example_rows) if self._hint is None else self._hint

    @property
    def _example_rows(self) -> Array:
        return np.empty((0, len(self.center))) if self._examples is None else self._examples

    @cached_property
    def _example_fit(self) -> ExampleFit:
        """The agreement of the examples with this component, before any of them is held in it."""
        mixture, Z, typical = self._fit.mixture, self._example_rows, self._fit.typical
        log_weights = np.log(mixture.weights)
        squares = mixture.squared_distances(Z)
        p_values = np.column_stack([each.p_values(squares[:, i]) for i, each in enumerate(typical)])
        return ExampleFit(
            agreement=float(posterior_of_all(mixture.log_densities(Z) + log_weights, log_weights)[self._index]),
            posterior=mixture.posterior(Z)[0][:, self._index],
            p_values=p_values[:, self._index],
            best_p_values=p_values.max(axis=1),
        )

    @property
    def _has_members(self) -> bool:
        return self.weight * self._fit.partitions.n_rows > MIN_MEMBERS

    def _find_doubts(self) -> list[SearchWarning]:
        """Return every reason not to trust the answer."""
        doubts: list[SearchWarning] = []
        if self._examples is None:
            doubts += check_lead(self)
        else:
            doubts += self._example_fit.doubts()
            if self._mixture.posterior(self._examples)[0][:, self._index].max() < MIN_EXAMPLE_MEMBERSHIP:
                doubts.append(no_example_belongs())
        p_value = float(self._fit.p_values[self._index])
        if p_value < MIN_P_VALUE:
            doubts.append(_misfit(p_value, self._mixture.shape))
        if not self._has_members:
            doubts.append(no_members(self.weight, self._fit.partitions.n_rows))
        return doubts

    def _trust_facts(self) -> list[tuple[str, str]]:
        if isinstance(self._fit.partitions, DetachedPartitions):
            return super()._trust_facts()
        return [
            ("confidence", plain_chance(self.confidence)),
            ("separation", format_interval(self.separation, self.separation_interval)),
        ]


def discriminant(fit: ShapedFit, examples: Array) -> Array:
    """Return the direction, (d,), that separates examples best from all samples, by the average covariance within.

    Parameters
    ----------
    fit : ShapedFit
    examples : array of shape (q, d)
        In the units of the fit.

    Returns
    -------
    array of shape (d,)
        For samples as the user has them.
    """
    mixture = fit.mixture
    away = examples.mean(axis=0) - mixture.weights @ mixture.centers
    return np.asarray(np.linalg.solve(mixture.average_covariance, away) / fit.units.scale)


def _misfit(p_value: float, shape: str) -> UnlikelyMixtureWarning:
    return UnlikelyMixtureWarning(
        "The samples of this component do not look like a Gaussian with a {shape} covariance (p-value {p_value:.1g}): "
        "its weight, memberships and standard errors are rough. Fit more components ({argument}) or another shape "
        "({other}), or use `mixsearch.find`, which needs no model.",
        code="not_gaussian",
        shape=shape,
        p_value=p_value,
        argument=Option("n_components"),
        other=Option("covariance"),
    )
