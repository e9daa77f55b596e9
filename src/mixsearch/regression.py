"""Mixtures of linear regressions: find one of them from rough coefficients or a few of its samples.

The model (paper, section 3.3): y = ⟨x, μᵢ⟩ + bᵢ + noise of variance σᵢ² with probability αᵢ, for x ~ N(0, I). Other x
are standardized first, and the answer is mapped back. Moments first, then the likelihood, the answer and the estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import chdtrc
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.component import MAX_RANKED, add_warnings
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.estimator import RandomState
from mixsearch.core.extraction import Candidates, all_components
from mixsearch.core.family import Preset, find_component
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project
from mixsearch.core.jackknife import StandardErrors
from mixsearch.core.moments import (
    Hinted,
    Replicates,
    gram,
    sample_mean_of,
    second_moment,
    squared_distances,
    sum_cubes,
    symmetrize,
    weighted_gram,
)
from mixsearch.core.outliers import MAX_ROUNDS, find_far, isolated_rows, warn_about_outliers
from mixsearch.core.rows import (
    Chunk,
    Chunks,
    SampleChunk,
    chunk_in_memory,
    leave_one_out,
    load_dask,
)
from mixsearch.core.validation import (
    AUTO,
    FLOAT_DTYPES,
    as_search_errors,
    check_choice,
    check_magnitude,
    check_n_components,
    check_n_samples,
    check_not_orthogonal,
    check_samples,
    hint_from_direction,
)
from mixsearch.display import Card, plain_number
from mixsearch.errors import HintError, Option, RankError, SearchError, UnlikelyMixtureWarning
from mixsearch.machine import is_dask
from mixsearch.mixture.check import fit_p_values, hold_examples
from mixsearch.mixture.em import (
    Fit,
    Held,
    draw_start,
    em_step,
    fit_mixture,
    posterior,
    run_em,
    start_near,
    thin_rows,
)
from mixsearch.mixture.search import (
    MixtureComponent,
    MixtureSearch,
    RefinedMixture,
    find_warnings,
    order_by_hint,
)
from mixsearch.mixture.tuning import TUNING as EM


@dataclass(frozen=True)
class Tuning:
    """Chosen on the development sets of benchmarks/labelled_regressions.py and on drawn lines; reported on others."""

    max_kurtosis: float = 0.1  # excess of x, beyond three standard errors, with which moments are still reliable
    max_total: float = 2.0  # weights of all components from moments, or its inverse, which are then reliable
    start_noise: float = 0.05  # variance where EM starts, relative to that of y
    min_variance: float = 0.01  # of the noise and of x in a component, relative to the average component
    max_features: int = 20  # with more, EM starts with gradient steps, and components have no Gaussian of x
    max_independence: float = 0.2  # p-value below which x may depend on the component
    max_square: float = 50.0  # squared residual of an example, relative to the noise, beyond which it is an outlier
    n_joint_starts: int = 5  # of EM with Gaussians of x, near the examples
    max_counted: int = 5  # regressions that BIC compares
    # Error of a weight by moments, relative to the jackknife: 1.96 of it then hold 94 to 96% of truths, not 89 to 92%
    weight_error: float = 1.2


TUNING = Tuning()
TINY = float(np.finfo(np.float64).tiny)
# Rounding: of a correlation, of least squares and of what one regression leaves of y; and of the noise relative to y.
ROUNDING, MIN_NOISE = 1e-12, 1e-8

# ---- The design: x standardized, and coefficients mapped back -------------------------------------------------------


@dataclass(frozen=True)
class StandardChunk(SampleChunk):
    """Standardized samples z, (n, r), with their responses t, (n,)."""

    squares: Any = None  # |z|², (n,)


class Design(NamedTuple):
    """The map from the user's samples to standardized ones, z = (x - center) M of r independent coordinates.

    With U and Λ the eigenpairs of the correlations of columns and s their deviations, M = diag(1/s) U Λ^(-1/2). If
    columns depend on each other, Λ has only the r positive eigenvalues: then M β are the smallest coefficients, in
    units of the columns' deviations, of all that give the same predictions.
    """

    center: Array  # (d,)
    offset: float  # of y: t = y - offset
    whitener: Any  # M, (d, r), from slopes for z to coefficients of x; an array or sparse
    unwhitener: Any  # (r, d), from coefficients of x to slopes for z, and from z to x - center

    def standardize(self, chunk: SampleChunk) -> StandardChunk:
        """Compute z, t and |z|²."""
        z = project(chunk.samples, self.whitener, self.center)
        t = np.asarray(chunk.responses, dtype=np.float64) - self.offset
        return StandardChunk(chunk.first, z, t, squared_distances(z, np.zeros(z.shape[1])))


def fit_design(chunks: Chunks[SampleChunk]) -> Design:
    """Estimate the mean and the covariance of x, and the mean of y."""
    center, eps = sample_mean_of(chunks), np.finfo(chunks.layout.dtype).eps

    def sum_chunk(chunk: SampleChunk) -> tuple[Any, ...]:
        return float(np.sum(chunk.responses, dtype=np.float64)), gram(chunk, None, center)

    offset, covariance = (sums / chunks.n_rows for sums in chunks.sum(sum_chunk))
    # Columns may have any units, so their correlations decide whether they depend on each other.
    deviations = np.sqrt(np.diag(covariance))
    is_constant = deviations <= 10 * eps * np.abs(center)  # the mean of many samples is rounded
    inverse = np.where(is_constant, 0.0, 1 / np.where(is_constant, 1.0, deviations))
    values, vectors = np.linalg.eigh(covariance * np.outer(inverse, inverse))
    positive = values > ROUNDING * max(float(values[-1]), 1.0)
    if not positive.any():
        raise SearchError("All columns of X are constant. Provide columns that vary.", code="constant_features")
    root, axes = np.sqrt(values[positive]), vectors[:, positive]
    return Design(center, offset, inverse[:, None] * axes / root, root[:, None] * axes.T * deviations)


class Standardized(NamedTuple):
    """Standardized samples, with the map from the user's."""

    design: Design
    chunks: Chunks[Any]  # as StandardChunk


def standardize(chunks: Chunks[SampleChunk], design: Design) -> Standardized:
    """Standardize samples by a design."""
    layout = chunks.layout._replace(n_features=design.whitener.shape[1])
    return Standardized(design, replace(chunks.map(design.standardize), layout=layout))


