"""Search in mixtures of linear regressions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, Unpack

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_X_y, validate_data

from mixsearch.display import Card, plain_number
from mixsearch.errors import HintError, SearchError, UnlikelyMixtureWarning, warn_user
from mixsearch.estimators.base import BaseSearch, require_choice, require_room, require_samples, require_whole
from mixsearch.estimators.posterior import posterior, within_unit
from mixsearch.estimators.samples import FLOATS, check_samples
from mixsearch.extraction import Extraction, ExtractionOptions, extract, warn_if_weak
from mixsearch.hints import hint_from_direction, hint_from_responses, require_one, require_seen
from mixsearch.models import RegressionModel, fit_regression
from mixsearch.types import Array, Component, Samples


@dataclass(frozen=True, repr=False, eq=False)
class RegressionComponent(Component):
    """One regression of a mixture, y = ⟨x, center⟩ + intercept + noise.

    Attributes
    ----------
    center : array of shape (d,)
        The coefficients, for X in the user's units.
    intercept : float
        Its own intercept; 0 where the fit has none.
    noise_variance : float
        The variance of y around the regression.

    See Also
    --------
    Component : `weight`, `separation`, `scores`, `alternatives` and the rest.
    """

    model: RegressionModel = field(kw_only=True)
    fit_intercept: bool = field(kw_only=True)

    @cached_property
    def center(self) -> Array:
        """The coefficients, (d,)."""
        return self.model.design.coefficients(self._slope)

    @cached_property
    def _slope(self) -> Array:
        """The coefficients for standardised x."""
        return self.frame.unwhiten(self.point)

    @property
    def _level(self) -> float:
        """E[y] - offset in this component: ⟨u₁, W'Σ αᵢbᵢμᵢ⟩ = √α₁b₁, or what a line through zero has there."""
        if self.fit_intercept:
            return float(self.point @ self.model.intercepts)
        return float(self.model.design.center @ self.center) - self.model.offset

    @property
    def intercept(self) -> float:
        """What the regression predicts at x = 0."""
        if not self.fit_intercept:
            return 0.0
        return self.model.offset + self._level - float(self.model.design.center @ self.center)

    @property
    def noise_variance(self) -> float:
        """The variance of y around the regression; never below a thousandth of the variance that y has in it."""
        energy = float(self.point @ self.model.energies)
        explained = float(self._slope @ self._slope)
        return max(energy - explained - self._level**2, 1e-3 * explained)

    def predict(self, X: Any) -> Array:
        """⟨x, center⟩ + intercept for each row, (n,)."""
        return np.asarray(check_samples(X, len(self.center), self.feature_names) @ self.center) + self.intercept

    def score_samples(self, X: Any, y: Any) -> Array:
        """The probability that each sample (x, y) belongs to this regression, (n,).

        Notes
        -----
        Against one Gaussian for y under the rest of the mixture, whose mean and variance at x follow from the moments
        of all samples less this component's.
        """
        samples, response = check_X_y(
            check_samples(X, len(self.center), self.feature_names), y, accept_sparse="csr", dtype=FLOATS
        )
        if len(self.scores) == 1:
            return np.ones(len(response))  # there is no rest
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
        k, the number of regressions; at most the number of features.
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
        if not 0.5 < mass < 2:
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
        require_room(d, self.n_components, d, "regressions", "their coefficients must be linearly independent")
        needed = (d if self.design == "covariance" else self.n_components) + 1
        require_samples(X, needed, f"{self.n_components} regressions with design={self.design!r} on {d} features")

    def search(
        self,
        hint: Any = None,
        *,
        examples: tuple[Any, Any] | None = None,
        n_components: int | None = None,
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
        **extraction
            How the component is extracted: ``method="cancellation"`` and so on, the fields of `Extraction`.
        """
        how = Extraction.of(extraction)
        model = self._model(n_components)
        if require_one({"hint": hint, "examples": examples}) == "examples":
            c = self._hint_from_examples(examples, model)
        else:
            v = model.design.standardised(hint_from_direction(hint, self.n_features_in_))
            require_seen(model.frame, v, scale=float(np.linalg.norm(v)))
            c = model.frame.project_hint(v)
        candidates = extract(model.hinted(c), model.frame, how)
        found = RegressionComponent(
            model.frame,
            candidates,
            model=model,
            fit_intercept=self.fit_intercept,
            feature_names=self._names(),
        )
        warn_if_weak(found.separation)
        return found

    def _hint_from_examples(self, examples: Any, model: RegressionModel) -> Array:
        if not isinstance(examples, tuple | list) or len(examples) != 2:
            raise HintError("examples must be a pair (X, y): the samples of the regression and their responses.")
        X, y = check_X_y(*examples, accept_sparse="csr", dtype=FLOATS)
        if X.shape[1] != self.n_features_in_:
            raise HintError(f"The examples have {X.shape[1]} features, but this fit needs {self.n_features_in_}.")
        c = hint_from_responses(
            model.frame, model.design.standardise(X), y - model.offset, intercept=self.fit_intercept
        )
        if not c.any():
            raise HintError("The examples say nothing: every response is zero. Give examples whose responses differ.")
        return c

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
