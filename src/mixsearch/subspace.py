"""Mixtures of subspaces: find one of them from a point or a few samples.

The model (paper, section 3.4): a sample of subspace i is Uᵢy + noise, with y normal and Uᵢ, (d, r), orthonormal, and
subspace i has weight αᵢ. Moments first, then Algorithm 3, the likelihood, the answer and the estimator.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.stats import chi2, norm
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array, Matrix, Samples, SamplesLike
from mixsearch.core.check import Check
from mixsearch.core.component import add_warnings
from mixsearch.core.eigen import OVERSAMPLING, top_eigenpairs
from mixsearch.core.estimator import RandomState, SemiSupervised
from mixsearch.core.extraction import Candidates
from mixsearch.core.family import Preset
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project
from mixsearch.core.jackknife import jackknife
from mixsearch.core.moments import (
    blas_threads_for,
    centered_product,
    sample_mean_of,
    second_moment,
    squared_distances,
    weighted_gram,
)
from mixsearch.core.rows import Chunk, Chunks, SampleChunk, leave_one_out
from mixsearch.core.spectrum import MIN_NOISE, Spectrum, check_count, count_directions, noise_rank
from mixsearch.core.validation import (
    check_choice,
    check_n_components,
    check_n_features,
    check_n_samples,
    check_positive_int,
    hint_from_direction,
)
from mixsearch.display import Card, plain_number
from mixsearch.errors import HintError, warn_user
from mixsearch.graph.self_expression import ExpressedMembers, SelfExpression
from mixsearch.mixture.check import test_rows
from mixsearch.mixture.em import Fit, posterior
from mixsearch.mixture.search import (
    MixtureComponent,
    MixtureModel,
    MixtureSearch,
    RefinedMixture,
    find_warnings,
)


@dataclass(frozen=True)
class Tuning:
    """Set by hand on generated subspaces; no benchmark varies them."""

    clear_gap: float = 6.0  # between eigenvalues 1 and r + 1: above 3, the r top eigenvectors are of one subspace
    min_noise_ratio: float = 0.01  # of the average noise: a few equal samples would make the likelihood unbounded
    off_origin: float = 5.0  # standard errors between zero and the mean, above which samples are centered


TUNING = Tuning()
TINY = float(np.finfo(np.float64).tiny)

# ---- Moments (paper, section 3.4) -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SubspaceChunk(Chunk):
    """Samples in the span of all subspaces."""

    coordinates: Array  # z, (n, kr), in the units of the features
    squares: Array  # |x|², in the span and outside, (n,)
    energy: Array  # e, the square outside the span per direction, (n,): averages to the noise variance
    samples: Any = None  # x itself, not a copy, (n, d)


class Noise(NamedTuple):
    """Moments of the noise, whose variance sᵢ may differ between subspaces."""

    variance: float  # Σ αᵢsᵢ
    second: Array  # Σ αᵢsᵢΣᵢ in the span, (kr, kr), with the covariances Σᵢ of the subspaces without the noise
    fourth: float  # Σ αᵢsᵢ²


@dataclass(frozen=True, slots=True)
class SubspaceFamily:
    """The fitted moments of a mixture of subspaces. The frame is the span of all of them and has k r columns."""

    frame: Frame
    dim: int  # r
    center: Array  # the point that all subspaces contain, (d,)
    chunks: Chunks[SubspaceChunk]
    noise: Noise
    n_noise: int  # directions outside the span in which there is noise
    is_paper: bool

    @property
    def n_components(self) -> int:
        """The number of subspaces."""
        return self.frame.n_components // self.dim

    @property
    def root(self) -> Array:
        """D^(1/2), (kr,): coordinates in the frame, times this, are in the units of the features."""
        return np.sqrt(self.frame.values)

    @property
    def min_noise(self) -> float:
        """The least noise variance that densities use."""
        return MIN_NOISE * float(self.frame.values[0])

    @property
    def model(self) -> SubspaceModel:
        """The likelihood."""
        return SubspaceModel(self.dim, len(self.root) + self.n_noise, self.min_noise)

    def read(self, X: Samples) -> SubspaceChunk:
        """Project new samples onto the span."""
        Z = np.asarray(project(X, self.frame.basis, self.center), dtype=np.float64)
        squares = np.maximum(squared_distances(X, self.center), np.einsum("ij,ij->i", Z, Z))
        return SubspaceChunk(0, Z, squares, np.zeros(len(Z)))

    def hinted(self, points: Array) -> Array:
        """Contract the fourth moment twice with points in the span, (kr, q), in sum over them: R = W'BW."""

        def sum_fourth(chunk: SubspaceChunk) -> Array:
            return weighted_gram(chunk.coordinates, np.sum((chunk.coordinates @ points) ** 2, axis=1))

        fourth = self.chunks.sum(sum_fourth) / self.chunks.n_rows
        B = subtract_noise(fourth, points @ points.T, self.noise)
        return np.asarray(B / np.outer(self.root, self.root))

    def replicate(self, G: Array) -> tuple[Array, Array]:
        """Estimate a subspace with directions G, (kr, r), again without each of B groups of the samples.

        Returns its basis D^(1/2) A g in the span, (B, kr, r), with the solutions g of R g = λ A g under the hint G, to
        first order, and its weight, (B,).
        """
        points, images, weights = G / self.root[:, None], [], []

        def sum_rows(chunk: SubspaceChunk, rows: slice) -> tuple[Any, ...]:
            Z, e = chunk.coordinates[rows], chunk.energy[rows]
            hinted = weighted_gram(Z, np.sum((Z @ points) ** 2, axis=1))
            return len(Z), Z.T @ Z, hinted, e.sum(), weighted_gram(Z, e), e @ e

        for n, *sums in leave_one_out(self.chunks, sum_rows):
            second, fourth, variance, *moments = (total / n for total in sums)
            noise = estimate_noise(variance, second, *moments, n_noise=0 if self.is_paper else self.n_noise)
            A = second - variance * np.eye(len(G))
            RG = subtract_noise(fourth, points @ points.T, noise) @ points
            # g is G + (I - GG')RG(G'RG)⁻¹, scaled by g'Ag = I; outside of G, A g is R g / λ.
            inside = self.root[:, None] * (G @ (points.T @ A @ points - np.eye(self.dim)) / 2)
            images.append(inside + RG @ np.linalg.inv(points.T @ RG))
            weights.append(np.sum(images[-1] ** 2) / np.trace(A))
        return np.array(images), np.array(weights)

    def information_p_value(self, v: Array) -> float:
        """Test the hypothesis that a direction, (d,), is orthogonal to all subspaces.

        Notes
        -----
        Then its coordinates c in the span come from the errors of the frame alone: E[z⟨x, v⟩] over samples, with
        ⟨x, v⟩ noise of variance |v|²e.
        """
        c, D = v @ self.frame.basis, self.frame.values
        variance = self.noise.second + self.noise.fourth * np.eye(len(c)) + 1e-18 * np.diag(D**2)  # also without noise
        squares = (c * D) @ np.linalg.solve(variance, c * D) * self.chunks.n_rows / (v @ v)
        return float(chi2.sf(squares, len(c)))


