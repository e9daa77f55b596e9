"""One regression of a mixture, as a search answers it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_X_y

from mixsearch._typing import Array, Samples
from mixsearch.core.jackknife import StandardErrors, jackknife, replicate_component
from mixsearch.core.posterior import clip_weight, posterior
from mixsearch.core.sample_component import SampleComponent
from mixsearch.core.validation import FLOAT_DTYPES, check_samples
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.display import Card, plain_number
from mixsearch.errors import SearchError
from mixsearch.regression._jackknife import chance_of_refined, refined_regression_errors
from mixsearch.regression._moments import Lines, RegressionFamily
from mixsearch.regression._refinement import RefinedRegression, for_fit


@dataclass(frozen=True, repr=False, eq=False)
class RegressionComponent(SampleComponent):
    """One regression of a mixture, y = ⟨x, center⟩ + intercept + noise.

    Attributes
    ----------
    center : array of shape (d,)
        The coefficients, for X in the user's units. Where columns depend on each other, as all levels of a category do,
        the smallest of all that predict the same (in units of the columns' deviations): differences between levels mean
        something then, the coefficient of one level alone does not. A constant column has coefficient 0.
    coefficients : dict
        The same under the names of their columns.
    intercept : float
        Its own intercept; 0 where the fit has none.
    noise_variance : float
        The variance of y around the regression.

    See Also
    --------
    Component : `weight`, `separation`, `scores`, `alternatives` and the rest.
    """

    _family: RegressionFamily = field(kw_only=True)
    _refined: RefinedRegression | None = field(default=None, kw_only=True)
    examples: tuple[Samples, Array] | None = field(default=None, kw_only=True)  # X and y, where they are the hint
    wanted: Array | None = field(
        default=None, kw_only=True
    )  # a direction for standardised x, (r,), if that is the hint
    told: Lines | None = field(default=None, kw_only=True)  # all regressions, where likelihood alone told them apart

    def _moment_center(self) -> Array:
        return self._family.design.coefficients(self._slope)

    @cached_property
    def _lines(self) -> Lines:
        return self._family.lines(self._candidates) if self.told is None else self.told

    @property
    def _slope(self) -> Array:
        """The coefficients for standardised x, (r,)."""
        return np.asarray(self._lines.slopes[:, self._rank])

    @property
    def _level(self) -> float:
        """E[y] - offset in this component."""
        return float(self._lines.levels[self._rank])

    @property
    def intercept(self) -> float:
        """What the regression predicts at x = 0."""
        if not self._family.fit_intercept:
            return 0.0
        if self._refined is not None:
            return self._refined.intercept
        return self._family.offset + self._level - float(self._family.design.center @ self.center)

    @property
    def noise_variance(self) -> float:
        """The variance of y around the regression; from moments, never below a thousandth of what it explains of y."""
        return float(self._lines.variances[self._rank]) if self._refined is None else self._refined.noise_variance

    @property
    def coefficients(self) -> dict[str, float]:
        """The coefficients under the names of their columns; x0, x1, ... where the fit saw no names."""
        names = self._feature_names or [f"x{column}" for column in range(len(self.center))]
        return dict(zip(names, self.center.tolist(), strict=True))

    @property
    def moment_estimate(self) -> Self:
        """The component as moments alone find it, without likelihood steps."""
        if self.told is not None:
            raise SearchError(
                f"There is no moment estimate: {self._family.n_components} regressions on "
                f"{self._frame.n_components} independent features are told apart by their likelihood alone."
            )
        return replace(self, _refined=None)

    def _moment_errors(self) -> StandardErrors:
        if self.told is not None:
            raise SearchError(
                "Only the regression that the examples are of has standard errors, where likelihood alone told them "
                "apart. Search with examples of this one."
            )
        points, weights = replicate_component(self._replicates, self._direction)
        outside = self._family.residual_replicates(self._direction) / np.sqrt(weights.mean())
        slopes = self._frame.unwhiten(points.T) + self._frame.residual(outside)
        return StandardErrors(jackknife(self._family.design.coefficients(slopes).T), float(jackknife(weights)))

    def _refined_errors(self, refined: RefinedRegression) -> StandardErrors:
        return refined_regression_errors(self._family, refined)

    @cached_property
    def confidence(self) -> float:
        """The chance that this is the component that the hint means: that no other would come first on more samples.

        Where the hint is made of examples, times the probability that those are of this component and of no other.
        """
        if self.told is not None:
            return float(self.prefer(self.told)[self._rank])
        if self._refined is not None and self.wanted is not None:
            return chance_of_refined(self._family, self._refined, self.wanted, choose=self._choose)
        if self._refined is not None:
            return float(self.prefer(for_fit(self._family, self._refined.design, self._refined.mixture))[0])
        chance = super().confidence
        return chance if self.examples is None else chance * float(self.prefer(self._lines)[self._rank])

    def _hint_shifts(self) -> Array | None:
        return None if self.wanted is None else self._family.hint_shifts(self.wanted)

    def prefer(self, lines: Lines) -> Array:
        """What the hint makes of regressions of this fit, (k,): their chances under examples, or their scores."""
        if self.wanted is not None:
            scores = lines.slopes.T @ self.wanted
            return np.asarray(scores if self._choose == "largest" else scores * np.sqrt(lines.weights))
        if self.examples is None:
            raise SearchError("Neither a direction nor examples are known of this component.")
        X, y = self.examples
        return lines.odds(self._family.design.predict(X, lines.slopes), y - self._family.offset)

    def predict(self, X: Any) -> Any:
        """⟨x, center⟩ + intercept for each row, (n,)."""
        if is_dask(X):
            return dask_arrays().map_rows(self.predict, X, len(self.center))
        return np.asarray(check_samples(X, len(self.center), self._feature_names) @ self.center) + self.intercept

    def membership(self, X: Any, y: Any) -> Any:
        """The probability that each sample (x, y) belongs to this regression, (n,).

        Notes
        -----
        Against one Gaussian for y under the rest of the mixture, whose mean and variance at x follow from the moments
        of all samples less this component's; after likelihood steps, against all other regressions.
        """
        if is_dask(X):
            return dask_arrays().map_rows(self.membership, X, len(self.center), y=y)
        samples, response = check_X_y(
            check_samples(X, len(self.center), self._feature_names), y, accept_sparse="csr", dtype=FLOAT_DTYPES
        )
        if len(self.scores) == 1:
            return np.ones(len(response))  # there is no rest
        if self._refined is not None:
            return np.asarray(self._refined.expect(samples, response).memberships[:, 0])
        model, weight = self._family, clip_weight(self.weight)
        Y = model.frame.whiten(model.design.standardise(samples)) * model.frame.values
        t = response - model.offset
        own = t - Y @ self._point - self._level
        rest_mean = (Y @ (model.mean - weight * self._point) - weight * self._level) / (1 - weight)
        # E[(⟨x,μ⟩ + b)²] over all components, with Σ αb² = |W'Σ αbμ|², less this one's.
        levels = model.intercepts
        total = np.einsum("ij,ij->i", Y, Y) + 2 * Y @ levels + levels @ levels
        second = (total - weight * (Y @ self._point + self._level) ** 2) / (1 - weight)
        rest_variance = np.maximum(second - rest_mean**2, 0) + self.noise_variance
        return posterior(
            weight,
            -0.5 * (own**2 / self.noise_variance + np.log(self.noise_variance)),
            -0.5 * ((t - rest_mean) ** 2 / rest_variance + np.log(rest_variance)),
        )

    def _card(self) -> Card:
        card = super()._card()
        card.facts[-1:] = [
            ("coefficients", card.facts[-1][1] if self._feature_names is None else _named(self.coefficients)),
            ("intercept", plain_number(self.intercept)),
            ("noise variance", plain_number(self.noise_variance)),
        ]
        return card


def _named(coefficients: dict[str, float]) -> str:
    """The first few of them with their names."""
    first = [f"{name} {plain_number(value)}" for name, value in list(coefficients.items())[:6]]
    return ", ".join(first) + (f", ... ({len(coefficients):,} features)" if len(coefficients) > 6 else "")
