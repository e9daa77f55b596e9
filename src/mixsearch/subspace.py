"""Mixtures of subspaces: find one of them from a point or a few samples.

The model (paper, section 3.4): a sample of subspace i is Uᵢy + noise, with y normal and Uᵢ, (d, r), orthonormal, and
subspace i has weight αᵢ. Moments first, then Algorithm 3, the likelihood, the answer and the estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.sparse.linalg import svds
from scipy.stats import chi2
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array, Matrix, Samples, SamplesLike
from mixsearch.core.check import Check, check_answer, leave_out_each
from mixsearch.core.component import Component, add_warnings, format_interval, score_bars
from mixsearch.core.eigen import OVERSAMPLING, top_eigenpairs
from mixsearch.core.estimator import MixtureCache, RandomState, SemiSupervised
from mixsearch.core.family import Preset
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project
from mixsearch.core.jackknife import draw_estimates, interval_of_lead, jackknife, probability_of_first, whitened
from mixsearch.core.moments import (
    Hinted,
    MeasuredSamples,
    Replicates,
    WeightedSums,
    blas_threads_for,
    centered_sums,
    second_moment,
    squared_distances,
    weighted_gram,
    weighted_sums,
)
from mixsearch.core.outliers import MIN_MEMBERS, find_outliers
from mixsearch.core.rows import (
    CACHED_ROWS,
    Chunk,
    Chunks,
    DetachedChunks,
    SampleChunk,
    is_dask,
    leave_one_out,
    load_dask,
    row_slices,
    sum_chunks,
)
from mixsearch.core.spectrum import MIN_NOISE, no_signal, noise_rank, spherical_spectrum
from mixsearch.core.validation import (
    AUTO,
    check_choice,
    check_n_components,
    check_n_features,
    check_n_samples,
    check_one_hint,
    check_positive_int,
    check_samples,
    hint_from_direction,
    reject_unknown_arguments,
)
from mixsearch.display import Card, plain_number
from mixsearch.errors import ArgumentError, HintError, Option, SearchWarning, UnlikelyMixtureWarning, warn_user
from mixsearch.graph.self_expression import (
    MAX_NODES,
    MAX_NUMBERS,
    SelfExpression,
    WalkMembers,
    to_dense,
    walk_from_examples,
)
from mixsearch.mixture.check import choose_component, hold_examples, test_rows
from mixsearch.mixture.em import (
    EMOptions,
    Fit,
    check_em_options,
    clip_weight,
    fit_mixture,
    log_normal,
    posterior,
    posterior_of_two,
    run_em,
)
from mixsearch.mixture.errors import estimate_covariance
from mixsearch.mixture.tuning import TUNING as EM_TUNING


@dataclass(frozen=True)
class Tuning:
    """Set by hand on generated subspaces; no benchmark varies them."""

    max_contractions: int = 3  # of the moment with what it found, in both stages of `settle_subspace`
    clear_gap: float = 2.0  # between eigenvalues r and r + 1: above it, the r top eigenvectors are of one subspace
    small_move: float = 0.1  # sine of an angle: moves shrink quadratically, the next one is below the standard errors
    clear_lead: float = 3.0  # a subspace with so many times the score of all others together is the one meant
    weight_deviations: float = 2.5  # standard errors between both weights of a subspace of another variance
    min_noise_ratio: float = 0.01  # of the average noise: a few equal samples would make the likelihood unbounded
    off_origin_p_value: float = 1e-6  # of a mean this far from zero, below which samples are centered
    max_outside: float = 0.2  # of a far sample's length outside a subspace that it belongs to, relative to chance


TUNING = Tuning()
TINY = float(np.finfo(np.float64).tiny)

# ---- Moments (paper, section 3.4) -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SubspaceChunk(Chunk):
    """Samples with their coordinates in the span of all subspaces."""

    samples: Samples  # x itself, not a copy, (n, d)
    projected: Array  # Y = XW, (n, kr)
    energy: Array  # e, the squared residual per direction outside the span, (n,): averages to the noise variance


class NoiseMoments(NamedTuple):
    """Moments of noise that may differ between subspaces."""

    second: Array  # Σ αᵢsᵢ W'Σᵢ W, (kr, kr), with the covariances Σᵢ of the subspaces without the noise
    fourth: float  # Σ αᵢsᵢ²


class SubspaceSums(NamedTuple):
    """Sums over some samples."""

    n: int
    squares: Array  # Σ yy', (kr, kr)
    hinted: Array  # Σ ⟨y, c⟩²yy', (kr, kr)
    energy: float  # Σ e
    noise_squares: Array  # Σ e yy', (kr, kr)
    squared_energy: Any  # Σ e²


@dataclass(frozen=True, slots=True)
class SubspaceFamily:
    """The fitted moments of a mixture of subspaces. The frame is the span of all of them and has k r columns."""

    frame: Frame
    noise_variance: float  # s2
    dim: int  # r
    chunks: Chunks[SubspaceChunk]
    n_noise: int = 1  # directions outside the span in which there is noise
    noise: NoiseMoments | None = None  # None if the noise is the same in all subspaces, as in the paper
    origin: Array | None = None  # the point that all subspaces contain, (d,); None is zero
    n_hints: ClassVar[int] = 2

    @property
    def n_components(self) -> int:
        """The number of subspaces."""
        return self.frame.n_components // self.dim

    @property
    def center(self) -> Array:
        """The point that all subspaces contain, (d,)."""
        return np.zeros(len(self.frame.basis)) if self.origin is None else self.origin

    @property
    def mean(self) -> Array:
        """W'm, (kr,): zero, since the coordinates of every subspace have mean zero."""
        return np.zeros(self.frame.n_components)

    def without_samples(self) -> Self:
        """Return the same without samples, to send to where they are."""
        return replace(self, chunks=DetachedChunks(self.chunks.layout))

    @property
    def min_noise(self) -> float:
        """The least noise variance that densities use."""
        return MIN_NOISE * float(self.frame.values[0])

    def locate(self, X: Samples) -> tuple[Array, Array]:
        """Compute the coordinates of samples in the span, (n, kr), and their squared residual outside, (n,)."""
        Z = project(X, self.frame.basis, self.center)
        return Z, np.maximum(squared_distances(X, self.center) - np.einsum("ij,ij->i", Z, Z), 0)

    def hinted(self, hint: Array) -> Hinted:
        """Contract the fourth moment twice with one point of a subspace, (kr,), or several, (q, kr)."""
        hints = np.atleast_2d(hint)

        def sum_chunk(chunk: SubspaceChunk) -> Any:
            return weighted_gram(chunk.projected, mean_square(chunk.projected @ hints.T))

        fourth = self.chunks.sum(sum_chunk) / self.chunks.n_rows
        return Hinted(self.correct(fourth, hints.T @ hints / len(hints)), self.mean, hints.T)

    def tensor(self, basis: Array) -> Array:
        """Contract the fourth moment with all pairs of columns of a basis, (kr, q), to (q, q, q, q)."""
        q = basis.shape[1]

        def sum_chunk(chunk: SubspaceChunk) -> Any:
            Y = np.asarray(chunk.projected @ basis, dtype=np.float64)
            pairs = [[weighted_gram(Y, Y[:, a] * Y[:, b]) for b in range(q)] for a in range(q)]
            return np.array(pairs).reshape(q, q, q, q)

        tensor = self.chunks.sum(sum_chunk) / self.chunks.n_rows
        for a, b in np.ndindex(q, q):
            pair = (np.outer(basis[:, a], basis[:, b]) + np.outer(basis[:, b], basis[:, a])) / 2
            tensor[a, b] += basis.T @ self.correct(np.zeros((len(basis), len(basis))), pair) @ basis
        return np.asarray(tensor)

    def correct(self, fourth: Array, C: Array, second: Array | None = None) -> Array:
        """Subtract the contribution of the noise from a contracted fourth moment.

        Notes
        -----
        For one point v, B = E[⟨x, v⟩²xx'] - s2 (v'Av)I - s2 |v|²A - s4 (|v|²I + 2vv') - 2 s2 (Avv' + vv'A) (paper,
        Theorem 6, which prints vv' once where the fourth moment of the noise has 2vv'). B is linear in vv', so several
        points enter through the average of their vv'. In the frame v = Wc, C is the average of cc', and W'AW = I for
        the samples that the frame was made from: v'Av = tr(W'AW C) and |v|² = tr(C / D). If the noise differs between
        subspaces, s2 A becomes Σ αᵢsᵢΣᵢ and s4 becomes Σ αᵢsᵢ².
        """
        s2, inverse = self.noise_variance, np.diag(1 / self.frame.values)
        A = np.eye(len(inverse)) if second is None else second
        noise = self.noise or NoiseMoments(s2 * A, s2**2)
        cross = noise.second @ C @ inverse
        norm = np.trace(C @ inverse)
        matrix = fourth - np.trace(noise.second @ C) * inverse - norm * noise.second
        matrix -= noise.fourth * (norm * inverse + 2 * inverse @ C @ inverse)
        return np.asarray(matrix - 2 * (cross + cross.T))

    def estimate_noise(self, n: int, squares: Array, squared_energy: float) -> NoiseMoments:
        """Estimate the moments of the noise from Σ e yy' and Σ e² over n samples.

        Notes
        -----
        The energy e outside the span and the coordinates y in it are independent within a subspace, and e is the mean
        of m squares, so that E[e²] = s2² (1 + 2 / m) there.
        """
        fourth = float(squared_energy / n * self.n_noise / (self.n_noise + 2))
        return NoiseMoments(squares / n - fourth * np.diag(1 / self.frame.values), fourth)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments of all samples but one group, for each group in turn, under a hint or several."""
        hints = np.atleast_2d(hint)

        def sum_rows(chunk: SubspaceChunk, rows: slice) -> SubspaceSums:
            Y, energy = chunk.projected[rows].astype(np.float64, copy=False), chunk.energy[rows]
            hinted = (Y * mean_square(Y @ hints.T)[:, None]).T @ Y
            return SubspaceSums(len(Y), Y.T @ Y, hinted, energy.sum(), weighted_gram(Y, energy), energy @ energy)

        replicates = []
        for n, squares, hinted, energy, noise_squares, squared_energy in leave_one_out(self.chunks, sum_rows):
            noise = None if self.noise is None else self.estimate_noise(n, noise_squares, squared_energy)
            left = replace(self, noise_variance=energy / n, noise=noise)
            second = squares / n - np.diag(left.noise_variance / self.frame.values)
            replicates.append((second, left.correct(hinted / n, hints.T @ hints / len(hints), second), self.mean))
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def residual_replicates(self, directions: Array) -> Array:
        """Compute A W u of all samples but one of B groups, up to vectors of the span: (d, B), or (d, r, B)."""

        def sum_rows(chunk: SubspaceChunk, rows: slice) -> Any:
            sums = weighted_sums(chunk.samples[rows], chunk.projected[rows] @ directions)
            return sums.rows - np.multiply.outer(center, sums.weights)

        center, n, n_groups = self.center, self.chunks.n_rows, self.chunks.n_groups
        n_left = np.array([n - len(range(group, n, n_groups)) for group in range(n_groups)])
        sums = np.stack(leave_one_out(self.chunks, sum_rows), axis=-1)
        return np.asarray(sums / n_left)

    def information_p_value(self, v: Array) -> float:
        """Test the hypothesis that a direction, (d,), is orthogonal to all subspaces.

        Notes
        -----
        Then its coordinates c in the frame come from the errors of the frame alone: E[y⟨x, v⟩] over samples, with
        ⟨x, v⟩ noise of variance |v|²e.
        """
        c, D = self.frame.project_hint(v), self.frame.values
        noise = self.noise or NoiseMoments(self.noise_variance * np.eye(len(c)), self.noise_variance**2)
        variance = noise.second + noise.fourth * np.diag(1 / D) + 1e-18 * np.diag(D)  # samples without noise
        squares = c @ np.linalg.solve(variance, c) * self.chunks.n_rows / (v @ v)
        return float(chi2.sf(squares, len(c)))


def mean_square(scores: Array) -> Array:
    """Average the squares of each row, (n, q) -> (n,)."""
    return np.asarray(np.einsum("ij,ij->i", scores, scores) / scores.shape[1])


def fit_subspace(
    chunks: Chunks[SampleChunk],
    n_components: int,
    *,
    dim: int,
    paper: bool,
    seed: int,
    origin: Array | None = None,
) -> SubspaceFamily:
    """Find the span of all subspaces and the noise outside of it, and project the samples.

    The paper takes the largest noise eigenvalue as the noise variance. The mean of all of them has a smaller error.
    """
    (n, d, dtype, _), n_columns = chunks.layout, n_components * dim
    center = np.zeros(d) if origin is None else origin
    with blas_threads_for(chunks):
        moment: Matrix = second_moment(chunks, center=origin)
        n_pairs = n_columns + 1 if paper else min(n_columns + OVERSAMPLING, d)
        pairs = top_eigenpairs(moment, n_pairs, n_converged=n_columns + paper, seed=seed)
    rank = None if paper else noise_rank(moment, chunks, center, n_columns, seed)
    n_noise = max((rank or d) - n_columns, 1)
    vectors = pairs.vectors[:, : n_columns + paper]

    def project_chunk(chunk: SampleChunk) -> tuple[SubspaceChunk, Any]:
        Z = project(chunk.samples, vectors, center).astype(np.float64, copy=False)
        if paper:
            energy = Z[:, -1] ** 2
        else:
            residual = squared_distances(chunk.samples, center) - np.einsum("ij,ij->i", Z, Z)
            energy = np.maximum(residual, 0) / n_noise
        return SubspaceChunk(chunk.first, chunk.samples, Z[:, :n_columns], energy), (energy.sum())

    def whiten_chunk(chunk: SubspaceChunk) -> SubspaceChunk:
        Y = chunk.projected / np.sqrt(frame.values)
        return replace(chunk, projected=Y.astype(chunk.samples.dtype, copy=False))

    inside, energy = chunks.map_sum(project_chunk)
    level, values = float(energy / n), pairs.values[:n_columns]
    frame = frame_from_eigenpairs(values, vectors[:, :n_columns], level, precision=dtype)
    family = SubspaceFamily(frame, level, dim, inside.map(whiten_chunk).persist(), n_noise, None, origin)
    if paper:
        return family

    def sum_noise(chunk: SubspaceChunk) -> tuple[Any, ...]:
        return NoiseMoments(weighted_gram(chunk.projected, chunk.energy), float(chunk.energy @ chunk.energy))

    return replace(family, noise=family.estimate_noise(n, *family.chunks.sum(sum_noise)))


# ---- Algorithm 3 of the paper, with the moment contracted again with what it found ----------------------------------


class Extraction(NamedTuple):
    """A subspace in the coordinates of the frame."""

    directions: Array  # G = √α W'U L^(1/2) up to a rotation, (kr, r), orthonormal columns
    scores: Array  # the r + 1 largest eigenvalues of the whitened hinted moment, falling

    @property
    def separation(self) -> float:
        """The ratio of eigenvalues r and r + 1: above 1 if |Uᵢ'v|² < |U₁'v|² / 3 for all other subspaces."""
        r = self.directions.shape[1]
        if len(self.scores) == r or self.scores[r] <= 0:
            return float("inf")
        return float(self.scores[r - 1] / self.scores[r])


def extract_subspace(hinted: Hinted, dim: int, free: Array | None = None) -> Extraction:
    """Recover the subspace that contains the hint, within the columns of `free`, (kr, q), if given (Algorithm 3).

    Notes
    -----
    The Gᵢ have orthonormal columns and are orthogonal to each other, and αᵢGᵢ'RGᵢ = |Gᵢ'c|²I + 2Gᵢ'cc'Gᵢ with
    R = W'BW: so R has one eigenvalue 3|Gᵢ'c|²/αᵢ and r - 1 of |Gᵢ'c|²/αᵢ for every subspace.
    """
    R = (hinted.matrix + hinted.matrix.T) / 2
    R = R if free is None else free.T @ R @ free
    scores, U = scipy.linalg.eigh(R, subset_by_index=(max(len(R) - dim - 1, 0), len(R) - 1))
    directions = U[:, ::-1][:, :dim]
    return Extraction(directions if free is None else free @ directions, scores[::-1])


def settle_subspace(
    contract: Callable[[Array], Hinted], direction: Array, dim: int, free: Array | None = None
) -> Array:
    """Find the directions of the subspace that a direction of the frame lies in, (kr, r).

    Notes
    -----
    Under any hint the top eigenvector of R lies in one subspace, that of the largest |Uᵢ'v|. The next r - 1 lie there
    too only if |Uᵢ'v|² is three times that of the others. Used as the hint, the top eigenvector scores all others 0, so
    the condition disappears. Then all r directions together are the hint, under which all r eigenvalues are equal.
    """
    extraction = extract_subspace(contract(direction[None, :]), dim, free)
    for _ in range(TUNING.max_contractions - 1):
        if extraction.separation > TUNING.clear_gap:
            break
        extraction = extract_subspace(contract(extraction.directions[:, :1].T), dim, free)
    directions = extraction.directions
    for _ in range(TUNING.max_contractions):
        before, directions = directions, extract_subspace(contract(directions.T), dim, free).directions
        cosine = np.linalg.svd(before.T @ directions, compute_uv=False).min()
        if 1 - cosine**2 < TUNING.small_move**2:
            break
    return directions


def extract_remaining(
    contract: Callable[[Array], Hinted], hinted: Hinted, dim: int, extracted: list[Array]
) -> Iterator[Array]:
    """Yield the directions of subspaces not extracted yet, (kr, r), by falling score under a hint."""
    free = np.eye(len(hinted.matrix))
    for directions in extracted:
        free = leave_out(directions, free)
    while free.shape[1] >= dim:
        directions = extract_subspace(hinted, dim, free).directions
        if free.shape[1] > dim:
            directions = settle_subspace(contract, directions[:, 0], dim, free)
        yield directions
        free = leave_out(directions, free)


def leave_out(directions: Array, free: Array) -> Array:
    """Return an orthonormal basis of a space without some of its directions, (kr, q - r)."""
    Q, _ = scipy.linalg.qr(free.T @ directions)
    return np.asarray(free @ Q[:, directions.shape[1] :])


class MomentWeight(NamedTuple):
    """The weight of a subspace that moments found."""

    value: float
    is_fourth: bool  # whether it comes from fourth moments


def estimate_weight(family: SubspaceFamily, directions: Array) -> MomentWeight:
    """Estimate the weight of a subspace from its directions in the frame, (kr, r).

    Notes
    -----
    The share of the trace of A is the weight if all subspaces have the same total variance. Fourth moments need no such
    assumption: the coordinates s = G'y of a sample have the second moment I over all samples, and are zero outside the
    subspace but for noise. Its members are normal with covariance I / α, so that E|s|⁴ = r (r + 2) / α. That weight
    has more variance, so it is used only if both differ by more than chance.
    """
    values, r = family.frame.values, directions.shape[1]
    sizes, turn = np.linalg.eigh(directions.T @ (values[:, None] * directions))
    axes = directions @ turn

    def sum_rows(Y: Array) -> Any:
        squares = (Y @ axes) ** 2
        lengths = squares @ np.ones(r)
        columns = np.column_stack([np.ones(len(Y)), lengths**2, lengths, squares @ sizes, Y**2 @ values])
        return columns.T @ columns

    def sum_chunk(chunk: SubspaceChunk) -> Any:
        pieces = (chunk.projected[rows].astype(np.float64, copy=False) for rows in row_slices(chunk.n_rows))
        return sum_chunks(sum_rows, pieces)

    share = trace_share(family, directions)
    products = family.chunks.sum(sum_chunk) / family.chunks.n_rows
    means = products[0, 1:]  # of |s|⁴, |s|², and the squared lengths inside the subspace and inside the span
    noise = family.correct(np.zeros((len(values), len(values))), directions @ directions.T)
    fourth = means[0] + float(np.sum(directions * (noise @ directions)))
    if not fourth > 0:
        return MomentWeight(share, is_fourth=False)
    weight, trace = min(r * (r + 2) / fourth, 1.0), float(values.sum())
    # Derivatives of the difference of both weights by the means.
    slopes = np.array([-(weight**2) / (r * (r + 2)), 2 * weight / r, -1 / trace, share / trace])
    variance = slopes @ (products[1:, 1:] - np.outer(means, means)) @ slopes / family.chunks.n_rows
    is_fourth = (weight - share) ** 2 > TUNING.weight_deviations**2 * float(variance)
    return MomentWeight(weight if is_fourth else share, is_fourth)


def trace_share(family: SubspaceFamily, directions: Array) -> float:
    """Compute the share of a subspace in the trace of A."""
    return float(family.frame.values @ np.sum(directions**2, axis=1) / family.frame.values.sum())


# ---- Likelihood: probabilistic PCA in the span ----------------------------------------------------------------------


@dataclass(frozen=True)
class SpanChunk(Chunk):
    """Samples in the span of all subspaces, in the units of the features."""

    coordinates: Array  # z, (n, p)
    squares: Array  # |x|², in the span and outside, (n,)


class SubspaceParameters(NamedTuple):
    """A mixture of N(0, Uᵢ diag(lᵢ) Uᵢ' + sᵢI) in the span; outside of it there is noise of variance sᵢ alone."""

    weights: Array  # (k,)
    bases: Array  # U, (k, p, r)
    variances: Array  # l, (k, r), falling
    noise_variances: Array  # s, (k,)


@dataclass(frozen=True)
class SubspaceModel:
    """The likelihood of subspaces in their span."""

    dim: int  # r
    n_dims: int  # directions in which samples vary, in the span and outside
    min_noise: float

    def log_density(self, chunk: SpanChunk, params: SubspaceParameters) -> Array:
        """Compute log αᵢ + log N(x; 0, Uᵢ diag(lᵢ) Uᵢ' + sᵢI), (n, k)."""
        totals, noise = params.variances + params.noise_variances[:, None], params.noise_variances
        log_volumes = np.log(totals).sum(axis=1) + (self.n_dims - self.dim) * np.log(noise)
        return np.asarray(np.log(params.weights) - 0.5 * (log_volumes + self.squares(chunk, params)))

    def squares(self, chunk: SpanChunk, params: SubspaceParameters) -> Array:
        """Compute x'Σᵢ⁻¹x = (|x|² - Σⱼ ⟨z, uⱼ⟩² lⱼ / (lⱼ + s)) / s, (n, k)."""
        noise = params.noise_variances
        gains = np.sqrt(params.variances / (params.variances + noise[:, None]) / noise[:, None])
        along = chunk.coordinates @ stack_columns(params.bases * gains[:, None, :])
        inside = along**2 @ np.repeat(np.eye(len(noise)), self.dim, axis=0)  # sums over the directions of a subspace
        return np.asarray(np.maximum(chunk.squares[:, None] / noise - inside, 0))

    def statistics(self, chunk: SpanChunk, resp: Array) -> Array:
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
        return SubspaceParameters(weights, bases, np.maximum(values - noise[:, None], 0), noise)

    def random_start(
        self, chunk: SpanChunk, params: SubspaceParameters, rng: np.random.Generator
    ) -> SubspaceParameters:
        """Draw samples far from the subspaces so far; each spans one with those in the most similar directions."""
        Z, k, r = chunk.coordinates, len(params.weights), self.dim
        lengths = np.sum(Z**2, axis=1)
        outside = np.tile(lengths[:, None], k)
        for i in range(k):
            chances = np.maximum(outside.min(axis=1), 0) + TINY
            cosines = (Z @ Z[rng.choice(len(Z), p=chances / chances.sum())]) ** 2 / np.maximum(lengths, TINY)
            near = Z[np.argsort(-cosines)[: 4 * r]]
            outside[:, i] = lengths - np.sum((Z @ np.linalg.svd(near, full_matrices=False)[2][:r].T) ** 2, axis=1)
        resp = np.eye(k)[outside.argmin(axis=1)]
        return self.m_step(self.statistics(chunk, resp), resp.mean(axis=0))

    def scores(self, chunk: SpanChunk, params: SubspaceParameters, component: int) -> Array:
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
        """Compute the information of known members; that about Kᵢⱼ is n((lⱼ + s)δ - U⊥'SU⊥) / lⱼ, with S = E[zz']."""
        basis, complement = split_span(params, component)
        size, (p, r) = float(statistics[component, 0]), basis.shape
        noise, variances = params.noise_variances[component], params.variances[component]
        S = complement.T @ statistics[component, 2:].reshape(p, p) @ complement / max(size, TINY)
        rotations = np.multiply.outer(variances + noise, np.eye(p - r)) - S  # (r, p - r, p - r)
        rotations /= floor_variances(params, component)[:, None, None]
        blocks = np.einsum("jab,jc->ajbc", rotations, np.eye(r)).reshape((p - r) * r, (p - r) * r)
        return np.asarray(size * scipy.linalg.block_diag(blocks, np.eye(r) / 2, (self.n_dims - r) / 2))


def split_span(params: SubspaceParameters, component: int) -> tuple[Array, Array]:
    """Return a basis of a subspace, (p, r), and one of its complement in the span, (p, p - r)."""
    basis = params.bases[component]
    return basis, np.linalg.qr(basis, mode="complete")[0][:, basis.shape[1] :]


def floor_variances(params: SubspaceParameters, component: int) -> Array:
    """Return the variances of a subspace, (r,), at least a trace of the noise: directions without any move freely."""
    return np.asarray(np.maximum(params.variances[component], 1e-6 * params.noise_variances[component]))


def stack_columns(matrices: Array) -> Array:
    """Put matrices side by side, (k, p, r) -> (p, kr)."""
    return np.asarray(matrices.transpose(1, 0, 2).reshape(matrices.shape[1], -1))


def make_rows(family: SubspaceFamily) -> Chunks[SpanChunk]:
    """Return the samples of the fit as the model takes them."""
    return family.chunks.map(partial(span_of, family.without_samples())).persist()


def span_of(family: SubspaceFamily, chunk: SubspaceChunk) -> SpanChunk:
    """Return samples of the fit as the model takes them."""
    if family.noise is None:  # the paper's energy is that of one direction
        return replace(make_chunk(family, chunk.samples), first=chunk.first)
    Z = np.asarray(chunk.projected * np.sqrt(family.frame.values), dtype=np.float64)
    return SpanChunk(chunk.first, Z, np.einsum("ij,ij->i", Z, Z) + family.n_noise * chunk.energy)


def make_chunk(family: SubspaceFamily, X: Samples) -> SpanChunk:
    """Return new samples as the model takes them."""
    Z, residual = family.locate(X)
    return SpanChunk(0, np.asarray(Z, dtype=np.float64), np.einsum("ij,ij->i", Z, Z) + residual)


# ---- Refinement -----------------------------------------------------------------------------------------------------


class RefinedMixture(NamedTuple):
    """All subspaces as EM fitted them."""

    model: SubspaceModel
    fit: Fit[SubspaceParameters]
    order: Array  # the subspace of the mixture that each candidate is, (k,)
    outside: Array  # B, (d, kr): the subspaces outside the span, which has the error of its eigenvectors
    residual_weights: Array  # (kr, kr): see `complete_mixture`
    p_values: Array  # of the test whether the samples of each subspace follow the model, (k,)


def fit_all_subspaces(family: SubspaceFamily, options: EMOptions) -> RefinedMixture:
    """Fit the whole mixture by EM, from moments. No hint enters, so one fit serves every search."""
    values, k = family.frame.values, family.n_components
    model = SubspaceModel(family.dim, len(values) + family.n_noise, family.min_noise)
    directions = [*extract_remaining(family.hinted, family.hinted(np.eye(len(values))), family.dim, [])]
    bases, lengths, _ = np.linalg.svd(np.sqrt(values)[:, None] * np.array(directions), full_matrices=False)
    weights = np.sum(lengths**2, axis=1) / values.sum()
    noise = np.full(k, max(family.noise_variance, family.min_noise))
    start = SubspaceParameters(weights, bases, lengths**2 / weights[:, None], noise)
    rows = make_rows(family)
    return complete_mixture(family, model, rows, fit_mixture(model, rows, [start], options))


def complete_mixture(
    family: SubspaceFamily, model: SubspaceModel, rows: Chunks[SpanChunk], fit: Fit[SubspaceParameters]
) -> RefinedMixture:
    """Add the subspaces outside the span to a fitted mixture, and test whether samples follow it.

    Notes
    -----
    A member is VUy + By + noise, with B outside the span V. Responsibilities hardly depend on B, so that the maximum of
    the likelihood is the least squares regression of residuals on ŷ, the expected coordinates of each sample in all
    subspaces: B = (Σ xŷ')(Σ ŷŷ')⁻¹.
    """

    def sum_squares(chunk: SpanChunk) -> Any:
        expected = expect_coordinates(model, chunk, fit.params)
        return expected.T @ expected

    weights = np.linalg.pinv(rows.sum(sum_squares), hermitian=True)

    def sum_chunk(chunk: SubspaceChunk) -> WeightedSums:
        return weighted_sums(chunk.samples, expect_coordinates(model, span_of(bare, chunk), fit.params) @ weights)

    bare = family.without_samples()
    outside = family.frame.residual(centered_sums(family.center, family.chunks.sum(sum_chunk)))
    p_values, order = test_rows(model, rows, fit.params), np.arange(family.n_components)
    return RefinedMixture(model, fit, order, outside, weights, p_values)


def expect_coordinates(model: SubspaceModel, chunk: SpanChunk, params: SubspaceParameters) -> Array:
    """Compute the expected coordinates of samples in every subspace, times the responsibilities, (n, kr)."""
    gains = params.variances / (params.variances + params.noise_variances[:, None])
    coordinates = chunk.coordinates @ stack_columns(params.bases * gains[:, None, :])
    return np.asarray(coordinates * np.repeat(posterior(model, chunk, params), model.dim, axis=1))


# ---- The answer -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Candidates:
    """All subspaces as moments find them under a hint; those not extracted yet are extracted on first use."""

    family: SubspaceFamily
    hinted: Hinted  # the moment under the hint
    points: Array  # the hint in the span, in the units of the features, (q, kr)
    negative: Array  # samples of other subspaces, (q, kr)
    extracted: tuple[Array, ...]  # directions, (kr, r), of the preferred subspace first
    is_settled: bool = True  # whether the moment was contracted with what was extracted

    @classmethod
    def find(cls, family: SubspaceFamily, points: Array, negative: Array) -> Self:
        """Find the subspace that contains most of the hint.

        Notes
        -----
        If the first subspace does not account for most of the hinted moment, all of them are extracted and compared.
        """
        candidates = cls(family, family.hinted(np.sqrt(family.frame.values) * points), points, negative, ())
        extracted: list[Array] = []
        for directions in extract_remaining(family.hinted, candidates.hinted, family.dim, []):
            extracted.append(directions)
            if replace(candidates, extracted=tuple(extracted)).is_clear:
                break
        best = int(np.argmax([candidates.project(directions) for directions in extracted]))
        if best > 0:  # extracted orthogonally to others, with their errors
            extracted = [settle_subspace(family.hinted, extracted[best][:, 0], family.dim)]
        return replace(candidates, extracted=tuple(extracted))

    @property
    def is_clear(self) -> bool:
        """Whether the first subspace has a far larger score than all others together."""
        score = float(np.trace(self.extracted[0].T @ self.hinted.matrix @ self.extracted[0]))
        remainder = float(np.trace(self.hinted.matrix)) - score
        return not len(self.negative) and score > TUNING.clear_lead * remainder

    @cached_property
    def directions(self) -> list[Array]:
        """The directions of all subspaces: the preferred one, then the others by falling projection of the hint."""
        first, *others = self.extracted
        others += extract_remaining(self.family.hinted, self.hinted, self.family.dim, [first, *others])
        return [first, *sorted(others, key=self.project, reverse=True)]

    def project(self, directions: Array) -> float:
        """Compute how much of the hint a subspace contains, given its directions in the frame."""
        basis, _ = np.linalg.qr(np.sqrt(self.family.frame.values)[:, None] * directions)
        return self.contain(basis)

    def contain(self, basis: Array) -> float:
        """Compute |U'v|², averaged over the points of the hint, less that of negative samples."""
        positive = np.sum((self.points @ basis) ** 2) / len(self.points)
        return max(float(positive - np.sum((self.negative @ basis) ** 2) / max(len(self.negative), 1)), 0.0)


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


class Span(NamedTuple):
    """One subspace in all dimensions."""

    basis: Array  # (d, r)
    variances: Array  # (r,)
    noise_variance: float
    weight: float


@dataclass(frozen=True, repr=False, eq=False)
class Subspace(Component):
    """One subspace of a mixture.

    Attributes
    ----------
    basis : array of shape (d, r)
        Orthonormal columns that span the subspace, the one with the largest variance first.
    center : array of shape (d,)
        The point that all subspaces contain: the origin, or the mean of samples that lie off it.
    weight : float
        Its share of the mixture.
    variances : array of shape (r,)
        Variances of the coordinates along the columns of `basis`, without the noise.
    noise_variance : float
        The variance of the noise around the subspace.
    separation : float
        How many times more of the hint it contains than the best other subspace. Near 1, the hint does not single out a
        subspace.
    scores : array of shape (k,)
        |Uᵢ'v|²: how much of the hint each subspace contains.
    stderr : SubspaceErrors
        Standard errors of `basis` and `weight`.
    check : Check
        Whether examples come back when they are left out.

    See Also
    --------
    Component : `share`, `alternatives`, `moment_estimate`, `warnings` and the rest.

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

    _candidates: Candidates
    _rank: int = 0
    _refined: RefinedMixture | None = field(default=None, kw_only=True)
    _walk: WalkMembers | None = field(default=None, kw_only=True)  # if members come from self-expression
    _member_span: Span | None = field(default=None, kw_only=True)  # of these
    _hint: Array | None = field(default=None, kw_only=True)  # the direction, (d,), of a search by direction
    _examples: Any = field(default=None, kw_only=True)  # of a search by examples
    _search: Callable[..., Any] | None = field(default=None, kw_only=True)  # the same search with other examples
    _feature_names: list[str] | None = field(default=None, kw_only=True)
    _warnings: tuple[SearchWarning, ...] = field(default=(), kw_only=True)

    @property
    def _family(self) -> SubspaceFamily:
        return self._candidates.family

    @property
    def _directions(self) -> Array:
        """The subspace in the frame as moments find it, (kr, r)."""
        return self._candidates.directions[self._rank] if self._rank else self._candidates.extracted[0]

    @property
    def _index(self) -> int:
        """The subspace of the refined mixture."""
        return int(self._refined.order[self._rank]) if self._refined else 0

    @cached_property
    def _moment_weight(self) -> MomentWeight:
        if self._family.n_components == 1:
            return MomentWeight(1.0, is_fourth=False)
        if not self._candidates.is_settled:
            return MomentWeight(trace_share(self._family, self._directions), is_fourth=False)
        return estimate_weight(self._family, self._directions)

    @cached_property
    def _span(self) -> Span:
        if self._member_span is not None:
            return self._member_span
        family, refined, i = self._family, self._refined, self._index
        if refined is not None:
            params, r = refined.fit.params, family.dim
            outside = refined.outside[:, i * r : (i + 1) * r]
            basis = scipy.linalg.polar(family.frame.basis @ params.bases[i] + outside)[0]  # turns the columns least
            return Span(basis, params.variances[i], float(params.noise_variances[i]), float(params.weights[i]))
        directions, weight = self._directions, self._moment_weight.value
        basis, lengths, _ = np.linalg.svd(family.frame.unwhiten(directions), full_matrices=False)
        noise = family.noise_variance
        if family.noise is not None:
            # Σ αᵢsᵢ W'Σᵢ W = Σ sᵢGᵢGᵢ'. An estimate below zero, or above all noise, is replaced by the average.
            variance = float(np.sum(directions * (family.noise.second @ directions)) / directions.shape[1])
            noise = variance if 0 < variance * weight <= noise else noise
        return Span(basis, lengths**2 / weight, noise, weight)

    def __getstate__(self) -> dict[str, Any]:
        if not isinstance(self._family.chunks, DetachedChunks):
            _ = self._span  # the samples may stay behind
        return dict(self.__dict__)

    @property
    def basis(self) -> Array:
        """Orthonormal columns that span the subspace, (d, r)."""
        return self._span.basis

    @property
    def center(self) -> Array:
        """The point that all subspaces contain, (d,): the origin, or the mean of samples that lie off it."""
        return self._family.center

    @property
    def weight(self) -> float:
        """The subspace's share of the mixture."""
        return self._span.weight

    @property
    def variances(self) -> Array:
        """Variances of the coordinates along the basis, (r,), without the noise."""
        return self._span.variances

    @property
    def noise_variance(self) -> float:
        """The variance of the noise around the subspace."""
        return self._span.noise_variance

    @property
    def moment_estimate(self) -> Subspace:
        """The estimate from moments alone, before EM."""
        return replace(self, _refined=None, _walk=None, _member_span=None, _rank=0)

    @property
    def _axes(self) -> list[tuple[Array, Array]]:
        """Bases in the span, (kr, r), and lengths √(αl), (r,), of all subspaces, the preferred one first."""
        if self._refined is not None:
            weights, bases, variances, _ = self._refined.fit.params
            return [(bases[i], np.sqrt(weights[i] * variances[i])) for i in self._refined.order]
        scale = np.sqrt(self._family.frame.values)[:, None]
        return [np.linalg.svd(scale * G, full_matrices=False)[:2] for G in self._candidates.directions]

    @property
    def scores(self) -> Array:
        """|Uᵢ'v|², (k,): how much of the hint each subspace contains, in the order in which the hint prefers them."""
        return np.array([self._candidates.contain(basis) for basis, _ in self._axes])

    @property
    def separation(self) -> float:
        """How many times more of the hint the subspace contains than the best other one."""
        scores = self.scores
        best = float(np.delete(scores, self._rank).max(initial=0.0))
        return float(scores[self._rank]) / best if best > 0 else float("inf")

    @property
    def share(self) -> float:
        """The fraction of the hint that the subspace accounts for: αᵢ|Lᵢ^(1/2)Uᵢ'v|² / v'Av."""
        shares = np.array([np.sum((self._candidates.points @ basis * lengths) ** 2) for basis, lengths in self._axes])
        return float(shares[self._rank] / max(float(shares.sum()), TINY))

    @property
    def alternatives(self) -> tuple[Subspace, ...]:
        """The other subspaces, most likely first."""
        plain = replace(self, _walk=None, _member_span=None, _warnings=())
        return tuple(replace(plain, _rank=rank) for rank in range(self._family.n_components) if rank != self._rank)

    @cached_property
    def check(self) -> Check:
        """Whether examples come back when they are left out: the membership of each in what the others find."""
        chunks = self._family.chunks
        rows = None if self._examples is None else chunks.thin(-(-chunks.n_rows // 10_000)).chunk.samples
        return leave_out_each(cast(Any, self._search), self._examples, rows, chunks.n_rows)

    @property
    def _p_first(self) -> float:
        """The probability that the hint prefers this subspace on new samples too."""
        return probability_of_first(self._preferences, self._rank)

    @property
    def separation_interval(self) -> tuple[float, float]:
        """A 95% interval of `separation`, from the noise of the subspaces."""
        return interval_of_lead(self._preferences, self._rank)

    @cached_property
    def _preferences(self) -> Array:
        """How much of the hint each subspace contains on simulated samples, (n, k), with the errors of moments."""
        family = self._family
        scale, points = np.sqrt(family.frame.values)[:, None], self._candidates.points
        replicates = []
        for basis, lengths in self._axes:
            directions = scipy.linalg.polar(basis * lengths / scale)[0]
            bases, _ = np.linalg.qr(replicate_images(family, family.leave_one_out(directions.T)))
            replicates.append(np.sum((points @ bases) ** 2, axis=(1, 2)) / len(points))
        return np.asarray(np.maximum(draw_estimates(self.scores, np.array(replicates).T), 0))

    @cached_property
    def stderr(self) -> SubspaceErrors:
        """Standard errors of `basis` and `weight`; a 95% interval is 1.96 of them to each side.

        Those of a refined answer are by the sandwich formula, those of a moment estimate by the jackknife. They are NaN
        if members come from self-expression.
        """
        if self._walk is not None:
            return SubspaceErrors(np.full(self.basis.shape, np.nan), float("nan"))
        return self._moment_errors() if self._refined is None else self._refined_errors(self._refined)

    def _moment_errors(self) -> SubspaceErrors:
        """Estimate standard errors by the jackknife.

        Notes
        -----
        Inside the span every replicate is solved exactly: its subspace is AWG, with the top solutions G of R g = λ A g.
        Outside it is P⊥AWG. P⊥A itself is of the order of the difference, so the G of all samples suffices. A replicate
        M moves the basis by M(U'M)⁻¹ - U, which is the difference after the best rotation up to second order.
        """
        family, directions, basis = self._family, self._directions, self.basis
        values, r = family.frame.values, family.dim
        hints = directions.T if self._candidates.is_settled else self._candidates.hinted.hint.T
        replicates = family.leave_one_out(hints)
        images = replicate_images(family, replicates)
        residuals = family.residual_replicates(directions)
        moves = []
        for b, image in enumerate(images):
            rotation = np.linalg.lstsq(np.sqrt(values)[:, None] * directions, image, rcond=None)[0]
            M = family.frame.basis @ image + family.frame.residual(residuals[:, :, b]) @ rotation
            moves.append(M @ np.linalg.inv(basis.T @ M) - basis)
        if family.n_components == 1:
            weights = np.ones(len(images))
        elif self._moment_weight.is_fourth:
            # To first order E|s|⁴ = r (2 tr(G'RG (G'AG)⁻¹) - tr G'RG): other directions change it in second order only.
            R, A = (directions.T @ matrix @ directions for matrix in (replicates.hinted, replicates.second))
            weights = (r + 2) / np.trace(2 * np.linalg.solve(A, R) - R, axis1=1, axis2=2)
        else:
            weights = np.sum(images**2, axis=(1, 2)) / np.einsum("bii,i->b", replicates.second, values)
        return SubspaceErrors(jackknife(np.array(moves)), float(jackknife(weights)))

    def _refined_errors(self, refined: RefinedMixture) -> SubspaceErrors:
        """Estimate standard errors by the sandwich formula, of rotations inside the span and of B outside of it."""
        family, params, i = self._family, refined.fit.params, self._index
        covariance = estimate_covariance(refined.model, cast(Any, make_rows(family)), params, i)
        complement, noise = split_span(params, i)[1], params.noise_variances[i]
        variances, r, q = floor_variances(params, i), family.dim, complement.shape[1]
        units = np.sqrt(noise * (params.variances[i] + noise)) / variances
        rotations = covariance[: q * r, : q * r].reshape(q, r, q, r)
        axes = family.frame.basis @ complement
        inside = np.einsum("da,ajbj,db->dj", axes, rotations, axes, optimize=True) * units**2
        columns, bare = slice(i * r, (i + 1) * r), family.without_samples()

        def sum_chunk(chunk: SubspaceChunk) -> Any:
            expected = expect_coordinates(refined.model, span_of(bare, chunk), params)
            weights = expected @ refined.residual_weights[:, columns]
            total = np.zeros((len(axes), r))
            for rows in row_slices(chunk.n_rows, CACHED_ROWS):
                away = to_dense(chunk.samples[rows]) - bare.center
                residual = bare.frame.residual(away.T) - refined.outside @ expected[rows].T
                total += residual**2 @ weights[rows] ** 2
            return total

        outside = family.chunks.sum(sum_chunk)
        return SubspaceErrors(np.sqrt(inside + outside), float(np.sqrt(covariance[-1, -1])))

    def membership(self, X: SamplesLike) -> Array:
        """Compute the probability that each sample belongs to this subspace.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            The samples.

        Returns
        -------
        array of shape (n,)
            A lazy Dask array if X is one.

        Notes
        -----
        Before refinement, the other subspaces are one Gaussian in the span, with what this one leaves of A. If members
        come from self-expression, walks from the examples give the memberships of the nodes, and any other sample gets
        its membership from the nodes that express it.
        """
        if is_dask(X):
            rows: Array = load_dask().map_rows(self.membership, X, len(self.center))
            return rows
        samples = check_samples(X, len(self.center), self._feature_names)
        if self._walk is not None:
            return self._walk.membership(samples)
        if self._refined is not None:
            chunk = make_chunk(self._family, samples)
            return posterior(self._refined.model, chunk, self._refined.fit.params)[:, self._index]
        if self.weight >= 1 or self._family.n_components == 1:
            return np.ones(samples.shape[0])
        family, weight, values = self._family, clip_weight(self.weight), self._family.frame.values
        Y, GG = family.locate(samples)[0] / np.sqrt(values), self._directions @ self._directions.T
        levels = (self.noise_variance, family.noise_variance)
        noises = [max(level, family.min_noise) * np.diag(1 / values) for level in levels]
        remainder = (np.eye(len(GG)) - GG) / (1 - weight) + noises[1]
        return posterior_of_two(weight, log_normal(Y, GG / weight + noises[0]), log_normal(Y, remainder))

    def _card(self) -> Card:
        d, r = self.basis.shape
        has_samples = not isinstance(self._family.chunks, DetachedChunks)
        trust = format_interval(self.separation, self.separation_interval) if has_samples else str(self.separation)
        facts = [("weight", plain_number(self.weight)), ("noise variance", plain_number(self.noise_variance))]
        facts += [("separation", trust), ("share of the hint", plain_number(self.share))]
        facts += [("check", str(self.check))] if has_samples and self._examples is not None else []
        return Card(
            title=f"Subspace of dimension {r} in {d:,} features",
            facts=facts,
            bars=score_bars(self.scores),
            bars_title="how much of the hint each subspace contains",
        )


def replicate_images(family: SubspaceFamily, replicates: Replicates) -> Array:
    """Compute the subspaces of all replicates in the span, (B, kr, r), in the units of the features."""
    matrices, _, root = whitened(replicates)
    _, U = np.linalg.eigh((matrices + matrices.transpose(0, 2, 1)) / 2)
    return np.sqrt(family.frame.values)[:, None] * np.linalg.solve(root, U[:, :, -family.dim :])


def span_members(family: SubspaceFamily, walk: WalkMembers) -> Span:
    """Find the subspace of members among the nodes: their weighted principal axes."""
    weights, r = walk.members.membership, family.dim
    X = (walk.expression.samples - family.center) * np.sqrt(weights / weights.sum())[:, None]
    _, lengths, axes = svds(X, k=r, v0=np.ones(min(X.shape)))
    values, n_dims = lengths[::-1] ** 2, family.frame.n_components + family.n_noise
    noise = max(float(np.sum(X**2) - values.sum()), 0.0) / (n_dims - r)
    return Span(axes[::-1].T, np.maximum(values - noise, 0), noise, float(weights.mean()))


# ---- The estimator --------------------------------------------------------------------------------------------------


class SubspaceSearch(SemiSupervised[SubspaceFamily]):
    """Find one subspace of a mixture from one or a few of its points.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        k, the number of subspaces. "auto" counts the directions that stand out from the noise (`spectrum_`) and takes
        the nearest whole number of subspaces, at least one.
    dim : int, default=1
        r, the dimension of each. All of them together, k r, must stay below the number of features.
    center : bool or "auto", default="auto"
        Whether subspaces contain the mean of all samples rather than zero. "auto" chooses the mean if it differs
        significantly from zero (`center_`). True is not allowed with ``preset="paper"``.
    self_expression : bool, default=False
        Whether members of a refined search with examples come from samples that express each other instead of the
        mixture: better for images, which do not follow a mixture of subspaces. At most 2,000 evenly spaced samples
        express all others.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: the largest noise eigenvalue is the noise level, subspaces contain zero,
        outliers are not left out, and the moment is contracted with the hint alone. By default the noise level is the
        average of all noise eigenvalues.
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
        the samples may lie anywhere. Rows that are close to each other, or in a subspace, are not outliers.
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
        center: bool | Literal["auto"] = "auto",
        self_expression: bool = False,
        preset: Preset = "default",
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.dim = dim
        self.center = center
        self.self_expression = self_expression
        self.preset = preset
        self.random_state = random_state

    def _fit_family(self, X: Any) -> Chunks[SampleChunk]:
        minimum, is_paper = check_n_components(self.n_components), self._is_paper()
        check_positive_int("dim", self.dim)
        check_choice("center", self.center, (True, False, AUTO))
        check_choice("self_expression", self.self_expression, (True, False))
        if is_paper and self.center is True:
            raise ArgumentError(
                "{argument}=True does not apply with {preset}='paper': the paper's subspaces contain zero. Subtract "
                "the mean from X beforehand, or use the default preset.",
                code="not_for_paper",
                argument=Option("center"),
                preset=Option("preset"),
            )
        chunks, dim = self._check_chunks(X), int(self.dim)
        check_n_features(chunks.n_features, minimum * dim + 1, f"{minimum} subspaces of dimension {dim} and noise")
        check_n_samples(chunks, minimum * dim + 1, f"{minimum} subspaces of dimension {dim}")
        self._forget("outliers_")
        samples, origin = (chunks, None) if is_paper else self._place_samples(chunks)
        self.center_ = np.zeros(chunks.n_features) if origin is None else origin
        most = (chunks.n_features - 1) // dim

        def count_subspaces(n_signal: int) -> int:
            return max(min(round(n_signal / dim), most), 1)

        k = self._choose_n_components(
            samples, lambda: spherical_spectrum(samples, self.center_, count_subspaces, self._draw_seed())
        )
        self._family = fit_subspace(samples, k, dim=dim, paper=is_paper, seed=self._draw_seed(), origin=origin)
        self._mixtures = MixtureCache[Any]()
        self.noise_variance_ = self._family.noise_variance
        if hasattr(self, "spectrum_") and not self.spectrum_.n_signal:
            warn_user(no_signal("one subspace"))
        return chunks

    def _place_samples(self, chunks: Chunks[SampleChunk]) -> tuple[Chunks[SampleChunk], Array | None]:
        """Return the samples without outliers, and the point that all subspaces contain, None for zero."""
        outliers = find_outliers(chunks, partial(find_subspace_members, dim=int(self.dim)))
        self.outliers_ = outliers.rows
        if len(outliers.rows):
            warn_user(outliers.warning())
        is_centered = self.center
        if is_centered == AUTO:
            is_centered = off_origin_p_value(outliers.measured) < TUNING.off_origin_p_value
        return outliers.samples, outliers.measured.mean if is_centered else None

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: SamplesLike | None = None,
        not_examples: SamplesLike | None = None,
        refine: bool = False,
        tol: float = 0.01,
        max_iter: int | None = None,
        **unknown: Any,
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
        tol : float, default=0.01
            Stop EM when an iteration raises the total log-likelihood by less than this, in nats. Estimates then change
            by far less than their standard errors.
        max_iter : int, optional
            Maximum number of EM iterations, 100 by default.
        **unknown
            Refused, with the names of the arguments that exist.

        Returns
        -------
        Subspace
        """
        reject_unknown_arguments(self.search, unknown)
        options = check_em_options(refine, tol, max_iter)
        check_is_fitted(self)
        # 1) the hint: points in the span of all subspaces
        family = self._family
        given = check_one_hint({"hint": hint, "examples": examples})
        if given == "hint" and not_examples is not None:
            raise HintError(
                "{argument} needs {needed} as well.",
                code="needs_examples",
                argument=Option("not_examples"),
                needed=Option("examples"),
            )
        v = hint_from_direction(hint, self.n_features_in_) if given == "hint" else None
        positive = (family.center + v)[None] if v is not None else self._check_rows(examples, reset=False)
        negative = positive[:0] if not_examples is None else self._check_rows(not_examples, reset=False)
        (points, residual), away = family.locate(positive), family.locate(negative)[0]
        if not np.sum(points**2) > 1e-20 * (np.sum(points**2) + residual.sum()):
            raise HintError(
                "The hint is orthogonal to every subspace. Give a sample of the wanted one.", code="hint_orthogonal"
            )
        # 2) the fourth moment contracted with the hint, and its top eigenvectors (Algorithm 3)
        if self._is_paper():
            hinted = family.hinted(np.sqrt(family.frame.values) * points)
            extracted = (extract_subspace(hinted, family.dim).directions,)
            candidates = Candidates(family, hinted, points, away, extracted, is_settled=False)
        else:
            candidates = Candidates.find(family, points, away)
        component = Subspace(
            candidates,
            _hint=v,
            _examples=positive if v is None else None,
            _search=partial(self.search, not_examples=not_examples, refine=refine, tol=tol, max_iter=max_iter),
            _feature_names=self._get_feature_names(),
        )
        # 3) optionally, maximum likelihood from there, or members by self-expression
        if options is not None and self.self_expression and v is None:
            expression = self._mixtures.get("self-expression", lambda: build_expression(family))
            walk = walk_from_examples(expression, positive, component.weight)
            component = replace(component, _walk=walk, _member_span=span_members(family, walk))
        elif options is not None:
            component = replace(component, _refined=self._refine(component, positive, negative, options))
        # 4) reasons not to trust the answer
        return add_warnings(component, find_warnings(component))

    def _refine(self, component: Subspace, positive: Samples, negative: Samples, options: EMOptions) -> RefinedMixture:
        """Choose the subspace of the fitted mixture that the hint means, and hold examples that it contradicts."""
        family = self._family
        mixture: RefinedMixture = self._mixtures.get(options, lambda: fit_all_subspaces(family, options))
        model, params = mixture.model, mixture.fit.params
        if component._examples is None:
            scores = [component._candidates.contain(basis) for basis in params.bases]
            return mixture._replace(order=np.argsort(-np.array(scores), kind="stable"))
        chunks = [make_chunk(family, X) for X in (positive, negative) if X.shape[0]]
        joint = [model.log_density(chunk, params) for chunk in chunks]
        order = np.argsort(-choose_component(joint[0], params.weights, *joint[1:]), kind="stable")
        held = hold_examples(chunks, joint, int(order[0]))
        if held is not None:
            rows = make_rows(family)
            mixture = complete_mixture(family, model, rows, run_em(model, rows, params, options, held))
        return mixture._replace(order=order)

    def _whiten(self, X: Samples) -> Array:
        return np.asarray(self._family.locate(X)[0] / np.sqrt(self._family.frame.values), dtype=X.dtype)


def build_expression(family: SubspaceFamily) -> SelfExpression:
    """Build the graph of samples that express each other, from evenly spaced ones if there are many."""
    n, d = family.chunks.shape
    step = -(-n // max(min(MAX_NODES, MAX_NUMBERS // d), 1))
    return SelfExpression.of(family.chunks.thin(step).collect().chunk.samples)


def find_warnings(component: Subspace) -> list[SearchWarning]:
    """Find the reasons not to trust an answer."""
    if component._walk is not None:
        is_near = component._walk.ranks < 0.5  # otherwise walks from the others visit half of all samples sooner
        return check_answer(component, is_near.astype(np.float64), is_clear=True)
    warnings = check_answer(component, is_clear=component._refined is None and component._candidates.is_clear)
    refined, i = component._refined, component._index
    if refined is None or refined.fit.params.noise_variances[i] <= refined.model.min_noise:
        return warnings  # squares of samples without noise cannot be tested
    if refined.p_values[i] < EM_TUNING.misfit_p_value:
        misfit = UnlikelyMixtureWarning(
            "The samples of this subspace do not follow the model: normal coordinates and noise (p-value "
            "{p_value:.1g}). Its weight, memberships and standard errors are rough. Fit more subspaces ({argument}) or "
            "larger ones ({dim_argument}), or find members of images with {expression}.",
            code="misfit",
            p_value=float(refined.p_values[i]),
            argument=Option("n_components"),
            dim_argument=Option("dim"),
            expression=Option("self_expression"),
        )
        warnings.append(misfit)
    return warnings


def off_origin_p_value(measured: MeasuredSamples) -> float:
    """Test the hypothesis that the mean of the samples is zero.

    Notes
    -----
    n |mean|² is a sum of squares of normal variables, whose variances sum to the trace of the covariance. Far out no
    such sum is more likely than a single square with all of the variance.
    """
    n = measured.chunks.n_rows
    variance = float(measured.chunks.sum(lambda chunk: float(np.sum(chunk.squares)))) / n
    return float(chi2.sf(float(measured.mean @ measured.mean) * n / variance, 1)) if variance > 0 else 1.0


def find_subspace_members(samples: Array, dim: int) -> Array:
    """Find out which far samples lie in a subspace with enough others to be its members, (n,)."""
    n, d = samples.shape
    is_member, min_members = np.zeros(n, dtype=bool), 2 * dim + MIN_MEMBERS
    units = samples / np.linalg.norm(samples, axis=1, keepdims=True)
    while np.sum(~is_member) >= min_members:
        left = units[~is_member]
        basis = np.linalg.svd(left, full_matrices=False)[2][:dim]
        inside = 1 - np.sum((left @ basis.T) ** 2, axis=1) < TUNING.max_outside * (1 - dim / d)
        if inside.sum() < min_members:
            break
        is_member[np.flatnonzero(~is_member)[inside]] = True
    return is_member