def subtract_noise(fourth: Array, vv: Array, noise: Noise) -> Array:
    """Subtract the contribution of the noise from E[⟨x, v⟩²xx'] in the span, (kr, kr).

    Notes
    -----
    B = E[⟨x, v⟩²xx'] - s2 (v'Av)I - s2 |v|²A - s4 (|v|²I + 2vv') - 2 s2 (Avv' + vv'A) (paper, Theorem 13, which prints
    vv' once where the fourth moment of the noise has 2vv'). B is linear in vv', so several points enter through the
    sum of their vv'. If the noise differs between subspaces, s2 A becomes Σ αᵢsᵢΣᵢ and s4 becomes Σ αᵢsᵢ².
    """
    identity, cross = np.eye(len(vv)), noise.second @ vv
    B = fourth - np.trace(cross) * identity - np.trace(vv) * noise.second
    B -= noise.fourth * (np.trace(vv) * identity + 2 * vv)
    return np.asarray(B - 2 * (cross + cross.T))


def estimate_noise(variance: float, second: Array, product: Array, square: float, *, n_noise: int) -> Noise:
    """Estimate the moments of the noise from E[e], E[zz'], E[e zz'] and E[e²].

    Notes
    -----
    In the paper the noise is the same in all subspaces (`n_noise` = 0). In general, the energy e outside the span and
    the coordinates z in it are independent within a subspace, and e is the mean of m squares, so that E[e²] is
    sᵢ² (1 + 2 / m) there.
    """
    identity = np.eye(len(second))
    if not n_noise:
        return Noise(variance, variance * (second - variance * identity), variance**2)
    fourth = square * n_noise / (n_noise + 2)
    return Noise(variance, product - fourth * identity, fourth)