def find_regression_outliers(chunks: Chunks[SampleChunk]) -> tuple[Array, Chunks[SampleChunk], Standardized]:
    """Find samples whose x is far from all others, or whose response fits no regression of the others.

    Returns their indices, rising, (q,), and all other samples, also standardized.
    """

    def measure_responses(chunk: StandardChunk) -> Array:  # a regression may give a large one where x is large
        return np.asarray(chunk.responses**2 / (1 + chunk.squares / chunk.samples.shape[1]))

    samples, rows = chunks, np.zeros(0, dtype=np.int64)
    standardized = standardize(samples, fit_design(samples))
    for _ in range(MAX_ROUNDS):
        z = standardize(chunks, standardized.design).chunks if len(rows) else standardized.chunks
        isolated = isolated_rows(z, *find_far(z, lambda chunk: chunk.squares), np.zeros(z.n_features))
        before, rows = rows, np.union1d(isolated, find_far(z, measure_responses)[0])
        if np.array_equal(before, rows):
            break
        samples = chunks.drop_rows(rows)
        standardized = standardize(samples, fit_design(samples))
    return rows, samples, standardized


# ---- Moments (paper, section 3.3) -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class RegressionChunk(StandardChunk):
    """Standardized samples with their coordinates in the frame."""

    projected: Any = None  # Y = ZW, (n, k)


