"""Search in mixtures of linear regressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, Unpack

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_X_y, validate_data

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
from mixsearch.core.em import EMOptions, em_options
from mixsearch.core.estimator import BaseSearch, warn_no_signal
from mixsearch.core.extraction import Extraction, ExtractionOptions, extract
from mixsearch.core.hints import check_not_orthogonal, check_one_hint, hint_from_direction
from mixsearch.core.moments import Hinted
from mixsearch.core.rank_selection import Spectrum
from mixsearch.core.separation import warn_if_weak
from mixsearch.core.validation import (
    AUTO,
    FLOAT_DTYPES,
    as_samples,
    check_choice,
    check_n_components,
    check_n_samples,
    check_samples,
)
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.data.partitions import Partitions, SamplePartition, partition_in_memory
from mixsearch.errors import HintError, SearchError, UnlikelyMixtureWarning, warn_user
from mixsearch.regression._component import RegressionComponent
from mixsearch.regression._examples import is_explained, tell_by_examples
from mixsearch.regression._hint import hint_from_responses
from mixsearch.regression._moments import RegressionModel, fit_regression
from mixsearch.regression._rank_selection import regression_spectrum
from mixsearch.regression._refinement import Learned, learn_regressions, refine_regression


class RegressionSearch(BaseSearch):
    """Find one regression of a mixture from a direction or a few of its samples.

    Parameters
    ----------
    n_components : int or "auto", default=2
        k, the number of regressions. Moments tell as many apart as there are independent features; more, such as two
        lines on one feature, need examples and ``refine=True``: then likelihood alone tells them apart. "auto" counts
        the directions of coefficients that stand out (`spectrum_`); one that others span, such as -μ, adds none.
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
    spectrum_ : Spectrum
        What ``n_components="auto"`` counted.
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
        n_components: int | str = 2,
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
        X : array, sparse matrix or Dask array of shape (n, d)
            Sparse only with ``design="standard"``.
        y : array or Dask array of shape (n,)
        """
        partitions = self._partitions(X, y)
        self._check_options(partitions)
        k = self._number(partitions, lambda: self._find_spectrum(partitions))
        if self.n_components == AUTO:
            warn_no_signal(self.spectrum_, "one regression")
        self.model_ = fit_regression(
            partitions,
            k,
            design=self.design,
            intercept=self.fit_intercept,
            noise=self.noise,
            seed=self._seed(),
        )
        self._learned: dict[tuple[int, EMOptions], Learned] = {}
        mass = float(self.model_.mean @ self.model_.mean)
        if self.model_.has_moments and not 0.5 < mass < 2:
            warn_user(
                UnlikelyMixtureWarning(
                    f"The weights of all regressions add up to {mass:.2g} where they should add up to 1: "
                    "the coefficients may be linearly dependent (as μ and -μ are), or the lines too far apart where "
                    "X has "
                    "its mean. Try fewer components, or more samples; do not trust the weights."
                )
            )
        return self

    def _partitions(self, X: Any, y: Any = None) -> Partitions[SamplePartition]:
        """Samples and responses to fit, checked: in memory, or where their blocks are."""
        if is_dask(X):
            partitions: Partitions[SamplePartition] = dask_arrays().sample_partitions(X, y)
            self._see_features(partitions)
            return partitions
        checked, response = validate_data(self, X, y, accept_sparse="csr", dtype=FLOAT_DTYPES, y_numeric=True)
        return partition_in_memory(as_samples(checked), np.asarray(response, dtype=np.float64))

    def _find_spectrum(self, partitions: Partitions[SamplePartition]) -> Spectrum:
        return regression_spectrum(partitions, design=self.design, intercept=self.fit_intercept, seed=self._seed())

    def _check_options(self, partitions: Partitions[SamplePartition]) -> None:
        least = check_n_components(self.n_components)
        check_choice("design", self.design, ("covariance", "standard"))
        check_choice("noise", self.noise, ("average", "paper"))
        if partitions.layout.is_sparse and self.design == "covariance":
            raise TypeError(
                "Sparse X needs design='standard', since its covariance is dense. Pass X.toarray() where it fits."
            )
        d = partitions.n_features
        needed = (d if self.design == "covariance" else least) + 1
        check_n_samples(partitions, needed, f"{least} regressions with design={self.design!r} on {d} features")

    def search(
        self,
        hint: Any = None,
        *,
        examples: tuple[Any, Any] | None = None,
        n_components: int | None = None,
        refine: bool | int = False,
        tol: float = 0.01,
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
            and also tell the noise of y. What moments alone found stays available as `moment_estimate`. The sharper
            regressions also tell better which of them the hint means: where that is another one than moments prefer,
            `separation` is below 1.
        tol : float, default=0.01
            Stop when a step gains less than this in the log-likelihood of all samples together.
        **extraction
            How the component is extracted: ``method="cancellation"`` and so on, the fields of `Extraction`.
        """
        how, steps = Extraction.of(extraction), em_options(refine, tol)
        model = self._model(n_components)
        given = check_one_hint({"hint": hint, "examples": examples})
        few = self._check_examples(examples) if given == "examples" else None
        if not model.has_moments:
            return self._search_by_likelihood(model, few, steps)
        if few is None:
            v = model.design.standardised(hint_from_direction(hint, self.n_features_in_))
            check_not_orthogonal(model.frame, v, scale=float(np.linalg.norm(v)))
            found = replace(self._extract(model.frame.project_hint(v), model, how), wanted=v)
        else:
            found = replace(self._extract(_hint_of(few, model), model, how), examples=few)
        warn_if_weak(found.separation)
        return found if steps is None else self._refine(found, steps)

    def _refine(self, found: RegressionComponent, steps: EMOptions) -> RegressionComponent:
        """With the whole mixture, which is learned once and serves all hints."""
        key = found.frame.n_components, steps
        if key not in self._learned:
            self._learned[key] = learn_regressions(found.model, steps)
        refined, rank = refine_regression(found.model, found.candidates, steps, self._learned[key], found.prefer)
        if found.examples is not None and not is_explained(refined, *found.examples):
            again = tell_by_examples(found.model, *found.examples, steps).refined
            refined = max(refined, again, key=lambda each: each.objectives[-1])
        return replace(found, refined=refined, rank=rank)

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
        self, model: RegressionModel, few: tuple[Samples, Array] | None, steps: EMOptions | None
    ) -> RegressionComponent:
        if few is None or steps is None:
            raise SearchError(
                f"Moments tell {model.frame.n_components} regressions apart at most on as many independent features, "
                f"and this fit has {model.n_components}: only their likelihood can. Search with examples=(X, y) of the "
                "regression and refine=True, or fit fewer components."
            )
        refined, lines = tell_by_examples(model, *few, steps)
        slopes, weights = lines.slopes, lines.weights
        scores = slopes.T @ slopes[:, 0]
        return RegressionComponent(
            model.frame,
            Candidates(slopes, weights, scores, preference=scores),
            model=model,
            hinted=Hinted((slopes * weights * scores) @ slopes.T, slopes @ weights, slopes[:, 0]),
            choose="largest",
            examples=few,
            refined=refined,
            told=lines,
            feature_names=self._names(),
        )

    def _check_examples(self, examples: Any) -> tuple[Samples, Array]:
        if not isinstance(examples, tuple | list) or len(examples) != 2:
            raise HintError("examples must be a pair (X, y): the samples of the regression and their responses.")
        X, y = check_X_y(*examples, accept_sparse="csr", dtype=FLOAT_DTYPES)
        if X.shape[1] != self.n_features_in_:
            raise HintError(f"The examples have {X.shape[1]} features, but this fit needs {self.n_features_in_}.")
        check_samples(examples[0], self.n_features_in_, self._names())
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


def _hint_of(examples: tuple[Samples, Array], model: RegressionModel) -> Array:
    """What examples say of the coefficients, in the frame, (k,)."""
    X, y = examples
    c = hint_from_responses(model.frame, model.design.standardise(X), y - model.offset, intercept=model.fit_intercept)
    if not c.any():
        raise HintError(
            "The examples tell no coefficients: all of them are the same, or every response is zero. Give examples "
            "that differ in X and in y."
        )
    return c
