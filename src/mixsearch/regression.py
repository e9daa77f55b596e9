"""Mixtures of linear regressions: find one of them from rough coefficients or a few of its samples.

The model (paper, section 3.3): y = ⟨x, μᵢ⟩ + bᵢ + noise of variance σᵢ² with probability αᵢ, for x ~ N(0, I). Other x
are standardized first, and the answer is mapped back. A refined search also tries the model in which each component has
a Gaussian of x besides its regression, and takes it if it predicts left-out examples better.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.special import chdtrc, expit, ndtr
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.check import MAX_DISAGREEMENT, Check, check_answer
from mixsearch.core.component import Component, add_warnings
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.estimator import BaseSearch, RandomState
from mixsearch.core.extraction import (
    Candidates,
    Extraction,
    all_components,
    extract_with_rehint,
    prefer,
)
from mixsearch.core.family import Preset
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project
from mixsearch.core.jackknife import StandardErrors, jackknife, replicate_component
from mixsearch.core.moments import (
    Hinted,
    Replicates,
    centered_sums,
    rotate,
    sample_mean_of,
    second_moment,
    squared_distances,
    sum_cubes,
    symmetrize,
    weighted_gram,
    weighted_sums,
)
from mixsearch.core.outliers import MAX_ROUNDS, Outliers, find_far, isolated_rows
from mixsearch.core.rows import (
    Chunk,
    Chunks,
    SampleChunk,
    chunk_in_memory,
    is_dask,
    leave_one_out,
    load_dask,
    row_slices,
    spread_over_groups,
    sum_chunks,
)
from mixsearch.core.validation import (
    AUTO,
    FLOAT_DTYPES,
    check_magnitude,
    check_n_components,
    check_n_samples,
    check_not_orthogonal,
    check_one_hint,
    check_samples,
    hint_from_direction,
)
from mixsearch.display import Card, plain_number
from mixsearch.errors import HintError, Option, RankError, SearchError, SearchWarning, UnlikelyMixtureWarning, warn_user
from mixsearch.graph.affinity import build_affinity, select_mixture
from mixsearch.graph.members import choose_left_out, find_members, rank_left_out
from mixsearch.graph.pagerank import PageRank
from mixsearch.graph.tuning import TUNING as GRAPH
from mixsearch.mixture.check import check_fit, choose_component, hold_examples, test_rows
from mixsearch.mixture.em import (
    EMOptions,
    Fit,
    Held,
    check_em_options,
    clip_weight,
    em_step,
    fit_mixture,
    posterior,
    posterior_of_two,
    run_em,
)
from mixsearch.mixture.errors import estimate_covariance
from mixsearch.mixture.search import MixtureCache
from mixsearch.mixture.tuning import TUNING as EM


@dataclass(frozen=True)
class Tuning:
    """Chosen on the development sets of benchmarks/labelled_regressions.py and on drawn lines; reported on others."""

    max_skewness: float = 0.15  # of x, with which moments are still reliable,
    max_kurtosis: float = 0.1  # and its excess kurtosis
    total_weights: tuple[float, float] = (0.5, 2.0)  # of all components from moments, which are then reliable
    min_start_weight: float = 0.2  # of a component where EM starts, relative to an even weight,
    start_noise: float = 0.05  # and its noise variance, relative to that of y
    min_variance: float = 0.01  # of the noise and of x in a component, relative to the average component
    max_features: int = 20  # with more, M-steps are gradient steps, and components have no Gaussian of x
    n_rough: int = 20_000  # samples that EM begins with then
    max_square: float = 50.0  # squared residual of an example, relative to the noise, beyond which it is an outlier
    max_independence: float = 0.2  # p-value below which x may depend on the component
    n_joint_starts: int = 5  # of EM with Gaussians of x, near the examples
    min_gain: float = 0.02  # nats by which Gaussians of x must predict left-out examples better
    left_out_iter: int = 2  # iterations of EM after an example is left out
    graph_lead: float = 0.1  # of the mean rank of left-out examples in the graph, where the groups are clusters
    min_graph_examples: int = 5  # fewer do not show it
    max_graph_rows: int = 1_000  # rows of that graph
    min_membership: float = 1e-3  # of a left-out example: a single one must not decide
    max_counted: int = 5  # regressions that BIC compares


TUNING = Tuning()
# Rounding: of a correlation, of what one regression leaves of y, of least squares, and of the noise relative to y.
MIN_CORRELATION, MIN_UNEXPLAINED, RIDGE, MIN_NOISE = 1e-12, 1e-12, 1e-12, 1e-8

# ---- The design: x standardized, and coefficients mapped back -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Design:
    """The map from the user's x to a standardized one, z = (x - center) M, of r independent coordinates.

    With U and Λ the eigenpairs of the correlations of columns and s their deviations, M = diag(1/s) U Λ^(-1/2). If
    columns depend on each other, Λ has only the r positive eigenvalues: then M β are the smallest coefficients, in
    units of the columns' deviations, of all that give the same predictions.
    """

    center: Array  # (d,)
    whitener: Array | None = None  # M, (d, r); None for the identity
    unwhitener: Array | None = None  # (r, d), from z to x - center

    @property
    def n_coordinates(self) -> int:
        """The dimension r of standardized x."""
        return len(self.center) if self.whitener is None else self.whitener.shape[1]

    def standardize(self, X: Samples) -> Array:
        """Compute z, (n, r)."""
        return np.asarray(X) if self.whitener is None else project(X, self.whitener, self.center)

    def to_coefficients(self, slopes: Array) -> Array:
        """Map slopes for z, (r,) or (r, q), to coefficients of x, (d,) or (d, q)."""
        return slopes if self.whitener is None else np.asarray(self.whitener @ slopes)

    def to_slopes(self, coefficients: Array) -> Array:
        """Map coefficients of x, (d,) or (d, q), to slopes for z, (r,) or (r, q)."""
        return coefficients if self.unwhitener is None else np.asarray(self.unwhitener @ coefficients)

    def standardize_sums(self, sums: Array) -> Array:
        """Compute Σ z w', (r, q), from Σ (x - center) w', (d, q)."""
        return sums if self.whitener is None else np.asarray(self.whitener.T @ sums)


def fit_design(chunks: Chunks[SampleChunk]) -> Design:
    """Estimate the mean and the covariance of x."""
    n, rough_mean = chunks.n_rows, sample_mean_of(chunks)

    def sum_chunk(chunk: SampleChunk) -> tuple[Array, Array]:
        def sum_rows(rows: slice) -> tuple[Array, Array]:
            centered = chunk.samples[rows] - rough_mean  # in double precision
            return centered.sum(axis=0), centered.T @ centered

        return sum_chunks(sum_rows, row_slices(chunk.n_rows))

    total, squares = chunks.sum(sum_chunk)
    # The mean of many samples is rounded. Without this correction a constant column would seem to vary.
    center, covariance = rough_mean + total / n, squares / n - np.outer(total / n, total / n)
    # Columns may have any units, so their correlations decide whether they depend on each other.
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0))
    is_constant = deviations <= np.finfo(chunks.layout.dtype).eps * np.abs(center)
    inverse = np.where(is_constant, 0.0, 1 / np.where(is_constant, 1.0, deviations))
    values, vectors = np.linalg.eigh(covariance * np.outer(inverse, inverse))
    positive = values > MIN_CORRELATION * max(float(values[-1]), 1.0)
    if not positive.any():
        raise SearchError("All columns of X are constant. Provide columns that vary.", code="constant_features")
    root, axes = np.sqrt(values[positive]), vectors[:, positive]
    return Design(center, inverse[:, None] * axes / root, root[:, None] * axes.T * deviations)


@dataclass(frozen=True)
class StandardizedChunk(Chunk):
    """Standardized samples."""

    samples: Array  # z, (n, r)
    responses: Array  # t = y - offset, (n,)
    original: Samples  # x, (n, d)


class Standardized(NamedTuple):
    """Standardized samples, with the map from the user's."""

    design: Design
    offset: float  # subtracted from y
    power: float  # E[t²]
    chunks: Chunks[StandardizedChunk]


