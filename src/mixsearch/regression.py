"""Mixtures of linear regressions: find one of them from rough coefficients or a few of its samples.

The model (paper, section 3.3): y = ⟨x, μᵢ⟩ + bᵢ + noise of variance σᵢ² with probability αᵢ, for x ~ N(0, I). Other x
are standardized first. `regression_moments` has the moments, `regression_likelihood` EM.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.check import MAX_DISAGREEMENT, check_answer
from mixsearch.core.component import SampleComponent, add_warnings
from mixsearch.core.estimator import BaseSearch, MixtureCache, RandomState
from mixsearch.core.extraction import Candidates, Extraction, ExtractionOptions, extract_with_rehint, prefer
from mixsearch.core.family import Preset
from mixsearch.core.jackknife import StandardErrors, jackknife, replicate_component
from mixsearch.core.moments import squared_distances
from mixsearch.core.rows import Chunks, SampleChunk, chunk_in_memory, is_dask, load_dask
from mixsearch.core.validation import (
    AUTO,
    FLOAT_DTYPES,
    as_samples,
    check_choice,
    check_magnitude,
    check_n_components,
    check_n_samples,
    check_not_orthogonal,
    check_one_hint,
    check_samples,
    hint_from_direction,
)
from mixsearch.display import Card, plain_number
from mixsearch.errors import (
    ArgumentError,
    HintError,
    Option,
    SearchError,
    SearchWarning,
    SparseError,
    UnlikelyMixtureWarning,
    warn_user,
)
from mixsearch.mixture.check import choose_component, hold_examples
from mixsearch.mixture.em import EMOptions, check_em_options, clip_weight, posterior, posterior_of_two
from mixsearch.mixture.errors import estimate_covariance
from mixsearch.mixture.tuning import TUNING
from mixsearch.regression_likelihood import (
    MAX_COUNTED,
    MAX_FEATURES,
    FeatureChunk,
    RefinedMixture,
    RegressionParameters,
    count_regressions,
    find_near,
    fit_all_components,
    fit_with_examples,
    make_features,
    make_rows,
    regressions_from_moments,
    to_dense,
)
from mixsearch.regression_moments import (
    RegressionFamily,
    check_moments,
    check_not_exact,
    find_regression_outliers,
    fit_regression,
    hint_from_examples,
    moments_error,
    standardize,
)

# ---- The answer -----------------------------------------------------------------------------------------------------


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

    See Also
    --------
    Component : `weight`, `separation`, `scores`, `alternatives` and the rest.

    Examples
    --------
    >>> from mixsearch import RegressionSearch
    >>> from mixsearch.datasets import make_mixed_regression
    >>> data = make_mixed_regression(20000, 5, 2, random_state=0)
    >>> members = data.labels == 1
    >>> search = RegressionSearch(n_components=2).fit(data.X, data.y)
    >>> component = search.search(examples=(data.X[members][:20], data.y[members][:20]), refine=True)
    >>> component.predict(data.X[:3]).shape
    (3,)
    >>> bool(((component.membership(data.X, data.y) > 0.5) == members).mean() > 0.8)
    True
    """

    _clear_separation: ClassVar[float] = 2.5  # scores from sixth moments vary more than those of other families
    _family: RegressionFamily = field(kw_only=True)
    _refined: RefinedMixture | None = field(default=None, kw_only=True)
    _moment_candidates: Candidates | None = field(default=None, kw_only=True)  # before EM

    def _to_features(self, points: Array) -> Array:
        return self._family.design.to_coefficients(points)

    @property
    def _index(self) -> int:
        """The component of the refined mixture."""
        return int(self._refined.order[self._rank]) if self._refined else self._rank

    @cached_property
    def _mixture(self) -> RegressionParameters:
        """All components, refined or from moments."""
        return self._refined.fit.params if self._refined else regressions_from_moments(self._family, self._candidates)

    @cached_property
    def center(self) -> Array:
        """The coefficients, (d,)."""
        if self._refined is None:
            return self._moment_center()
        coefficients = self._mixture.coefficients[self._index]
        return self._to_features(coefficients[1:] if self._family.fit_intercept else coefficients)

    @property
    def weight(self) -> float:
        """The component's share of the mixture."""
        return float(self._mixture.weights[self._index])

    @property
    def intercept(self) -> float:
        """The prediction at x = 0."""
        if not self._family.fit_intercept:
            return 0.0
        level = float(self._mixture.coefficients[self._index, 0])
        return self._family.offset + level - float(self._family.design.center @ self.center)

    @property
    def noise_variance(self) -> float:
        """The variance of y around the regression; from moments, at least a thousandth of what it explains."""
        return float(self._mixture.variances[self._index])

    @property
    def coefficients(self) -> dict[str, float]:
        """The coefficients by the names of their columns; x0, x1, ... if the fit saw no names."""
        names = self._feature_names or [f"x{column}" for column in range(len(self.center))]
        return dict(zip(names, self.center.tolist(), strict=True))

    @property
    def moment_estimate(self) -> Self:
        """The estimate from moments alone, before EM."""
        if not self._family.has_moments:
            raise moments_error(self._family)
        candidates = self._moment_candidates or self._candidates
        return replace(self, _refined=None, _candidates=candidates, _moment_candidates=None, _rank=0)

    @property
    def separation_interval(self) -> tuple[float, float]:
        """A 95% interval of `separation`, from the noise of the scores."""
        if not self._family.has_moments:
            raise moments_error(self._family)
        return super().separation_interval

    def _trust_facts(self) -> list[tuple[str, str]]:
        return super()._trust_facts() if self._family.has_moments else []

    def _with_rank(self, rank: int) -> Self:
        return replace(self, _rank=rank, _warnings=())

    @cached_property
    def _covariance(self) -> Array:
        """The covariance of the refined coefficients, and of the weight as the last of all, (p, p)."""
        if self._refined is None:
            raise SearchError(
                "Standard errors of predictions need refinement. Search with {argument}=True.",
                code="needs_refinement",
                argument=Option("refine"),
            )
        rows: Chunks[Any] = make_rows(self._family)
        return estimate_covariance(self._refined.model, rows, self._mixture, self._index)

    def _refined_errors(self, refined: RefinedMixture) -> StandardErrors:
        first, q = int(self._family.fit_intercept), self._mixture.coefficients.shape[1]
        half = self._to_features(self._covariance[first:q, first:q])
        variances = np.einsum("ij,ij->i", half, self._to_features(np.eye(q - first)))
        return StandardErrors(np.sqrt(np.maximum(variances, 0)), float(np.sqrt(self._covariance[-1, -1])))

    def predict(self, X: SamplesLike) -> Array:
        """Compute ⟨x, center⟩ + intercept for each sample.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            Samples with the features of the fit.

        Returns
        -------
        array of shape (n,)
            A lazy Dask array if X is one.
        """
        if is_dask(X):
            rows: Array = load_dask().map_rows(self.predict, X, len(self.center))
            return rows
        return np.asarray(check_samples(X, len(self.center), self._feature_names) @ self.center) + self.intercept

    def predict_stderr(self, X: SamplesLike) -> Array:
        """Compute the standard errors of the predictions of a refined regression; at x = 0, that of `intercept`.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Samples with the features of the fit.

        Returns
        -------
        array of shape (n,)
            Of the line itself, without the noise around it.
        """
        samples, q = check_samples(X, len(self.center), self._feature_names), self._mixture.coefficients.shape[1]
        features = to_dense(make_features(self._family, samples, np.zeros(samples.shape[0])))[:, :-1]
        return np.asarray(np.sqrt(np.einsum("ni,ij,nj->n", features, self._covariance[:q, :q], features)))

    def membership(self, X: SamplesLike, y: ArrayLike) -> Array:
        """Compute the probability that each sample (x, y) belongs to this component.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            Samples with the features of the fit.
        y : array or Dask array of shape (n,)
            Their responses.

        Returns
        -------
        array of shape (n,)
            A lazy Dask array if X is one.

        Notes
        -----
        Before refinement, y under the other components is one Gaussian, whose mean and variance at x follow from the
        moments of all samples less those of this component.
        """
        if is_dask(X):
            rows: Array = load_dask().map_rows(self.membership, X, len(self.center), y=y)
            return rows
        samples, responses = check_X_y(
            check_samples(X, len(self.center), self._feature_names), y, accept_sparse="csr", dtype=FLOAT_DTYPES
        )
        if self._refined is None:
            return self._moment_membership(samples, responses)
        chunk = FeatureChunk(0, make_features(self._family, samples, responses))
        return posterior(self._refined.model, chunk, self._mixture)[:, self._index]

    def _moment_membership(self, X: Samples, y: Array, error: float = 0.0) -> Array:
        """Compare y with the prediction, which has a variance of `error` times the squared length of standardized x."""
        if len(self.scores) == 1:
            return np.ones(len(y))
        family, weight, level = self._family, clip_weight(self.weight), self._mixture.coefficients[self._index, 0]
        Z = family.design.standardize(X)
        Y, t = family.frame.whiten(Z) * family.frame.values, y - family.offset
        # The variance of the noise is a difference from that of the regression itself, with the error of its length.
        least = np.sqrt(error * float(family.frame.values @ self._point**2))
        noise = max(self.noise_variance, least) + error * squared_distances(Z, np.zeros(Z.shape[1]))
        predicted, intercepts = Y @ self._point + level, family.intercepts
        mean = (Y @ family.mean - weight * predicted) / (1 - weight)
        # E[(⟨x, μ⟩ + b)²] over all components, with Σ αb² = |W'Σ αbμ|², less that of this one.
        total = np.einsum("ij,ij->i", Y, Y) + 2 * Y @ intercepts + intercepts @ intercepts
        square = (total - weight * predicted**2) / (1 - weight)
        variance = np.maximum(square - mean**2, 0) + noise
        return posterior_of_two(
            weight,
            -0.5 * ((t - predicted) ** 2 / noise + np.log(noise)),
            -0.5 * ((t - mean) ** 2 / variance + np.log(variance)),
        )

    def _rows_to_rank(self) -> Array | None:
        if self._examples is None:
            return None
        chunk = self._family.chunks.thin(-(-self._family.chunks.n_rows // 10_000)).chunk
        X = chunk.samples.toarray() if sp.issparse(chunk.samples) else chunk.samples
        return np.column_stack([X, chunk.responses + self._family.offset])

    def _membership_of(self, examples: Array) -> Array:
        X, y = examples[:, :-1], examples[:, -1]
        memberships = self.membership(X, y)
        if self._refined:
            return np.where(find_near(self._family, self._refined, examples), memberships, 0.0)
        if np.all(memberships * len(y) >= MAX_DISAGREEMENT):
            return memberships
        return self._moment_membership(X, y, self._moment_error)

    @property
    def _moment_error(self) -> float:
        """The average variance of a slope from moments: examples must not seem wrong because the estimate is rough."""
        family, points = self._family, replicate_component(self._replicates, self._direction)[0]
        inside = float(family.frame.values @ jackknife(points) ** 2)
        outside = family.coordinate_variance(self._direction) / self.weight
        r, k = family.design.n_coordinates, family.frame.n_components
        return (inside + (r - k) * outside) / r

    def _card(self) -> Card:
        card = super()._card()
        if self._feature_names is not None:
            listed = [f"{name} {plain_number(value)}" for name, value in list(self.coefficients.items())[:6]]
            more = f", ... ({len(self.center):,} features)" if len(self.center) > 6 else ""
            card.facts[-1] = ("coefficients", ", ".join(listed) + more)
        card.facts.append(("intercept", plain_number(self.intercept)))
        card.facts.append(("noise variance", plain_number(self.noise_variance)))
        return card


# ---- The estimator --------------------------------------------------------------------------------------------------


class RegressionSearch(BaseSearch[RegressionFamily]):
    """Find one regression of a mixture from rough coefficients or a few of its samples.

    Parameters
    ----------
    n_components : int or "auto", default=2
        k, the number of regressions. Moments separate at most as many as there are independent features, and often
        fewer if there are few samples. More, such as two lines on one feature, need ``refine=True``. "auto" chooses up
        to 5 by BIC.
    design : {"covariance", "standard"}, optional
        "covariance", the default, standardizes X by its own mean and covariance and maps the answer back. "standard",
        the default of ``preset="paper"``, takes X as standard normal already. Moments are exact for normal X only.
    fit_intercept : bool, optional
        Give every component its own intercept: True by default, False with ``preset="paper"``.
    joint : bool, default=False
        Give every refined component its own Gaussian of x, so that membership depends on x as well as y. Needs an
        intercept and at most 20 independent features. Standard errors take these Gaussians as known.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: standard normal X, no intercept, the smallest singular value for τ² and plain
        third powers. The default moments have less variance.
    random_state : int, RandomState instance or None, default=0
        Seed of the eigensolver's starting block, used if there are many features.

    Attributes
    ----------
    n_components_ : int
        The number of components of the fit.
    noise_variance_ : float
        The average variance of y around the regressions, from moments: rough if it is a small part of the variance of
        y. Not set if moments cannot separate the components.
    outliers_ : array of int
        Rows of X that were left out of the fit, because x is far from all others or the response fits no regression;
        not with ``preset="paper"``. At most 1% of the samples. Five or more with similar x are not left out, such as
        those of a rare level of a category.

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
    >>> component = search.search(examples=(data.X[members][:20], data.y[members][:20]))
    >>> bool(abs(component.center - data.centers[1]).max() < 0.1)
    True
    """

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        design: Literal["covariance", "standard"] | None = None,
        fit_intercept: bool | None = None,
        joint: bool = False,
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
            Samples; sparse only with ``design="standard"``.
        y : array or Dask array of shape (n,)
            Their responses.

        Returns
        -------
        self
        """
        chunks, is_paper = self._check_chunks(X, y), self._is_paper()
        design, intercept, minimum = self._get_design(), self._has_intercept(), check_n_components(self.n_components)
        check_choice("design", design, ("covariance", "standard"))
        if chunks.layout.is_sparse and design == "covariance":
            raise sparse_error()
        d = chunks.n_features
        needed = max(d if design == "covariance" else 0, minimum) + 1
        check_n_samples(chunks, needed, f"{minimum} regressions with design={design!r} on {d} features")
        self._forget("outliers_", "noise_variance_")
        samples, standardized = chunks, None
        if not is_paper:
            outliers = find_regression_outliers(chunks, design, intercept=intercept)
            samples, standardized, self.outliers_ = outliers.samples, outliers.measured, outliers.rows
            if len(outliers.rows):
                warn_user(outliers.warning())
        standardized = standardized or standardize(chunks, design, intercept=intercept)
        fit = partial(
            fit_regression,
            samples,
            design=design,
            intercept=intercept,
            paper=is_paper,
            seed=self._draw_seed(),
            standardized=standardized,
        )
        k = count_regressions(fit(MAX_COUNTED, paper=False)) if self.n_components == AUTO else minimum
        check_not_exact(standardized, k)
        family = fit(k)
        if self.joint and (not intercept or chunks.layout.is_sparse or family.design.n_coordinates > MAX_FEATURES):
            raise ArgumentError(
                "{argument}=True needs intercepts and at most {limit} independent features of a dense X.",
                code="options_conflict",
                argument=Option("joint"),
                limit=MAX_FEATURES,
            )
        self._family, self._mixtures = family, MixtureCache[RefinedMixture]()
        if family.has_moments:
            self.noise_variance_ = family.noise_variance
        return self

    def _get_design(self) -> str:
        default = "standard" if self.preset == "paper" else "covariance"
        return default if self.design is None else self.design

    def _has_intercept(self) -> bool:
        return self.preset != "paper" if self.fit_intercept is None else bool(self.fit_intercept)

    def _check_chunks(self, X: Any, y: Any = None) -> Chunks[SampleChunk]:
        """Check the samples and responses of a fit: in memory, or where their chunks are."""
        if is_dask(X):
            chunks: Chunks[SampleChunk] = load_dask().sample_chunks(X, y)
            self._set_features(chunks)
            return chunks
        checked, response = validate_data(self, X, y, accept_sparse="csr", dtype=FLOAT_DTYPES, y_numeric=True)
        responses = np.asarray(response, dtype=np.float64)
        check_magnitude(checked)
        check_magnitude(responses)
        return chunk_in_memory(as_samples(checked), responses)

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: tuple[SamplesLike, ArrayLike] | None = None,
        not_examples: tuple[SamplesLike, ArrayLike] | None = None,
        refine: bool = False,
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
            A few samples of the regression; least squares on them, in the k directions of the fit, gives the hint. A
            refined search finds the regression under which the examples are likeliest.
        not_examples : pair of arrays (X, y), optional
            Samples of other regressions, with `examples`: the hint is relative to their least squares.
        refine : bool, default=False
            Refine the estimate by EM of the whole mixture, started from the moments of all components, which does not
            need normal X and also estimates the noise of y. The answer's `moment_estimate` is the one before. Examples
            that the mixture contradicts are held in their component.
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
        options = check_em_options(refine, tol, max_iter)
        check_is_fitted(self)
        family = self._family
        if options is None and not family.has_moments:
            raise moments_error(family)
        # 1) the hint: coefficients, or those of the examples
        positive, negative = self._check_examples(hint, examples, not_examples)
        v = None
        if positive is None:
            v = family.design.to_slopes(hint_from_direction(hint, self.n_features_in_))
            check_not_orthogonal(family.frame, v, scale=float(np.linalg.norm(v)))
            hinted = family.hinted(family.frame.project_hint(v))
        else:
            c = hint_from_examples(family, positive)
            hinted = family.hinted(c if negative is None else c - hint_from_examples(family, negative))
        # 2) the third moment contracted with the hint, and one eigenvector (Algorithm 1)
        candidates, rehint = Candidates(*(np.zeros((1, 0)), *[np.zeros(0)] * 3)), None
        if family.has_moments:
            candidates, rehint = extract_with_rehint(family.hinted, hinted, family.frame, how)
        component = RegressionComponent(
            family.frame,
            candidates,
            _family=family,
            _hinted=hinted,
            _rehint=rehint,
            _choose=how.choose,
            _hint=v,
            _examples=positive,
            _search=partial(
                self._search_again, not_examples=not_examples, refine=refine, tol=tol, max_iter=max_iter, **extraction
            ),
            _feature_names=self._get_feature_names(),
        )
        # 3) optionally, maximum likelihood from there
        if options is not None:
            component = self._refine(component, negative, options)
        # 4) reasons not to trust the answer
        return add_warnings(component, find_warnings(component))

    def _search_again(self, *, examples: Array, **options: Any) -> RegressionComponent:
        """Search with other examples, which have y as the last column."""
        return self.search(examples=(examples[:, :-1], examples[:, -1]), **options)

    def _check_examples(self, hint: Any, examples: Any, not_examples: Any) -> tuple[Array | None, Array | None]:
        given = check_one_hint({"hint": hint, "examples": examples})
        if given == "hint" and not_examples is not None:
            raise HintError(
                "{argument} needs {needed} as well.",
                code="needs_examples",
                argument=Option("not_examples"),
                needed=Option("examples"),
            )
        positive = None if examples is None else self._check_pair("examples", examples)
        return positive, None if not_examples is None else self._check_pair("not_examples", not_examples)

    def _check_pair(self, name: str, examples: Any) -> Array:
        """Check examples (X, y), and return them with y as the last column, (q, d + 1)."""
        if not isinstance(examples, tuple | list) or len(examples) != 2:
            raise HintError(
                "{argument} must be a pair (X, y): samples of the regression and their responses.",
                code="examples_not_pair",
                argument=Option(name),
            )
        samples = check_samples(examples[0], self.n_features_in_, self._get_feature_names())
        X, y = check_X_y(samples, examples[1], accept_sparse="csr", dtype=np.float64)
        return np.column_stack([to_dense(X), y])

    def _refine(
        self, component: RegressionComponent, negative: Array | None, options: EMOptions
    ) -> RegressionComponent:
        """Choose the component of the fitted mixture that the hint means, and hold examples that it contradicts."""
        family, positive = self._family, component._examples
        mixture = self._mixtures.get(options, lambda: fit_all_components(family, options, joint=bool(self.joint)))
        if positive is not None:
            pairs = [rows for rows in (positive, negative) if rows is not None]
            # One outlier among the examples would choose the component, and move it.
            near = [find_near(family, mixture, rows) for rows in pairs]
            pairs = [rows[kind] if kind.any() else rows for rows, kind in zip(pairs, near, strict=True)]
            chunks = [FeatureChunk(0, make_features(family, rows[:, :-1], rows[:, -1])) for rows in pairs]
            joint = [mixture.model.log_density(chunk, mixture.fit.params) for chunk in chunks]
            likelihoods = choose_component(joint[0], mixture.fit.params.weights, *joint[1:])
            mixture = mixture._replace(order=np.argsort(-likelihoods, kind="stable"))
            held = hold_examples(chunks, joint, int(mixture.order[0]))
            if held is not None:
                again = fit_with_examples(family, mixture, np.vstack(pairs), held, options)
                mixture = again._replace(order=mixture.order)
        weights, coefficients = mixture.fit.params.weights, mixture.fit.params.coefficients
        points = family.frame.whiten(coefficients[:, 1:] if family.fit_intercept else coefficients).T
        scores = points.T @ component._hinted.hint
        preference = prefer(scores, weights, component._choose)
        order = np.argsort(-preference, kind="stable") if positive is None else mixture.order
        return replace(
            component,
            _refined=mixture._replace(order=order),
            _candidates=Candidates(points[:, order], weights[order], scores[order], preference[order]),
            _moment_candidates=component._candidates,
        )

    def _whiten(self, X: Samples) -> Array:
        if sp.issparse(X) and self._get_design() == "covariance":
            raise sparse_error()
        return np.asarray(self._family.frame.whiten(self._family.design.standardize(X)), dtype=X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._get_design() == "standard"
        tags.target_tags.required = True
        return tags


def sparse_error() -> SparseError:
    """Return the error that a sparse X cannot be standardized."""
    return SparseError(
        "Sparse X needs {argument}='standard', because its covariance is dense. Or pass X.toarray().",
        argument=Option("design"),
    )


def find_warnings(component: RegressionComponent) -> list[SearchWarning]:
    """Find the reasons not to trust an answer."""
    family, refined = component._family, component._refined
    unreliable = check_moments(family)
    is_reliable = family.has_moments and unreliable is None  # the lead of a direction is that of moments
    can_check = refined is None or is_reliable or component._examples is not None
    warnings: list[SearchWarning] = check_answer(component) if can_check else []
    if refined is None:
        return warnings if unreliable is None else [unreliable, *warnings]
    p_value = float(refined.p_values[component._index])
    if p_value < TUNING.misfit_p_value:
        misfit = UnlikelyMixtureWarning(
            "The samples of this component do not follow a regression with normal noise (p-value {p_value:.1g}): "
            "its weight, memberships and standard errors are rough. Fit more components ({argument}), transform "
            "features, or use `mixsearch.find`, which needs no model.",
            code="misfit",
            p_value=p_value,
            argument=Option("n_components"),
        )
        warnings.append(misfit)
    return warnings