def fit_subspace(
    chunks: Chunks[SampleChunk], n_components: int, *, dim: int, paper: bool, seed: int, center: Array
) -> SubspaceFamily:
    """Find the span of all subspaces and the noise outside of it, and project the samples.

    The paper takes the largest noise eigenvalue as the noise variance. The mean of all of them has a smaller error.
    """
    (n, d, dtype, _), n_columns = chunks.layout, n_components * dim
    with blas_threads_for(chunks):
        moment: Matrix = second_moment(chunks, center=center if center.any() else None)
        n_pairs = n_columns + 1 if paper else min(n_columns + OVERSAMPLING, d)
        pairs = top_eigenpairs(moment, n_pairs, n_converged=n_columns + paper, seed=seed)
    values, vectors = pairs.values[:n_columns], pairs.vectors[:, : n_columns + paper]
    n_varying = d if paper else noise_rank(moment, chunks, center, n_columns)
    n_noise = max(n_varying - n_columns, 1)

    def project_chunk(chunk: SampleChunk) -> tuple[SubspaceChunk, tuple[Any, ...]]:
        Z = project(chunk.samples, vectors, center).astype(np.float64, copy=False)
        inside = np.ascontiguousarray(Z[:, :n_columns])
        lengths, squares = np.einsum("ij,ij->i", inside, inside), squared_distances(chunk.samples, center)
        squares = np.maximum(squares, lengths)
        e = Z[:, -1] ** 2 if paper else (squares - lengths) / n_noise
        return SubspaceChunk(chunk.first, inside, squares, e, chunk.samples), (e.sum(), weighted_gram(inside, e), e @ e)

    rows, sums = chunks.map_sum(project_chunk)
    variance, *moments = (total / n for total in sums)
    noise = estimate_noise(float(variance), np.diag(values), *moments, n_noise=0 if paper else n_noise)
    frame = frame_from_eigenpairs(values, vectors[:, :n_columns], noise.variance, precision=dtype)
    return SubspaceFamily(frame, dim, center, rows, noise, n_noise, paper)


# ---- Algorithm 3 of the paper, with the moment contracted again with its result ----------------------------------


def extract_subspace(hinted: Array, dim: int) -> tuple[Array, float]:
    """Recover the subspace that contains the hint (Algorithm 3).

    Returns G = √α W'U L^(1/2) up to a rotation, (kr, r), with orthonormal columns, and the ratio of the eigenvalues 1
    and r + 1 of R: above 3 under one point with |Uᵢ'v|² < |U₁'v|² / 3 for all other subspaces.

    Notes
    -----
    The Gᵢ have orthonormal columns and are orthogonal to each other, and αᵢGᵢ'RGᵢ = |Gᵢ'c|²I + 2Gᵢ'cc'Gᵢ with
    R = W'BW: so R has one eigenvalue 3|Gᵢ'c|²/αᵢ and r - 1 of |Gᵢ'c|²/αᵢ for every subspace (Theorem 27).
    """
    R, n = (hinted + hinted.T) / 2, len(hinted)
    scores, U = scipy.linalg.eigh(R, subset_by_index=(max(n - dim - 1, 0), n - 1))
    is_last = len(scores) == dim or scores[0] <= 0
    return U[:, ::-1][:, :dim], np.inf if is_last else float(scores[-1] / scores[0])


def settle_subspace(family: SubspaceFamily, directions: Array) -> Array:
    """Find the directions of the subspace that the first of some directions of the frame lies in, (kr, r).

    Notes
    -----
    Under any hint the top eigenvector of R lies in one subspace, that of the largest |Uᵢ'v|. The next r - 1 lie there
    too only if |Uᵢ'v|² is three times that of the others. Used as the hint, the top eigenvector scores all others 0, so
    the condition disappears. Then all r directions together are the hint, under which all r eigenvalues are equal.
    """
    for _ in range(2):
        points = directions[:, :1] / family.root[:, None]
        directions, gap = extract_subspace(family.hinted(points), family.dim)
        if gap > TUNING.clear_gap:
            break
    return extract_subspace(family.hinted(directions / family.root[:, None]), family.dim)[0]


def find_subspaces(family: SubspaceFamily, points: Array, *, printed: bool = False) -> SubspaceParameters:
    """Find all subspaces under a hint of points in the span, (kr, q), by falling eigenvalues of R.

    The search for each starts outside of those before it, which leaves only one choice for the last one. As `printed`,
    the first one is that of Algorithm 3 alone.
    """
    R, dim, subspaces = family.hinted(points), family.dim, list[Array]()
    free = np.eye(len(R))
    while free.shape[1] >= dim:
        directions = free @ extract_subspace(free.T @ R @ free, dim)[0]
        if free.shape[1] > dim and (subspaces or not printed):
            directions = settle_subspace(family, directions)
        subspaces.append(directions)
        free = free @ scipy.linalg.qr(free.T @ directions)[0][:, dim:]
    return to_parameters(family, np.array(subspaces))


def span(family: SubspaceFamily, directions: Array) -> tuple[Array, Array]:
    """Return bases in the span of subspaces with some directions, (k, kr, r), and √αl along them, (k, r)."""
    bases, values, _ = np.linalg.svd(family.root[:, None] * directions, full_matrices=False)
    return bases, values


def to_parameters(family: SubspaceFamily, directions: Array) -> SubspaceParameters:
    """Return the mixture of subspaces with some directions in the frame, (k, kr, r).

    Notes
    -----
    Algorithm 3 has no weight. In the paper's model all subspaces have the same total variance, so that a weight is the
    share of the trace of A. Σ αᵢsᵢW'ΣᵢW = Σ sᵢGᵢGᵢ' shows the noise; an estimate below zero, or above all noise, is
    replaced by the average.
    """
    bases, lengths = span(family, directions)
    weights = np.sum(lengths**2, axis=1) / family.frame.values.sum()
    points = directions / family.root[:, None]
    noise = np.einsum("iaj,ab,ibj->i", points, family.noise.second, points) / family.dim
    is_possible = (noise > 0) & (noise * weights <= family.noise.variance)
    noise = np.maximum(np.where(is_possible, noise, family.noise.variance), family.min_noise)
    return SubspaceParameters(weights, bases, lengths**2 / weights[:, None], noise)