def standardize(chunks: Chunks[SampleChunk], *, paper: bool = False) -> Standardized:
    """Standardize samples and center their responses; or, as the paper does, take x as standard normal already."""
    n, offset = chunks.n_rows, 0.0
    design = Design(np.zeros(chunks.n_features)) if paper else fit_design(chunks)
    if not paper:
        offset = chunks.sum(lambda chunk: float(np.sum(chunk.responses, dtype=np.float64))) / n
    samples = standardize_by(chunks, design, offset)
    power = samples.sum(lambda chunk: float(chunk.responses @ chunk.responses)) / n
    if not power > 1e-28 * offset**2:
        raise SearchError("All responses y are the same. Provide responses that vary.", code="constant_response")
    return Standardized(design, offset, power, samples)


def standardize_by(chunks: Chunks[SampleChunk], design: Design, offset: float) -> Chunks[StandardizedChunk]:
    """Standardize samples by a given design."""

    def convert(chunk: SampleChunk) -> StandardizedChunk:
        responses = np.asarray(chunk.responses, dtype=np.float64) - offset
        return StandardizedChunk(chunk.first, design.standardize(chunk.samples), responses, chunk.samples)

    layout = chunks.layout._replace(n_features=design.n_coordinates)
    return replace(chunks.map(convert), layout=layout)


def find_regression_outliers(chunks: Chunks[SampleChunk]) -> Outliers[Standardized]:
    """Find samples whose x is far from all others, or whose response fits no regression of the others."""

    def measure(chunk: StandardizedChunk) -> Array:
        return squared_distances(chunk.samples, np.zeros(chunk.samples.shape[1]))

    def measure_responses(chunk: StandardizedChunk) -> Array:  # a regression may give a large one where x is large
        return np.asarray(chunk.responses**2 / (1 + measure(chunk) / max(chunk.samples.shape[1], 1)))

    def find_rows(samples: Chunks[StandardizedChunk]) -> Array:
        isolated = isolated_rows(samples, find_far(samples, measure), np.zeros(samples.n_features))
        return np.union1d(isolated, find_far(samples, measure_responses).rows)

    samples, standardized = chunks, standardize(chunks)
    left_out, rows = np.zeros(0, dtype=np.int64), find_rows(standardized.chunks)
    for _ in range(MAX_ROUNDS):
        if np.array_equal(rows, left_out):
            break
        left_out, samples = rows, chunks.drop_rows(rows)
        standardized = standardize(samples)
        rows = find_rows(standardize_by(chunks, standardized.design, standardized.offset))
    return Outliers(left_out, chunks.n_rows, samples, standardized)


# ---- Moments (paper, section 3.3) -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class RegressionChunk(Chunk):
    """Samples with their coordinates in the frame."""

    samples: Samples  # x itself, not a copy, (n, d)
    responses: Array  # t, (n,)
    projected: Array  # Y = ZW, (n, k)
    residual: Array  # |z|² outside the signal space, (n,)


