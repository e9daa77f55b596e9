"""Mixtures of Gaussians: find one component from a direction or a few of its samples.

The model (paper, section 3.1): a sample of component i is N(μᵢ, σᵢ²I), and component i has weight αᵢ. Moments first,
then the likelihood, then the estimator. Refined components may also have diagonal, tied or full covariances.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.component import add_warnings
from mixsearch.core.eigen import OVERSAMPLING, top_eigenpairs
from mixsearch.core.estimator import RandomState, SemiSupervised
from mixsearch.core.extraction import all_components, find_tensor
from mixsearch.core.family import Preset, find_component
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project_and_measure
from mixsearch.core.jackknife import StandardErrors
from mixsearch.core.moments import (
    Hinted,
    Replicates,
    blas_threads_for,
    centered_product,
    sample_mean_of,
    second_moment,
    total_variance,
    weighted_gram,
)
from mixsearch.core.rows import (
    Chunk,
    Chunks,
    SampleChunk,
    leave_one_out,
)
from mixsearch.core.spectrum import (
    MAX_ENERGIES,
    MIN_NOISE,
    Spectrum,
    check_count,
    count_directions,
    measure_spectrum,
    noise_rank,
)
from mixsearch.core.validation import (
    check_choice,
    check_n_components,
    check_n_features,
    check_n_samples,
    check_not_orthogonal,
    hint_from_direction,
    mean_of,
)
from mixsearch.errors import SearchWarning, warn_user
from mixsearch.mixture.check import test_rows
from mixsearch.mixture.em import (
    Fit,
    clip_weight,
    draw_start,
    log_normal,
    posterior,
    posterior_of_two,
    thin_rows,
)
from mixsearch.mixture.search import (
    MixtureComponent,
    MixtureModel,
    MixtureSearch,
    RefinedMixture,
    find_warnings,
)
from mixsearch.mixture.tuning import TUNING as EM

Covariance = Literal["spherical", "diagonal", "tied", "full"]
COVARIANCES: tuple[Covariance, ...] = ("spherical", "diagonal", "tied", "full")


# The least variance of a refined component, relative to the average one.
MIN_VARIANCE = 1e-4
TINY = np.finfo(np.float64).tiny

# ---- Moments (paper, section 3.1) -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class GaussianChunk(Chunk):
    """Samples with their coordinates in the frame."""

    samples: Samples  # x itself, not a copy, (n, d)
    projected: Array  # Y = XW, (n, k)
    energy: Array  # e, the squared residual per direction of the noise space, (n,): averages to the noise variance
    residual: Array  # squared residual in the whole noise space, (n,)


@dataclass(frozen=True, slots=True)
class GaussianFamily:
    """The fitted moments of a mixture of spherical Gaussians. Only the frame and the mean grow with the dimension."""

    frame: Frame
    mean: Array  # W'm, (k,)
    noise_variance: float  # Σ αᵢσᵢ²
    noise_mean: Array  # W'm~, (k,), with m~ = Σ αᵢσᵢ²μᵢ
    sample_mean: Array  # m, (d,)
    chunks: Chunks[GaussianChunk]
    n_noise: int  # the dimension of the noise space: directions outside the signal space in which samples vary
    spectrum: Spectrum | None = None  # which eigenvalues exceed the noise; None for the paper's moments
    warnings: tuple[SearchWarning, ...] = ()  # reasons to distrust this number of components

    @property
    def n_components(self) -> int:
        """The number of components of the fit."""
        return self.frame.n_components

    @property
    def signal(self) -> slice:
        """The coordinates of the frame in which components may differ: all but the constant, if there is one."""
        return slice(0 if self.frame.origin is None else 1, None)

    @property
    def origin(self) -> Array:
        """The point that the signal space goes through, (d,)."""
        return np.zeros(len(self.sample_mean)) if self.frame.origin is None else self.frame.origin

    @property
    def positive_noise(self) -> float:
        """The average variance, or a trace of one if the samples have none: densities need a positive variance."""
        return max(self.noise_variance, MIN_NOISE * float(self.frame.values[-1]))

    def read(self, X: Samples) -> GaussianChunk:
        """Return new samples with their coordinates in the frame."""
        residual = project_and_measure(X, self.frame.basis, self.origin)[1]
        return GaussianChunk(0, X, self.frame.whiten(X), residual / self.n_noise, residual)

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint in the frame, (k,)."""
        total = self.chunks.sum(lambda chunk: weighted_gram(chunk.projected, chunk.projected @ hint))
        return self.correct(total / self.chunks.n_rows, hint)

    def correct(self, third: Array, hint: Array) -> Hinted:
        """Subtract the contribution of the noise from E[⟨y, c⟩yy'].

        Notes
        -----
        B = E[⟨x, v⟩xx'] - m~v' - vm~' - ⟨m~, v⟩I (paper, Theorem 4). With v in the signal space, W'v = W'W c, where W'W
        is diagonal, and ⟨m~, v⟩ = ⟨W'm~, c⟩, so that the samples enter through Y alone.
        """
        spread = self.frame.spread
        cross = np.outer(self.noise_mean, spread * hint)
        matrix = third - cross - cross.T - (self.noise_mean @ hint) * np.diag(spread)
        return Hinted(matrix, self.mean, hint)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments under a hint in the frame, (k,), of all samples but one group, for each group in turn."""

        def sum_rows(chunk: GaussianChunk, rows: slice) -> tuple[Any, ...]:
            Y, energy = chunk.projected[rows].astype(np.float64, copy=False), chunk.energy[rows]
            third = (Y * (Y @ hint)[:, None]).T @ Y
            return len(Y), np.stack([np.ones(len(Y)), energy]) @ Y, Y.T @ Y, third, energy.sum()

        replicates = []
        for n, (total, energy_mean), squares, third, energy in leave_one_out(self.chunks, sum_rows):
            second = squares / n - energy / n * np.diag(self.frame.spread)
            hinted = replace(self, noise_mean=energy_mean / n).correct(third / n, hint)
            replicates.append((second, hinted.matrix, total / n))
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u, u (k,), of all samples but one of B groups, up to vectors of the signal space: (d, B)."""
        mean = self.sample_mean

        def sum_rows(chunk: GaussianChunk, rows: slice) -> Array:
            return centered_product(chunk.samples[rows], chunk.projected[rows] @ direction, mean)

        n_left = self.chunks.n_rows * (1 - 1 / self.chunks.n_groups)
        return np.array(leave_one_out(self.chunks, sum_rows)).T / n_left

    def hint_covariance(self, v: Array) -> Array:
        """Estimate the covariance of the coordinates of v, (d,), in the frame of other samples, (k, k).

        Notes
        -----
        The part r of v outside the signal space is uncorrelated with the coordinates of these samples. In others it is
        correlated by E[y⟨x - m, r⟩], so that this much more of v lies in the frame: its covariance is E[⟨x - m, r⟩²yy']
        over n.
        """
        residual = self.frame.residual(v[:, None])[:, 0]
        offset = float(self.sample_mean @ residual)
        thinned = self.chunks.thin(-(-self.chunks.n_rows // MAX_ENERGIES))

        def sum_squares(chunk: GaussianChunk) -> Array:
            return weighted_gram(chunk.projected, (np.asarray(chunk.samples @ residual) - offset) ** 2)

        return np.asarray(thinned.sum(sum_squares) / (thinned.n_rows * self.chunks.n_rows))


def fit_gaussian(chunks: Chunks[SampleChunk], n_components: int, *, paper: bool, seed: int) -> GaussianFamily:
    """Find the signal space and the noise of a mixture of spherical Gaussians, and project the samples.

    Notes
    -----
    The covariance has rank k - 1 plus noise. The paper takes the noise variance from one of its eigenvectors, and the
    signal space from the second moment about zero. The mean over all noise directions has a smaller error.
    """
    (n, d, dtype, _), k = chunks.layout, n_components
    mean = sample_mean_of(chunks)
    with blas_threads_for(chunks):
        covariance = second_moment(chunks, center=mean)
        if paper:
            values, vectors, _ = top_eigenpairs(covariance, min(k + 1, d), seed=seed)
            level, noise_direction = float(values[-1]), vectors[:, -1]
            values, vectors, _ = top_eigenpairs(second_moment(chunks), k, seed=seed)
            frame, n_noise = frame_from_eigenpairs(values, vectors, level, precision=dtype), d - k
        else:
            pairs = top_eigenpairs(covariance, min(k - 1 + OVERSAMPLING, d), n_converged=max(k - 1, 1), seed=seed)
            values, vectors = pairs.values[: k - 1], pairs.vectors[:, : k - 1]
            rank = noise_rank(covariance, chunks, mean, k - 1)
            trace, n_noise = total_variance(covariance, chunks, mean), max(rank - k + 1, 1)
            level = max(trace - float(values.sum()), 0.0) / n_noise
            signal = frame_from_eigenpairs(values, vectors, level, precision=dtype, name="covariance", n_components=k)
            unit = float(signal.values.mean()) if k > 1 else 1.0
            frame = Frame(np.column_stack([np.zeros(d), vectors]), np.append(unit, signal.values), origin=mean)

    def project_paper(chunk: SampleChunk) -> GaussianChunk:
        X = chunk.samples
        energy = np.asarray(X @ noise_direction - mean @ noise_direction) ** 2
        residual = project_and_measure(X, frame.basis, np.zeros(d))[1]
        return GaussianChunk(chunk.first, X, frame.whiten(X).astype(X.dtype, copy=False), energy, residual)

    def project_centered(chunk: SampleChunk) -> GaussianChunk:
        inside, residual = project_and_measure(chunk.samples, vectors, mean)
        Y = np.column_stack([np.ones(chunk.n_rows), inside / np.sqrt(signal.values)])
        Y = Y.astype(chunk.samples.dtype, copy=False)
        return GaussianChunk(chunk.first, chunk.samples, Y, residual / n_noise, residual)

    def sum_noise(chunk: GaussianChunk) -> Array:
        return np.asarray(chunk.projected.T @ chunk.energy.astype(chunk.projected.dtype), dtype=np.float64)

    projected = chunks.map(project_paper if paper else project_centered)
    family = GaussianFamily(
        frame,
        frame.whiten(mean),
        level,
        projected.sum(sum_noise) / n,
        sample_mean=mean,
        chunks=projected,
        n_noise=n_noise,
    )
    if paper:
        return family
    energies = projected.thin(-(-n // MAX_ENERGIES)).chunk.energy
    spectrum = measure_spectrum(pairs.values, energies, rank=rank, n_samples=n, n_used=k - 1, trace=trace)
    return replace(family, spectrum=spectrum)


# ---- Likelihood -----------------------------------------------------------------------------------------------------


class Gaussians(NamedTuple):
    """The parameters of all components."""

    weights: Array  # (k,)
    centers: Array  # (k, q) in the signal space if spherical, (k, d) relative to the mean of all samples otherwise
    scales: Array  # σ², (k,), if spherical; otherwise F, (k, d, d), with FF' the inverse of the covariance


@dataclass(frozen=True)
class FeatureChunk(Chunk):
    """Samples as features in which log densities are linear: 1, coordinates z of the signal space, squared length."""

    features: Array  # (n, q + 2)


@dataclass(frozen=True)
class SphericalModel:
    """The likelihood of spherical Gaussians whose centers lie in the signal space.

    Outside of it samples are noise; its energy shows how large the variance of a sample is.
    """

    units: Array  # √D of the signal space, (q,): lengths of the coordinates of the frame
    n_dims: int  # directions in which samples vary, in the signal space and outside
    min_variance: float
    name: ClassVar[str] = "a Gaussian with a spherical covariance"

    def read(self, chunk: GaussianChunk) -> FeatureChunk:
        """Return the features of samples."""
        n_constant = chunk.projected.shape[1] - len(self.units)
        Z = np.asarray(chunk.projected[:, n_constant:] * self.units, dtype=np.float64)
        squares = np.einsum("ij,ij->i", Z, Z) + chunk.residual
        return FeatureChunk(chunk.first, np.column_stack([np.ones(len(Z)), Z, squares]))

    def log_density(self, chunk: FeatureChunk, params: Gaussians) -> Array:
        """Compute log αᵢ + log N(x; μᵢ, σᵢ²I), (n, k)."""
        weights, centers, variances = params
        volumes = self.n_dims * np.log(2 * np.pi * variances)
        constants = np.log(weights) - 0.5 * (np.sum(centers**2, axis=1) / variances + volumes)
        coefficients = np.column_stack([constants, centers / variances[:, None], -0.5 / variances])
        return np.asarray(coefficients @ chunk.features.T).T

    def statistics(self, chunk: FeatureChunk, resp: Array) -> Array:
        """Sum the features, weighted by responsibilities, (k, q + 2)."""
        return np.asarray(resp.T @ chunk.features)

    def m_step(self, statistics: Array, weights: Array) -> Gaussians:
        """Compute means and average variances."""
        sizes = np.maximum(statistics[:, 0], TINY)
        centers = statistics[:, 1:-1] / sizes[:, None]
        variances = (statistics[:, -1] / sizes - np.sum(centers**2, axis=1)) / self.n_dims
        return Gaussians(np.maximum(weights, TINY), centers, np.maximum(variances, self.min_variance))

    def random_start(self, chunk: FeatureChunk, params: Gaussians, rng: np.random.Generator) -> Gaussians:
        """Draw centers among the samples by k-means++."""
        return draw_start(self, chunk, chunk.features[:, 1:-1], len(params.weights), rng)

    def squares(self, chunk: FeatureChunk, params: Gaussians) -> Array:
        """Compute |x - μᵢ|² / σᵢ², (n, k)."""
        Z, centers = chunk.features[:, 1:-1], params.centers
        squares = chunk.features[:, -1:] - 2 * Z @ centers.T + np.sum(centers**2, axis=1)
        return np.asarray(np.maximum(squares, 0) / params.scales)

    def scores(self, chunk: FeatureChunk, params: Gaussians, component: int) -> Array:
        """Compute the scores by the center, in units of σ, and by log σ², (n, q + 1)."""
        away = (chunk.features[:, 1:-1] - params.centers[component]) / np.sqrt(params.scales[component])
        return np.column_stack([away, 0.5 * (self.squares(chunk, params)[:, component] - self.n_dims)])

    def information(self, statistics: Array, params: Gaussians, component: int) -> Array:
        """Compute the information about the center and log σ² of known members, (q + 1, q + 1)."""
        return np.diag(statistics[component, 0] * np.append(np.ones(len(self.units)), self.n_dims / 2))


@dataclass(frozen=True)
class ShapedModel:
    """The likelihood of Gaussians with diagonal, tied or full covariances, in all dimensions."""

    shape: Covariance
    origin: Array  # (d,)
    min_variance: float  # added to every variance: a direction without variance would reward every split

    @property
    def name(self) -> str:
        """The name of the model in warnings."""
        return f"a Gaussian with a {self.shape} covariance"

    @property
    def n_dims(self) -> int:
        """The dimension d."""
        return len(self.origin)

    def read(self, chunk: GaussianChunk) -> SampleChunk:
        """Return samples relative to the origin."""
        X = chunk.samples
        return SampleChunk(chunk.first, (np.asarray(X.todense()) if sp.issparse(X) else X) - self.origin)

    def log_density(self, chunk: SampleChunk, params: Gaussians) -> Array:
        """Compute log αᵢ + log N(x; μᵢ, Σᵢ), (n, k)."""
        log_factors = np.log(np.einsum("kdd->kd", params.scales)).sum(axis=1)
        constants = np.log(params.weights) + log_factors - 0.5 * self.n_dims * np.log(2 * np.pi)
        return np.asarray(constants - 0.5 * self.squares(chunk, params))

    def squares(self, chunk: SampleChunk, params: Gaussians) -> Array:
        """Compute squared Mahalanobis distances, (n, k)."""
        return np.stack(
            [np.sum(self._standardize(chunk, params, i) ** 2, axis=1) for i in range(len(params.weights))], 1
        )

    def _standardize(self, chunk: SampleChunk, params: Gaussians, component: int) -> Array:
        return np.asarray((chunk.samples - params.centers[component]) @ params.scales[component])

    def statistics(self, chunk: SampleChunk, resp: Array) -> Array:
        """Sum 1, x and the entries of xx', weighted by responsibilities, (k, 1 + d + d²)."""
        X = chunk.samples
        squares = [((X * column[:, None]).T @ X).ravel() for column in resp.T]
        return np.column_stack([resp.sum(axis=0), resp.T @ X, np.stack(squares)])

    def m_step(self, statistics: Array, weights: Array) -> Gaussians:
        """Compute means and covariances, which are shrunk towards their average by d + 2 samples."""
        d, k = self.n_dims, len(statistics)
        sizes = np.maximum(statistics[:, 0], TINY)
        centers = statistics[:, 1 : d + 1] / sizes[:, None]
        covariances = statistics[:, d + 1 :].reshape(k, d, d) / sizes[:, None, None]
        covariances -= np.einsum("ki,kj->kij", centers, centers)
        average = np.tensordot(sizes, covariances, 1) / sizes.sum() + self.min_variance * np.eye(d)
        prior = d + 2
        covariances = (sizes[:, None, None] * covariances + prior * average) / (sizes + prior)[:, None, None]
        if self.shape == "tied":
            covariances = np.repeat(average[None], k, axis=0)
        elif self.shape == "diagonal":
            covariances = covariances * np.eye(d)
        factors = np.linalg.inv(np.linalg.cholesky(covariances)).swapaxes(1, 2)
        return Gaussians(np.maximum(weights, TINY), centers, factors)

    def random_start(self, chunk: SampleChunk, params: Gaussians, rng: np.random.Generator) -> Gaussians:
        """Draw centers among the samples by k-means++."""
        deviations = np.sqrt(chunk.samples.var(axis=0) + self.min_variance)
        return draw_start(self, chunk, chunk.samples / deviations, len(params.weights), rng)

    def scores(self, chunk: SampleChunk, params: Gaussians, component: int) -> Array:
        """Compute the scores by the center and the covariance, in coordinates in which that is the identity, (n, p)."""
        Z = self._standardize(chunk, params, component)
        if self.shape == "tied":  # whose covariance is known far better than any center
            return Z
        squares = 0.5 * (Z**2 - 1)
        if self.shape == "diagonal":
            return np.column_stack([Z, squares])
        rows, columns = np.triu_indices(self.n_dims, 1)
        return np.column_stack([Z, squares, Z[:, rows] * Z[:, columns]])

    def information(self, statistics: Array, params: Gaussians, component: int) -> Array:
        """Compute the information of known members, (p, p)."""
        d = self.n_dims
        per_sample = np.repeat([1.0, 0.5, 1.0], [d, d, d * (d - 1) // 2])
        n_parameters = {"tied": d, "diagonal": 2 * d, "full": len(per_sample)}[self.shape]
        return np.diag(statistics[component, 0] * per_sample[:n_parameters])


# ---- The answer -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class GaussianComponent(MixtureComponent):
    """One Gaussian of a mixture.

    Attributes
    ----------
    covariance : array of shape (d, d)
        Its covariance; σ² in every direction if it is spherical.
    noise_variance : float
        Its variance σ² in every direction; the average variance of a feature if it is not spherical.

    See Also
    --------
    Component : `center`, `weight`, `separation`, `scores`, `alternatives` and the rest.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> data = make_gaussian_mixture(2000, 30, 4, random_state=0)
    >>> found = GaussianSearch(n_components=4).fit(data.X).search(examples=data.X[data.labels == 2][:3], refine=True)
    >>> bool(abs(found.weight - (data.labels == 2).mean()) < 3 * found.stderr.weight)
    True
    >>> members = found.membership(data.X) > 0.5
    >>> bool((members == (data.labels == 2)).mean() > 0.9)
    True
    """

    _family: GaussianFamily = field(kw_only=True)

    @cached_property
    def covariance(self) -> Array:
        """The covariance of the component, (d, d)."""
        if self._refined is None or isinstance(self._refined.model, SphericalModel):
            return np.asarray(self.noise_variance * np.eye(len(self.center)))
        spread = np.linalg.inv(self._refined.params.scales[self._index])
        return np.asarray(spread.T @ spread)

    @property
    def noise_variance(self) -> float:
        """The variance of the component, on average over features.

        Notes
        -----
        m~ = Σ αᵢσᵢ²μᵢ, so ⟨u₁, W'm~⟩ = √α₁σ₁², with u₁ = √α₁W'μ₁. An estimate that noise makes negative, or larger than
        all noise there is, is replaced by the average variance.
        """
        if self._refined is None:
            variance, limit = float(self._point @ self._family.noise_mean), self._family.noise_variance / self.weight
            return variance if 0 < variance <= limit else self._family.positive_noise
        if isinstance(self._refined.model, ShapedModel):
            return float(np.trace(self.covariance)) / len(self.center)
        # EM measures distances in the noise space from the origin: that of the center is not part of the variance.
        outside = float(project_and_measure(self.center[None], self._frame.basis, self._family.origin)[1][0])
        variance = float(self._refined.params.scales[self._index])
        return max(variance - outside / self._refined.model.n_dims, 0.0)

    def _moment_membership(self, X: Samples) -> Array:
        Y, signal = self._frame.whiten(X), self._family.signal
        noise, point = self._frame.spread[signal], self._point[signal]
        weight, variance = clip_weight(self.weight), self.noise_variance
        background_mean = (self._family.mean[signal] - weight * point) / (1 - weight)
        total = np.diag(1 + self._family.positive_noise * noise)
        second = np.outer(point, point) + np.diag(variance * noise)
        background = (total - weight * second) / (1 - weight) - np.outer(background_mean, background_mean)
        floor = 0.5 * self._family.positive_noise * noise
        squares = np.sum((Y[:, signal] - point) ** 2 / noise, axis=1) / variance
        log_members = -0.5 * (squares + np.log(variance * noise / floor).sum())
        return posterior_of_two(weight, log_members, log_normal(Y[:, signal] - background_mean, background, floor))

    def _refined_errors(self, refined: RefinedMixture[Any]) -> StandardErrors:
        model, params, index, family = refined.model, refined.params, self._index, self._family
        covariance = self._estimate_covariance()
        weight, scale = float(np.sqrt(covariance[-1, -1])), params.scales[index]
        if isinstance(model, ShapedModel):
            axes, outside = np.linalg.inv(scale).T, np.zeros(())
        else:
            V = self._frame.basis[:, family.signal]
            axes, outside = V * np.sqrt(scale), refined.outside[index] * (1 - np.sum(V**2, 1))
        q = axes.shape[1]
        inside = np.einsum("ja,ab,jb->j", axes, covariance[:q, :q], axes)
        return StandardErrors(np.sqrt(inside + outside), weight)


# ---- The estimator --------------------------------------------------------------------------------------------------


class GaussianSearch(MixtureSearch[GaussianFamily], SemiSupervised[GaussianFamily]):
    """Find one Gaussian of a mixture from a direction or a few of its samples.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        k, the number of Gaussians, at most the number of features. "auto" counts the directions in which centers
        differ (`spectrum_`) and adds one; long axes of clusters that are not spherical count too.
    covariance : {"spherical", "diagonal", "tied", "full"}, default="spherical"
        The shape of refined components. "spherical" is the model of the paper, "tied" one covariance for all
        components. Moments always take components as spherical.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: samples are not centered, which needs linearly independent centers, and the
        noise level comes from one eigenvector. By default samples are centered, and the noise level is an average over
        the whole noise space.
    random_state : int, RandomState instance or None, default=0
        Seed of the eigensolver's starting block, used if there are many features.

    Attributes
    ----------
    n_components_ : int
        The number of components of the fit.
    spectrum_ : Spectrum
        The eigenvalues behind ``n_components="auto"``.
    noise_variance_ : float
        The average variance of the components.
    mean_ : array of shape (d,)
        The mean of all samples but outliers.
    outliers_ : array of int
        Rows of X that lie far from all others and were left out of the fit; not with ``preset="paper"``. Up to 1% of
        the samples may lie anywhere. Five or more that are close to each other count as a component.
    component_ : GaussianComponent
        The component of the labelled samples, if `fit` was given labels.

    References
    ----------
    A. Ray, J. Neeman, S. Sanghavi and S. Shakkottai, "The Search Problem in Mixture Models", Journal of Machine
    Learning Research 18, 2018.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> data = make_gaussian_mixture(2000, 30, 4, random_state=0)
    >>> search = GaussianSearch(n_components=4).fit(data.X)
    >>> found = search.search(examples=data.X[data.labels == 2][:3])
    >>> bool(abs(found.center - data.centers[2]).max() < 0.2)
    True
    """

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        covariance: Covariance = "spherical",
        preset: Preset = "default",
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.covariance = covariance
        self.preset = preset
        self.random_state = random_state

    def _fit_family(self, X: Any) -> Chunks[SampleChunk]:
        check_choice("covariance", self.covariance, COVARIANCES)
        minimum, is_paper = check_n_components(self.n_components), self._is_paper()
        chunks = self._check_chunks(X)
        check_n_features(chunks.n_features, minimum, f"{minimum} Gaussians")
        check_n_samples(chunks, minimum + 1, f"{minimum} Gaussians and their noise")
        self._forget("outliers_")
        samples = chunks if is_paper else self._leave_out_outliers(chunks)
        k = self._choose_n_components(
            samples, lambda: count_directions(samples, sample_mean_of(samples), self._draw_seed())
        )
        family = fit_gaussian(samples, k, paper=is_paper, seed=self._draw_seed())
        # Long axes of clusters that are not spherical stand out from the noise, but are not components.
        if self.covariance == "spherical" and hasattr(self, "spectrum_"):
            family = replace(family, warnings=check_count(self.spectrum_))
        elif self.covariance == "spherical" and family.spectrum is not None:
            family = replace(family, warnings=check_count(family.spectrum, k - 1))
        for warning in family.warnings:
            warn_user(warning)
        self._family, self._shared = family, {}
        self.mean_, self.noise_variance_ = family.sample_mean, family.noise_variance
        return chunks

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: SamplesLike | None = None,
        not_examples: SamplesLike | None = None,
        refine: bool = False,
    ) -> GaussianComponent:
        """Find the component that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            A direction v in which the center lies further out than all others.
        examples : array of shape (q, d), optional
            A few samples of the component; their mean, relative to the mean of all samples, is the hint. A refined
            search finds the component under which the examples are likeliest.
        not_examples : array of shape (q, d), optional
            Samples of other components, with `examples`: the hint is relative to their mean.
        refine : bool, default=False
            Refine the estimate by EM of the whole mixture, started from the moments of all components. The answer's
            `moment_estimate` is the one before. Examples that the mixture contradicts are held in their component.

        Returns
        -------
        GaussianComponent
        """
        check_choice("refine", refine, (True, False))
        check_is_fitted(self)
        # 1) the hint: a direction, or where the examples lie relative to the other samples
        family = self._family
        positive, negative = self._check_examples(hint, examples, not_examples)
        if positive is None:
            v, c = hint_from_direction(hint, self.n_features_in_), None
        else:
            # Relative to the mean of all samples, neither the hint nor the scores depend on where zero is.
            v = mean_of(positive) - (family.sample_mean if negative is None else mean_of(negative))
            c = family.frame.project_hint(v, from_origin=True)
        if family.n_components > 1:
            check_not_orthogonal(family.frame, v, scale=float(np.linalg.norm(v)))
        # 2) the third moment contracted with the hint, and one eigenvector (Algorithm 1)
        component = find_component(
            GaussianComponent,
            family,
            family.frame.project_hint(v) if c is None else c,
            rehint=not self._is_paper(),
            _hint=v if positive is None else None,
            _examples=positive,
            _search=partial(self.search, not_examples=not_examples, refine=refine),
            _feature_names=self._get_feature_names(),
            _warnings=family.warnings,  # which the fit has issued
        )
        # 3) optionally, maximum likelihood from there
        if refine:
            component = self._refine(component, negative)
        # 4) reasons not to trust the answer
        return add_warnings(component, find_warnings(component))

    def _start_em(self) -> tuple[MixtureModel[Gaussians], list[Gaussians]]:
        """Return the likelihood of Gaussians of a shape, and a start from moments, with the average variance."""
        family, k, d = self._family, self.n_components_, self.n_features_in_
        values = family.frame.values[family.signal]
        spherical = SphericalModel(np.sqrt(values), len(values) + family.n_noise, MIN_VARIANCE * family.positive_noise)
        thinned = replace(family, chunks=thin_rows(family.chunks, k))
        candidates = all_components(find_tensor(thinned.hinted, k), family.mean)
        centers = (candidates.points[family.signal] * np.sqrt(values)[:, None]).T
        weights = np.maximum(candidates.weights, EM.min_start_weight / k)
        start = Gaussians(weights / weights.sum(), centers, np.full(k, family.positive_noise))
        if self.covariance == "spherical":
            return spherical, [start]
        mean_variance = (float(values.sum()) + family.noise_variance * family.n_noise) / d
        shaped = ShapedModel(self.covariance, family.sample_mean, MIN_VARIANCE * mean_variance)
        chunk = family.chunks.chunk
        resp = posterior(spherical, spherical.read(chunk), start)
        return shaped, [shaped.m_step(shaped.statistics(shaped.read(chunk), resp), resp.mean(axis=0))]

    def _complete(self, model: Any, rows: Chunks[Any], fit: Fit[Gaussians]) -> RefinedMixture[Gaussians]:
        """Add the centers in all dimensions to a fitted mixture, and test whether samples follow it.

        Notes
        -----
        Outside the signal space the centers are nearly zero, and one Newton step from there maximises the likelihood.
        The direction of a residual is uniform, so that its square averages to eI, in the formula of Louis too.
        """
        family, params = self._family, fit.params
        has_noise = family.noise_variance > MIN_NOISE * float(family.frame.values[-1])
        p_values = test_rows(model, rows, params) if has_noise else np.ones(len(params.weights))
        order, n_noise, origin = np.arange(len(params.weights)), family.n_noise, family.origin
        if isinstance(model, ShapedModel):
            return RefinedMixture(model, fit, family.sample_mean + params.centers, p_values, order)

        def sum_chunk(chunk: GaussianChunk) -> tuple[Array, ...]:
            """Sum p(1 - e / σ²), (k,), e pp', (k, k), and (x - origin) p', (d, k), with p = r / σ² and energies e."""
            p = posterior(model, model.read(chunk), params) / params.scales
            energies = p * (chunk.residual / n_noise)[:, None]
            moved = centered_product(chunk.samples, p, origin)
            return np.sum(p - energies / params.scales, axis=0), p.T @ energies, moved

        excess, gram, moved = family.chunks.sum(sum_chunk)
        inverse = np.linalg.pinv(np.diag(np.maximum(excess, 0)) + gram, hermitian=True)
        outside = family.frame.residual(moved @ inverse)
        inside = origin + params.centers @ family.frame.basis[:, family.signal].T
        return RefinedMixture(model, fit, inside + outside.T, p_values, order, np.diag(inverse @ gram @ inverse))