# ---- Likelihood: probabilistic PCA in the span ----------------------------------------------------------------------


class SubspaceParameters(NamedTuple):
    """A mixture of N(0, Uᵢ diag(lᵢ) Uᵢ' + sᵢI) in the span; outside of it there is noise of variance sᵢ alone."""

    weights: Array  # (k,)
    bases: Array  # U, (k, p, r)
    variances: Array  # l, (k, r), falling
    noise_variances: Array  # s, (k,)

    def take(self, index: Any) -> SubspaceParameters:
        """Return one of the subspaces, or some of them."""
        return SubspaceParameters(*(values[index] for values in self))


@dataclass(frozen=True)
class SubspaceModel:
    """The likelihood of subspaces in their span."""

    dim: int  # r
    n_dims: int  # directions in which samples vary, in the span and outside
    min_noise: float
    name: ClassVar[str] = "subspaces of this dimension"

    def read(self, chunk: SubspaceChunk) -> SubspaceChunk:
        """Return samples in the span alone."""
        return replace(chunk, samples=None)

    def log_density(self, chunk: SubspaceChunk, params: SubspaceParameters) -> Array:
        """Compute log αᵢ + log N(x; 0, Uᵢ diag(lᵢ) Uᵢ' + sᵢI), (n, k)."""
        totals, noise = params.variances + params.noise_variances[:, None], params.noise_variances
        log_volumes = np.log(totals).sum(axis=1) + (self.n_dims - self.dim) * np.log(noise)
        log_volumes += self.n_dims * np.log(2 * np.pi)
        return np.asarray(np.log(params.weights) - 0.5 * (log_volumes + self.squares(chunk, params)))

    def squares(self, chunk: SubspaceChunk, params: SubspaceParameters) -> Array:
        """Compute x'Σᵢ⁻¹x = (|x|² - Σⱼ ⟨z, uⱼ⟩² lⱼ / (lⱼ + s)) / s, (n, k)."""
        noise = params.noise_variances
        gains = np.sqrt(params.variances / (params.variances + noise[:, None]) / noise[:, None])
        along = chunk.coordinates @ stack_columns(params.bases * gains[:, None, :])
        inside = along**2 @ np.repeat(np.eye(len(noise)), self.dim, axis=0)  # sums over the directions of a subspace
        return np.asarray(np.maximum(chunk.squares[:, None] / noise - inside, 0))

    def statistics(self, chunk: SubspaceChunk, resp: Array) -> Array:
        """Sum 1, |x|² and the entries of zz', weighted by responsibilities, (k, 2 + p²)."""
        Z = chunk.coordinates
        grams = [weighted_gram(Z, column).ravel() for column in resp.T]
        return np.column_stack([resp.sum(axis=0), chunk.squares @ resp, np.stack(grams)])

    def m_step(self, statistics: Array, weights: Array) -> SubspaceParameters:
        """Compute the top eigenvectors of the second moments, with what is left of the squares as noise."""
        sizes, r = np.maximum(statistics[:, 0], TINY), self.dim
        p = int(np.sqrt(statistics.shape[1] - 2))
        moments = statistics[:, 2:].reshape(-1, p, p) / sizes[:, None, None]
        pairs = [scipy.linalg.eigh(moment, subset_by_index=(p - r, p - 1)) for moment in moments]
        values = np.array([pair[0][::-1] for pair in pairs])
        noise = np.maximum(statistics[:, 1] / sizes - values.sum(axis=1), 0) / (self.n_dims - r)
        weights = np.maximum(weights, TINY)
        noise = np.maximum(noise, max(TUNING.min_noise_ratio * float(weights @ noise), self.min_noise))
        bases = np.array([pair[1][:, ::-1] for pair in pairs])
        # Directions without any variance would move freely.
        return SubspaceParameters(weights, bases, np.maximum(values / noise[:, None] - 1, 1e-6) * noise[:, None], noise)

    def random_start(
        self, chunk: SubspaceChunk, params: SubspaceParameters, rng: np.random.Generator
    ) -> SubspaceParameters:
        """Draw samples in other directions than those so far; each spans a subspace with those nearest to it."""
        lengths = np.linalg.norm(chunk.coordinates, axis=1, keepdims=True)
        units, k = chunk.coordinates / np.maximum(lengths, TINY), len(params.weights)
        cosines = np.zeros((len(units), k))
        for i in range(k):
            chances = np.maximum(1 - cosines.max(axis=1), 0) + TINY
            cosines[:, i] = (units @ units[rng.choice(len(units), p=chances / chances.sum())]) ** 2
        resp = np.eye(k)[cosines.argmax(axis=1)]
        return self.m_step(self.statistics(chunk, resp), resp.mean(axis=0))

    def scores(self, chunk: SubspaceChunk, params: SubspaceParameters, component: int) -> Array:
        """Compute the scores by the subspace, log(l + s) and log s, (n, (p - r)r + r + 1).

        Notes
        -----
        U moves along its complement U⊥ by U⊥K. With coordinates a = U'z / √(l + s) and b = U⊥'z / √s, which have
        variance 1, the score by Kᵢⱼ is bᵢaⱼ in units of √(s(lⱼ + s)) / lⱼ.
        """
        basis, complement = split_span(params, component)
        noise = params.noise_variances[component]
        a = chunk.coordinates @ basis / np.sqrt(params.variances[component] + noise)
        b = chunk.coordinates @ complement / np.sqrt(noise)
        outside = chunk.squares / noise - np.sum((chunk.coordinates @ basis) ** 2, axis=1) / noise
        rotations = (b[:, :, None] * a[:, None, :]).reshape(len(a), b.shape[1] * a.shape[1])
        return np.column_stack([rotations, 0.5 * (a**2 - 1), 0.5 * (outside - (self.n_dims - self.dim))])

    def information(self, statistics: Array, params: SubspaceParameters, component: int) -> Array:
        """Compute the information of members, the variances of their scores, (p', p') with p' = (p - r)r + r + 1."""
        p, r = params.bases.shape[1:]
        per_sample = np.repeat([1.0, 0.5, (self.n_dims - r) / 2], [(p - r) * r, r, 1])
        return np.diag(statistics[component, 0] * per_sample)