@dataclass(frozen=True)
class RegressionFamily:
    """The fitted moments of a mixture of regressions, with t = y - offset and standardized x."""

    frame: Frame  # the whole space if moments cannot separate the components
    design: Design
    offset: float
    mean: Array  # W'm, (k,)
    cross_moment: Array  # W'E[t²x], (k,): twice the intercepts, before they are centered
    intercepts: Array  # W'Σ αᵢbᵢμᵢ, (k,)
    energies: Array  # W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ, (k,)
    linear: float  # 3 E[t²], the coefficient of t in f(t) = t³ - linear t; 0 for the paper's third power
    noise_level: float  # τ²/2, above which eigenvalues are signal
    chunks: Chunks[RegressionChunk]
    has_intercepts: bool = True  # and an estimated design
    n_components: int = 0
    power: float = 0.0  # E[t²]
    normality: Normality | None = None  # of x; None where moments do not rely on it
    has_moments: bool = True  # whether moments can separate the components

    @property
    def noise_variance(self) -> float:
        """The average variance of the noise, Σ αᵢσᵢ².

        E[t²] = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), where Σ αᵢ|μᵢ|² = tr A, and Σ αᵢbᵢ² = |W'Σ αᵢbᵢμᵢ|² because the vectors √αᵢW'μᵢ
        are orthonormal.
        """
        return max(self.power - float(self.frame.values.sum() + self.intercepts @ self.intercepts), 0.0)

    @property
    def is_wide(self) -> bool:
        """Whether EM would spend its time on the products of features."""
        return self.design.n_coordinates > TUNING.max_features

    @property
    def without_samples(self) -> RegressionFamily:
        """The same fit without its samples, for functions that run where chunks are."""
        return replace(self, chunks=self.chunks.detach())

    def weigh(self, t: Array) -> Array:
        """Compute f(t), (n,)."""
        return np.asarray(t * (t * t - self.linear))

    @cached_property
    def third_moments(self) -> tuple[Array, Array]:
        """R(c) for each unit vector c, (k, k, k), and Σ αᵢbᵢ W'μᵢμᵢ'W, (k, k)."""
        family = self.without_samples

        def sum_chunk(chunk: RegressionChunk) -> tuple[Any, ...]:
            Y, f = chunk.projected, family.weigh(chunk.responses)
            return sum_cubes(Y, Y, f), weighted_gram(Y, f), f @ Y, float(f.sum())

        third, second, first, total = (sums / self.chunks.n_rows for sums in self.chunks.sum(sum_chunk))
        noise = symmetrize(np.multiply.outer(np.diag(self.frame.spread), first))
        return (third - noise) / 6, (second - total * np.diag(self.frame.spread)) / 6

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint in the frame, (k,)."""
        family = self.without_samples

        def sum_chunk(chunk: RegressionChunk) -> tuple[Array, Array]:
            Y, f = chunk.projected, family.weigh(chunk.responses)
            return weighted_gram(Y, f * (Y @ hint)), f @ Y

        third, first = (sums / self.chunks.n_rows for sums in self.chunks.sum(sum_chunk))
        return self.correct(third, first, hint)

    def correct(self, third: Array, first: Array, hint: Array) -> Hinted:
        """Subtract the contribution of x from W'E[f(y)⟨x, v⟩xx']W, (k, k), with W'E[f(y)x], (k,).

        Notes
        -----
        6B = E[f(y)⟨x, v⟩xx'] - M v' - v M' - ⟨M, v⟩I with M = E[f(y) x] (paper, Theorem 5): the third Hermite tensor of
        x against f(y). The paper has f(y) = y³. That tensor has expectation 0 against y itself, so any multiple of y
        may be subtracted to lower the variance; with 3 E[y²] y, f is the third Hermite polynomial of y.
        """
        cross = np.outer(first, self.frame.spread * hint)
        matrix = third - cross - cross.T - (first @ hint) * np.diag(self.frame.spread)
        return Hinted(matrix / 6, self.mean, hint)

    def tensor(self, basis: Array) -> Array:
        """Contract the third moment with all columns of a basis, (k, q), to (q, q, q)."""
        return rotate(self.third_moments[0], basis)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments under a hint in the frame, (k,), of all samples but one group, for each group in turn.

        Notes
        -----
        Without a group, x has another mean δ and covariance I + E, by which it would have been standardized: every
        index of a moment is multiplied by I - E, the identity in Hermite tensors becomes I + E, and the mean subtracts
        δ ⊗ (the moment of one order less). The moments lie in the signal space, so e = W'EW is enough, as in
        W'E A W = e D.
        """
        family = self.without_samples

        def sum_rows(chunk: RegressionChunk, rows: slice) -> tuple[Any, ...]:
            Y, t = chunk.projected[rows].astype(np.float64, copy=False), chunk.responses[rows]
            residual, squares, f = chunk.residual[rows], t**2, family.weigh(t)
            second, third = (Y * squares[:, None]).T @ Y, (Y * (f * (Y @ hint))[:, None]).T @ Y
            powers = np.array([len(Y), squares.sum(), squares @ residual, residual.sum()])
            return Y.T @ Y, second, third, Y.sum(axis=0), t @ Y, f @ Y, powers

        replicates = [self._replicate(hint, *sums) for sums in leave_one_out(self.chunks, sum_rows)]
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def _replicate(self, hint: Array, *sums: Array) -> tuple[Array, Array, Array]:
        """Compute W'AW, W'BW and W'm from the sums over all samples but one group."""
        n, power, energy, residual = sums[-1]
        gram, second, third, total, mean, first = (each / n for each in sums[:-1])
        D, k, identity = self.frame.values, self.frame.n_components, np.diag(self.frame.spread)
        e = gram - identity if self.has_intercepts else np.zeros((k, k))
        delta = total if self.has_intercepts else np.zeros(k)
        mean = mean - e @ (D * self.mean)
        if k == 1:  # A = mm'
            return np.outer(mean, mean), np.ones((1, 1)), mean
        n_noise = self.design.n_coordinates - k
        level = (energy if n_noise else power) / n / 2
        if n_noise and self.has_intercepts:
            level -= self.noise_level * (residual / n - n_noise)
        shift = np.outer(delta, self.cross_moment) / 2 + e * D
        second = second / 2 - shift - shift.T - level / max(n_noise, 1) * (identity + e)
        tensor, intercepts = self.third_moments
        cross = np.outer(first, (identity + e) @ hint)
        third = third - cross - cross.T - (first @ hint) * (identity + e)
        change = np.outer(delta, intercepts @ hint) + (e * D) @ np.tensordot(hint, tensor, axes=1)
        change = change + change.T + (delta @ hint) * intercepts + np.tensordot(D * (e @ hint), tensor, axes=1)
        return second, third / 6 - change, mean

    def contributions(self, chunk: RegressionChunk) -> Array:
        """Compute weights w of samples, (n, k), with which the average of zw' is A W up to the signal space."""
        Y, t, D = chunk.projected.astype(np.float64, copy=False), chunk.responses[:, None], self.frame.values
        if self.frame.n_components == 1:  # A = mm'
            return np.asarray(t - Y * D)
        squares = t**2 * Y / 2
        return squares - Y * (self.noise_level + D) - self.cross_moment / 2 if self.has_intercepts else squares

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u, u (k,), of all samples but one of B groups, up to vectors of the signal space: (r, B)."""
        family, n_groups = self.without_samples, self.chunks.n_groups

        def sum_groups(chunk: RegressionChunk) -> Any:
            weights = spread_over_groups(chunk, family.contributions(chunk) @ direction, n_groups)
            return weighted_sums(chunk.samples, weights)

        standardized = self.design.standardize_sums(centered_sums(self.design.center, self.chunks.sum(sum_groups)))
        n_left = self.chunks.n_rows * (1 - 1 / n_groups)
        return np.asarray((standardized.sum(axis=1, keepdims=True) - standardized) / n_left)

    def hint_shifts(self, hint: Array) -> Array:
        """Compute how the coordinates of slopes v, (r,), change with the frame of all samples but one group: (B, k).

        W'A v⊥ is 0 for all samples together, where v⊥ is the part of v outside the signal space; without a group it is
        not.
        """
        family = self.without_samples
        residual = self.design.to_coefficients(self.frame.residual(hint[:, None]))[:, 0]

        def correlate(chunk: RegressionChunk, rows: slice) -> Array:
            piece = chunk.take(rows)
            scores = np.asarray(project(piece.samples, residual, family.design.center), dtype=np.float64)
            return np.asarray(scores @ family.contributions(piece))

        n_left = self.chunks.n_rows * (1 - 1 / self.chunks.n_groups)
        return np.array(leave_one_out(self.chunks, correlate)) / n_left

    @cached_property
    def coordinate_covariance(self) -> Array:
        """The covariance of A W along a unit vector outside the signal space, (k, k)."""
        family = self.without_samples

        def sum_chunk(chunk: RegressionChunk) -> Array:
            weights = family.contributions(chunk)
            if family.has_intercepts:  # a hint in the user's units varies with the covariance of x
                weights = weights + chunk.projected * family.frame.values
            return np.asarray(weights.T @ weights)

        n = self.chunks.n_rows
        subset = self.chunks.thin(max(n // 5000, 1))  # an order of magnitude matters
        return np.asarray(subset.sum(sum_chunk) / subset.n_rows / n)


class Normality(NamedTuple):
    """The shape of x in the signal space."""

    p_value: float  # how often an x that moments tolerate would look as far from normal
    skewness: float  # the largest of all coordinates, in absolute value
    kurtosis: float  # the largest excess


def test_normality(chunks: Chunks[RegressionChunk], frame: Frame) -> Normality:
    """Test the skewness and the kurtosis of standardized x in every coordinate of the frame."""
    chunk = chunks.thin(-(-chunks.n_rows // 10_000)).chunk
    # One row per coordinate: means over few columns would be slow.
    U = np.ascontiguousarray(chunk.projected.T, dtype=np.float64) * np.sqrt(frame.values)[:, None]
    U -= U.mean(axis=1, keepdims=True)
    U /= np.maximum(U.std(axis=1, keepdims=True), np.finfo(float).tiny)
    n, squares = U.shape[1], U**2
    skewness, kurtosis = np.abs((squares * U).mean(axis=1)), np.abs((squares**2).mean(axis=1) - 3)
    excess = (skewness - TUNING.max_skewness) / np.sqrt(6 / n), (kurtosis - TUNING.max_kurtosis) / np.sqrt(24 / n)
    p_value = min(1.0, 2 * len(U) * float(ndtr(-np.max(excess))))
    return Normality(p_value, float(skewness.max()), float(kurtosis.max()))


def fit_regression(
    chunks: Chunks[SampleChunk], n_components: int, *, paper: bool, seed: int, standardized: Standardized | None = None
) -> RegressionFamily:
    """Find the signal space of a mixture of regressions and project the samples onto it.

    Notes
    -----
    E[y²xx'] = 2A + τ²I with τ² = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), which is E[y²] (paper, Theorem 5). Intercepts enter the
    moments only through τ² and M, because odd moments of x are 0; E[y²x] = 2 Σ αᵢbᵢμᵢ gives them.
    """
    design, offset, power, samples = standardized or standardize(chunks, paper=paper)
    r, has_moments = samples.n_features, n_components <= samples.n_features
    frame, level = Frame(np.eye(r), np.ones(r)), 0.0
    try:
        frame, level = fit_frame(samples, power, n_components, paper=paper, seed=seed) if has_moments else (frame, 0.0)
    except RankError:
        if paper or n_components == 1:
            raise
        has_moments = False

    def project_chunk(chunk: StandardizedChunk) -> RegressionChunk:
        Y = frame.whiten(chunk.samples).astype(chunk.original.dtype, copy=False)
        residual = squared_distances(chunk.samples, np.zeros(r)) - Y.astype(np.float64) ** 2 @ frame.values
        return RegressionChunk(chunk.first, chunk.original, chunk.responses, Y, residual)

    def sum_powers(chunk: RegressionChunk) -> Array:
        t = chunk.responses
        return np.asarray(np.stack([t, t**2, t**2 * t]) @ chunk.projected.astype(np.float64, copy=False))

    projected = samples.map(project_chunk)
    mean, cross_moment, energies = projected.sum(sum_powers) / chunks.n_rows
    intercepts = cross_moment / 2
    if not paper and mean.any():
        # y is centered, so the intercepts average to zero: Σ αᵢbᵢ = ⟨W'm, W'Σ αᵢbᵢμᵢ⟩ = 0. So must their estimate.
        intercepts = intercepts - mean * (mean @ intercepts) / (mean @ mean)
    return RegressionFamily(
        frame=frame,
        design=design,
        offset=offset,
        mean=mean,
        cross_moment=cross_moment,
        intercepts=intercepts,
        energies=energies / 3,
        linear=0.0 if paper else 3 * power,
        noise_level=level,
        chunks=replace(projected, layout=chunks.layout),
        has_intercepts=not paper,
        n_components=n_components,
        power=power,
        # Least squares, for a single regression, takes any x.
        normality=None if paper or n_components == 1 else test_normality(projected, frame),
        has_moments=has_moments,
    )


def fit_frame(
    chunks: Chunks[StandardizedChunk], power: float, n_components: int, *, paper: bool, seed: int
) -> tuple[Frame, float]:
    """Find the signal space, and the level τ²/2 above which eigenvalues of E[y²xx']/2 = A + (τ²/2) I are signal.

    The paper takes the smallest eigenvalue for τ²/2. The average of all r - k noise eigenvalues has a smaller error. A
    single regression has A = mm', and m = E[yx] has far less noise than a fourth moment.
    """
    n, r = chunks.n_rows, chunks.n_features
    if n_components == 1:
        m = chunks.sum(lambda chunk: weighted_sums(chunk.samples, chunk.responses[:, None])).rows / n
        length = float(np.linalg.norm(m))
        return frame_from_eigenpairs(np.array([length**2]), m / (length or 1.0)), 0.0
    second = second_moment(chunks, lambda chunk: np.asarray(chunk.responses**2 / (2 * n)))
    values, vectors, _ = top_eigenpairs(second, n_components, seed=seed)
    level = power / 2  # the expectation, if there are no noise eigenvalues
    if paper:
        level = float(-top_eigenpairs(-second, 1, seed=seed).values[0])
    elif r > n_components:
        energy = chunks.sum(lambda chunk: float(chunk.responses**2 @ squared_distances(chunk.samples, np.zeros(r))))
        level = max(energy / n / 2 - float(values.sum()), 0.0) / (r - n_components)
    return frame_from_eigenpairs(values, vectors, level, precision=chunks.layout.dtype), level


def hint_from_examples(family: RegressionFamily, examples: Array) -> Array:
    """Estimate the coefficients of a few samples, (q, d + 1), in the frame, (k,).

    Notes
    -----
    The paper's hint is the mean of y x, in the frame y Y with Y = D W'x, which is noisy because x is. Least squares on
    Y, which has only k columns, gives the coefficients themselves; with a ridge, a single sample still gives the
    paper's direction.
    """
    Y = family.frame.whiten(family.design.standardize(examples[:, :-1])) * family.frame.values
    y, k = examples[:, -1] - family.offset, family.frame.n_components
    if family.has_intercepts and len(y) > k + 1:  # fewer samples do not determine an intercept besides the coefficients
        y = y - y[0]  # makes responses of identical samples exactly zero, without rounding
        Y, y = Y - Y.mean(axis=0), y - y.mean()
    ridge = 0.1 * float(np.mean(y**2))
    # Without a ridge, what rounding leaves of Y would decide.
    hint = np.linalg.solve(Y.T @ Y + ridge * np.eye(k), Y.T @ y) if ridge > 0 else np.zeros(k)
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
    """The likelihood of y given x, or of x and y together if every component has its own Gaussian of x.

    With an anchor, the coefficients of the iteration before, an M-step is a gradient step: see `climb`.
    """

    min_variance: float  # of the noise
    is_joint: bool = False
    anchor: Array | None = None  # (k, q)
    n_dims: ClassVar[int] = 1

    def log_density(self, chunk: FeatureChunk, params: RegressionParameters) -> Array:
        """Compute log αᵢ + log N(y; ⟨x, βᵢ⟩, σᵢ²), (n, k), and in a joint model + log N(x; mᵢ, Sᵢ)."""
        logs = np.log(params.weights) - 0.5 * (np.log(2 * np.pi * params.variances) + self.squares(chunk, params))
        if params.centers is None or params.factors is None:
            return np.asarray(logs)
        Z, log_scales = chunk.features[:, 1:-1], np.log(np.einsum("kii->ki", params.factors)).sum(axis=1)
        scaled = [(Z - center) @ factor for center, factor in zip(params.centers, params.factors, strict=True)]
        return np.asarray(logs + log_scales - 0.5 * np.stack([np.sum(U**2, axis=1) for U in scaled], axis=1))

    def squares(self, chunk: FeatureChunk, params: RegressionParameters) -> Array:
        """Compute (y - ⟨x, βᵢ⟩)² / σᵢ², (n, k)."""
        return np.asarray(compute_residuals(chunk, params.coefficients) ** 2 / params.variances)

    def statistics(self, chunk: FeatureChunk, resp: Array) -> Array:
        """Sum 1 and the products of all features, weighted by responsibilities, (k, 1 + (q + 1)²)."""
        if self.anchor is not None:
            residuals = compute_residuals(chunk, self.anchor)
            weighted = resp * residuals
            return np.column_stack([resp.sum(axis=0), (weighted * residuals).sum(axis=0), weighted.T @ chunk.features])
        scaled = (chunk.features * np.sqrt(column)[:, None] for column in resp.T)  # half the time of X'(wX)
        return np.column_stack([resp.sum(axis=0), np.stack([(X.T @ X).ravel() for X in scaled])])

    def m_step(self, statistics: Array, weights: Array) -> RegressionParameters:
        """Compute weighted least squares."""
        tiny = np.finfo(np.float64).tiny
        sizes = np.maximum(statistics[:, 0], tiny)
        if self.anchor is not None:
            gradient = statistics[:, 2:-1]
            coefficients = self.anchor + gradient / sizes[:, None]
            squares = statistics[:, 1] - np.sum(gradient**2, axis=1) / sizes
        else:
            gram = unpack_gram(statistics)
            G, g, q = gram[:, :-1, :-1], gram[:, :-1, -1], gram.shape[1] - 1
            ridge = RIDGE * np.trace(G, axis1=1, axis2=2) / q + np.sqrt(tiny)
            coefficients = np.linalg.solve(G + ridge[:, None, None] * np.eye(q), g[:, :, None])[:, :, 0]
            explained = np.sum(coefficients * (2 * g - np.einsum("kij,kj->ki", G, coefficients)), axis=1)
            squares = gram[:, -1, -1] - explained
        variances = np.maximum(squares / sizes, self.min_variance)
        variances = np.maximum(variances, TUNING.min_variance * (weights @ variances))
        params = RegressionParameters(np.maximum(weights, tiny), coefficients, variances)
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
        """Draw lines through a few samples each, which the lines before do not explain; or samples near each of k."""
        features, k = chunk.features, len(params.weights)
        if self.is_joint:
            return self.start_near(chunk, features[rng.choice(len(features), size=k, replace=False)])
        (n, size), noise = features.shape, TUNING.start_noise * float(np.var(features[:, -1]))
        lines, unexplained = [], np.full(n, np.inf)
        for _ in range(k):
            odds = np.minimum(unexplained, noise) + 1e-9 * noise  # bounded: an outlier must not be in every draw
            rows = rng.choice(n, size=min(size + 1, n), replace=False, p=odds / odds.sum())
            lines.append(np.linalg.lstsq(features[rows, :-1], features[rows, -1], rcond=1e-9)[0])
            unexplained = np.minimum(unexplained, (features[:, -1] - features[:, :-1] @ lines[-1]) ** 2)
        return RegressionParameters(np.full(k, 1 / k), np.array(lines), np.full(k, noise))

    def start_near(self, chunk: FeatureChunk, centers: Array) -> RegressionParameters:
        """Start with the samples nearest to each of k points, (k, q + 1)."""
        units = 1 / np.sqrt(chunk.features.var(axis=0) + self.min_variance)
        nearest = np.argmin([np.sum(((chunk.features - c) * units) ** 2, axis=1) for c in centers], axis=0)
        resp = np.eye(len(centers))[nearest]
        return self.m_step(self.statistics(chunk, resp), resp.mean(axis=0))

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


# ---- EM of all components -------------------------------------------------------------------------------------------


class RefinedMixture(NamedTuple):
    """All components as EM fitted them."""

    model: RegressionModel
    fit: Fit[RegressionParameters]
    order: Array  # the component of the mixture that each candidate is, (k,)
    p_values: Array  # of the test whether the samples of each component follow the model, (k,)
    x_may_depend: bool = False  # on the component, so that its Gaussians may help
    left_out: LeftOut | None = None
    is_clustered: bool = False  # whether the graph of (x, y) predicts left-out examples better


def regressions_from_moments(family: RegressionFamily, candidates: Candidates) -> RegressionParameters:
    """Compute all candidates as regressions: the value at the mean of x, and the slopes in the signal space.

    Notes
    -----
    ⟨u₁, W'Σ αᵢbᵢμᵢ⟩ = √α₁b₁ gives the level, and ⟨u₁, W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ⟩ the noise variance.
    """
    slopes = np.sqrt(family.frame.values)[:, None] * candidates.points
    levels = candidates.points.T @ family.intercepts * family.has_intercepts
    explained = np.sum(slopes**2, axis=0)
    variances = np.maximum(candidates.points.T @ family.energies - explained - levels**2, 1e-3 * explained)
    return RegressionParameters(candidates.weights, np.column_stack([levels, slopes.T]), variances)


def make_features(family: RegressionFamily, X: Samples, y: Array) -> Array:
    """Return the features of samples, (n, q + 1): 1 if there are intercepts, standardized x, and the response."""
    ones = np.ones((len(y), int(family.has_intercepts)))
    return np.column_stack([ones, family.design.standardize(X), y - family.offset])


def make_rows(family: RegressionFamily, step: int = 1) -> Chunks[FeatureChunk]:
    """Return the samples of the fit, or every so many of them, as EM sees them."""
    fitted = family.without_samples

    def convert(chunk: RegressionChunk) -> FeatureChunk:
        return FeatureChunk(chunk.first, make_features(fitted, chunk.samples, chunk.responses + fitted.offset))

    return family.chunks.thin(step).map(convert)


def thin(family: RegressionFamily, n_components: int) -> Chunks[FeatureChunk]:
    """Return a subset of the samples, in this process."""
    n_needed = max(EM.min_subset, EM.subset_per_component * n_components)
    return make_rows(family, max(family.chunks.n_rows // n_needed, 1)).collect()


def start_from_moments(family: RegressionFamily) -> RegressionParameters:
    """Compute all components as the third moment shows them, none with too little weight or noise."""
    candidates = all_components(family.tensor(np.eye(family.frame.n_components)), family.mean)
    weights, coefficients, variances = regressions_from_moments(family, candidates)[:3]
    weights = np.maximum(weights, TUNING.min_start_weight / len(weights))
    # No component can explain more than all of y.
    excess = np.maximum(np.sqrt(np.sum(coefficients[:, 1:] ** 2, axis=1) * weights / family.power), 1.0)
    slopes = coefficients[:, 1:] / excess[:, None] @ family.frame.basis.T
    coefficients = np.column_stack([coefficients[:, :1], slopes]) if family.has_intercepts else slopes
    variances = np.clip(variances, TUNING.start_noise * family.power, family.power)
    return RegressionParameters(weights / weights.sum(), coefficients, variances)


def draw_start(model: RegressionModel, chunk: FeatureChunk, k: int) -> RegressionParameters:
    """Draw a start of EM."""
    empty = RegressionParameters(np.zeros(k), np.zeros((k, 0)), np.zeros(k))
    return model.random_start(chunk, empty, np.random.default_rng(1))


def fit_all_components(family: RegressionFamily, options: EMOptions) -> RefinedMixture:
    """Fit the whole mixture by EM. No hint enters, so one fit serves every search.

    Starts are drawn at random too if moments are unreliable, or samples are few: then the likelihood has many maxima.
    """
    k, model = family.n_components, RegressionModel(MIN_NOISE * family.power)
    rows, subset = make_rows(family), thin(family, k)
    restart = not (family.has_moments and family.chunks.n_rows > EM.min_subset and check_moments(family) is None)
    start = start_from_moments(family) if family.has_moments else draw_start(model, subset.chunk, k)
    if restart or not family.is_wide:
        fit = fit_mixture(model, subset if family.is_wide else rows, [start], options, restart=restart)
        start = fit.params
    if family.is_wide:
        rough = rows.thin(max(rows.n_rows // TUNING.n_rough, 1))
        fit = climb(model, rows, climb(model, rough, start, options._replace(tol=1.0)).params, options)
    return complete_mixture(family, model, fit, np.arange(k))


def climb(
    model: RegressionModel,
    rows: Chunks[FeatureChunk],
    start: RegressionParameters,
    options: EMOptions,
    held: Held | None = None,
) -> Fit[RegressionParameters]:
    """Run EM for many features, with M-steps that cost n q instead of n q².

    Standardized x has the second moment I, and so has its part in each component if x does not depend on it: nαᵢI
    stands for the weighted products of features. Where that lowers the likelihood, EM goes on with the products.
    """
    params, following, history = start, start, [-np.inf]
    while len(history) <= options.max_iter + 1:
        step = replace(model, anchor=following.coefficients)
        beyond, log_likelihood = em_step(step, rows, following, held)
        if not log_likelihood >= history[-1]:
            return run_em(model, rows, params, options, held)
        params, following, history = following, beyond, [*history, log_likelihood]
        if history[-1] - history[-2] < options.tol:
            break
    return Fit(params, tuple(history[1:]))


def complete_mixture(
    family: RegressionFamily, model: RegressionModel, fit: Fit[RegressionParameters], order: Array
) -> RefinedMixture:
    """Test whether samples follow a fitted mixture, and whether x may depend on the component."""
    params, k = fit.params, len(order)
    rows = thin(family, k)
    resp, squares = posterior(model, rows.chunk, params), model.squares(rows.chunk, params)
    Z = rows.chunk.features[:, int(family.has_intercepts) : -1]
    Z = Z @ family.frame.basis[:, :8] if Z.shape[1] > 8 else Z
    one, other = np.triu_indices(Z.shape[1])
    monomials = np.column_stack([Z, Z[:, one] * Z[:, other]])
    # White's test: squared residuals of two lines taken for one depend on x, however much the component overlaps.
    of_spread = [
        test_independence(monomials[:, Z.shape[1] :], r, r * (s - 1)) for r, s in zip(resp.T, squares.T, strict=True)
    ]
    p_values = np.minimum(2 * np.minimum(test_rows(model, rows, params), of_spread), 1.0)
    p_values[params.variances <= 2 * model.min_variance] = 1.0  # no noise, whose distribution could be wrong
    independence = k * min(test_independence(X, np.ones(len(r)), r - r.mean()) for r in resp.T for X in (Z, monomials))
    x_may_depend = k > 1 and family.has_intercepts and not family.is_wide and independence < TUNING.max_independence
    return RefinedMixture(model, fit, order, p_values, x_may_depend)


def test_independence(X: Array, weights: Array, scores: Array) -> float:
    """Test that functions of x, (n, m), are uncorrelated with scores, (n,), among weighted samples: the p-value."""
    products = (X - weights @ X / max(float(weights.sum()), 1.0)) * scores[:, None]
    total, precision = products.sum(axis=0), np.linalg.pinv(products.T @ products, rcond=1e-9, hermitian=True)
    return float(chdtrc(len(total), total @ precision @ total))


def count_regressions(family: RegressionFamily) -> int:
    """Choose the number of regressions by BIC, on a subset of the samples."""
    rows, values, basis = thin(family, 1), [-np.inf], family.frame.basis if family.is_wide else None
    if basis is not None:
        project_features = scipy.linalg.block_diag(np.eye(int(family.has_intercepts)), basis, np.eye(1))
        rows = rows.map(lambda chunk: FeatureChunk(chunk.first, chunk.features @ project_features))
    model = RegressionModel(MIN_NOISE * family.power)
    for k in range(1, TUNING.max_counted + 1):
        fit = fit_mixture(model, rows, [draw_start(model, rows.chunk, k)], EMOptions(), restart=True)
        n_parameters = k * (fit.params.coefficients.shape[1] + 2) - 1
        values.append(fit.log_likelihood - 0.5 * n_parameters * np.log(rows.n_rows))
        if values[-1] < values[-2]:
            break
    return int(np.argmax(values))


# ---- EM with examples -----------------------------------------------------------------------------------------------


def refine_by_examples(
    family: RegressionFamily, mixture: RefinedMixture, positive: Array, negative: Array | None, options: EMOptions
) -> RefinedMixture:
    """Choose the component of the fitted mixture that examples mean, (q, d + 1), or fit one with the examples held."""
    # 1) the component under which they are likeliest; an outlier among them must not choose it
    pairs = [rows for rows in (positive, negative) if rows is not None]
    near = [find_near(family, mixture, rows) for rows in pairs]
    pairs = [rows[kind] if kind.any() else rows for rows, kind in zip(pairs, near, strict=True)]
    chunks = [FeatureChunk(0, make_features(family, rows[:, :-1], rows[:, -1])) for rows in pairs]
    joint = [mixture.model.log_density(chunk, mixture.fit.params) for chunk in chunks]
    likelihoods = choose_component(joint[0], mixture.fit.params.weights, *joint[1:])
    mixture = mixture._replace(order=np.argsort(-likelihoods, kind="stable"))
    index = int(mixture.order[0])
    is_contradicted = hold_examples(chunks, joint, index) is not None
    held = hold_examples(chunks, joint, index, always=mixture.x_may_depend)
    if held is None:
        return mixture
    # 2) EM with labels held, from the mixture and from least squares of the examples
    params, coefficients = mixture.fit.params, mixture.fit.params.coefficients.copy()
    if family.is_wide:
        fit = climb(mixture.model, make_rows(family), params, options, held)
        return complete_mixture(family, mixture.model, fit, mixture.order)
    X, y = chunks[0].features[:, :-1], chunks[0].features[:, -1]
    # What the examples do not determine stays as in the mixture.
    coefficients[index] += np.linalg.lstsq(X, y - X @ coefficients[index], rcond=1e-2)[0]
    rows, subset = make_rows(family), thin(family, family.n_components)
    lines = fit_mixture(mixture.model, subset, [params, params._replace(coefficients=coefficients)], options, held)
    model, fit, left_out, is_clustered = mixture.model, lines, None, False
    # 3) where x may depend on the component, also Gaussians of x, if they predict left-out examples better
    if mixture.x_may_depend:
        joint_model = replace(model, is_joint=True)
        gaussians = fit_gaussians(joint_model, lines, subset, held, index, options)
        left_out = leave_out_examples(model, lines.params, subset, held, index, rows.n_rows)
        other = leave_out_examples(joint_model, gaussians.params, subset, held, index, rows.n_rows)
        if measure_lift(other, gaussians, index) > measure_lift(left_out, lines, index) + TUNING.min_gain:
            model, fit, left_out = joint_model, gaussians, other
        is_clustered = is_graph_better(family, subset, held, index, left_out)
    if is_contradicted or model.is_joint:
        # 4) the same on all samples
        fit = fit if subset.n_rows == rows.n_rows else run_em(model, rows, fit.params, options, held)
        mixture = complete_mixture(family, model, fit, mixture.order)
    return mixture._replace(left_out=left_out, is_clustered=is_clustered)


def find_near(family: RegressionFamily, mixture: RefinedMixture, examples: Array) -> Array:
    """Find the examples, (q, d + 1), that are not outliers: some component is near, (q,)."""
    chunk = FeatureChunk(0, make_features(family, examples[:, :-1], examples[:, -1]))
    return np.asarray(mixture.model.squares(chunk, mixture.fit.params).min(axis=1) < TUNING.max_square)


def fit_gaussians(
    model: RegressionModel,
    lines: Fit[RegressionParameters],
    rows: Chunks[FeatureChunk],
    held: Held,
    index: int,
    options: EMOptions,
) -> Fit[RegressionParameters]:
    """Fit a joint model with examples held, from the lines and from samples near the examples and near others."""
    chunk, k = rows.chunk, len(lines.params.weights)
    resp = posterior(model, chunk, lines.params)
    starts = [model.m_step(model.statistics(chunk, resp), resp.mean(axis=0))]
    center, rng = held.chunk.features[held.allowed[:, index]].mean(axis=0), np.random.default_rng(0)
    for _ in range(TUNING.n_joint_starts):
        centers = chunk.features[rng.choice(rows.n_rows, size=k, replace=False)]
        centers[index] = center
        starts.append(model.start_near(chunk, centers))
    return fit_mixture(model, rows, starts, options, held)


class LeftOut(NamedTuple):
    """How a model predicts examples that are left out in turn."""

    memberships: Array  # (t,)
    check: Check  # their ranks among the samples


def leave_out_examples(
    model: RegressionModel,
    params: RegressionParameters,
    rows: Chunks[FeatureChunk],
    held: Held,
    index: int,
    n_samples: int,
) -> LeftOut:
    """Predict each example by the model that EM finds with the others held, in a few iterations."""
    nodes, is_positive = FeatureChunk.joined([rows.chunk, held.chunk]), held.allowed[:, index]
    positive, columns = np.flatnonzero(is_positive), []
    for row in positive[choose_left_out(len(positive))]:
        others = np.arange(len(is_positive)) != row
        rest = Held(held.chunk.take(others), held.allowed[others])
        again = run_em(model, rows, params, EMOptions(TUNING.left_out_iter), rest).params
        logs = model.log_density(nodes, again)
        columns.append(logs[:, index] - np.logaddexp.reduce(np.delete(logs, index, axis=1), axis=1))
    if not columns:
        return LeftOut(np.zeros(0), Check(np.zeros(0, dtype=np.int64), n_samples))
    odds, examples = np.column_stack(columns), rows.n_rows + positive
    tested = examples[choose_left_out(len(positive))]
    sizes = np.append(np.full(rows.n_rows, n_samples / rows.n_rows), np.ones(len(is_positive)))
    return LeftOut(expit(odds[tested, np.arange(len(tested))]), rank_left_out(odds, examples, sizes))


def measure_lift(left_out: LeftOut, fit: Fit[RegressionParameters], index: int) -> float:
    """Compute how much likelier left-out examples are members than any sample: the mean of log(membership / weight)."""
    logs = np.log(np.maximum(left_out.memberships, TUNING.min_membership))
    return float(np.mean(logs) - np.log(fit.params.weights[index])) if len(logs) else 0.0


def is_graph_better(
    family: RegressionFamily, rows: Chunks[FeatureChunk], held: Held, index: int, left_out: LeftOut
) -> bool:
    """Find out whether the graph of (x, y) ranks left-out examples better: then the groups are clusters, not lines."""
    M, is_positive = family.design.unwhitener, held.allowed[:, index]
    if M is None or np.count_nonzero(is_positive) < TUNING.min_graph_examples:
        return False
    subset = rows.thin(-(-rows.n_rows // TUNING.max_graph_rows)).collect()
    features = np.vstack([subset.chunk.features, held.chunk.features])
    X = features[:, 1:-1] @ M / np.maximum(np.linalg.norm(M, axis=0), np.finfo(np.float64).tiny)
    points = np.column_stack([X, features[:, -1] / np.sqrt(family.power)])
    positive, negative = (subset.n_rows + np.flatnonzero(mask) for mask in (is_positive, ~is_positive))
    affinity = build_affinity(points, select_mixture(points).predict_proba(points))
    check = find_members(PageRank(affinity, GRAPH.restart), positive, negative).check
    mean_ranks = [np.mean(each.ranks) / each.n_rows for each in (left_out.check, check)]
    return bool(mean_ranks[0] - mean_ranks[1] > TUNING.graph_lead)


# ---- The answer -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class RegressionComponent(Component):
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
        return self._to_features(self._mixture.coefficients[self._index, int(self._family.has_intercepts) :])

    @property
    def weight(self) -> float:
        """The component's share of the mixture."""
        return float(self._mixture.weights[self._index])

    @property
    def intercept(self) -> float:
        """The prediction at x = 0."""
        if not self._family.has_intercepts:
            return 0.0
        level = float(self._mixture.coefficients[self._index, 0])
        return self._family.offset + level - float(self._family.design.center @ self.center)

    @property
    def noise_variance(self) -> float:
        """The variance of y around the regression; from moments, at least a thousandth of what it explains."""
        return float(self._mixture.variances[self._index])

    @property
    def is_joint(self) -> bool:
        """Whether a refined answer also has a Gaussian of x for each component."""
        return self._refined is not None and self._refined.model.is_joint

    @property
    def coefficients(self) -> dict[str, float]:
        """The coefficients by the names of their columns; x0, x1, ... if the fit saw no names."""
        names = self._feature_names or [f"x{column}" for column in range(len(self.center))]
        return dict(zip(names, self.center.tolist(), strict=True))

    @property
    def moment_estimate(self) -> Self:
        """The estimate from moments alone, before EM."""
        check_has_moments(self._family)
        candidates = self._moment_candidates or self._candidates
        return replace(self, _refined=None, _candidates=candidates, _moment_candidates=None, _rank=0)

    @property
    def _hint_in_features(self) -> Array | None:
        if self._hint is None:
            return None
        return np.asarray(self._family.design.to_slopes(np.eye(len(self.center))).T @ self._hint)

    @property
    def _hint_variance(self) -> float:
        """The variance that comes from the covariance of x."""
        slopes = self._family.design.to_slopes(self.center)
        return float(slopes @ slopes) * float(self._hint @ self._hint) / self._family.chunks.n_rows

    @property
    def separation_interval(self) -> tuple[float, float]:
        """A 95% interval of `separation`, from the noise of the scores."""
        check_has_moments(self._family)
        return super().separation_interval

    def _trust_facts(self) -> list[tuple[str, str]]:
        return super()._trust_facts() if self._family.has_moments else []

    def _with_rank(self, rank: int) -> Self:
        return replace(self, _rank=rank, _warnings=())

    @cached_property
    def check(self) -> Check:
        """Where examples rank among all samples when they are left out."""
        left_out = self._refined.left_out if self._refined else None
        return super().check if left_out is None else left_out.check

    def _refined_errors(self, refined: RefinedMixture) -> StandardErrors:
        rows: Chunks[Any] = make_rows(self._family)
        covariance = estimate_covariance(refined.model, rows, self._mixture, self._index)
        first, q = int(self._family.has_intercepts), self._mixture.coefficients.shape[1]
        half = self._to_features(covariance[first:q, first:q])
        variances = np.einsum("ij,ij->i", half, self._to_features(np.eye(q - first)))
        return StandardErrors(np.sqrt(np.maximum(variances, 0)), float(np.sqrt(covariance[-1, -1])))

    def predict(self, X: SamplesLike) -> Array:
        """Compute ⟨x, center⟩ + intercept for each sample.

        Parameters
        ----------
        X : array or Dask array of shape (n, d)
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

    def membership(self, X: SamplesLike, y: ArrayLike) -> Array:
        """Compute the probability that each sample (x, y) belongs to this component.

        Parameters
        ----------
        X : array or Dask array of shape (n, d)
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
        samples = check_samples(X, len(self.center), self._feature_names)
        samples, responses = check_X_y(samples, y, dtype=FLOAT_DTYPES)
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
        return np.column_stack([np.asarray(chunk.samples), chunk.responses + self._family.offset])

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
        outside = float(self._direction @ family.coordinate_covariance @ self._direction) / self.weight
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
        samples, is_paper = self._check_chunks(X, y), self._is_paper()
        minimum, d = check_n_components(self.n_components), samples.n_features
        needed = max(0 if is_paper else d, minimum) + 1
        check_n_samples(samples, needed, f"{minimum} regressions on {d} features")
        self._forget("outliers_", "noise_variance_")
        if is_paper:
            standardized = standardize(samples, paper=True)
        else:
            outliers = find_regression_outliers(samples)
            samples, standardized, self.outliers_ = outliers.samples, outliers.measured, outliers.rows
            if len(outliers.rows):
                warn_user(outliers.warning())
        fit = partial(fit_regression, samples, seed=self._draw_seed(), standardized=standardized)
        k = count_regressions(fit(TUNING.max_counted, paper=False)) if self.n_components == AUTO else minimum
        check_not_exact(standardized, k)
        self._family, self._mixtures = fit(k, paper=is_paper), MixtureCache[RefinedMixture]()
        if self._family.has_moments:
            self.noise_variance_ = self._family.noise_variance
        return self

    def _check_chunks(self, X: Any, y: Any = None) -> Chunks[SampleChunk]:
        """Check the samples and responses of a fit: in memory, or where their chunks are."""
        if is_dask(X):
            chunks: Chunks[SampleChunk] = load_dask().sample_chunks(X, y)
            self._set_features(chunks)
            return chunks
        checked, response = validate_data(self, X, y, dtype=FLOAT_DTYPES, y_numeric=True)
        responses = np.asarray(response, dtype=np.float64)
        check_magnitude(checked)
        check_magnitude(responses)
        return chunk_in_memory(checked, responses)

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: tuple[SamplesLike, ArrayLike] | None = None,
        not_examples: tuple[SamplesLike, ArrayLike] | None = None,
        refine: bool = False,
        tol: float = 0.01,
        max_iter: int | None = None,
        rehint: bool | None = None,
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
            always held, and each component also gets a Gaussian of X if that predicts left-out examples better.
        tol : float, default=0.01
            Stop EM when an iteration raises the total log-likelihood by less than this, in nats.
        max_iter : int, optional
            Maximum number of EM iterations, 100 by default.
        rehint : bool, optional
            If the lead is small, contract the moments again with the component found as the hint, which removes what
            noise mixes into it of the runner-up; by default unless ``preset="paper"``.

        Returns
        -------
        RegressionComponent
        """
        extraction = Extraction(rehint=not self._is_paper() if rehint is None else rehint)
        options = check_em_options(refine, tol, max_iter)
        check_is_fitted(self)
        family = self._family
        if options is None:
            check_has_moments(family)
        # 1) the hint: coefficients, or those of the examples
        positive, negative = self._check_examples(hint, examples, not_examples)
        v = None
        if positive is None:
            v = family.design.to_slopes(hint_from_direction(hint, self.n_features_in_))
            check_not_orthogonal(family.frame, v, scale=float(np.linalg.norm(v)))
            c = family.frame.project_hint(v)
        else:
            c = hint_from_examples(family, positive)
            c = c if negative is None else c - hint_from_examples(family, negative)
        hinted = family.hinted(c)
        # 2) the third moment contracted with the hint, and one eigenvector (Algorithm 1)
        candidates, again = Candidates(*(np.zeros((1, 0)), *[np.zeros(0)] * 3)), None
        if family.has_moments:
            candidates, again = extract_with_rehint(family.hinted, hinted, extraction)
        component = RegressionComponent(
            family.frame,
            candidates,
            _family=family,
            _hinted=hinted,
            _rehint=again,
            _hint=v,
            _examples=positive,
            _search=partial(
                self._search_again, not_examples=not_examples, refine=refine, tol=tol, max_iter=max_iter, rehint=rehint
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
        if check_one_hint({"hint": hint, "examples": examples}) == "hint" and not_examples is not None:
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
        return np.column_stack(check_X_y(samples, examples[1], dtype=np.float64))

    def _refine(
        self, component: RegressionComponent, negative: Array | None, options: EMOptions
    ) -> RegressionComponent:
        """Choose the component of the fitted mixture that the hint means, or fit it with the examples."""
        family, positive = self._family, component._examples
        mixture = self._mixtures.get(options, lambda: fit_all_components(family, options))
        if positive is not None:
            mixture = refine_by_examples(family, mixture, positive, negative, options)
        weights, coefficients = mixture.fit.params.weights, mixture.fit.params.coefficients
        points = family.frame.whiten(coefficients[:, int(family.has_intercepts) :]).T
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
        return np.asarray(self._family.frame.whiten(self._family.design.standardize(X)), dtype=X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.target_tags.required = True
        return tags


# ---- Errors and warnings --------------------------------------------------------------------------------------------


def check_not_exact(standardized: Standardized, n_components: int) -> None:
    """Raise if one regression leaves nothing of y for others to explain."""
    if n_components == 1 or standardized.design.whitener is None:
        return
    samples = standardized.chunks
    m = samples.sum(lambda chunk: weighted_sums(chunk.samples, chunk.responses[:, None])).rows / samples.n_rows
    if standardized.power - float(np.sum(m**2)) <= MIN_UNEXPLAINED * standardized.power:
        raise SearchError(
            "One regression explains y exactly, so there is nothing for {n_components} to separate. Fit one "
            "({argument}=1).",
            code="one_regression",
            n_components=n_components,
            argument=Option("n_components"),
        )


def check_has_moments(family: RegressionFamily) -> None:
    """Raise if moments cannot separate the components of a fit."""
    if not family.has_moments:
        raise SearchError(
            "Moments cannot separate the {n_components} regressions of this fit on {n_features} independent features: "
            "only their likelihood can. Search with {argument}=True, or fit fewer components.",
            code="needs_refinement",
            n_components=family.n_components,
            n_features=family.design.n_coordinates,
            argument=Option("refine"),
        )


def check_moments(family: RegressionFamily) -> UnlikelyMixtureWarning | None:
    """Find out whether moments are reliable: whether x is normal, and all weights add up to about 1."""
    total, shape = float(family.mean @ family.mean), family.normality
    low, high = TUNING.total_weights
    if shape is None or (shape.p_value >= EM.misfit_p_value and low < total < high):
        return None
    return UnlikelyMixtureWarning(
        "Moments may be far off. In the directions of the coefficients X has a skewness of {skewness:.2g} and an "
        "excess kurtosis of {kurtosis:.2g} (0 if it is normal), and the weights of all regressions sum to {total:.2g} "
        "(about 1 if samples are many and coefficients linearly independent). Search with {argument}=True.",
        code="misfit",
        skewness=shape.skewness,
        kurtosis=shape.kurtosis,
        total=total,
        argument=Option("refine"),
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
    if refined.is_clustered:
        clusters = UnlikelyMixtureWarning(
            "The groups are clusters of (X, y) rather than lines: among rows like them, left-out examples rank better "
            "than by the regression. Search with `mixsearch.find`.",
            code="clusters_not_lines",
        )
        return [*warnings, clusters]
    return [*warnings, *check_fit(float(refined.p_values[component._index]), "a regression with normal noise")]
