"""One regression of a mixture."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_X_y

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.component import Candidates
from mixsearch.core.example_fit import ExampleFit
from mixsearch.core.extraction import prefer
from mixsearch.core.jackknife import StandardErrors
from mixsearch.core.posterior import clip_weight, posterior
from mixsearch.core.sample_component import SampleComponent
from mixsearch.core.separation import separation_in_words
from mixsearch.core.validation import FLOAT_DTYPES, check_samples
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.display import Card, plain_chance, plain_number
from mixsearch.errors import Option, SearchError
from mixsearch.regression.family import RegressionFamily
from mixsearch.regression.jackknife import (
    RefinedScores,
    prediction_errors,
    refined_regression_errors,
    refined_scores,
)
from mixsearch.regression.mixture import RegressionMixture, mixture_from_moments
from mixsearch.regression.recognition import MemberNoise, Recognition, Rivals, fit_examples, measure_members, recognise
from mixsearch.regression.refinement import RefinedRegression, convert_to_fit

# Named coefficients that `repr` shows.
MAX_NAMED = 6


@dataclass(frozen=True, repr=False, eq=False)
class RegressionComponent(SampleComponent):
    """One regression of a mixture, y = ⟨x, center⟩ + intercept + noise.

    Attributes
    ----------
    center : array of shape (d,)
        The coefficients, for X in the user's units. If columns depend on each other, like all levels of a category,
        these are the smallest coefficients, in units of the columns' deviations, of all that give the same predictions:
        differences between levels are meaningful, the coefficient of one level alone is not. A constant column has
        coefficient 0.
    coefficients : dict
        The coefficients by the names of their columns.
    intercept : float
        Its own intercept; 0 if the fit has none.
    noise_variance : float
        The variance of y around the regression.
    joint : bool
        Whether x differs between components, so that membership depends on x as well as y.

    See Also
    --------
    Component : `weight`, `separation`, `scores`, `alternatives` and the rest.

    Examples
    --------
    >>> from mixsearch import RegressionSearch
    >>> from mixsearch.datasets import make_mixed_regression
    >>> data = make_mixed_regression(20000, 5, 2, random_state=0)
    >>> known = data.labels == 1
    >>> search = RegressionSearch(n_components=2).fit(data.X, data.y)
    >>> found = search.search(examples=(data.X[known][:20], data.y[known][:20]), refine=True)
    >>> found.predict(data.X[:3]).shape
    (3,)
    >>> bool(((found.membership(data.X, data.y) > 0.5) == known).mean() > 0.8)
    True
    """

    _family: RegressionFamily = field(kw_only=True)
    _refined: RefinedRegression | None = field(default=None, kw_only=True)
    _examples: tuple[Samples, Array] | None = field(default=None, kw_only=True)  # X and y of a search by examples
    _direction_hint: Array | None = field(default=None, kw_only=True)  # for standardized x, (r,), of one by direction
    _likelihood_mixture: RegressionMixture | None = field(default=None, kw_only=True)  # if moments cannot separate it
    _shared: Rivals | None = field(default=None, kw_only=True)  # the rivals of every hint, if they are few

    def _to_features(self, points: Array) -> Array:
        return self._family.design.to_coefficients(points)

    @cached_property
    def _mixture(self) -> RegressionMixture:
        """All candidates as regressions, for standardized x."""
        mixture = self._likelihood_mixture
        return mixture_from_moments(self._family, self._candidates) if mixture is None else mixture

    @property
    def _level(self) -> float:
        """The value of the regression at the mean of x, less the offset."""
        return float(self._mixture.levels[self._rank])

    @property
    def intercept(self) -> float:
        """The prediction at x = 0."""
        if not self._family.fit_intercept:
            return 0.0
        if self._refined is not None:
            return self._refined.intercept
        return self._family.offset + self._level - float(self._family.design.center @ self.center)

    @property
    def noise_variance(self) -> float:
        """The variance of y around the regression.

        An estimate from moments is at least a thousandth of the variance that the regression explains.
        """
        return float(self._mixture.variances[self._rank]) if self._refined is None else self._refined.noise_variance

    @property
    def joint(self) -> bool:
        """Whether x differs between components, so that membership depends on x as well as y."""
        return self._refined is not None and self._refined.is_joint

    @property
    def coefficients(self) -> dict[str, float]:
        """The coefficients by the names of their columns; x0, x1, ... if the fit saw no names."""
        names = self._feature_names or [f"x{column}" for column in range(len(self.center))]
        return dict(zip(names, self.center.tolist(), strict=True))

    @property
    def moment_estimate(self) -> Self:
        """The estimate from moments alone, before EM."""
        if self._likelihood_mixture is not None:
            raise SearchError(
                "There is no moment estimate: moments cannot separate {n_components} regressions on {n_features} "
                "independent features, so this one was found by its likelihood alone.",
                code="no_moment_estimate",
                n_components=self._family.n_components,
                n_features=self._frame.n_components,
            )
        return super().moment_estimate

    def _moment_errors(self) -> StandardErrors:
        if self._likelihood_mixture is not None:
            raise SearchError(
                "Standard errors of an alternative need moments, which cannot separate {n_components} regressions on "
                "{n_features} independent features. Search with examples of this one.",
                code="no_standard_errors",
                n_components=self._family.n_components,
                n_features=self._frame.n_components,
            )
        return super()._moment_errors()

    def _refined_errors(self, refined: RefinedRegression) -> StandardErrors:
        return refined_regression_errors(self._family, refined)

    @property
    def separation_interval(self) -> tuple[float, float]:
        """A 95% interval of `separation`, from the noise of the scores."""
        if self._likelihood_mixture is not None:
            raise SearchError(
                "There is no interval of the separation: this regression was found by its likelihood alone, without "
                "moments. Look at its confidence.",
                code="no_moment_estimate",
            )
        return super().separation_interval

    def _trust_facts(self) -> list[tuple[str, str]]:
        if self._likelihood_mixture is None:
            return super()._trust_facts()
        facts = [("confidence", plain_chance(self.confidence))]
        return [*facts, ("separation", separation_in_words(self.separation))]

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the component that the hint means.

        For a direction, that it comes first on new samples too; for examples, that they belong to this component and to
        no other. An estimate from moments is the component if it is less than halfway to any other; EM on part of the
        samples shows where they are, and which of them the hint means.
        """
        return self._hint_confidence * (1.0 if self._recognition is None else self._recognition.trust)

    @cached_property
    def _recognition(self) -> Recognition | None:
        """The regression that an estimate from moments is."""
        if self._refined is not None or self._likelihood_mixture is not None:
            return None
        return recognise(self._mixture.slopes[:, self._rank], self._all_rivals.likely)

    @cached_property
    def _hint_confidence(self) -> float:
        if self._examples is not None:
            compared = self._comparison if self._recognition is None else self._likely_comparison(self._recognition)
            return self._trust * fit_examples(self._family, *compared, *self._examples).confidence
        if self._scores is not None:
            return self._trust * self._scores.probability_of_first(self._choose)
        return super()._hint_confidence

    @cached_property
    def _scores(self) -> RefinedScores | None:
        """The scores of all regressions under a direction: of refined ones, or of those that EM would make."""
        v, refined, recognition = self._direction_hint, self._refined, self._recognition
        if v is None:
            return None
        if refined is not None:
            return refined_scores(self._family, refined.mixture, refined.design, v)
        if recognition is None:
            return None
        likely = self._all_rivals.likely
        mixture = likely.likeliest.with_first(recognition.component)
        return refined_scores(self._family, mixture, likely.design, v, likely.n_samples)

    @cached_property
    def _example_fit(self) -> ExampleFit | None:
        """The agreement of the examples with this component, if there are any."""
        if self._examples is None:
            return None
        return fit_examples(self._family, *self._comparison, *self._examples)

    @property
    def _comparison(self) -> tuple[MemberNoise, int]:
        """The regressions that examples are compared with, for the design of the fit, and the index of this one."""
        if self._likelihood_mixture is not None:
            return measure_members(self._family, self._likelihood_mixture), self._rank
        if self._refined is not None:
            mixture = convert_to_fit(self._family, self._refined.design, self._refined.mixture)
            return measure_members(self._family, mixture), 0
        return self._all_rivals.settled, self._rival_index

    def _likely_comparison(self, recognition: Recognition) -> tuple[MemberNoise, int]:
        """Return the regressions that EM finds from all rivals, and the index of this one."""
        return self._all_rivals.likely_members, recognition.component

    @cached_property
    def _rivals(self) -> Array:
        return super()._rivals if self._shared is None else self._shared.directions

    @cached_property
    def _all_rivals(self) -> Rivals:
        """All rivals, with what is known about them before any hint."""
        if self._shared is not None:
            return self._shared
        weights = (self._hinted.mean @ self._rivals) ** 2
        return Rivals(self._family, Candidates(self._rival_points, weights, weights, weights))

    def _hint_shifts(self) -> Array | None:
        return None if self._direction_hint is None else self._family.hint_shifts(self._direction_hint)

    def _preference_of(self, mixture: RegressionMixture) -> Array:
        """Return how much the hint prefers each regression of a mixture, (k,): its score, or its posterior.

        The mixture is for the design of the fit.
        """
        if self._direction_hint is not None:
            scores = mixture.slopes.T @ self._direction_hint
            return prefer(scores, mixture.weights, self._choose)
        if self._examples is None:
            raise SearchError("This component has no hint: neither a direction nor examples.", code="no_hint")
        X, y = self._examples
        predicted = self._family.design.predict(X, mixture.slopes)
        return mixture.posterior_of_all(predicted, y - self._family.offset, mixture.log_features(X))

    def predict(self, X: SamplesLike) -> Array:
        """Return ⟨x, center⟩ + intercept for each sample.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            Any samples, in the units and with the columns of the fit.

        Returns
        -------
        array of shape (n,)
            A lazy Dask array if X is one.
        """
        if is_dask(X):
            rows: Array = dask_arrays().map_rows(self.predict, X, len(self.center))
            return rows
        return np.asarray(check_samples(X, len(self.center), self._feature_names) @ self.center) + self.intercept

    def predict_stderr(self, X: SamplesLike) -> Array:
        """Return the standard errors of the predictions of a refined regression; at x = 0, that of `intercept`.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Any samples, in the units and with the columns of the fit.

        Returns
        -------
        array of shape (n,)
            Of the line itself, without the noise around it.
        """
        if self._refined is None:
            raise SearchError(
                "Standard errors of predictions need refinement. Search with {argument}=True.",
                code="needs_refinement",
                argument=Option("refine"),
            )
        return prediction_errors(self._family, self._refined, check_samples(X, len(self.center), self._feature_names))

    def membership(self, X: SamplesLike, y: ArrayLike) -> Array:
        """Return the probability that each sample (x, y) belongs to this component.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            Any samples, in the units and with the columns of the fit.
        y : array or Dask array of shape (n,)
            Their responses.

        Returns
        -------
        array of shape (n,)
            A lazy Dask array if X is one.

        Notes
        -----
        Compared with one Gaussian for y under the rest of the mixture, whose mean and variance at x follow from the
        moments of all samples minus those of this component; after refinement, with all other regressions. In a joint
        model (`joint`), x enters as well as y.
        """
        if is_dask(X):
            rows: Array = dask_arrays().map_rows(self.membership, X, len(self.center), y=y)
            return rows
        samples, responses = check_X_y(
            check_samples(X, len(self.center), self._feature_names), y, accept_sparse="csr", dtype=FLOAT_DTYPES
        )
        return self._membership(samples, responses)

    def _membership(self, X: Samples, y: Array) -> Array:
        if len(self.scores) == 1:
            return np.ones(len(y))  # there is no rest
        if self._refined is not None:
            return np.asarray(self._refined.responsibilities(X, y)[:, 0])
        family, weight = self._family, clip_weight(self.weight)
        Y = family.frame.whiten(family.design.standardize(X)) * family.frame.values
        t = y - family.offset
        own = t - Y @ self._point - self._level
        rest_mean = (Y @ (family.mean - weight * self._point) - weight * self._level) / (1 - weight)
        # E[(⟨x, μ⟩ + b)²] over all components, with Σ αb² = |W'Σ αbμ|², less that of this one.
        intercepts = family.intercepts
        total = np.einsum("ij,ij->i", Y, Y) + 2 * Y @ intercepts + intercepts @ intercepts
        second = (total - weight * (Y @ self._point + self._level) ** 2) / (1 - weight)
        rest_variance = np.maximum(second - rest_mean**2, 0) + self.noise_variance
        return posterior(
            weight,
            -0.5 * (own**2 / self.noise_variance + np.log(self.noise_variance)),
            -0.5 * ((t - rest_mean) ** 2 / rest_variance + np.log(rest_variance)),
        )

    def _card(self) -> Card:
        card = super()._card()
        unnamed = card.facts[-1][1]
        card.facts[-1:] = [
            ("coefficients", unnamed if self._feature_names is None else _format_coefficients(self.coefficients)),
            ("intercept", plain_number(self.intercept)),
            ("noise variance", plain_number(self.noise_variance)),
            *([("x", "differs between components")] if self.joint else []),
        ]
        return card


def _format_coefficients(coefficients: dict[str, float]) -> str:
    first = [f"{name} {plain_number(value)}" for name, value in list(coefficients.items())[:MAX_NAMED]]
    return ", ".join(first) + (f", ... ({len(coefficients):,} features)" if len(coefficients) > MAX_NAMED else "")