def split_span(params: SubspaceParameters, component: int) -> tuple[Array, Array]:
    """Return a basis of a subspace, (p, r), and one of its complement in the span, (p, p - r)."""
    basis = params.bases[component]
    return basis, np.linalg.qr(basis, mode="complete")[0][:, basis.shape[1] :]


def stack_columns(matrices: Array) -> Array:
    """Put matrices side by side, (k, p, r) -> (p, kr)."""
    return np.asarray(matrices.transpose(1, 0, 2).reshape(matrices.shape[1], -1))


# ---- The answer -----------------------------------------------------------------------------------------------------


class SubspaceErrors(NamedTuple):
    """Standard errors of a subspace; a 95% interval is 1.96 of them to each side.

    Attributes
    ----------
    basis : array of shape (d, r)
        Standard error of each entry, after a rotation onto the basis found: a basis is determined only up to a
        rotation.
    weight : float
        Standard error of the weight.
    """

    basis: Array
    weight: float


@dataclass(frozen=True, repr=False, eq=False)
class Subspace(MixtureComponent):
    """One subspace of a mixture.

    Attributes
    ----------
    basis : array of shape (d, r)
        Orthonormal columns that span the subspace, the one with the largest variance first.
    center : array of shape (d,)
        The point that all subspaces contain: the origin, or the mean of samples that lie off it.
    variances : array of shape (r,)
        Variances of the coordinates along the columns of `basis`, without the noise.
    noise_variance : float
        The variance of the noise around the subspace.
    scores : array of shape (k,)
        |Uᵢ'v|²: how much of the hint each subspace contains.
    stderr : SubspaceErrors
        Standard errors of `basis` and `weight`: by the sandwich formula after EM, otherwise by the jackknife.

    See Also
    --------
    Component : `weight`, `separation`, `alternatives`, `moment_estimate`, `warnings` and the rest.

    Examples
    --------
    >>> from mixsearch import SubspaceSearch
    >>> from mixsearch.datasets import make_subspaces
    >>> data = make_subspaces(5000, 40, 3, dim=2, random_state=0)
    >>> search = SubspaceSearch(n_components=3, dim=2).fit(data.X)
    >>> found = search.search(examples=data.X[data.labels == 0][:3], refine=True)
    >>> found.basis.shape
    (40, 2)
    >>> bool(((found.membership(data.X) > 0.5) == (data.labels == 0)).mean() > 0.9)
    True
    """

    _moments_are_sure: ClassVar[bool] = False  # the last one is orthogonal to the others, which lowers its score
    _family: SubspaceFamily = field(kw_only=True)
    _moments: SubspaceParameters = field(kw_only=True)  # all subspaces before EM
    _square: Array = field(kw_only=True)  # vv' of the hint in the span, (kr, kr)
    _graph: ExpressedMembers | None = field(default=None, kw_only=True)  # members by self-expression

    @property
    def _subspace(self) -> SubspaceParameters:
        """The weight, (), basis in the span, (kr, r), variances, (r,), and noise variance, ()."""
        params, index = (self._refined.params, self._index) if self._refined else (self._moments, self._rank)
        return params.take(index)

    @cached_property
    def basis(self) -> Array:
        """Orthonormal columns that span the subspace, (d, r)."""
        refined = self._refined
        return np.asarray(refined.centers[self._index] if refined else self._family.frame.basis @ self._subspace.bases)

    @cached_property
    def center(self) -> Array:
        """The point that all subspaces contain, (d,): the origin, or the mean of samples that lie off it."""
        return self._family.center

    @property
    def variances(self) -> Array:
        """Variances of the coordinates along the basis, (r,), without the noise."""
        return self._subspace.variances

    @property
    def noise_variance(self) -> float:
        """The variance of the noise around the subspace."""
        return float(self._subspace.noise_variances)

    @property
    def moment_estimate(self) -> Subspace:
        """The estimate from moments alone, before EM."""
        return replace(super().moment_estimate, _graph=None)

    def _moment_membership(self, X: Samples) -> Array:
        if self._graph is not None and self._rank == 0:
            return self._graph.membership(X)
        return posterior(self._family.model, self._family.read(X), self._moments)[:, self._rank]

    @cached_property
    def check(self) -> Check:
        """Where examples rank among all samples when they are left out."""
        return super().check if self._graph is None else self._graph.members.check

    # ---- Errors ----

    @cached_property
    def _refits(self) -> tuple[Array, Array]:
        """Bases in the span, (B, kr, r), and weights, (B,), of moments without each group of the samples."""
        weight, basis, variances, _ = self._subspace
        image = basis * np.sqrt(weight * variances) / self._family.root[:, None]
        return self._family.replicate(scipy.linalg.polar(image)[0])

    @cached_property
    def p_first(self) -> float:
        """The probability that the hint prefers this subspace on new samples too.

        As moments err, where the error of the other score is as large.
        """
        scores = score_bases(np.linalg.qr(self._refits[0])[0], self._square)
        error = float(np.sqrt(2) * jackknife(np.log(np.maximum(scores, TINY))))
        p_first = float(norm.cdf(np.log(max(self.separation, TINY)) / max(error, TINY)))
        if self._hint is not None:
            p_first = min(p_first, 1 - self._family.information_p_value(self._hint))
        return p_first

    def _moment_errors(self) -> Any:
        """Estimate the errors by the jackknife.

        Notes
        -----
        A replicate M moves the basis U by M(U'M)⁻¹ - U, which is the difference after the best rotation up to second
        order. Outside the span, AWG is the mean of noise of variance e times the coordinates of a sample.
        """
        family, (images, weights), U = self._family, self._refits, self._subspace.bases
        moves = images @ np.linalg.inv(U.T @ images) - U
        T = U / family.frame.values[:, None]
        squares = family.noise.second + family.noise.fourth * np.eye(len(U))  # E[e zz']
        outside = np.diag(T.T @ squares @ T) / family.chunks.n_rows
        return self._to_errors(jackknife(family.frame.basis @ moves) ** 2, outside, float(jackknife(weights)))

    def _refined_errors(self, refined: RefinedMixture[SubspaceParameters]) -> Any:
        """Estimate the errors by the sandwich formula in the span, and by those of B outside of it."""
        family, params, i, r = self._family, refined.params, self._index, self._family.dim
        covariance = self._estimate_covariance()
        complement, noise = split_span(params, i)[1], params.noise_variances[i]
        units, q = np.sqrt(noise * (self.variances + noise)) / self.variances, complement.shape[1]
        rotations = covariance[: q * r, : q * r].reshape(q, r, q, r)
        axes = family.frame.basis @ complement
        inside = np.einsum("da,ajbj,db->dj", axes, rotations, axes, optimize=True) * units**2
        return self._to_errors(inside, refined.outside[i], float(np.sqrt(covariance[-1, -1])))

    def _to_errors(self, inside: Array, outside: Array, weight: float) -> SubspaceErrors:
        """Add variances in the span, (d, r), to those per direction outside of it, (r,)."""
        free = np.maximum(1 - np.sum(self._family.frame.basis**2, axis=1), 0)  # directions outside the span, by feature
        return SubspaceErrors(np.sqrt(inside + np.outer(free, outside)), weight)

    def _card(self) -> Card:
        d, r = self.basis.shape
        facts = [("weight", plain_number(self.weight)), ("noise variance", plain_number(self.noise_variance))]
        facts += self._trust_facts()
        return replace(super()._card(), title=f"Subspace of dimension {r} in {d:,} features", facts=facts)


