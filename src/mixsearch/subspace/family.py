"""The fitted moments of a mixture of subspaces: the family that a search works with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.stats import chi2

from mixsearch._typing import Array, Matrix, Samples
from mixsearch.core.eigen import OVERSAMPLING, top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.noise_edge import SignalCheck, check_spectrum, noise_rank
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions, SamplePartition, leave_one_out
from mixsearch.subspace.moments import (
    NoiseMoments,
    NoiseSums,
    SubspacePartition,
    SubspaceSums,
    all_sums,
    group_sums,
    hinted_sum,
    noise_sums,
    take_coordinates,
    tensor_sum,
)


@dataclass(frozen=True, slots=True)
class SubspaceFamily:
    """The fitted moments of a mixture of subspaces. The frame has k r columns.

    Attributes
    ----------
    frame : Frame
        The span of all subspaces.
    noise_variance : float
        s2.
    dim : int
        r, the dimension of each subspace.
    partitions : Partitions
        The samples, with their coordinates in the frame.
    n_noise : int
        The number of directions outside the frame in which there is noise.
    noise : NoiseMoments, optional
        Moments of noise that differs between subspaces; None if it is the same in all, as in the paper.
    origin : array of shape (d,), optional
        The point that all subspaces contain; None is zero.
    check : SignalCheck, optional
        Which eigenvalues exceed the noise; None for the paper's moments.
    span : array of shape (d, p), optional
        Basis of all directions of the fit, if the frame has fewer.
    has_own_dims : bool
        Whether refined subspaces have different dimensions, up to r.
    """

    frame: Frame
    noise_variance: float
    dim: int
    partitions: Partitions[SubspacePartition]
    n_noise: int = 1
    noise: NoiseMoments | None = None
    origin: Array | None = None
    check: SignalCheck | None = None
    span: Array | None = None
    has_own_dims: bool = False
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
        """Compute the coordinates of samples in the frame, and their energy outside."""
        inside = project(X, self.frame.basis if self.span is None else self.span, self.center)
        residual = squared_distances(X, self.center) - np.einsum("ij,ij->i", inside, inside)
        coordinates = inside[..., : self.frame.n_components] / np.sqrt(self.frame.values)
        return coordinates, np.maximum(residual, 0) / self.n_noise

    @property
    def mean(self) -> Array:
        """W'm, (k r,): zero, since every subspace is centered at the origin."""
        return np.zeros(self.frame.n_components)

    def hinted(self, hint: Array) -> Hinted:
        """Contract the fourth moment twice with one or several points of a subspace."""
        hints = np.atleast_2d(hint)
        fourth = self.partitions.reduce(hinted_sum, hints).total / self.partitions.n_rows
        return Hinted(self.correct(fourth, hints.T @ hints / len(hints)), self.mean, hints.T)

    def tensor(self, basis: Array) -> Array:
        """Contract the fourth moment with all pairs of columns of a basis."""
        q, n = basis.shape[1], self.partitions.n_rows
        fourth = self.partitions.reduce(tensor_sum, basis).total / n
        corrected = np.empty_like(fourth)
        for a, b in np.ndindex(q, q):
            pair = (np.outer(basis[:, a], basis[:, b]) + np.outer(basis[:, b], basis[:, a])) / 2
            noise = self.correct(np.zeros((len(basis), len(basis))), pair)
            corrected[a, b] = fourth[a, b] + basis.T @ noise @ basis
        return np.asarray(corrected)

    def correct(self, fourth: Array, C: Array, second: Array | None = None) -> Array:
        """Subtract the contribution of the noise from a contracted fourth moment.

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
        """Estimate the noise variance of one subspace from its directions in the frame, (k r, r).

        Notes
        -----
        Σ αᵢsᵢ W'Σᵢ W = Σ sᵢGᵢGᵢ'. An estimate that is not positive, or larger than the total noise, is replaced by the
        average.
        """
        if self.noise is None:
            return self.noise_variance
        own = float(np.sum(directions * (self.noise.second @ directions)) / directions.shape[1])
        return own if 0 < own * weight <= self.noise_variance else self.noise_variance

    def information_p_value(self, hint: Array) -> float:
        """Test whether a direction is informative.

        Notes
        -----
        If v is orthogonal to all subspaces, its coordinates c in the frame come from the errors of the frame alone:
        E[y⟨x, v⟩] over samples, with ⟨x, v⟩ noise of variance |v|²e.
        """
        c, inverse = self.frame.project_hint(hint), np.diag(1 / self.frame.values)
        noise = self.noise or NoiseMoments(self.noise_variance * np.eye(len(c)), self.noise_variance**2)
        variance = noise.second + noise.fourth * inverse + 1e-18 * np.diag(self.frame.values)  # samples without noise
        squares = c @ np.linalg.solve(variance, c) * self.partitions.n_rows / (hint @ hint)
        return float(chi2.sf(squares, len(c)))

    def noise_moments(self, sums: NoiseSums) -> NoiseMoments:
        """Estimate the moments of the noise.

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
        replicates = [self._replicate(sums, hints) for sums in leave_one_out(self.partitions, all_sums, hints)]
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def _replicate(self, sums: SubspaceSums, hints: Array) -> tuple[Array, Array, Array]:
        """Return W'AW, W'BW and W'm from the sums over some samples."""
        noise = None if self.noise is None else self.noise_moments(NoiseSums(sums.n, *sums[-2:]))
        partial = replace(self, noise_variance=sums.energy / sums.n, noise=noise)
        second = sums.squares / sums.n - np.diag(partial.noise_variance / self.frame.values)
        hinted = partial.correct(sums.fourth / sums.n, hints.T @ hints / len(hints), second)
        return second, hinted, self.mean

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all samples but one group, up to vectors of the signal space."""
        n, n_groups = self.partitions.n_rows, self.partitions.n_groups
        sums = self.partitions.reduce(group_sums, direction, n_groups, self.origin).total
        n_left = np.array([n - len(range(group, n, n_groups)) for group in range(n_groups)])
        return np.asarray((sums.sum(axis=1, keepdims=True) - sums) / n_left)

    def take(self, n_components: int) -> SubspaceFamily:
        """Return the same fit with the span of the first subspaces only."""
        n_columns = n_components * self.dim
        partitions = self.partitions.map(take_coordinates, n_columns)
        noise = self.noise and self.noise._replace(second=self.noise.second[:n_columns, :n_columns])
        span = self.frame.basis if self.span is None else self.span
        return replace(self, frame=self.frame.take(n_columns), partitions=partitions, noise=noise, span=span)

    def thin(self, step: int) -> SubspaceFamily:
        """Return the same fit with every `step`-th sample only."""
        return replace(self, partitions=self.partitions.thin(step))


def fit_subspace(
    partitions: Partitions[SamplePartition],
    n_components: int,
    *,
    dim: int,
    paper: bool,
    seed: int,
    origin: Array | None = None,
) -> SubspaceFamily:
    """Find the span of all subspaces together and project the samples onto it."""
    center = np.zeros(partitions.n_features) if origin is None else origin
    with blas_threads_for(partitions):
        moment = second_moment(partitions, center=origin)
        frame = _frame_along_last if paper else _frame_all
        framed = frame(partitions, moment, center, n_components * dim, seed)
    family = SubspaceFamily(**framed._asdict(), dim=dim, origin=origin)
    return family if paper else replace(family, noise=family.noise_moments(family.partitions.reduce(noise_sums)))


class Framed(NamedTuple):
    """The samples in their frame, and their noise."""

    frame: Frame
    noise_variance: float
    partitions: Partitions[SubspacePartition]
    n_noise: int
    check: SignalCheck | None = None


def _frame_all(
    partitions: Partitions[SamplePartition], moment: Matrix, center: Array, n_columns: int, seed: int
) -> Framed:
    """Frame the second moment less the average of all noise eigenvalues."""
    n, d, dtype, _ = partitions.layout
    found = top_eigenpairs(moment, min(n_columns + OVERSAMPLING, d), n_converged=n_columns, seed=seed)
    values, vectors = found.values[:n_columns], found.vectors[:, :n_columns]
    rank = noise_rank(moment, partitions, center, n_columns, seed)
    n_noise = max(rank.noisy - n_columns, 1)
    inside, energy = partitions.map_reduce(_project_residual, vectors, center, n_noise)
    level = float(energy.total / n)
    frame = frame_from_eigenpairs(values, vectors, level, precision=dtype)
    check = check_spectrum(inside, found.values, rank, n_columns, level * n_noise + float(values.sum()))
    return Framed(frame, level, inside.map(_whiten, frame.values).persist(), n_noise, check)


def _frame_along_last(
    partitions: Partitions[SamplePartition], moment: Matrix, center: Array, n_columns: int, seed: int
) -> Framed:
    """Frame the second moment less the largest noise eigenvalue, as in the paper."""
    values, vectors, _ = top_eigenpairs(moment, n_columns + 1, seed=seed)
    inside, energy = partitions.map_reduce(_project_along_last, vectors, center)
    level = float(energy.total / partitions.n_rows)
    frame = frame_from_eigenpairs(values[:-1], vectors[:, :-1], level, precision=partitions.layout.dtype)
    return Framed(frame, level, inside.map(_whiten, frame.values).persist(), partitions.n_features - n_columns)


def _project_residual(
    partition: SamplePartition, vectors: Array, center: Array, n_noise: int
) -> tuple[SubspacePartition, ArraySum]:
    """Compute coordinates along the eigenvectors, not whitened yet, and the energy of the residual per direction."""
    inside = project(partition.samples, vectors, center).astype(np.float64, copy=False)
    residual = squared_distances(partition.samples, center) - np.einsum("ij,ij->i", inside, inside)
    energy = np.maximum(residual, 0) / n_noise
    return SubspacePartition(partition.first, partition.samples, inside, energy), ArraySum(energy.sum())


def _project_along_last(
    partition: SamplePartition, vectors: Array, center: Array
) -> tuple[SubspacePartition, ArraySum]:
    """Compute coordinates along all eigenvectors but the last, and the energy along that one."""
    along = project(partition.samples, vectors, center).astype(np.float64, copy=False)
    energy = along[:, -1] ** 2
    return SubspacePartition(partition.first, partition.samples, along[:, :-1], energy), ArraySum(energy.sum())


def _whiten(partition: SubspacePartition, values: Array) -> SubspacePartition:
    whitened = (partition.projected / np.sqrt(values)).astype(partition.samples.dtype, copy=False)
    return replace(partition, projected=whitened)
