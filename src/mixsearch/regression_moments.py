"""Moments of mixtures of linear regressions (paper, section 3.3), and the standardization of x that they need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtr

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project
from mixsearch.core.moments import (
    Hinted,
    Replicates,
    blas_threads_for,
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
    DetachedChunks,
    SampleChunk,
    leave_one_out,
    row_slices,
    spread_over_groups,
    sum_chunks,
)
from mixsearch.errors import HintError, Option, RankError, SearchError, UnlikelyMixtureWarning

# Skewness and excess kurtosis of x, and totals of all weights, with which moments are still reliable.
MAX_SKEWNESS, MAX_KURTOSIS, TOTAL_WEIGHTS = 0.15, 0.1, (0.5, 2.0)
# Rounding: of a correlation, of columns that add up to a constant, and of what one regression leaves of y.
MIN_CORRELATION, MIN_CONSTANT, MIN_UNEXPLAINED = 1e-12, 1e-6, 1e-12

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

    def standardize(self, X: Samples) -> Samples:
        """Compute z, (n, r)."""
        return X if self.whitener is None else project(X, self.whitener, self.center)

    def to_coefficients(self, slopes: Array) -> Array:
        """Map slopes for z, (r,) or (r, q), to coefficients of x, (d,) or (d, q)."""
        return slopes if self.whitener is None else np.asarray(self.whitener @ slopes)

    def to_slopes(self, coefficients: Array) -> Array:
        """Map coefficients of x, (d,) or (d, q), to slopes for z, (r,) or (r, q)."""
        return coefficients if self.unwhitener is None else np.asarray(self.unwhitener @ coefficients)

    def standardize_sums(self, sums: Array) -> Array:
        """Compute Σ z w', (r, q), from Σ (x - center) w', (d, q)."""
        return sums if self.whitener is None else np.asarray(self.whitener.T @ sums)


def fit_design(chunks: Chunks[SampleChunk], design: str) -> Design:
    """Estimate the mean and the covariance of x, or take x as standard normal already."""
    n, d, dtype, _ = chunks.layout
    if design == "standard":
        return Design(np.zeros(d))
    rough_mean = sample_mean_of(chunks)

    def sum_rows(X: Samples, rows: slice) -> Spread:
        centered = X[rows] - rough_mean  # in double precision
        return Spread(centered.sum(axis=0), centered.T @ centered)

    def sum_chunk(chunk: SampleChunk) -> Spread:
        return sum_chunks(partial(sum_rows, chunk.samples), row_slices(chunk.n_rows))

    total, squares = chunks.sum(sum_chunk)
    # The mean of many samples is rounded. Without this correction a constant column would seem to vary.
    center, covariance = rough_mean + total / n, squares / n - np.outer(total / n, total / n)
    # Columns may have any units, so their correlations decide whether they depend on each other.
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0))
    is_constant = deviations <= np.finfo(dtype).eps * np.abs(center)
    inverse = np.where(is_constant, 0.0, 1 / np.where(is_constant, 1.0, deviations))
    values, vectors = np.linalg.eigh(covariance * np.outer(inverse, inverse))
    positive = values > MIN_CORRELATION * max(float(values[-1]), 1.0)
    if not positive.any():
        raise SearchError("All columns of X are constant. Provide columns that vary.", code="constant_features")
    root, axes = np.sqrt(values[positive]), vectors[:, positive]
    return Design(center, inverse[:, None] * axes / root, root[:, None] * axes.T * deviations)


class Spread(NamedTuple):
    """Sums over samples around a point."""

    total: Array  # (d,)
    squares: Array  # (d, d)


def check_no_constant(design: Design) -> None:
    """Raise if columns add up to a constant: regressions through zero would have an intercept after all."""
    if design.whitener is None or design.unwhitener is None:
        return
    residual = design.center - (design.center @ design.whitener) @ design.unwhitener
    units = np.sqrt(design.center**2 + np.sum(np.square(design.unwhitener), axis=0))
    if np.any(np.abs(residual) > MIN_CONSTANT * units):
        raise SearchError(
            "{argument}=False, but some columns of X add up to a constant, like a column of ones or all levels of a "
            "category: that is an intercept. Set {argument}=True, or drop one of those columns.",
            code="constant_columns",
            argument=Option("fit_intercept"),
        )


@dataclass(frozen=True)
class StandardizedChunk(Chunk):
    """Standardized samples."""

    samples: Samples  # z, (n, r)
    responses: Array  # t = y - offset, (n,)
    original: Samples  # x, (n, d)


class Standardized(NamedTuple):
    """Standardized samples, with the map from the user's."""

    design: Design
    offset: float  # subtracted from y
    power: float  # E[t²]
    chunks: Chunks[StandardizedChunk]