# ---- The estimator --------------------------------------------------------------------------------------------------


class SubspaceSearch(MixtureSearch[Any], SemiSupervised[Any]):
    """Find one subspace of a mixture from one or a few of its points.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        k, the number of subspaces. "auto" counts the directions that stand out from the noise (`spectrum_`) and takes
        the nearest whole number of subspaces, at least one.
    dim : int, default=1
        r, the dimension of each. All of them together, k r, must stay below the number of features.
    self_expression : bool, default=False
        Whether the members of a refined search with examples come from samples that express each other instead of the
        mixture: better for images, which do not follow a mixture of subspaces. At most 2,000 evenly spaced samples
        express all others.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: the largest noise eigenvalue is the noise level, subspaces contain zero,
        outliers are not left out, and the moment is contracted with the hint alone. By default the noise level is the
        average of all noise eigenvalues, and subspaces contain the mean of all samples if it differs from zero by more
        than chance.
    random_state : int, RandomState instance or None, default=0
        Seed of the eigensolver's starting block, used if there are many features.

    Attributes
    ----------
    n_components_ : int
        The number of subspaces of the fit.
    spectrum_ : Spectrum
        The eigenvalues behind ``n_components="auto"``.
    noise_variance_ : float
        The variance of the noise.
    center_ : array of shape (d,)
        The point that all subspaces contain: zero, or the mean of all samples but outliers.
    outliers_ : array of int
        Rows of X that lie far from all others and were left out of the fit; not with ``preset="paper"``. Up to 1% of
        the samples may lie anywhere. Rows that are close to each other are not outliers.
    component_ : Subspace
        The subspace of the labelled samples, if `fit` was given labels.

    References
    ----------
    A. Ray, J. Neeman, S. Sanghavi and S. Shakkottai, "The Search Problem in Mixture Models", Journal of Machine
    Learning Research 18, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch import SubspaceSearch
    >>> from mixsearch.datasets import make_subspaces
    >>> data = make_subspaces(5000, 40, 3, dim=2, random_state=0)
    >>> search = SubspaceSearch(n_components=3, dim=2).fit(data.X)
    >>> found = search.search(examples=data.X[data.labels == 0][:3])
    >>> truth = data.bases[0]
    >>> bool(np.linalg.norm(found.basis @ found.basis.T - truth @ truth.T, 2) < 0.2)
    True
    """

    _moment_power: ClassVar[int] = 6

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        dim: int = 1,
        self_expression: bool = False,
        preset: Preset = "default",
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.dim = dim
        self.self_expression = self_expression
        self.preset = preset
        self.random_state = random_state

    def _fit_family(self, X: Any) -> Chunks[SampleChunk]:
        minimum, is_paper = check_n_components(self.n_components), self._is_paper()
        check_positive_int("dim", self.dim)
        check_choice("self_expression", self.self_expression, (True, False))
        chunks, dim = self._check_chunks(X), int(self.dim)
        check_n_features(chunks.n_features, minimum * dim + 1, f"{minimum} subspaces of dimension {dim} and noise")
        check_n_samples(chunks, minimum * dim + 1, f"{minimum} subspaces of dimension {dim}")
        self._forget("outliers_")
        samples = chunks if is_paper else self._leave_out_outliers(chunks)
        mean = sample_mean_of(samples)
        self.center_ = np.zeros_like(mean) if is_paper or not is_off_origin(samples, mean) else mean
        most = (chunks.n_features - 1) // dim

        def find_spectrum() -> Spectrum:
            spectrum = count_directions(samples, self.center_, self._draw_seed())
            return replace(spectrum, n_components=max(min(round(spectrum.n_signal / dim), most), 1))

        k = self._choose_n_components(samples, find_spectrum)
        if hasattr(self, "spectrum_"):
            for warning in check_count(self.spectrum_):
                warn_user(warning)
        self._family = fit_subspace(samples, k, dim=dim, paper=is_paper, seed=self._draw_seed(), center=self.center_)
        self._shared = {}
        self.noise_variance_ = self._family.noise.variance
        return chunks

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: SamplesLike | None = None,
        not_examples: SamplesLike | None = None,
        refine: bool = False,
    ) -> Subspace:
        """Find the subspace that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            A direction in the subspace. If subspaces contain zero (`center_`), that is any point in it; a sample off
            the origin belongs in `examples`.
        examples : array of shape (q, d), optional
            A few samples. If there are as many as the subspace has dimensions, they span it and are a far better hint.
            A refined search finds the subspace under which the examples are likeliest.
        not_examples : array of shape (q, d), optional
            Samples of other subspaces, with `examples`: the subspace contains more of these than of them.
        refine : bool, default=False
            Refine the estimate by EM of the whole mixture, started from the moments of all subspaces. The answer's
            `moment_estimate` is the one before. Examples that the mixture contradicts are held in their subspace.

        Returns
        -------
        Subspace
        """
        check_choice("refine", refine, (True, False))
        check_is_fitted(self)
        # 1) the hint: points in the span of all subspaces
        family = self._family
        positive, negative = self._check_examples(hint, examples, not_examples)
        v = None if hint is None else hint_from_direction(hint, self.n_features_in_)
        inside = family.read((family.center + v)[None] if v is not None else positive)
        if not np.sum(inside.coordinates**2) > 1e-20 * np.sum(inside.squares):
            raise HintError(
                "The hint is orthogonal to every subspace. Give a sample of the wanted one.", code="hint_orthogonal"
            )
        away = np.empty((0, self.n_features_in_)) if negative is None else negative
        away = np.empty((0, self.n_features_in_)) if negative is None else negative
        positive_square, negative_square = (
            Z.T @ Z / max(len(Z), 1) for Z in (inside.coordinates, family.read(away).coordinates)
        )
        square = positive_square - negative_square
        # 2) the fourth moment contracted with the hint, and its top eigenvectors (Algorithm 3)
        moments = find_subspaces(family, inside.coordinates.T, printed=family.is_paper)
        order = np.argsort(-score_bases(moments.bases, square), kind="stable")
        moments = moments.take(np.append(0, order[order > 0]) if family.is_paper else order)
        component = Subspace(
            family.frame,
            to_candidates(moments, square),
            _family=family,
            _moments=moments,
            _square=square,
            _hint=v,
            _examples=positive,
            _search=partial(self.search, not_examples=not_examples, refine=refine),
            _feature_names=self._get_feature_names(),
        )
        # 3) optionally, members by self-expression, or maximum likelihood from there
        if refine and self.self_expression and v is None:
            expression = self._share("self-expression", lambda: SelfExpression.of_chunks(family.chunks))
            return replace(component, _graph=expression.find_members(positive, away))
        if refine:
            component = self._refine(component, negative)
        # 4) reasons not to trust the answer
        return add_warnings(component, find_warnings(component))

    def _start_em(self) -> tuple[MixtureModel[SubspaceParameters], list[SubspaceParameters]]:
        family = self._family
        return family.model, [find_subspaces(family, np.diag(1 / family.root))]

    def _complete(self, model: Any, rows: Chunks[Any], fit: Fit[SubspaceParameters]) -> RefinedMixture[Any]:
        """Add the subspaces outside the span to a fitted mixture, and test whether samples follow it.

        Notes
        -----
        A member is VUy + By + noise, with B outside the span V. Responsibilities hardly depend on B, so that the
        maximum of the likelihood is the least squares regression of residuals on ŷ, the expected coordinates of each
        sample in all subspaces: B = (Σ xŷ')(Σ ŷŷ')⁻¹.
        """
        family, params, (k, r) = self._family, fit.params, fit.params.variances.shape
        center = family.center  # of the family, the function below takes only this to the workers
        gains = params.variances / (params.variances + params.noise_variances[:, None])
        axes = stack_columns(params.bases * gains[:, None, :])

        def sum_chunk(chunk: SubspaceChunk) -> tuple[Array, Array]:
            """Sum ŷŷ', (kr, kr), and (x - center)ŷ', (d, kr)."""
            resp = posterior(model, model.read(chunk), params)
            expected = chunk.coordinates @ axes * np.repeat(resp, r, axis=1)
            return expected.T @ expected, centered_product(chunk.samples, expected, center)

        gram, moved = family.chunks.sum(sum_chunk)
        inverse = np.linalg.pinv(gram, hermitian=True)
        outside = family.frame.residual(moved @ inverse).reshape(-1, k, r).transpose(1, 0, 2)
        # The polar factor turns the columns least.
        bases = np.array([scipy.linalg.polar(basis)[0] for basis in family.frame.basis @ params.bases + outside])
        variances = params.noise_variances[:, None] * np.diag(inverse).reshape(k, r)  # of B, per direction outside
        has_noise = params.noise_variances > family.min_noise  # else there is nothing to test
        p_values = np.where(has_noise, test_rows(model, rows, params), 1.0)
        return RefinedMixture(model, fit, bases, p_values, np.arange(k), variances)

    def _refine(self, component: Any, negative: Samples | None) -> Any:
        mixture = self._get_mixture()
        if component._examples is not None:
            mixture = self._choose_by_examples(mixture, component._examples, negative)
        else:
            scores = score_bases(mixture.params.bases, component._square)
            mixture = replace(mixture, order=np.argsort(-scores, kind="stable"))
        candidates = to_candidates(mixture.params.take(mixture.order), component._square)
        return replace(component, _refined=mixture, _candidates=candidates, _moment_candidates=component._candidates)


def score_bases(bases: Array, square: Array) -> Array:
    """Compute |U'v|² for bases U, (k, kr, r) -> (k,), from vv' on average over points, less that of negative ones."""
    return np.asarray(np.maximum(np.einsum("iar,ab,ibr->i", bases, square, bases, optimize=True), 0))


def to_candidates(params: SubspaceParameters, square: Array) -> Candidates:
    """Return subspaces with how much of the hint each contains."""
    scores = score_bases(params.bases, square)
    return Candidates(params.bases.transpose(1, 0, 2), params.weights, scores, scores)


def is_off_origin(samples: Chunks[SampleChunk], mean: Array) -> bool:
    """Test whether the mean of the samples differs from zero.

    Notes
    -----
    n |mean|² is a sum of squares of normal variables, whose variances sum to the trace of the covariance. Far out no
    such sum is more likely than a single square with all of the variance.
    """
    squares = samples.sum(lambda chunk: float(squared_distances(chunk.samples, mean).sum()))
    length = float(mean @ mean) * samples.n_rows**2
    return bool(squares > 0 and length > TUNING.off_origin**2 * squares)
