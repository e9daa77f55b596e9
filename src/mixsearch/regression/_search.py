"""Search in mixtures of linear regressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_X_y, validate_data

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.component import Candidates
from mixsearch.core.em import EMOptions, em_options
from mixsearch.core.estimator import BaseSearch, MixtureCache, Preset, RandomState, warn_no_signal
from mixsearch.core.extraction import Extraction, ExtractionOptions, extract
from mixsearch.core.hints import check_not_orthogonal, check_one_hint, hint_from_direction
from mixsearch.core.moments import Hinted
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
from mixsearch.regression._moments import RegressionFamily, fit_regression
from mixsearch.regression._rank_selection import regression_spectrum
from mixsearch.regression._refinement import Learned, learn_regressions, refine_regression


class RegressionSearch(BaseSearch[RegressionFamily]):
    """Find one regression of a mixture from a direction or a few of its samples.

    Parameters
    ----------
    n_components : int or "auto", default=2
        k, the number of regressions. Moments tell as many apart as there are independent features; more, such as two
        lines on one feature, need examples and ``refine=True``: then likelihood alone tells them apart. "auto" counts
        the directions of coefficients that stand out (`spectrum_`); one that others span, such as -μ, adds none.
    design : {"covariance", "standard"}, optional
        Standardize X by its own mean and covariance and map the answer back, the default; or take X as standard normal
        already, the default of ``preset="paper"``. The moments are exact for normal X only.
    fit_intercept : bool, optional
        Give every component an intercept of its own: True by default, False with ``preset="paper"``.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: standard normal X, no intercept, the smallest singular value for τ² and plain
        third powers. By default the moments have less variance.
    random_state : int, RandomState instance or None, default=0
        Of the eigen-solver's starting block, where there are many features. The same value gives the same answer.

    Attributes
    ----------
    n_components_ : int
        How many components the fit holds.
    spectrum_ : Spectrum
        What ``n_components="auto"`` counted.
    model_ : RegressionFamily
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
        n_components: int | Literal["auto"] = 2,
        *,
        design: Literal["covariance", "standard"] | None = None,
        fit_intercept: bool | None = None,
        preset: Preset = "default",
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.design = design
        self.fit_intercept = fit_intercept
        self.preset = preset
        self.random_state = random_state

    def fit(self, X: SamplesLike, y: ArrayLike) -> Self:
        """Fit the mixture.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            Sparse only with ``design="standard"``.
        y : array or Dask array of shape (n,)

        Returns
        -------
        self
        """
        partitions = self._check_partitions(X, y)
        is_paper, design, intercept = self._is_paper(), self._get_design(), self._has_intercept()
        self._check_options(partitions, design)
        k = self._choose_n_components(
            partitions,
            lambda: regression_spectrum(partitions, design=design, intercept=intercept, seed=self._draw_seed()),
        )
        if self.n_components == AUTO:
            warn_no_signal(self.spectrum_, "one regression")
        self._family = fit_regression(
            partitions, k, design=design, intercept=intercept, paper=is_paper, seed=self._draw_seed()
        )
        self._mixtures: MixtureCache[Learned] = MixtureCache()
        mass = float(self._family.mean @ self._family.mean)
        if self._family.has_moments and not 0.5 < mass < 2:
            warn_user(
                UnlikelyMixtureWarning(
                    "The weights of all regressions sum to {total:.2g} instead of 1: the coefficients may be linearly "
                    "dependent (as μ and -μ are), or the lines too far apart at the mean of X. Try fewer components, "
                    "or "
                    "more samples; do not trust the weights.",
                    code="weights_not_one",
                    total=mass,
                )
            )
        return self

    def _get_design(self) -> str:
        default = "standard" if self.preset == "paper" else "covariance"
        return default if self.design is None else self.design

    def _has_intercept(self) -> bool:
        return self.preset != "paper" if self.fit_intercept is None else bool(self.fit_intercept)

    def _check_partitions(self, X: Any, y: Any = None) -> Partitions[SamplePartition]:
        """Check the samples and responses of a fit: in memory, or where their chunks are."""
        if is_dask(X):
            partitions: Partitions[SamplePartition] = dask_arrays().sample_partitions(X, y)
            self._set_features(partitions)
            return partitions
        checked, response = validate_data(self, X, y, accept_sparse="csr", dtype=FLOAT_DTYPES, y_numeric=True)
        return partition_in_memory(as_samples(checked), np.asarray(response, dtype=np.float64))

    def _check_options(self, partitions: Partitions[SamplePartition], design: str) -> None:
        minimum = check_n_components(self.n_components)
        check_choice("design", design, ("covariance", "standard"))
        if partitions.layout.is_sparse and design == "covariance":
            raise TypeError("Sparse X needs design='standard', because its covariance is dense. Or pass X.toarray().")
        d = partitions.n_features
        needed = (d if design == "covariance" else minimum) + 1
        check_n_samples(partitions, needed, f"{minimum} regressions with design={design!r} on {d} features")

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: tuple[SamplesLike, ArrayLike] | None = None,
        n_components: int | None = None,
        refine: bool = False,
        tol: float = 0.01,
        max_iter: int | None = None,
        **extraction: Unpack[ExtractionOptions],
    ) -> RegressionComponent:
        """Find the regression that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            Rough coefficients v, in the units of X and y: the wanted coefficients agree with them most.
        examples : pair of arrays (X, y), optional
            A few samples of the regression; least squares on them, in the k directions of the fit, gives the hint.
        n_components : int, optional
            Use the first j of the fitted components only.
        refine : bool, default=False
            Refine the estimate by EM, which does not need normal X and also estimates the noise of y. The answer's
            `moment_estimate` is the one before. Refined regressions also identify better which of them the hint means:
            if it is another one than moments prefer, `separation` is below 1.
        tol : float, default=0.01
            Stop EM once an iteration gains less than this in the log-likelihood of all samples together, in nats.
        max_iter : int, optional
            Maximum number of EM iterations, 100 by default.
        **extraction
            How the component is extracted: `method`, `choose`, `normaliser`, `rule` and `threshold`, the fields of
            `Extraction`.

        Returns
        -------
        RegressionComponent
        """
        how, steps = Extraction.from_options(extraction, self.search), em_options(refine, tol, max_iter)
        model = self._select_family(n_components)
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
        key = found._frame.n_components, steps
        learned = self._mixtures.get(key, lambda: learn_regressions(found._family, steps))
        refined, rank = refine_regression(found._family, found._candidates, steps, learned, found.prefer)
        if found.examples is not None and not is_explained(refined, *found.examples):
            again = tell_by_examples(found._family, *found.examples, steps).refined
            refined = max(refined, again, key=lambda each: each.objectives[-1])
        return replace(found, _refined=refined, _rank=rank)

    def _extract(self, c: Array, model: RegressionFamily, how: Extraction) -> RegressionComponent:
        hinted = model.hinted(c)
        return RegressionComponent(
            model.frame,
            extract(hinted, model.frame, how),
            _family=model,
            _hinted=hinted,
            _choose=how.choose,
            _feature_names=self._get_feature_names(),
        )

    def _search_by_likelihood(
        self, model: RegressionFamily, few: tuple[Samples, Array] | None, steps: EMOptions | None
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
            _family=model,
            _hinted=Hinted((slopes * weights * scores) @ slopes.T, slopes @ weights, slopes[:, 0]),
            _choose="largest",
            examples=few,
            _refined=refined,
            told=lines,
            _feature_names=self._get_feature_names(),
        )

    def _check_examples(self, examples: Any) -> tuple[Samples, Array]:
        if not isinstance(examples, tuple | list) or len(examples) != 2:
            raise HintError("examples must be a pair (X, y): the samples of the regression and their responses.")
        X, y = check_X_y(*examples, accept_sparse="csr", dtype=FLOAT_DTYPES)
        if X.shape[1] != self.n_features_in_:
            raise HintError(f"The examples have {X.shape[1]} features, but this fit needs {self.n_features_in_}.")
        check_samples(examples[0], self.n_features_in_, self._get_feature_names())
        return as_samples(X), np.asarray(y, dtype=np.float64)

    def _whiten(self, X: Samples) -> Array:
        if sp.issparse(X) and self._get_design() == "covariance":
            raise SearchError("Sparse X needs design='standard'. Pass X.toarray() where it fits.")
        return np.asarray(self._family.frame.whiten(self._family.design.standardise(X)), dtype=X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._get_design() == "standard"
        tags.target_tags.required = True
        return tags


def _hint_of(examples: tuple[Samples, Array], model: RegressionFamily) -> Array:
    """What examples say of the coefficients, in the frame, (k,)."""
    X, y = examples
    c = hint_from_responses(model.frame, model.design.standardise(X), y - model.offset, intercept=model.fit_intercept)
    if not c.any():
        raise HintError(
            "The examples tell no coefficients: all of them are the same, or every response is zero. Give examples "
            "that differ in X and in y."
        )
    return c