def standardize(chunks: Chunks[SampleChunk], design: str, *, intercept: bool) -> Standardized:
    """Standardize samples and center their responses."""
    n, fitted = chunks.n_rows, fit_design(chunks, design)
    if not intercept:
        check_no_constant(fitted)
    # Regressions through zero no longer pass through it once X is centered: y must be centered as well.
    total = chunks.sum(lambda chunk: float(np.sum(chunk.responses, dtype=np.float64)))
    offset = total / n if intercept or design == "covariance" else 0.0
    samples = standardize_by(chunks, fitted, offset)
    power = samples.sum(lambda chunk: float(chunk.responses @ chunk.responses)) / n
    if not power > 1e-28 * offset**2:
        raise SearchError("All responses y are the same. Provide responses that vary.", code="constant_response")
    return Standardized(fitted, offset, power, samples)


def standardize_by(chunks: Chunks[SampleChunk], design: Design, offset: float) -> Chunks[StandardizedChunk]:
    """Standardize samples by a given design."""

    def convert(chunk: SampleChunk) -> StandardizedChunk:
        responses = np.asarray(chunk.responses, dtype=np.float64) - offset
        return StandardizedChunk(chunk.first, design.standardize(chunk.samples), responses, chunk.samples)

    layout = chunks.layout._replace(n_features=design.n_coordinates)
    return replace(chunks.map(convert).persist(), layout=layout)


def find_regression_outliers(chunks: Chunks[SampleChunk], design: str, *, intercept: bool) -> Outliers[Standardized]:
    """Find samples whose x is far from all others, or whose response fits no regression of the others."""

    def measure(chunk: StandardizedChunk) -> Array:
        return squared_distances(chunk.samples, np.zeros(chunk.samples.shape[1]))

    def measure_responses(chunk: StandardizedChunk) -> Array:  # a regression may give a large one where x is large
        return np.asarray(chunk.responses**2 / (1 + measure(chunk) / max(chunk.samples.shape[1], 1)))

    def find_rows(samples: Chunks[StandardizedChunk]) -> Array:
        isolated = isolated_rows(samples, find_far(samples, measure), np.zeros(samples.n_features))
        return np.union1d(isolated, find_far(samples, measure_responses).rows)

    samples, standardized = chunks, standardize(chunks, design, intercept=intercept)
    left_out, rows = np.zeros(0, dtype=np.int64), find_rows(standardized.chunks)
    for _ in range(MAX_ROUNDS):
        if np.array_equal(rows, left_out):
            break
        left_out, samples = rows, chunks.drop_rows(rows).persist()
        standardized = standardize(samples, design, intercept=intercept)
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


class ThirdMoments(NamedTuple):
    """Averages over all samples."""

    tensor: Array  # R(c) for each unit vector c, (k, k, k)
    intercepts: Array  # Σ αᵢbᵢ W'μᵢμᵢ'W, (k, k)


class HintedSums(NamedTuple):
    """Sums over samples, with f = f(t)."""

    third: Array  # Σ f⟨y, c⟩yy', (k, k)
    first: Array  # Σ fy, (k,)


class ThirdSums(NamedTuple):
    """Sums over samples, with f = f(t)."""

    third: Array  # Σ f y⊗y⊗y, (k, k, k)
    second: Array  # Σ f yy', (k, k)
    first: Array  # Σ f y, (k,)
    total: float  # Σ f


