"""Search in mixtures of linear regressions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, Unpack

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_X_y, validate_data

from mixsearch.display import Card, plain_number
from mixsearch.errors import HintError, SearchError, UnlikelyMixtureWarning, warn_user
from mixsearch.estimators.base import BaseSearch, require_choice, require_samples, require_whole
from mixsearch.estimators.posterior import posterior, within_unit
from mixsearch.estimators.samples import FLOATS, as_samples, check_samples
from mixsearch.extraction import Extraction, ExtractionOptions, extract, warn_if_weak
from mixsearch.hints import hint_from_direction, hint_from_responses, require_one, require_seen
from mixsearch.models import RegressionModel, fit_regression
from mixsearch.models.regression import Lines
from mixsearch.models.regression_replicates import leave_regressions_out, regressions_outside
from mixsearch.refine.regression import RefinedRegression, refine_regression, refined_regression_errors
from mixsearch.refine.regression_examples import ToldByExamples, tell_by_examples
from mixsearch.refine.steps import Steps, steps_of, warn_not_refined
from mixsearch.types import Array, Candidates, Component, Hinted, Replicates, Samples, StandardErrors
from mixsearch.uncertainty import chance_of_being_right, jackknife, replicate_component


@dataclass(frozen=True, repr=False, eq=False)
class RegressionComponent(Component):
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

    model: RegressionModel = field(kw_only=True)
    hinted: Hinted | None = field(default=None, kw_only=True)  # None where likelihood alone found the component
    choose: str = field(default="largest", kw_only=True)
    hint_noise: Array | None = field(default=None, kw_only=True)  # a factor of the covariance of the hint in the frame
    refined: RefinedRegression | None = field(default=None, kw_only=True)
    told: ToldByExamples | None = field(default=None, kw_only=True)  # where likelihood alone found the component

    def _moment_center(self) -> Array:
        return self.model.design.coefficients(self._slope)

    @cached_property
    def _lines(self) -> Lines:
        return self.model.lines(self.candidates) if self.told is None else self.told.lines

    @property
    def _slope(self) -> Array:
        """The coefficients for standardised x, (r,)."""
        return np.asarray(self._lines.slopes[:, self.rank])

    @property
    def _level(self) -> float:
        """E[y] - offset in this component."""
        return float(self._lines.levels[self.rank])

    @property
    def intercept(self) -> float:
        """What the regression predicts at x = 0."""
        if not self.model.fit_intercept:
            return 0.0
        if self.refined is not None:
            return self.refined.intercept
        return self.model.offset + self._level - float(self.model.design.center @ self.center)

    @property
    def noise_variance(self) -> float:
        """The variance of y around the regression; from moments, never below a thousandth of what it explains of y."""
        return float(self._lines.variances[self.rank]) if self.refined is None else self.refined.noise_variance

    @property
    def coefficients(self) -> dict[str, float]:
        """The coefficients under the names of their columns; x0, x1, ... where the fit saw no names."""
        names = self.feature_names or [f"x{column}" for column in range(len(self.center))]
        return dict(zip(names, self.center.tolist(), strict=True))

    @property
    def moment_estimate(self) -> Self:
        """The component as moments alone find it, without likelihood steps."""
        if self.told is not None:
            raise SearchError(
                f"There is no moment estimate: {self.model.n_components} regressions on "
                f"{self.frame.n_components} independent features are told apart by their likelihood alone."
            )
        return replace(self, refined=None)

    @cached_property
    def stderr(self) -> StandardErrors:
        """Standard errors of `center` and `weight`; for a 95% interval take 1.96 of them to both sides."""
        if self.refined is not None:
            return refined_regression_errors(self.model, self.refined)
        if self.told is not None:
            raise SearchError("Standard errors are those of the component found: search with examples of this one.")
        points, weights = replicate_component(self._replicates, self.direction)
        outside = regressions_outside(self.model, self.direction) / np.sqrt(weights.mean())
        slopes = self.frame.unwhiten(points.T) + self.frame.reject(outside)
        return StandardErrors(jackknife(self.model.design.coefficients(slopes).T), float(jackknife(weights)))

    @cached_property
    def confidence(self) -> float:
        """The chance that this is the component that the hint means: that no other would come first on more samples."""
        if self.told is not None:
            return float(self.told.chances[self.rank])
        return chance_of_being_right(
            self._hinted, self.candidates, self._replicates, choose=self.choose, hint_noise=self.hint_noise
        )

    @property
    def _hinted(self) -> Hinted:
        if self.hinted is None:
            raise SearchError("The component was found without moments.")
        return self.hinted

    @cached_property
    def _replicates(self) -> Replicates:
        return leave_regressions_out(self.model, self._hinted.hint)

    def predict(self, X: Any) -> Array:
        """⟨x, center⟩ + intercept for each row, (n,)."""
        return np.asarray(check_samples(X, len(self.center), self.feature_names) @ self.center) + self.intercept

    def score_samples(self, X: Any, y: Any) -> Array:
        """The probability that each sample (x, y) belongs to this regression, (n,).

        Notes
        -----
        Against one Gaussian for y under the rest of the mixture, whose mean and variance at x follow from the moments
        of all samples less this component's; after likelihood steps, against all other regressions.
        """
        samples, response = check_X_y(
            check_samples(X, len(self.center), self.feature_names), y, accept_sparse="csr", dtype=FLOATS
        )
        if len(self.scores) == 1:
            return np.ones(len(response))  # there is no rest
        if self.refined is not None:
            return np.asarray(self.refined.memberships(samples, response)[:, 0])
        model, weight = self.model, within_unit(self.weight)
        Y = model.frame.whiten(model.design.standardise(samples)) * model.frame.values
        t = response - model.offset
        own = t - Y @ self.point - self._level
        rest_mean = (Y @ (model.mean - weight * self.point) - weight * self._level) / (1 - weight)
        # E[(⟨x,μ⟩ + b)²] over all components, with Σ αb² = |W'Σ αbμ|², less this one's.
        levels = model.intercepts
        total = np.einsum("ij,ij->i", Y, Y) + 2 * Y @ levels + levels @ levels
        second = (total - weight * (Y @ self.point + self._level) ** 2) / (1 - weight)
        rest_variance = np.maximum(second - rest_mean**2, 0) + self.noise_variance
        return posterior(
            weight,
            -0.5 * (own**2 / self.noise_variance + np.log(self.noise_variance)),
            -0.5 * ((t - rest_mean) ** 2 / rest_variance + np.log(rest_variance)),
        )

    def _card(self) -> Card:
        card = super()._card()
        card.facts[-1:] = [
            ("coefficients", card.facts[-1][1]),
            ("intercept", plain_number(self.intercept)),
            ("noise variance", plain_number(self.noise_variance)),
        ]
        return card


class RegressionSearch(BaseSearch):
    """Find one regression of a mixture from a direction or a few of its samples.

    Parameters
    ----------
    n_components : int, default=2
        k, the number of regressions. Moments tell as many apart as there are independent features; more, such as two
        lines on one feature, need examples and ``refine=True``: then likelihood alone tells them apart.
    design : {"covariance", "standard"}, default="covariance"
        Standardise X by its own mean and covariance and map the answer back; or take it as standard normal already, as
        in the paper. The moments are exact for normal X only.
    fit_intercept : bool, default=True
        Give every component an intercept of its own.
    noise : {"average", "paper"}, default="average"
        Moments of lower variance; or the smallest singular value for τ² and plain third powers, as in the paper.
    random_state : int, RandomState instance or None, default=0
        Of the eigen-solver's starting block, where there are many features. The same value gives the same answer.

    Attributes
    ----------
    n_components_ : int
        How many components the fit holds.
    model_ : RegressionModel
        The frame, the design and the projected samples.

    Examples
    --------
    >>> from mixsearch import RegressionSearch
    >>> from mixsearch.datasets import make_mixed_regression
    >>> data = make_mixed_regression(20000, 5, 2, random_state=0)
    >>> members = data.labels == 1
    >>> search = RegressionSearch(n_components=2).fit(data.X, data.y)
    >>> found = search.search(examples=(data.X[members][:20], data.y[members][:20]))
    >>> bool(abs(found.center - data.centers[1]).max() < 0.1)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        design: str = "covariance",
        fit_intercept: bool = True,
        noise: str = "average",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.design = design
        self.fit_intercept = fit_intercept
        self.noise = noise
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the mixture.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Sparse only with ``design="standard"``.
        y : array of shape (n,)
        """
        samples, response = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, y_numeric=True)
        self._check_options(samples)
        self.model_ = fit_regression(
            samples,
            np.asarray(response, dtype=np.float64),
            self.n_components,
            design=self.design,
            intercept=self.fit_intercept,
            noise=self.noise,
            seed=self._seed(),
        )
        mass = float(self.model_.mean @ self.model_.mean)
        if self.model_.has_moments and not 0.5 < mass < 2:
            warn_user(
                f"The weights of all regressions add up to {mass:.2g} where they should add up to 1: "
                "the coefficients may be linearly dependent (as μ and -μ are), or the lines too far apart where X has "
                "its mean. Try fewer components, or more samples; do not trust the weights.",
                UnlikelyMixtureWarning,
            )
        return self

    def _check_options(self, X: Samples) -> None:
        require_whole("n_components", self.n_components)
        require_choice("design", self.design, ("covariance", "standard"))
        require_choice("noise", self.noise, ("average", "paper"))
        if sp.issparse(X) and self.design == "covariance":
            raise TypeError(
                "Sparse X needs design='standard', since its covariance is dense. Pass X.toarray() where it fits."
            )
        d = X.shape[1]
        needed = (d if self.design == "covariance" else self.n_components) + 1
        require_samples(X, needed, f"{self.n_components} regressions with design={self.design!r} on {d} features")

    def search(
        self,
        hint: Any = None,
        *,
        examples: tuple[Any, Any] | None = None,
        n_components: int | None = None,
        refine: bool | int = False,
        tolerance: float = 0.01,
        **extraction: Unpack[ExtractionOptions],
    ) -> RegressionComponent:
        """Find the regression that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            Rough coefficients v, in the user's units: the wanted coefficients agree with them most.
        examples : pair of arrays (X, y), optional
            A few samples of the regression; least squares on them, in the k directions of the fit, gives the hint.
        n_components : int, optional
            Use the first j of the fitted components only.
        refine : bool or int, default=False
            Sharpen the component with likelihood steps, at most so many where a number is given. They need no normal X,
            and also tell the noise of y. What moments alone found stays available as `moment_estimate`.
        tolerance : float, default=0.01
            Stop when a step gains less than this in the log-likelihood of all samples together.
        **extraction
            How the component is extracted: ``method="cancellation"`` and so on, the fields of `Extraction`.
        """
        how, steps = Extraction.of(extraction), steps_of(refine, tolerance)
        model = self._model(n_components)
        given = require_one({"hint": hint, "examples": examples})
        few = self._check_examples(examples) if given == "examples" else None
        if not model.has_moments:
            return self._search_by_likelihood(model, few, steps)
        found = self._extract(self._hint_in_frame(hint, model) if few is None else _told(few, model), model, how)
        warn_if_weak(found.separation)
        if steps is None:
            return found
        refined = refine_regression(model, found.candidates, steps)
        if refined is None:
            warn_not_refined()
        return replace(found, refined=refined)

    def _extract(self, c: Array, model: RegressionModel, how: Extraction) -> RegressionComponent:
        hinted = model.hinted(c)
        return RegressionComponent(
            model.frame,
            extract(hinted, model.frame, how),
            model=model,
            hinted=hinted,
            choose=how.choose,
            feature_names=self._names(),
        )

    def _search_by_likelihood(
        self, model: RegressionModel, few: tuple[Samples, Array] | None, steps: Steps | None
    ) -> RegressionComponent:
        if few is None or steps is None:
            raise SearchError(
                f"Moments tell {model.frame.n_components} regressions apart at most on as many independent features, "
                f"and this fit has {model.n_components}: only their likelihood can. Search with examples=(X, y) of the "
                "regression and refine=True, or fit fewer components."
            )
        told = tell_by_examples(model, *few, steps)
        slopes = told.lines.slopes
        scores = slopes.T @ slopes[:, 0]
        return RegressionComponent(
            model.frame,
            Candidates(slopes, told.lines.weights, scores, told.chances),
            model=model,
            refined=told.refined,
            told=told,
            feature_names=self._names(),
        )

    def _hint_in_frame(self, hint: Any, model: RegressionModel) -> Array:
        v = model.design.standardised(hint_from_direction(hint, self.n_features_in_))
        require_seen(model.frame, v, scale=float(np.linalg.norm(v)))
        return model.frame.project_hint(v)

    def _check_examples(self, examples: Any) -> tuple[Samples, Array]:
        if not isinstance(examples, tuple | list) or len(examples) != 2:
            raise HintError("examples must be a pair (X, y): the samples of the regression and their responses.")
        X, y = check_X_y(*examples, accept_sparse="csr", dtype=FLOATS)
        if X.shape[1] != self.n_features_in_:
            raise HintError(f"The examples have {X.shape[1]} features, but this fit needs {self.n_features_in_}.")
        return as_samples(X), np.asarray(y, dtype=np.float64)

    @property
    def n_components_(self) -> int:
        """How many components the fit holds."""
        return int(self.model_.n_components)

    def _arguments(self, hint: Any) -> dict[str, Any]:
        pair = isinstance(hint, tuple | list) and len(hint) == 2 and np.ndim(hint[0]) == 2
        return {"examples": tuple(hint)} if pair else super()._arguments(hint)

    def _whiten(self, X: Samples) -> Array:
        if sp.issparse(X) and self.design == "covariance":
            raise SearchError("Sparse X needs design='standard'. Pass X.toarray() where it fits.")
        return np.asarray(self.model_.frame.whiten(self.model_.design.standardise(X)), dtype=X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.design == "standard"
        tags.target_tags.required = True
        return tags


def _told(examples: tuple[Samples, Array], model: RegressionModel) -> Array:
    """What examples say of the coefficients, in the frame, (k,)."""
    X, y = examples
    c = hint_from_responses(model.frame, model.design.standardise(X), y - model.offset, intercept=model.fit_intercept)
    if not c.any():
        raise HintError("The examples say nothing: every response is zero. Give examples whose responses differ.")
    return c
