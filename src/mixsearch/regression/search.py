"""Search in mixtures of linear regressions."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Self, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.doubts import MIN_P_VALUE
from mixsearch.core.em import EMOptions, em_options
from mixsearch.core.estimator import BaseSearch, MixtureCache, RandomState, warn_no_signal
from mixsearch.core.extraction import Extraction, ExtractionOptions
from mixsearch.core.family import Preset
from mixsearch.core.hints import check_one_hint, hint_from_direction
from mixsearch.core.validation import (
    AUTO,
    FLOAT_DTYPES,
    as_samples,
    check_choice,
    check_n_components,
    check_n_samples,
)
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.data.partitions import Partitions, SamplePartition, partition_in_memory
from mixsearch.errors import Option, RankError, SparseError, warn_user
from mixsearch.regression.component import RegressionComponent
from mixsearch.regression.counting import count_by_likelihood, regression_spectrum
from mixsearch.regression.design import Standardized, find_regression_outliers, standardize
from mixsearch.regression.family import RegressionFamily
from mixsearch.regression.joint import Joint
from mixsearch.regression.moments import explained_p_value, fit_regression
from mixsearch.regression.query import Query, check_pair
from mixsearch.regression.recognition import Rivals
from mixsearch.regression.refinement import FittedMixture, fit_mixture

DESIGNS, JOINT = ("covariance", "standard"), ("auto", True, False)


class RegressionSearch(BaseSearch[RegressionFamily]):
    """Find one regression of a mixture from a direction or a few of its samples.

    Parameters
    ----------
    n_components : int or "auto", default=2
        k, the number of regressions. Moments separate at most as many as there are independent features, and often
        fewer if there are few samples. For more, such as two lines on one feature, give examples: only the likelihood
        separates them. "auto" counts the directions of coefficients that stand out from the noise (`spectrum_`). A
        regression whose coefficients are spanned by others is not counted. If moments cannot count (up to 2,000
        samples, X not normal, fewer than two or all directions), BIC chooses up to 5 regressions; unless
        ``joint=False``, it also tries up to 5 between which x differs.
    design : {"covariance", "standard"}, optional
        "covariance", the default, standardizes X by its own mean and covariance and maps the answer back. "standard",
        the default of ``preset="paper"``, takes X as standard normal already. The moments are exact for normal X only.
    fit_intercept : bool, optional
        Give every component its own intercept: True by default, False with ``preset="paper"``.
    joint : {"auto", True, False}, default="auto"
        Whether each refined component has its own Gaussian of x, so that membership depends on x as well as y. "auto"
        decides by the likelihood of y given x; it is False with ``preset="paper"``, sparse X or more than 50
        independent features. `RegressionComponent.joint` is the result.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: standard normal X, no intercept, the smallest singular value for τ² and plain
        third powers. The default moments have less variance.
    random_state : int, RandomState instance or None, default=0
        Seed of the eigensolver's starting block, used if there are many features.

    Attributes
    ----------
    n_components_ : int
        The number of components of the fit.
    spectrum_ : Spectrum
        The eigenvalues behind ``n_components="auto"``.
    noise_variance_ : float
        The average variance of y around the regressions, from moments: rough if it is a small part of the variance of
        y. Not set if there are more components than independent features, since moments do not determine it.
    outliers_ : array of int
        Rows of X that were left out of the fit, because x is far from all others or the response fits no regression;
        empty with ``preset="paper"``. At most 1% of the samples. Five or more with similar x are kept, such as those of
        a rare level of a category.

    References
    ----------
    A. Ray, J. Neeman, S. Sanghavi and S. Shakkottai, "The Search Problem in Mixture Models", Journal of Machine
    Learning Research 18, 2018.

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
        joint: Joint = "auto",
        preset: Preset = "default",
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.design = design
        self.fit_intercept = fit_intercept
        self.joint = joint
        self.preset = preset
        self.random_state = random_state

    def fit(self, X: SamplesLike, y: ArrayLike) -> Self:
        """Fit the mixture.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            The samples; sparse only with ``design="standard"``.
        y : array or Dask array of shape (n,)
            Their responses.

        Returns
        -------
        self
        """
        partitions = self._check_partitions(X, y)
        design, intercept = self._get_design(), self._has_intercept()
        self._check_options(partitions, design)
        samples, standardized = self._standardize(partitions)
        k = self._choose_n_components(
            samples,
            lambda: regression_spectrum(
                samples, design=design, intercept=intercept, seed=self._draw_seed(), standardized=standardized
            ),
            is_final=self._is_paper(),
        )
        self._family = self._fit_family(samples, k, standardized)
        if self.n_components == AUTO:
            k = count_by_likelihood(self._family, self.spectrum_, joint=self._get_joint(), is_paper=self._is_paper())
            self._family = self._family if k == self.n_components_ else self._fit_family(samples, k, standardized)
            if k == 1 and explained_p_value(self._family) > MIN_P_VALUE:
                warn_no_signal(self.spectrum_, "one regression")
        self._mixtures: MixtureCache[FittedMixture] = MixtureCache()
        self._rivals: MixtureCache[Rivals] = MixtureCache()
        self._set_noise_variance()
        return self

    def _fit_family(
        self, samples: Partitions[SamplePartition], n_components: int, standardized: Standardized
    ) -> RegressionFamily:
        """Fit regressions, whether moments can separate them or only their likelihood; the paper needs moments."""
        fit = partial(
            fit_regression,
            samples,
            n_components,
            design=self._get_design(),
            intercept=self._has_intercept(),
            paper=self._is_paper(),
            seed=self._draw_seed(),
            standardized=standardized,
        )
        try:
            return fit()
        except RankError:
            if self._is_paper() or n_components == 1 or not standardized.power > 0:
                raise
            return fit(has_frame=False)

    def _standardize(self, partitions: Partitions[SamplePartition]) -> tuple[Partitions[SamplePartition], Standardized]:
        """Return the samples of the fit, unchanged and standardized, without outliers unless the preset is "paper"."""
        design, intercept = self._get_design(), self._has_intercept()
        self._forget("outliers_")
        if self._is_paper():
            return partitions, standardize(partitions, design, intercept=intercept)
        found = find_regression_outliers(partitions, design, intercept=intercept)
        self.outliers_: Array = found.rows
        if len(found.rows):
            warn_user(found.warning())
        return found.samples, found.measured

    def _set_noise_variance(self) -> None:
        if self._family.has_moments:
            self.noise_variance_: float = self._family.noise_variance
        elif hasattr(self, "noise_variance_"):
            del self.noise_variance_

    def _get_design(self) -> str:
        default = "standard" if self.preset == "paper" else "covariance"
        return default if self.design is None else self.design

    def _has_intercept(self) -> bool:
        return self.preset != "paper" if self.fit_intercept is None else bool(self.fit_intercept)

    def _get_joint(self) -> Joint:
        if self._is_paper():
            return False
        return "auto" if self.joint == AUTO else bool(self.joint)

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
        check_choice("design", design, DESIGNS)
        check_choice("joint", self.joint, JOINT)
        if partitions.layout.is_sparse and design == "covariance":
            raise _sparse_error()
        d = partitions.n_features
        needed = (d if design == "covariance" else minimum) + 1
        check_n_samples(partitions, needed, f"{minimum} regressions with design={design!r} on {d} features")

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: tuple[SamplesLike, ArrayLike] | None = None,
        n_components: int | None = None,
        refine: bool | None = None,
        tol: float = 0.01,
        max_iter: int | None = None,
        **extraction: Unpack[ExtractionOptions],
    ) -> RegressionComponent:
        """Find the regression that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            Rough coefficients v, in the units of X and y.
        examples : pair of arrays (X, y), optional
            A few samples of the regression; least squares on them, in the k directions of the fit, gives the hint. In a
            fit of up to 2,000 samples, refinement also keeps them in their component.
        n_components : int, optional
            Use the first j of the fitted components only.
        refine : bool, optional
            Refine the estimate by EM, which does not need normal X and also estimates the noise of y. The answer's
            `moment_estimate` is the one before. Refined regressions also show better which of them the hint means; if
            it is not the one that moments prefer, `separation` is below 1. By default, refine if moments do not apply:
            if X is not normal in the directions of the coefficients (skewness above 0.15 or excess kurtosis beyond 0.1,
            by a test at `fit`), if there are more components than independent features, or with ``joint=True``. Never
            by default with ``preset="paper"``.
        tol : float, default=0.01
            Stop EM when an iteration raises the total log-likelihood by less than this, in nats.
        max_iter : int, optional
            Maximum number of EM iterations, 100 by default.
        **extraction
            Options of the extraction: `method`, `choose`, `normaliser`, `rule`, `threshold` and `rehint`, the fields of
            `Extraction`.

        Returns
        -------
        RegressionComponent
        """
        how = Extraction.from_options({"rehint": not self._is_paper(), **extraction}, self.search)
        family = self._select_family(n_components)
        has_moments = family.is_normal and family.has_moments and self._get_joint() is not True
        needs_refinement = not has_moments and not self._is_paper()
        options = em_options(refine, tol, max_iter, needs_refinement=needs_refinement)
        given = check_one_hint({"hint": hint, "examples": examples})
        names = self._get_feature_names()
        pair = check_pair(examples, self.n_features_in_, names) if given == "examples" else None
        query = Query(
            family=family,
            how=how,
            options=options,
            fit_mixture=self._fit_mixture,
            rivals=self._rivals.get(family.n_components, lambda: Rivals(family)) if family.is_small else None,
            feature_names=names,
            is_paper=self._is_paper(),
        )
        return query.search(pair or hint_from_direction(hint, self.n_features_in_))

    def _fit_mixture(self, family: RegressionFamily, options: EMOptions) -> FittedMixture:
        """Return the whole mixture, which is fitted once and serves all hints."""
        joint = self._get_joint()
        return self._mixtures.get((family.n_components, options), lambda: fit_mixture(family, options, joint))

    def _whiten(self, X: Samples) -> Array:
        if sp.issparse(X) and self._get_design() == "covariance":
            raise _sparse_error()
        return np.asarray(self._family.frame.whiten(self._family.design.standardize(X)), dtype=X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._get_design() == "standard"
        tags.target_tags.required = True
        return tags


def _sparse_error() -> SparseError:
    return SparseError(
        "Sparse X needs {argument}='standard', because its covariance is dense. Or pass X.toarray().",
        argument=Option("design"),
    )