class GroupSums(NamedTuple):
    """Sums over samples, with y their coordinates in the frame and f = f(t)."""

    n: int
    gram: Array  # Σ yy', (k, k)
    second: Array  # Σ t²yy', (k, k)
    third: Array  # Σ f⟨y, c⟩yy', (k, k)
    total: Array  # Σ y, (k,)
    mean: Array  # Σ ty, (k,)
    first: Array  # Σ fy, (k,)
    power: float  # Σ t²
    energy: float  # Σ t²|z|² outside the signal space
    residual: float  # Σ |z|² outside it


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
    fit_intercept: bool = True
    n_components: int = 0
    power: float = 0.0  # E[t²]
    shape: Normality | None = None  # of x; None where moments do not rely on it
    has_moments: bool = True  # whether moments can separate the components
    n_hints: ClassVar[int] = 1

    def thin(self, n_samples: int) -> RegressionFamily:
        """Return the same fit with about this many of the samples."""
        return replace(self, chunks=self.chunks.thin(max(self.chunks.n_rows // n_samples, 1)).persist())

    @property
    def noise_variance(self) -> float:
        """The average variance of the noise, Σ αᵢσᵢ².

        E[t²] = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), where Σ αᵢ|μᵢ|² = tr A, and Σ αᵢbᵢ² = |W'Σ αᵢbᵢμᵢ|² because the vectors √αᵢW'μᵢ
        are orthonormal.
        """
        return max(self.power - float(self.frame.values.sum() + self.intercepts @ self.intercepts), 0.0)

    @property
    def without_samples(self) -> RegressionFamily:
        """The same fit without its samples, for functions that run where chunks are."""
        return replace(self, chunks=DetachedChunks(self.chunks.layout))

    def weigh(self, t: Array) -> Array:
        """Compute f(t), (n,)."""
        return np.asarray(t * (t * t - self.linear))

    @cached_property
    def third_moments(self) -> ThirdMoments:
        """The third moment under every hint."""
        family = self.without_samples

        def sum_chunk(chunk: RegressionChunk) -> ThirdSums:
            Y, f = chunk.projected, family.weigh(chunk.responses)
            return ThirdSums(sum_cubes(Y, Y, f), weighted_gram(Y, f), f @ Y, float(f.sum()))

        third, second, first, total = (sums / self.chunks.n_rows for sums in self.chunks.sum(sum_chunk))
        noise = symmetrize(np.multiply.outer(np.diag(self.frame.spread), first))
        return ThirdMoments((third - noise) / 6, (second - total * np.diag(self.frame.spread)) / 6)

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint in the frame, (k,)."""
        family = self.without_samples

        def sum_chunk(chunk: RegressionChunk) -> HintedSums:
            Y, f = chunk.projected, family.weigh(chunk.responses)
            return HintedSums(weighted_gram(Y, f * (Y @ hint)), f @ Y)

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
        return rotate(self.third_moments.tensor, basis)

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

        def sum_rows(chunk: RegressionChunk, rows: slice) -> GroupSums:
            Y, t = chunk.projected[rows].astype(np.float64, copy=False), chunk.responses[rows]
            residual, squares, f = chunk.residual[rows], t**2, family.weigh(t)
            return GroupSums(
                n=len(Y),
                gram=Y.T @ Y,
                second=(Y * squares[:, None]).T @ Y,
                third=(Y * (f * (Y @ hint))[:, None]).T @ Y,
                total=Y.sum(axis=0),
                mean=t @ Y,
                first=f @ Y,
                power=squares.sum(),
                energy=float(squares @ residual),
                residual=residual.sum(),
            )

        replicates = [self._replicate(sums, hint) for sums in leave_one_out(self.chunks, sum_rows)]
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def _replicate(self, sums: GroupSums, hint: Array) -> tuple[Array, Array, Array]:
        """Compute W'AW, W'BW and W'm from the sums over all samples but one group."""
        D, n, k, identity = self.frame.values, sums.n, self.frame.n_components, np.diag(self.frame.spread)
        is_estimated = self.design.whitener is not None
        e = sums.gram / n - identity if is_estimated else np.zeros((k, k))
        delta = sums.total / n if is_estimated else np.zeros(k)
        mean = sums.mean / n - e @ (D * self.mean)
        if k == 1:  # A = mm'
            return np.outer(mean, mean), np.ones((1, 1)), mean
        n_noise = self.design.n_coordinates - k
        level = (sums.energy if n_noise else sums.power) / n / 2
        if n_noise and is_estimated:
            level -= self.noise_level * (sums.residual / n - n_noise)
        shift = np.outer(delta, self.cross_moment) / 2 + e * D
        second = sums.second / n / 2 - shift - shift.T - level / max(n_noise, 1) * (identity + e)
        first, (tensor, intercepts) = sums.first / n, self.third_moments
        cross = np.outer(first, (identity + e) @ hint)
        third = sums.third / n - cross - cross.T - (first @ hint) * (identity + e)
        change = np.outer(delta, intercepts @ hint) + (e * D) @ np.tensordot(hint, tensor, axes=1)
        change = change + change.T + (delta @ hint) * intercepts + np.tensordot(D * (e @ hint), tensor, axes=1)
        return second, third / 6 - change, mean

    def contributions(self, chunk: RegressionChunk) -> Array:
        """Compute weights w of samples, (n, k), with which the average of zw' is A W up to the signal space."""
        Y, t, D = chunk.projected.astype(np.float64, copy=False), chunk.responses[:, None], self.frame.values
        if self.frame.n_components == 1:  # A = mm'
            return np.asarray(t - Y * D)
        squares = t**2 * Y / 2
        is_estimated = self.design.whitener is not None
        return squares - Y * (self.noise_level + D) - self.cross_moment / 2 if is_estimated else squares

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u, u (k,), of all samples but one of B groups, up to vectors of the signal space: (r, B)."""
        family, n_groups = self.without_samples, self.chunks.n_groups

        def sum_groups(chunk: RegressionChunk) -> Any:
            weights = spread_over_groups(chunk, family.contributions(chunk) @ direction, n_groups)
            return weighted_sums(chunk.samples, weights)

        sums = centered_sums(self.design.center, self.chunks.sum(sum_groups))
        standardized = self.design.standardize_sums(sums)
        n_left = self.chunks.n_rows * (1 - 1 / n_groups)
        return np.asarray((standardized.sum(axis=1, keepdims=True) - standardized) / n_left)

    def hint_shifts(self, hint: Array) -> Array:
        """Compute how the coordinates of slopes v, (r,), change with the frame of all samples but one group: (B, k).

        W'A v⊥ is 0 for all samples together, where v⊥ is the part of v outside the signal space; without a group it is
        not.
        """
        family = self.without_samples
        residual = self.design.to_coefficients(self.frame.residual(hint[:, None]))[:, 0]

        def correlate(chunk: RegressionChunk, rows: slice) -> Any:
            piece = chunk.take(rows)
            scores = np.asarray(project(piece.samples, residual, family.design.center), dtype=np.float64)
            return scores @ family.contributions(piece)

        n_left = self.chunks.n_rows * (1 - 1 / self.chunks.n_groups)
        return np.array(leave_one_out(self.chunks, correlate)) / n_left

    def information_p_value(self, hint: Array) -> float:
        """Test the hypothesis that the components do not differ along slopes v, (r,).

        For such a v, ⟨z, v⟩ is independent of everything else, so that the coordinates of v in the frame, averages of
        t²y⟨z, v⟩/2, differ from 0 by noise alone.
        """
        c = self.frame.project_hint(hint)
        precision = np.linalg.pinv(self._coordinate_covariance, hermitian=True)
        return float(chdtrc(len(c), c @ precision @ c / (hint @ hint)))

    def coordinate_variance(self, direction: Array) -> float:
        """Estimate the variance of A W u, u (k,), along a unit vector outside the signal space."""
        return float(direction @ self._coordinate_covariance @ direction)

    @cached_property
    def _coordinate_covariance(self) -> Array:
        family = self.without_samples

        def sum_chunk(chunk: RegressionChunk) -> Any:
            weights = family.contributions(chunk)
            if family.design.whitener is not None:  # a hint in the user's units varies with the covariance of x
                weights = weights + chunk.projected * family.frame.values
            return weights.T @ weights

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
    chunk = chunks.thin(-(-chunks.n_rows // 10_000)).collect().chunk
    # One row per coordinate: means over few columns would be slow.
    U = np.ascontiguousarray(chunk.projected.T, dtype=np.float64) * np.sqrt(frame.values)[:, None]
    U -= U.mean(axis=1, keepdims=True)
    U /= np.maximum(U.std(axis=1, keepdims=True), np.finfo(float).tiny)
    n, squares = U.shape[1], U**2
    skewness, kurtosis = np.abs((squares * U).mean(axis=1)), np.abs((squares**2).mean(axis=1) - 3)
    beyond = np.concatenate([(skewness - MAX_SKEWNESS) / np.sqrt(6 / n), (kurtosis - MAX_KURTOSIS) / np.sqrt(24 / n)])
    p_value = min(1.0, len(beyond) * float(ndtr(-beyond.max())))
    return Normality(p_value, float(skewness.max()), float(kurtosis.max()))


def fit_regression(
    chunks: Chunks[SampleChunk],
    n_components: int,
    *,
    design: str,
    intercept: bool,
    paper: bool,
    seed: int,
    standardized: Standardized | None = None,
) -> RegressionFamily:
    """Find the signal space of a mixture of regressions and project the samples onto it.

    Notes
    -----
    E[y²xx'] = 2A + τ²I with τ² = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), which is E[y²] (paper, Theorem 5). Intercepts enter the
    moments only through τ² and M, because odd moments of x are 0; E[y²x] = 2 Σ αᵢbᵢμᵢ gives them.
    """
    fitted, offset, power, samples = standardized or standardize(chunks, design, intercept=intercept)
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

    def sum_powers(chunk: RegressionChunk) -> Any:
        t = chunk.responses
        return np.stack([t, t**2, t**2 * t]) @ chunk.projected.astype(np.float64, copy=False)

    projected = samples.map(project_chunk).persist()
    mean, cross_moment, energies = projected.sum(sum_powers) / chunks.n_rows
    intercepts = cross_moment / 2
    if intercept and mean.any():
        # y is centered, so the intercepts average to zero: Σ αᵢbᵢ = ⟨W'm, W'Σ αᵢbᵢμᵢ⟩ = 0. So must their estimate.
        intercepts = intercepts - mean * (mean @ intercepts) / (mean @ mean)
    return RegressionFamily(
        frame=frame,
        design=fitted,
        offset=offset,
        mean=mean,
        cross_moment=cross_moment,
        intercepts=intercepts,
        energies=energies / 3,
        linear=0.0 if paper else 3 * power,
        noise_level=level,
        chunks=replace(projected, layout=chunks.layout),
        fit_intercept=intercept,
        n_components=n_components,
        power=power,
        # Least squares, for a single regression, takes any x.
        shape=None if paper or n_components == 1 else test_normality(projected, frame),
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
        sums = chunks.sum(lambda chunk: weighted_sums(chunk.samples, chunk.responses[:, None]))
        m = sums.rows / n
        length = float(np.linalg.norm(m))
        return frame_from_eigenpairs(np.array([length**2]), m / (length or 1.0)), 0.0
    second = second_moment(chunks, lambda chunk: np.asarray(chunk.responses**2 / (2 * n)))
    with blas_threads_for(chunks):
        values, vectors, _ = top_eigenpairs(second, n_components, seed=seed)
        smallest = -top_eigenpairs(-second, 1, seed=seed).values[0] if paper else 0.0
    level = float(smallest) if paper else power / 2  # the expectation, if there are no noise eigenvalues
    if r > n_components and not paper:

        def sum_energy(chunk: StandardizedChunk) -> Any:
            return float(chunk.responses**2 @ squared_distances(chunk.samples, np.zeros(r)))

        energy = float(chunks.sum(sum_energy)) / n / 2
        level = max(energy - float(values.sum()), 0.0) / (r - n_components)
    return frame_from_eigenpairs(values, vectors, level, precision=chunks.layout.dtype), level


def check_not_exact(standardized: Standardized, n_components: int) -> None:
    """Raise if one regression leaves nothing of y for others to explain."""
    if n_components == 1 or standardized.design.whitener is None:
        return
    samples = standardized.chunks
    sums = samples.sum(lambda chunk: weighted_sums(chunk.samples, chunk.responses[:, None]))
    if standardized.power - float(np.sum((sums.rows / samples.n_rows) ** 2)) <= MIN_UNEXPLAINED * standardized.power:
        raise SearchError(
            "One regression explains y exactly, so there is nothing for {n_components} to separate. Fit one "
            "({argument}=1).",
            code="one_regression",
            n_components=n_components,
            argument=Option("n_components"),
        )


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
    if family.fit_intercept and len(y) > k + 1:  # fewer samples do not determine an intercept besides the coefficients
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


def check_moments(family: RegressionFamily) -> UnlikelyMixtureWarning | None:
    """Find out whether moments are reliable: whether x is normal, and all weights add up to about 1."""
    total, shape = float(family.mean @ family.mean), family.shape
    if shape is None or (shape.p_value >= 0.01 and TOTAL_WEIGHTS[0] < total < TOTAL_WEIGHTS[1]):
        return None
    return UnlikelyMixtureWarning(
        "Moments may be far off. In the directions of the coefficients X has a skewness of {skewness:.2g} and an "
        "excess kurtosis of {kurtosis:.2g} (0 if it is normal), and the weights of all regressions sum to {total:.2g} "
        "(about 1 if samples are many and coefficients linearly independent). Search with {argument}=True.",
        code="moments_unreliable",
        skewness=shape.skewness,
        kurtosis=shape.kurtosis,
        total=total,
        argument=Option("refine"),
    )


def moments_error(family: RegressionFamily) -> SearchError:
    """Return the error that moments cannot separate the components of a fit."""
    return SearchError(
        "Moments cannot separate the {n_components} regressions of this fit on {n_features} independent features: only "
        "their likelihood can. Search with {argument}=True, or fit fewer components.",
        code="needs_refinement",
        n_components=family.n_components,
        n_features=family.design.n_coordinates,
        argument=Option("refine"),
    )