@dataclass(frozen=True)
class RegressionFamily:
    """The fitted moments of a mixture of regressions, with t = y - offset and standardized x."""

    frame: Frame  # the whole space if moments cannot separate the components
    design: Design
    powers: Array  # W'E[tᵖ x] for p = 1, 2, 3, (3, k)
    power: float  # E[t²]
    noise_level: float  # τ²/2, above which eigenvalues are signal
    chunks: Chunks[RegressionChunk]
    n_components: int
    is_paper: bool  # no intercepts, x as it is, plain third powers of t
    has_moments: bool = True  # whether moments can separate the components

    @property
    def mean(self) -> Array:
        """W'm, (k,), with m = E[tx]."""
        return np.asarray(self.powers[0])

    @property
    def is_wide(self) -> bool:
        """Whether EM would spend its time on the products of features."""
        return self.chunks.n_features > TUNING.max_features

    @property
    def intercepts(self) -> Array:
        """W'Σ αᵢbᵢμᵢ, (k,): E[t²x] = 2 Σ αᵢbᵢμᵢ.

        t is centered, so that Σ αᵢbᵢ = ⟨W'm, W'Σ αᵢbᵢμᵢ⟩ = 0. So must their estimate.
        """
        intercepts, square = self.powers[1] / 2, float(self.mean @ self.mean)
        centered = not self.is_paper and square > 0
        return np.asarray(intercepts - self.mean * (self.mean @ intercepts) / square if centered else intercepts)

    @property
    def noise_variance(self) -> float:
        """The average variance of the noise, Σ αᵢσᵢ².

        E[t²] = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), where Σ αᵢ|μᵢ|² = tr A, and Σ αᵢbᵢ² = |W'Σ αᵢbᵢμᵢ|² because the vectors √αᵢW'μᵢ
        are orthonormal.
        """
        return max(self.power - float(self.frame.values.sum() + self.intercepts @ self.intercepts), 0.0)

    @cached_property
    def misfit(self) -> UnlikelyMixtureWarning | None:
        """A warning if moments are not reliable: x is not normal, or all weights do not add up to about 1.

        Notes
        -----
        If x is normal, the mean of |x|⁴ is r(r + 2), with a variance of 8r(r + 2)/n (Mardia's test).
        """
        if self.is_paper or self.n_components == 1:  # least squares, for a single regression, takes any x
            return None
        (n, r), total = self.chunks.shape, float(self.mean @ self.mean)
        fourth = self.chunks.sum(lambda chunk: float(chunk.squares @ chunk.squares)) / n
        kurtosis, error = fourth / r - (r + 2), np.sqrt(8 * (r + 2) / r / n)
        is_normal = abs(kurtosis) <= TUNING.max_kurtosis + 3 * error
        if is_normal and 1 / TUNING.max_total < total < TUNING.max_total:
            return None
        return UnlikelyMixtureWarning(
            "Moments may be far off. X has an excess kurtosis of {kurtosis:.2g} (0 if it is normal), and the weights "
            "of all regressions sum to {total:.2g} (about 1 if samples are many and coefficients linearly "
            "independent). Search with {argument}=True.",
            code="misfit",
            kurtosis=kurtosis,
            total=total,
            argument=Option("refine"),
        )

    def check_moments(self) -> None:
        """Raise if moments cannot separate the components."""
        if not self.has_moments:
            raise SearchError(
                "Moments cannot separate the {n_components} regressions of this fit on {n_features} independent "
                "features: only their likelihood can. Search with {argument}=True, or fit fewer components.",
                code="needs_refinement",
                n_components=self.n_components,
                n_features=self.chunks.n_features,
                argument=Option("refine"),
            )

    def read(self, rows: Array) -> RegressionChunk:
        """Return new samples with their coordinates in the frame; y is the last column of `rows`, (n, d + 1)."""
        return project_chunk(self.design.standardize(SampleChunk(0, rows[:, :-1], rows[:, -1])), self.frame)

    @property
    def linear(self) -> float:
        """The coefficient c of f(t) = t³ - ct, whose third Hermite moment with x is 6 Σ αᵢ μᵢ⊗μᵢ⊗μᵢ.

        It is 0 in the paper. That moment has expectation 0 for t itself, so any multiple of t may be subtracted to
        lower the variance; with 3 E[t²] t, f is the third Hermite polynomial of t.
        """
        return 0.0 if self.is_paper else 3 * self.power

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint in the frame, (k,)."""
        return Hinted(np.tensordot(self.third_moment, hint, axes=1), self.mean, hint)

    @cached_property
    def third_moment(self) -> Array:
        """W'⊗W'⊗W' Σ αᵢ μᵢ⊗μᵢ⊗μᵢ, (k, k, k)."""
        return self.estimate(self.chunks.sum(sum_moments, slice(None), self.linear, self.frame.values))[1]

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments under a hint in the frame, (k,), of all samples but one group, for each group in turn."""
        groups = leave_one_out(self.chunks, sum_moments, self.linear, self.frame.values)
        second, tensors, mean = map(np.array, zip(*map(self.estimate, groups), strict=True))
        return Replicates(second, np.tensordot(tensors, hint, axes=1), mean)

    def estimate(self, sums: tuple[Any, ...]) -> tuple[Array, Array, Array]:
        """Estimate W'AW, (k, k), the third moment, (k, k, k), and W'm, (k,), from the sums over any of the samples.

        Notes
        -----
        For normal x and T = E[f(t)xxx], 6 Σ αᵢ μᵢ⊗μᵢ⊗μᵢ is T less all three products of E[f(t)x] with the identity
        (paper, Theorem 5). These samples have another mean δ and covariance, by which they would be standardized: S in
        the frame, where that of all samples is D⁻¹. Every index of a moment is multiplied by (SD)⁻¹, and the identity
        becomes S.
        """
        n, *sums_of_products = sums
        levels, means, S, second, third, cubes = (total / n for total in sums_of_products)
        D, n_noise = self.frame.values, self.chunks.n_features - len(self.frame.values)
        delta, mean, squares, first = means
        if self.is_paper:  # x is taken as it is
            delta, S = np.zeros(len(D)), np.diag(self.frame.spread)
        S = S - np.outer(delta, delta)
        back = np.linalg.inv(S * D)
        if self.n_components == 1:  # A = mm'
            mean = back @ mean
            return np.outer(mean, mean), np.ones((1, 1, 1)), mean
        level = levels[0] / 2
        if n_noise:
            level = (levels[1] / 2 - (not self.is_paper) * self.noise_level * (levels[2] - n_noise)) / n_noise
        shift = np.outer(delta, squares)
        second = (second - shift - shift.T) / 2 - level * S
        moved = np.multiply.outer(third, delta) + np.multiply.outer(S, first - levels[3] * delta)
        tensor = (cubes - symmetrize(moved)) / 6
        return back @ second @ back.T, np.einsum("abc,ia,jb,lc->ijl", tensor, *[back] * 3, optimize=True), back @ mean

    def contributions(self, chunk: RegressionChunk, rows: slice) -> Array:
        """Compute weights w of samples, (n, k), with which the average of zw' is A W up to the signal space."""
        Y, t, D = chunk.projected[rows].astype(np.float64, copy=False), chunk.responses[rows, None], self.frame.values
        if self.n_components == 1:  # A = mm'
            return np.asarray(t - Y * D)
        squares = t**2 * Y / 2
        return np.asarray(squares if self.is_paper else squares - Y * (self.noise_level + D) - self.powers[1] / 2)

    def _vary(self, multiply: Callable[[Array, Array], Array]) -> Array:
        """Compute a product of z, (n, r), and their contributions, (n, k), of all samples but one of B groups."""
        detached = replace(self, chunks=self.chunks.detach())

        def sum_rows(chunk: RegressionChunk, rows: slice) -> Array:
            return multiply(chunk.samples[rows], detached.contributions(chunk, rows))

        return np.array(leave_one_out(self.chunks, sum_rows)) / (self.chunks.n_rows * (1 - 1 / self.chunks.n_groups))

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u, u (k,), of all samples but one of B groups, up to vectors of the signal space: (r, B)."""
        return self._vary(lambda Z, weights: (weights @ direction) @ Z).T

    def hint_covariance(self, v: Array) -> Array:
        """Estimate the covariance of the coordinates of slopes v, (r,), in the frame of other samples, (k, k).

        Notes
        -----
        W'A v⊥ is 0 for all samples together, where v⊥ is the part of v outside the signal space; without a group of the
        jackknife it is not.
        """
        outside = self.frame.residual(v[:, None])[:, 0]
        shifts = self._vary(lambda Z, weights: (Z @ outside) @ weights)
        return np.cov(shifts.T, bias=True).reshape(2 * shifts.shape[1:]) * (len(shifts) - 1)


def sum_moments(chunk: RegressionChunk, rows: slice, linear: float, values: Array) -> tuple[Any, ...]:
    """Sum the products of Y, t and f(t) that all moments need."""
    Y, t = chunk.projected[rows].astype(np.float64, copy=False), chunk.responses[rows]
    squares = t**2
    f = (squares - linear) * t
    residual = chunk.squares[rows] - Y**2 @ values  # |z|² outside the signal space
    levels = np.array([squares.sum(), squares @ residual, residual.sum(), f.sum()])
    means = np.stack([np.ones(len(t)), t, squares, f]) @ Y
    return len(t), levels, means, Y.T @ Y, weighted_gram(Y, squares), weighted_gram(Y, f), sum_cubes(Y, Y, f)


def project_chunk(chunk: StandardChunk, frame: Frame) -> RegressionChunk:
    """Project standardized samples onto the frame."""
    Y = frame.whiten(chunk.samples).astype(chunk.samples.dtype, copy=False)
    return RegressionChunk(chunk.first, chunk.samples, chunk.responses, chunk.squares, Y)


def fit_regression(
    chunks: Chunks[SampleChunk], n_components: int, *, paper: bool, seed: int, standardized: Standardized | None = None
) -> RegressionFamily:
    """Find the signal space of a mixture of regressions and project the samples onto it.

    Notes
    -----
    E[y²xx'] = 2A + τ²I with τ² = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), which is E[y²] (paper, Theorem 5). Intercepts enter the
    moments only through τ² and M, because odd moments of x are 0; E[y²x] = 2 Σ αᵢbᵢμᵢ gives them.
    """
    if standardized is None:
        d, identity = chunks.n_features, sp.eye_array(chunks.n_features, format="csr")
        standardized = standardize(
            chunks, Design(np.zeros(d), 0.0, identity, identity) if paper else fit_design(chunks)
        )
    design, samples = standardized
    n, r, k = *samples.shape, n_components
    m, power = (
        sums / n
        for sums in samples.sum(lambda chunk: (chunk.responses @ chunk.samples, chunk.responses @ chunk.responses))
    )
    if not power > 1e-28 * design.offset**2:
        raise SearchError("All responses y are the same. Provide responses that vary.", code="constant_response")
    length = float(np.linalg.norm(m))
    if not paper and k > 1 and power - length**2 <= ROUNDING * power:
        raise SearchError(
            "One regression explains y exactly, so there is nothing for {n_components} to separate. Fit one "
            "({argument}=1).",
            code="one_regression",
            n_components=k,
            argument=Option("n_components"),
        )
    has_moments, level = k <= r, 0.0
    try:
        if k == 1:  # A = mm', and m = E[yx] has far less noise than a fourth moment
            frame = frame_from_eigenpairs(np.array([length**2]), (m / (length or 1.0))[:, None])
        elif has_moments:
            frame, level = fit_frame(samples, power, k, paper=paper, seed=seed)
    except RankError:
        if paper or k == 1:
            raise
        has_moments = False
    if not has_moments:
        frame = Frame(np.eye(r), np.ones(r))

    def sum_powers(chunk: RegressionChunk) -> Array:
        t = chunk.responses
        return np.asarray(np.stack([t, t * t, t * t * t]) @ chunk.projected.astype(np.float64, copy=False))

    projected = samples.map(project_chunk, frame)
    powers = projected.sum(sum_powers) / n
    return RegressionFamily(frame, design, powers, power, level, projected, k, paper, has_moments)


def fit_frame(
    chunks: Chunks[StandardChunk], power: float, n_components: int, *, paper: bool, seed: int
) -> tuple[Frame, float]:
    """Find the signal space, and the level τ²/2 above which eigenvalues of E[y²xx']/2 = A + (τ²/2) I are signal.

    The paper takes the smallest eigenvalue for τ²/2. The average of all r - k noise eigenvalues has a smaller error.
    """
    n, r = chunks.shape
    second = second_moment(chunks, lambda chunk: np.asarray(chunk.responses**2 / (2 * n)))
    values, vectors, _ = top_eigenpairs(second, n_components, seed=seed)
    level = power / 2  # the expectation, if there are no noise eigenvalues
    if paper:
        level = float(-top_eigenpairs(-second, 1, seed=seed).values[0])
    elif r > n_components:
        energy = chunks.sum(lambda chunk: float(chunk.responses**2 @ chunk.squares)) / n
        level = max(energy / 2 - float(values.sum()), 0.0) / (r - n_components)
    return frame_from_eigenpairs(values, vectors, level, precision=chunks.layout.dtype), level


def hint_from_examples(family: RegressionFamily, examples: Array) -> Array:
    """Estimate the coefficients of a few samples, (q, d + 1), in the frame, (k,).

    Notes
    -----
    The paper's hint is the mean of y x, in the frame y Y with Y = D W'x, which is noisy because x is. Least squares on
    Y, which has only k columns, gives the coefficients themselves; with a ridge, a single sample still gives the
    paper's direction.
    """
    chunk, k = family.read(examples), family.frame.n_components
    Y, t = chunk.projected * family.frame.values, chunk.responses
    if not family.is_paper and len(t) > k + 1:  # fewer samples do not determine an intercept besides the coefficients
        t = t - t[0]  # makes responses of identical samples exactly zero, without rounding
        Y, t = Y - Y.mean(axis=0), t - t.mean()
    ridge = 0.1 * float(np.mean(t**2))
    # Without a ridge, what rounding leaves of Y would decide.
    hint = np.linalg.solve(Y.T @ Y + ridge * np.eye(k), Y.T @ t) if ridge > 0 else np.zeros(k)
    if not hint.any():
        raise HintError(
            "The examples do not determine any coefficients: all of them are the same, or every response is zero. Give "
            "examples that differ in X and in y.",
            code="examples_uninformative",
        )
    return np.asarray(hint)


# ---- Likelihood -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FeatureChunk(Chunk):
    """Samples as EM sees them."""

    features: Array  # 1 if there are intercepts, standardized x and the response, (n, q + 1)


class RegressionParameters(NamedTuple):
    """A mixture of regressions."""

    weights: Array  # (k,)
    coefficients: Array  # of all features but the response, (k, q)
    variances: Array  # of the noise, (k,)
    centers: Array | None = None  # of x, (k, r), in a joint model
    factors: Array | None = None  # F, (k, r, r): FF' inverts the covariance of x


@dataclass(frozen=True)
class RegressionModel:
    """The likelihood of y given x, or of x and y together if every component has its own Gaussian of x."""

    has_intercepts: bool
    min_variance: float  # of the noise
    n_dims: int = 1  # 1 + r in a joint model
    anchor: Array | None = None  # coefficients, (k, q), from which an M-step is a gradient step

    @property
    def is_joint(self) -> bool:
        """Whether every component has a Gaussian of x."""
        return self.n_dims > 1

    @property
    def name(self) -> str:
        """The name of the model in warnings."""
        return "a regression with normal noise" + ("" if self.is_joint else " whose x is like that of the others")

    def read(self, chunk: RegressionChunk) -> FeatureChunk:
        """Return the features of samples."""
        ones = np.ones((chunk.n_rows, int(self.has_intercepts)))
        return FeatureChunk(chunk.first, np.column_stack([ones, chunk.samples, chunk.responses]))

    def log_density(self, chunk: FeatureChunk, params: RegressionParameters) -> Array:
        """Compute log αᵢ + log N(y; ⟨x, βᵢ⟩, σᵢ²), (n, k), and in a joint model + log N(x; mᵢ, Sᵢ)."""
        volumes = np.log(2 * np.pi * params.variances)
        if params.factors is not None:
            volumes = volumes - 2 * np.log(np.einsum("kii->ki", params.factors)).sum(axis=1)
        return np.asarray(np.log(params.weights) - 0.5 * (volumes + self.squares(chunk, params)))

    def squares(self, chunk: FeatureChunk, params: RegressionParameters) -> Array:
        """Compute (y - ⟨x, βᵢ⟩)² / σᵢ², (n, k), and in a joint model + (x - mᵢ)'Sᵢ⁻¹(x - mᵢ)."""
        squares = np.asarray(compute_residuals(chunk, params.coefficients) ** 2 / params.variances)
        if params.centers is None or params.factors is None:
            return squares
        Z, pairs = chunk.features[:, 1:-1], zip(params.centers, params.factors, strict=True)
        of_x = [np.sum(((Z - center) @ factor) ** 2, axis=1) for center, factor in pairs]
        return np.asarray(squares + np.stack(of_x, axis=1))

    def statistics(self, chunk: FeatureChunk, resp: Array) -> Array:
        """Sum 1 and the products of all features, weighted by responsibilities, (k, 1 + (q + 1)²)."""
        if self.anchor is not None:
            residuals = compute_residuals(chunk, self.anchor)
            weighted = resp * residuals
            return np.column_stack([resp.sum(axis=0), (weighted * residuals).sum(axis=0), weighted.T @ chunk.features])
        scaled = (chunk.features * np.sqrt(column)[:, None] for column in resp.T)  # half the time of X'(wX)
        return np.column_stack([resp.sum(axis=0), np.stack([(X.T @ X).ravel() for X in scaled])])

    def m_step(self, statistics: Array, weights: Array) -> RegressionParameters:
        """Compute weighted least squares, or a gradient step."""
        sizes = np.maximum(statistics[:, 0], TINY)
        if self.anchor is not None:
            gradient = statistics[:, 2:-1]
            coefficients = self.anchor + gradient / sizes[:, None]
            squares = statistics[:, 1] - np.sum(gradient**2, axis=1) / sizes
        else:
            gram = unpack_gram(statistics)
            G, g, q = gram[:, :-1, :-1], gram[:, :-1, -1], gram.shape[1] - 1
            ridge = ROUNDING * np.trace(G, axis1=1, axis2=2) / q + np.sqrt(TINY)
            coefficients = np.linalg.solve(G + ridge[:, None, None] * np.eye(q), g[:, :, None])[:, :, 0]
            explained = np.sum(coefficients * (2 * g - np.einsum("kij,kj->ki", G, coefficients)), axis=1)
            squares = gram[:, -1, -1] - explained
        variances = np.maximum(squares / sizes, self.min_variance)
        variances = np.maximum(variances, TUNING.min_variance * (weights @ variances))
        params = RegressionParameters(np.maximum(weights, TINY), coefficients, variances)
        return self._add_gaussians(params, gram, sizes) if self.is_joint else params

    def _add_gaussians(self, params: RegressionParameters, gram: Array, sizes: Array) -> RegressionParameters:
        """Add the mean and covariance of x in every component, shrunk towards the average by r + 2 samples."""
        r, sizes = gram.shape[1] - 2, sizes[:, None, None]
        centers = gram[:, 0, 1:-1] / sizes[:, :, 0]
        covariances = gram[:, 1:-1, 1:-1] / sizes - np.einsum("ki,kj->kij", centers, centers)
        average = np.sum(sizes * covariances, axis=0) / sizes.sum() + TUNING.min_variance * np.eye(r)
        covariances = (sizes * covariances + (r + 2) * average) / (sizes + r + 2)
        factors = np.linalg.inv(np.linalg.cholesky(covariances)).swapaxes(1, 2)
        return params._replace(centers=centers, factors=factors)

    def random_start(
        self, chunk: FeatureChunk, params: RegressionParameters, rng: np.random.Generator
    ) -> RegressionParameters:
        """Draw lines through a few samples each, which the lines before do not explain; or k samples, far apart."""
        features, k = chunk.features, len(params.weights)
        if self.is_joint:
            return draw_start(self, chunk, features / self.units(features), k, rng)
        (n, size), noise = features.shape, TUNING.start_noise * float(np.var(features[:, -1]))
        lines, unexplained = [], np.full(n, np.inf)
        for _ in range(k):
            odds = np.minimum(unexplained, noise) + 1e-9 * noise  # bounded: an outlier must not be in every draw
            rows = rng.choice(n, size=min(size + 1, n), replace=False, p=odds / odds.sum())
            lines.append(np.linalg.lstsq(features[rows, :-1], features[rows, -1], rcond=1e-9)[0])
            unexplained = np.minimum(unexplained, (features[:, -1] - features[:, :-1] @ lines[-1]) ** 2)
        return RegressionParameters(np.full(k, 1 / k), np.array(lines), np.full(k, noise))

    def units(self, features: Array) -> Array:
        """Return the deviations of features, (q + 1,)."""
        return np.asarray(np.sqrt(features.var(axis=0) + self.min_variance))

    def scores(self, chunk: FeatureChunk, params: RegressionParameters, component: int) -> Array:
        """Compute the scores by coefficients and by log σ², (n, q + 1)."""
        residuals = compute_residuals(chunk, params.coefficients)[:, component]
        variance = params.variances[component]
        by_coefficients = chunk.features[:, :-1] * (residuals / variance)[:, None]
        return np.column_stack([by_coefficients, 0.5 * (residuals**2 / variance - 1)])

    def information(self, statistics: Array, params: RegressionParameters, component: int) -> Array:
        """Compute the information of known members about coefficients and log σ², (q + 1, q + 1)."""
        information: Array = unpack_gram(statistics[[component]])[0] / params.variances[component]
        information[-1], information[:, -1] = 0, 0
        information[-1, -1] = statistics[component, 0] / 2
        return information


def compute_residuals(chunk: FeatureChunk, coefficients: Array) -> Array:
    """Compute y - ⟨x, βᵢ⟩, (n, k); one row per component in memory, since sums over few columns are slow."""
    signed = np.column_stack([-coefficients, np.ones(len(coefficients))])
    return np.asarray(signed @ chunk.features.T).T


def unpack_gram(statistics: Array) -> Array:
    """Return the weighted products of all features, (k, q + 1, q + 1)."""
    size = int(np.sqrt(statistics.shape[1] - 1))
    return np.array(statistics[:, 1:].reshape(len(statistics), size, size))


# ---- Refinement -----------------------------------------------------------------------------------------------------


def moment_regressions(family: RegressionFamily, candidates: Candidates) -> RegressionParameters:
    """Compute all candidates as regressions: the value at the mean of x, and the slopes in the signal space.

    Notes
    -----
    ⟨u₁, W'Σ αᵢbᵢμᵢ⟩ = √α₁b₁ gives the level, and ⟨u₁, W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ⟩ the noise variance.
    """
    slopes = np.sqrt(family.frame.values)[:, None] * candidates.points
    levels = candidates.points.T @ family.intercepts * (not family.is_paper)
    explained = np.sum(slopes**2, axis=0)
    variances = np.maximum(candidates.points.T @ family.powers[2] / 3 - explained - levels**2, 1e-3 * explained)
    return RegressionParameters(candidates.weights, np.column_stack([levels, slopes.T]), variances)


def make_model(family: RegressionFamily) -> RegressionModel:
    """Return the likelihood."""
    return RegressionModel(not family.is_paper, MIN_NOISE * family.power)


def clip_regressions(family: RegressionFamily, candidates: Candidates) -> RegressionParameters:
    """Compute all candidates as the model takes them, none with too little weight or noise."""
    weights, coefficients, variances = moment_regressions(family, candidates)[:3]
    weights = np.maximum(weights, EM.min_start_weight / len(weights))
    # No component can explain more than all of y.
    excess = np.maximum(np.sqrt(np.sum(coefficients[:, 1:] ** 2, axis=1) * weights / family.power), 1.0)
    slopes = coefficients[:, 1:] / excess[:, None] @ family.frame.basis.T
    coefficients = slopes if family.is_paper else np.column_stack([coefficients[:, :1], slopes])
    variances = np.clip(variances, TUNING.start_noise * family.power, family.power)
    return RegressionParameters(weights / weights.sum(), coefficients, variances)


def start_em(family: RegressionFamily) -> tuple[RegressionModel, list[RegressionParameters]]:
    """Return the likelihood, and all components as moments show them, or lines through a few samples."""
    k, model = family.n_components, make_model(family)
    if family.has_moments:
        return model, [clip_regressions(family, all_components(family.third_moment, family.mean))]
    chunk = thin_rows(family.chunks, k).map(model.read).chunk
    empty = RegressionParameters(np.zeros(k), np.zeros((k, 0)), np.zeros(k))
    return model, [model.random_start(chunk, empty, np.random.default_rng(1))]


def fit_regressions(
    family: RegressionFamily, model: RegressionModel, rows: Chunks[FeatureChunk], starts: list[RegressionParameters]
) -> Fit[RegressionParameters]:
    """Fit the whole mixture by EM.

    Starts are drawn at random too if moments are unreliable, or samples are few: then the likelihood has many maxima.

    Notes
    -----
    With many features, EM begins with gradient steps, which cost n q instead of n q²: standardized x has the second
    moment I, and nearly so in each component, so that nαᵢI stands for the weighted products of features.
    """
    restart = not family.has_moments or family.misfit is not None or rows.n_rows <= EM.min_subset
    if not family.is_wide:
        return fit_mixture(model, rows, starts, restart=restart)
    if restart:
        starts = [fit_mixture(model, thin_rows(rows, family.n_components).collect(), starts, restart=True).params]
    start, before = starts[0], -np.inf
    for _ in range(EM.max_iter):
        following, log_likelihood = em_step(replace(model, anchor=start.coefficients), rows, start)
        if log_likelihood - before < EM.tol:
            break
        start, before = following, log_likelihood
    return run_em(model, rows, start)


def complete_mixture(
    family: RegressionFamily, model: RegressionModel, rows: Chunks[Any], fit: Fit[RegressionParameters]
) -> RefinedMixture[RegressionParameters]:
    """Add the coefficients in the user's units to a fitted mixture, and test whether samples follow it.

    Notes
    -----
    The variance of residuals does not depend on x: that of two lines taken for one does. Without Gaussians of x the
    weights do not, either: clusters of (x, y) look like lines to the residuals alone.
    """
    params, first, k = fit.params, int(model.has_intercepts), len(fit.params.weights)
    chunk = thin_rows(rows, k).chunk
    p_values = fit_p_values(model, chunk, params)
    if not model.is_joint:
        resp, Z = posterior(model, chunk, params), chunk.features[:, first:-1]
        of_spread = test_independence(Z, resp * (model.squares(chunk, params) - 1))
        of_weights = k * test_independence(Z, resp).min() if k > 1 else 1.0
        p_values = np.minimum(3 * np.minimum(np.minimum(p_values, of_spread), of_weights), 1.0)
    p_values[params.variances <= 2 * model.min_variance] = 1.0  # no noise, whose distribution could be wrong
    coefficients = np.asarray(family.design.whitener @ params.coefficients[:, first:].T).T
    return RefinedMixture(model, fit, coefficients, p_values, np.arange(k))


def test_independence(Z: Array, values: Array) -> Array:
    """Test whether values, (n, q), are correlated with x, (n, r), or with x and its products: p-values, (q,)."""
    one, other = np.triu_indices(Z.shape[1])
    designs = [Z] if Z.shape[1] > TUNING.max_features else [Z, np.hstack([Z, Z[:, one] * Z[:, other]])]
    p_values = np.empty((len(designs), values.shape[1]))
    for row, X in enumerate(designs):
        for column, value in enumerate(values.T):
            products = (X - X.mean(axis=0)) * (value - value.mean())[:, None]
            total, precision = products.sum(axis=0), np.linalg.pinv(products.T @ products, rcond=1e-9, hermitian=True)
            p_values[row, column] = chdtrc(len(total), total @ precision @ total)
    return np.asarray(len(designs) * p_values.min(axis=0))


def count_regressions(fit: Callable[[int], RegressionFamily]) -> int:
    """Choose the number of regressions by BIC, on a subset of the samples."""
    values = [-np.inf]
    for k in range(1, TUNING.max_counted + 1):
        family = fit(k)
        model, starts = start_em(family)
        rows = thin_rows(family.chunks, 1).map(model.read).collect()
        # In many dimensions, lines through that many samples are never those of one component.
        mixture = run_em(model, rows, starts[0]) if family.is_wide else fit_mixture(model, rows, starts, restart=True)
        n_parameters = k * (mixture.params.coefficients.shape[1] + 2) - 1
        values.append(mixture.log_likelihood - 0.5 * n_parameters * np.log(rows.n_rows))
        if values[-1] < values[-2] or mixture.params.variances.max() <= 2 * model.min_variance:
            break
    return int(np.argmax(values))


# ---- Refinement with examples ---------------------------------------------------------------------------------------


def is_near(model: RegressionModel, chunk: FeatureChunk, params: RegressionParameters) -> Array:
    """Find the examples that are not outliers: some component is near, (q,)."""
    return np.asarray(model.squares(chunk, params).min(axis=1) < TUNING.max_square)


def fit_gaussians(
    model: RegressionModel,
    lines: RegressionParameters,
    rows: Chunks[FeatureChunk],
    held: Held,
    index: int,
) -> Fit[RegressionParameters]:
    """Fit a joint model with examples held, from the lines and from samples near the examples and near others."""
    features, k, rng = rows.chunk.features, len(lines.weights), np.random.default_rng(0)
    resp, units = posterior(model, rows.chunk, lines), model.units(features)
    starts = [model.m_step(model.statistics(rows.chunk, resp), resp.mean(axis=0))]
    for _ in range(TUNING.n_joint_starts):
        centers = features[rng.choice(rows.n_rows, size=k, replace=False)]
        centers[index] = held.chunk.features[held.allowed[:, index]].mean(axis=0)
        starts.append(start_near(model, rows.chunk, features / units, centers / units))
    return fit_mixture(model, rows, starts, held)


def measure_lift(model: RegressionModel, params: RegressionParameters, held: Held, index: int) -> float:
    """Compute how much likelier examples are members than any sample: the mean of log(membership / weight)."""
    memberships = posterior(model, held.chunk, params)[held.allowed[:, index], index]
    # A single one must not decide.
    return float(np.mean(np.log(np.maximum(memberships, 1e-3))) - np.log(params.weights[index]))


# ---- The answer -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class RegressionComponent(MixtureComponent):
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
        The prediction at x = 0; 0 with ``preset="paper"``.
    noise_variance : float
        The variance of y around the regression.
    is_joint : bool
        Whether a refined answer also has a Gaussian of x for each component.

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
    _refined: Any = field(default=None, kw_only=True)

    def _to_features(self, points: Array) -> Array:
        return np.asarray(self._family.design.whitener @ points)

    @cached_property
    def _regression(self) -> tuple[Array, float]:
        """The coefficients of all features, (q,), and the noise variance."""
        if self._refined:
            params, index = self._refined.params, self._index
        else:
            params, index = moment_regressions(self._family, self._candidates), self._rank
        return params.coefficients[index], float(params.variances[index])

    @property
    def intercept(self) -> float:
        """The prediction at x = 0."""
        if self._family.is_paper:
            return 0.0
        design = self._family.design
        return design.offset + float(self._regression[0][0]) - float(design.center @ self.center)

    @property
    def noise_variance(self) -> float:
        """The variance of y around the regression; from moments, at least a thousandth of what it explains."""
        return self._regression[1]

    @property
    def is_joint(self) -> bool:
        """Whether a refined answer also has a Gaussian of x for each component."""
        return bool(self._refined and self._refined.model.is_joint)

    @property
    def coefficients(self) -> dict[str, float]:
        """The coefficients by the names of their columns; x0, x1, ... if the fit saw no names."""
        names = self._feature_names or [f"x{column}" for column in range(len(self.center))]
        return dict(zip(names, self.center.tolist(), strict=True))

    @property
    def moment_estimate(self) -> Self:
        """The estimate from moments alone, before EM."""
        self._family.check_moments()
        return super().moment_estimate

    def predict(self, X: SamplesLike) -> Array:
        """Compute ⟨x, center⟩ + intercept for each sample.

        Parameters
        ----------
        X : array of shape (n, d)
            Samples with the features of the fit.

        Returns
        -------
        array of shape (n,)
        """
        return np.asarray(check_samples(X, len(self.center), self._feature_names) @ self.center) + self.intercept

    def membership(self, X: SamplesLike, y: ArrayLike) -> Array:  # type: ignore[override]
        """Compute the probability that each sample (x, y) belongs to this component.

        Parameters
        ----------
        X : array of shape (n, d)
            Samples with the features of the fit.
        y : array of shape (n,)
            Their responses.

        Returns
        -------
        array of shape (n,)

        Notes
        -----
        Before refinement, the components are those of the moments, with more noise: memberships are rough.
        """
        chunk = self._family.read(join_responses(X, y, len(self.center), self._feature_names))
        if self._refined:
            model, params, index = self._refined.model, self._refined.params, self._index
        else:
            model, params = make_model(self._family), clip_regressions(self._family, self._candidates)
            index = self._rank
        return posterior(model, model.read(chunk), params)[:, index]

    def _moment_membership(self, X: Samples) -> Array:
        raise NotImplementedError

    def _membership_of(self, examples: Array) -> Array:
        """Compute the membership of examples, (q, d + 1): none for outliers."""
        memberships = self.membership(examples[:, :-1], examples[:, -1])
        if self._refined:
            model, params = self._refined.model, self._refined.params
            memberships = memberships * is_near(model, model.read(self._family.read(examples)), params)
        return memberships

    def _rows_to_rank(self) -> Array | None:
        if self._examples is None:
            return None
        chunks = self._family.chunks
        chunk, design = chunks.thin(-(-chunks.n_rows // MAX_RANKED)).chunk, self._family.design
        return np.column_stack([design.center + chunk.samples @ design.unwhitener, chunk.responses + design.offset])

    # ---- Errors ----

    @property
    def _hint_in_features(self) -> Array | None:
        return None if self._hint is None else np.asarray(self._family.design.unwhitener.T @ self._hint)

    @property
    def _hint_variance(self) -> float:
        """The variance that comes from the covariance of x."""
        slopes = self._family.design.unwhitener @ self.center
        return float(slopes @ slopes) * float(self._hint @ self._hint) / self._family.chunks.n_rows

    def _moment_errors(self) -> StandardErrors:
        """Estimate the errors by the jackknife, and widen that of the weight.

        Notes
        -----
        The error of a sixth moment depends on a few large samples. Without them, both the weight and the spread over
        groups are too small.
        """
        errors = super()._moment_errors()
        return errors._replace(weight=TUNING.weight_error * errors.weight)

    def _refined_errors(self, refined: RefinedMixture[Any]) -> StandardErrors:
        first = int(not self._family.is_paper)
        covariance = self._estimate_covariance()
        axes = self._to_features(np.eye(refined.params.coefficients.shape[1] - first))
        q = first + axes.shape[1]
        variances = np.einsum("ja,ab,jb->j", axes, covariance[first:q, first:q], axes)
        return StandardErrors(np.sqrt(np.maximum(variances, 0)), float(np.sqrt(covariance[-1, -1])))

    def _trust_facts(self) -> list[tuple[str, str]]:
        return super()._trust_facts() if self._family.has_moments else []

    def _card(self) -> Card:
        card = super()._card()
        if self._feature_names is not None:
            listed = [f"{name} {plain_number(value)}" for name, value in list(self.coefficients.items())[:6]]
            card.facts[-1] = ("coefficients", ", ".join(listed) + (", ..." if len(self.center) > 6 else ""))
        noise = ("noise variance", plain_number(self.noise_variance))
        return replace(card, facts=[*card.facts, ("intercept", plain_number(self.intercept)), noise])


def join_responses(X: Any, y: Any, n_features: int, names: Any) -> Array:
    """Check samples and their responses, and return both in one array with y as the last column, (n, d + 1)."""
    samples = check_samples(X, n_features, names)
    with as_search_errors():
        checked, responses = check_X_y(samples, y, dtype=FLOAT_DTYPES, y_numeric=True)
    responses = np.asarray(responses, dtype=np.float64)
    check_magnitude(checked)
    check_magnitude(responses)
    return np.column_stack([checked, responses])


# ---- The estimator --------------------------------------------------------------------------------------------------


class RegressionSearch(MixtureSearch[RegressionFamily]):
    """Find one regression of a mixture from rough coefficients or a few of its samples.

    Parameters
    ----------
    n_components : int or "auto", default=2
        k, the number of regressions. Moments separate at most as many as there are independent features, and often
        fewer if there are few samples. More, such as two lines on one feature, need ``refine=True``. "auto" chooses up
        to 5 by BIC.
    preset : {"default", "paper"}, default="default"
        By default X is standardized by its own mean and covariance, every regression has an intercept, and the moments
        have less variance. "paper" makes the paper's choices: standard normal X, no intercept, the smallest singular
        value for τ² and plain third powers. Moments are exact for normal X only.
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
        preset: Preset = "default",
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.preset = preset
        self.random_state = random_state

    def fit(self, X: SamplesLike, y: ArrayLike) -> Self:
        """Fit the mixture.

        Parameters
        ----------
        X : array or Dask array of shape (n, d)
            Samples.
        y : array or Dask array of shape (n,)
            Their responses.

        Returns
        -------
        self
        """
        chunks, is_paper = self._check_chunks(X, y), self._is_paper()
        minimum, d, standardized = check_n_components(self.n_components), chunks.n_features, None
        check_n_samples(chunks, max(0 if is_paper else d, minimum) + 1, f"{minimum} regressions on {d} features")
        self._forget("outliers_", "noise_variance_")
        if not is_paper:
            n_samples = chunks.n_rows
            self.outliers_, chunks, standardized = find_regression_outliers(chunks)
            warn_about_outliers(self.outliers_, n_samples)
        fit = partial(fit_regression, chunks, seed=self._draw_seed(), standardized=standardized)
        k = count_regressions(partial(fit, paper=False)) if self.n_components == AUTO else minimum
        self._family, self._shared = fit(k, paper=is_paper), {}
        if self._family.has_moments:
            self.noise_variance_ = self._family.noise_variance
        return self

    def _check_chunks(self, X: Any, y: Any = None) -> Chunks[SampleChunk]:
        """Check the samples and responses of a fit: in memory, or where their chunks are."""
        if is_dask(X):
            chunks: Chunks[SampleChunk] = load_dask().sample_chunks(X, y)
            self._set_features(chunks)
            return chunks
        with as_search_errors():
            samples, responses = validate_data(self, X, y, dtype=FLOAT_DTYPES, y_numeric=True)
        responses = np.asarray(responses, dtype=np.float64)
        check_magnitude(samples)
        check_magnitude(responses)
        return chunk_in_memory(samples, responses)

    def _check_some(self, examples: Any) -> Array:
        """Check a pair (X, y), and return it with y as the last column, (q, d + 1)."""
        if not isinstance(examples, tuple | list) or len(examples) != 2:
            raise HintError(
                "Examples must be a pair (X, y): samples of the regression and their responses.",
                code="examples_not_pair",
            )
        return join_responses(examples[0], examples[1], self.n_features_in_, self._get_feature_names())

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: tuple[SamplesLike, ArrayLike] | None = None,
        not_examples: tuple[SamplesLike, ArrayLike] | None = None,
        refine: bool = False,
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
            that the mixture contradicts are held in their component. If X depends on the component, examples are
            always held, and each component also gets a Gaussian of X if the examples are likelier members then.

        Returns
        -------
        RegressionComponent
        """
        check_choice("refine", refine, (True, False))
        check_is_fitted(self)
        family = self._family
        if not refine:
            family.check_moments()
        # 1) the hint: coefficients, or those of the examples
        positive: Any
        negative: Any
        positive, negative = self._check_examples(hint, examples, not_examples)
        v = None
        if positive is None:
            v = np.asarray(family.design.unwhitener @ hint_from_direction(hint, self.n_features_in_))
            check_not_orthogonal(family.frame, v, scale=float(np.linalg.norm(v)))
            c = family.frame.project_hint(v)
        else:
            c = hint_from_examples(family, positive)
            c = c if negative is None else c - hint_from_examples(family, negative)
        # 2) the third moment contracted with the hint, and one eigenvector (Algorithm 1)
        component = find_component(
            RegressionComponent,
            family,
            c,
            rehint=not family.is_paper,
            _hint=v,
            _examples=positive,
            _search=partial(self._search_again, not_examples=not_examples, refine=refine),
            _feature_names=self._get_feature_names(),
        )
        # 3) optionally, maximum likelihood from there
        if refine:
            component = self._refine(component, negative)
        # 4) reasons not to trust the answer
        unreliable = [] if refine or family.misfit is None else [family.misfit]
        return add_warnings(component, [*unreliable, *find_warnings(component)])

    def _search_again(self, *, examples: Array, **options: Any) -> RegressionComponent:
        """Search with other examples, which have y as the last column."""
        return self.search(examples=(examples[:, :-1], examples[:, -1]), **options)

    def _start_em(self) -> tuple[RegressionModel, list[RegressionParameters]]:
        return start_em(self._family)

    def _complete(self, model: Any, rows: Chunks[Any], fit: Fit[RegressionParameters]) -> RefinedMixture[Any]:
        return complete_mixture(self._family, model, rows, fit)

    def _fit_mixture(self) -> RefinedMixture[Any]:
        model, starts = self._start_em()
        rows = self._read_rows(model)
        return self._complete(model, rows, fit_regressions(self._family, model, rows, starts))

    def _choose_by_examples(self, mixture: Any, positive: Any, negative: Any) -> RefinedMixture[Any]:
        """Choose the component, and give each a Gaussian of x if the examples are likelier members then."""
        # 1) the component under which the examples are likeliest; an outlier among them must not choose it
        family, model = self._family, mixture.model
        pairs: list[Any] = [positive] if negative is None else [positive, negative]
        near = [is_near(model, self._read(model, rows), mixture.params) for rows in pairs]
        pairs = [rows[mask] if mask.any() else rows for rows, mask in zip(pairs, near, strict=True)]
        lines = super()._choose_by_examples(mixture, pairs[0], None if negative is None else pairs[1])
        if family.n_components == 1 or family.is_paper or family.is_wide or len(pairs[0]) == 1:
            return lines
        rows, index, k = self._read_rows(model), int(lines.order[0]), family.n_components
        subset = thin_rows(rows, k).collect()
        Z, resp = subset.chunk.features[:, 1:-1], posterior(model, subset.chunk, lines.params)
        if k * test_independence(Z, resp).min() >= TUNING.max_independence:
            return lines
        # 2) EM with examples held, from the lines and from samples near the examples
        joint = replace(model, n_dims=1 + family.chunks.n_features)
        chunks = [self._read(model, pair) for pair in pairs]
        joints = [model.log_density(chunk, lines.params) for chunk in chunks]
        held: Any = hold_examples(chunks, joints, index, always=True)
        fit = fit_gaussians(joint, lines.params, subset, held, index)
        # 3) in which of both the examples are likelier members
        if measure_lift(joint, fit.params, held, index) <= measure_lift(model, lines.params, held, index):
            return lines
        fit = fit if subset.n_rows == rows.n_rows else run_em(joint, rows, fit.params, held)
        return replace(self._complete(joint, rows, fit), order=lines.order)

    def _refine(self, component: Any, negative: Samples | None) -> Any:
        mixture = self._get_mixture()
        if component._examples is not None:
            mixture = self._choose_by_examples(mixture, component._examples, negative)
        slopes = self._family.design.unwhitener @ mixture.centers.T
        return order_by_hint(component, mixture, self._family.frame.whiten(slopes.T).T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.target_tags.required = True
        return tags
