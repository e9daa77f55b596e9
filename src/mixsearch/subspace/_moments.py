"""Moments of mixtures of subspaces: x = Uᵢy + noise with y normal, Uᵢ of shape (d, r), orthonormal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.stats import chi2

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import Frame, project
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.noise_edge import SignalCheck
from mixsearch.core.second_moment import (
    centered_sums,
    squared_distances,
    weighted_gram,
    weighted_sums,
)
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partition, Partitions, leave_one_out, spread_over_groups


@dataclass(frozen=True)
class SubspacePartition(Partition):
    """Samples of a mixture of subspaces with their coordinates in the span of all."""

    samples: Samples  # x itself, not a copy: EM and the jackknife read it, (n, d)
    projected: Array  # Y = XW, (n, k r)
    energy: Array  # squared residual outside the frame, per direction, (n,): averages to the noise variance


class NoiseMoments(NamedTuple):
    """Moments of the noise, which may differ between subspaces."""

    second: Array  # Σ αᵢsᵢ W'Σᵢ W, (k r, k r), with the covariances Σᵢ of the subspaces without the noise
    fourth: float  # Σ αᵢsᵢ²


@dataclass(frozen=True, slots=True)
class SubspaceFamily:
    """The fitted moments of a mixture of subspaces. The frame has k r columns."""

    frame: Frame
    noise_variance: float  # s2
    dim: int  # r, the dimension of each subspace
    partitions: Partitions[SubspacePartition]
    n_noise: int = 1  # number of directions outside the frame in which there is noise
    noise: NoiseMoments | None = None  # None if the noise is taken to be the same in all subspaces, as in the paper
    origin: Array | None = None  # the point that all subspaces contain, (d,); None stands for zero
    check: SignalCheck | None = None  # None for the paper's moments
    span: Array | None = None  # basis of all directions of the fit, if the frame has fewer, (d, p)
    has_own_dims: bool = False  # whether refined subspaces have dimensions of their own, up to r
    n_hints: ClassVar[int] = 2

    @property
    def n_components(self) -> int:
        """The number of subspaces of the fit."""
        return self.frame.n_components // self.dim

    @property
    def n_outside(self) -> int:
        """The number of directions outside the frame that the energy of a sample is the mean of."""
        return 1 if self.noise is None else self.n_noise

    @property
    def center(self) -> Array:
        """The point that all subspaces contain, (d,)."""
        return np.zeros(len(self.frame.basis)) if self.origin is None else self.origin

    def locate(self, X: Samples) -> tuple[Array, Array]:
        """Return the coordinates of samples in the frame, (n, k r), and their energy outside, per direction, (n,)."""
        inside = project(X, self.frame.basis if self.span is None else self.span, self.center)
        residual = squared_distances(X, self.center) - np.einsum("ij,ij->i", inside, inside)
        coordinates = inside[..., : self.frame.n_components] / np.sqrt(self.frame.values)
        return coordinates, np.maximum(residual, 0) / self.n_noise

    @property
    def mean(self) -> Array:
        """W'm, (k r,): zero, since every subspace is centered at the origin."""
        return np.zeros(self.frame.n_components)

    def hinted(self, hint: Array) -> Hinted:
        """Contract the fourth moment twice with one point of the wanted subspace, (k r,), or with several, (q, k r)."""
        hints = np.atleast_2d(hint)
        fourth = self.partitions.reduce(_hinted_sum, hints).total / self.partitions.n_rows
        return Hinted(self.correct(fourth, hints.T @ hints / len(hints)), self.mean, hints.T)

    def tensor(self, basis: Array) -> Array:
        """Contract the fourth moment with all pairs of columns of a basis, (k r, q) -> (q, q, q, q)."""
        q, n = basis.shape[1], self.partitions.n_rows
        fourth = self.partitions.reduce(_tensor_sum, basis).total / n
        corrected = np.empty_like(fourth)
        for a, b in np.ndindex(q, q):
            pair = (np.outer(basis[:, a], basis[:, b]) + np.outer(basis[:, b], basis[:, a])) / 2
            noise = self.correct(np.zeros((len(basis), len(basis))), pair)
            corrected[a, b] = fourth[a, b] + basis.T @ noise @ basis
        return np.asarray(corrected)

    def correct(self, fourth: Array, C: Array, second: Array | None = None) -> Array:
        """Remove from W'E[⟨x, v⟩²xx']W, (k r, k r), what the noise adds to it.

        Notes
        -----
        For one point v, B = E[⟨x,v⟩²xx'] - s2 (v'Av) I - s2 |v|²A - s4 (|v|²I + 2vv') - 2 s2 (Avv' + vv'A). It is
        linear in vv', so several points enter through the average H of their vv'. In the frame v = Wc. With C the
        average of cc', and with W'AW = I for the samples that the frame was made from: W'HW = C / DD',
        W'AHW = W'AW C / D, v'Av = tr(W'AW C) and |v|² = tr(C / D). The paper's theorem prints vv' once where the
        fourth moment of the noise has 2vv'. If the noise differs between subspaces, s2 A becomes Σ αᵢsᵢΣᵢ and s4
        becomes Σ αᵢsᵢ².
        """
        D, s2 = self.frame.values, self.noise_variance
        A = np.eye(len(D)) if second is None else second
        noise = self.noise or NoiseMoments(s2 * A, s2**2)
        inverse = np.diag(1 / D)
        cross = noise.second @ C @ inverse
        norm = np.trace(C @ inverse)
        matrix = fourth - np.trace(noise.second @ C) * inverse - norm * noise.second
        matrix -= noise.fourth * (norm * inverse + 2 * inverse @ C @ inverse)
        matrix -= 2 * (cross + cross.T)
        return np.asarray(matrix)

    def own_noise(self, directions: Array, weight: float) -> float:
        """Return the noise variance of one subspace, given its directions in the frame, (k r, r), and its weight.

        Notes
        -----
        Σ αᵢsᵢ W'Σᵢ W = Σ sᵢGᵢGᵢ'. An estimate that is not positive, or larger than all noise there is, is replaced by
        the average.
        """
        if self.noise is None:
            return self.noise_variance
        own = float(np.sum(directions * (self.noise.second @ directions)) / directions.shape[1])
        return own if 0 < own * weight <= self.noise_variance else self.noise_variance

    def information_p_value(self, hint: Array) -> float:
        """Return how often a direction outside all subspaces would have at least the coordinates of this one, (d,).

        Notes
        -----
        A direction v that is orthogonal to all subspaces has coordinates c in the frame by the errors of the frame
        alone: E[y⟨x, v⟩] over samples, with ⟨x, v⟩ noise of variance |v|²e.
        """
        c, inverse = self.frame.project_hint(hint), np.diag(1 / self.frame.values)
        noise = self.noise or NoiseMoments(self.noise_variance * np.eye(len(c)), self.noise_variance**2)
        variance = noise.second + noise.fourth * inverse + 1e-18 * np.diag(self.frame.values)  # samples without noise
        squares = c @ np.linalg.solve(variance, c) * self.partitions.n_rows / (hint @ hint)
        return float(chi2.sf(squares, len(c)))

    def noise_moments(self, sums: NoiseSums) -> NoiseMoments:
        """Return the moments of the noise from sums over samples.

        Notes
        -----
        The energy e outside the frame and the coordinates y in it are independent within a subspace, and e is the mean
        of m squares, so that E[e²] = s2² (1 + 2 / m) there.
        """
        m = self.n_noise
        fourth = float(sums.squared_energy / sums.n * m / (m + 2))
        return NoiseMoments(sums.squares / sums.n - fourth * np.diag(1 / self.frame.values), fourth)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments of all samples but one group, for each group in turn."""
        hints = np.atleast_2d(hint)
        replicates = [self._replicate(sums, hints) for sums in leave_one_out(self.partitions, _sums, hints)]
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def _replicate(self, sums: SubspaceSums, hints: Array) -> tuple[Array, Array, Array]:
        """Return W'AW, W'BW and W'm from the sums over some samples."""
        noise = None if self.noise is None else self.noise_moments(NoiseSums(sums.n, *sums[-2:]))
        partial = replace(self, noise_variance=sums.energy / sums.n, noise=noise)
        second = sums.squares / sums.n - np.diag(partial.noise_variance / self.frame.values)
        hinted = partial.correct(sums.fourth / sums.n, hints.T @ hints / len(hints), second)
        return second, hinted, self.mean

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all samples but one group, (d, B), up to vectors of the signal space."""
        n, n_groups = self.partitions.n_rows, self.partitions.n_groups
        sums = self.partitions.reduce(_sum_by_group, direction, n_groups, self.origin).total
        n_left = np.array([n - len(range(group, n, n_groups)) for group in range(n_groups)])
        return np.asarray((sums.sum(axis=1, keepdims=True) - sums) / n_left)

    def take(self, n_components: int) -> SubspaceFamily:
        """Return the same fit with the span of the first subspaces only."""
        n_columns = n_components * self.dim
        partitions = self.partitions.map(_take_coordinates, n_columns)
        noise = self.noise and self.noise._replace(second=self.noise.second[:n_columns, :n_columns])
        span = self.frame.basis if self.span is None else self.span
        return replace(self, frame=self.frame.take(n_columns), partitions=partitions, noise=noise, span=span)

    def thin(self, step: int) -> SubspaceFamily:
        """Return the same fit with every `step`-th sample only."""
        return replace(self, partitions=self.partitions.thin(step))


class NoiseSums(NamedTuple):
    """Sums over some samples."""

    n: int
    squares: Array  # Σ e yy', (k r, k r)
    squared_energy: float  # Σ e²


class SubspaceSums(NamedTuple):
    """Sums over some samples."""

    n: int
    squares: Array  # Σ yy', (k r, k r)
    fourth: Array  # Σ ⟨y, c⟩²yy', (k r, k r)
    energy: float  # Σ e
    noise_squares: Array  # Σ e yy', (k r, k r)
    squared_energy: float  # Σ e²


def noise_sums(partition: SubspacePartition, rows: slice = slice(None)) -> NoiseSums:
    """Sum over some samples of a partition."""
    Y, energy = partition.projected[rows], partition.energy[rows]
    return NoiseSums(len(Y), weighted_gram(Y, energy), float(energy @ energy))


def _squared_scores(Y: Array, hints: Array) -> Array:
    """Return ⟨y, c⟩² of each sample, averaged over the hints, (n,)."""
    scores = Y @ hints.T
    return np.asarray(np.einsum("ij,ij->i", scores, scores) / len(hints))


def _hinted_sum(partition: SubspacePartition, hints: Array) -> ArraySum:
    """Sum ⟨y, c⟩²yy'."""
    return ArraySum(weighted_gram(partition.projected, _squared_scores(partition.projected, hints)))


def _tensor_sum(partition: SubspacePartition, basis: Array) -> ArraySum:
    """Sum y⊗y⊗y⊗y in the coordinates of a basis, (q, q, q, q)."""
    Y = np.asarray(partition.projected @ basis, dtype=np.float64)
    q = Y.shape[1]
    pairs = [[weighted_gram(Y, Y[:, a] * Y[:, b]) for b in range(q)] for a in range(q)]
    return ArraySum(np.array(pairs).reshape(q, q, q, q))


def _sums(partition: SubspacePartition, rows: slice, hints: Array) -> SubspaceSums:
    Y = partition.projected[rows].astype(np.float64, copy=False)
    fourth = (Y * _squared_scores(Y, hints)[:, None]).T @ Y
    return SubspaceSums(len(Y), Y.T @ Y, fourth, partition.energy[rows].sum(), *noise_sums(partition, rows)[1:])


def _sum_by_group(partition: SubspacePartition, direction: Array, n_groups: int, origin: Array | None) -> ArraySum:
    scores = spread_over_groups(partition, partition.projected @ direction, n_groups)
    return ArraySum(sums_from_origin(partition.samples, scores, origin))


def sums_from_origin(X: Samples, weights: Array, origin: Array | None) -> Array:
    """Return Σ (x - origin) w', (d, q)."""
    sums = weighted_sums(X, weights)
    return sums.rows if origin is None else centered_sums(origin, sums)


def _take_coordinates(partition: SubspacePartition, n_columns: int) -> SubspacePartition:
    return replace(partition, projected=partition.projected[:, :n_columns])
