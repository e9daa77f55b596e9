"""Standard errors of subspaces by the jackknife: of those that moments found, and of refined ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from mixsearch._typing import Array, Samples
from mixsearch.core.jackknife import NewtonSums, jackknife, whitened
from mixsearch.core.moments import Replicates
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.subspace.em import SubspaceMixture, responsibilities, span_coordinates
from mixsearch.subspace.extraction import weight_replicates
from mixsearch.subspace.family import SubspaceFamily
from mixsearch.subspace.moments import SubspacePartition, sums_from_origin
from mixsearch.subspace.refinement import RefinedSubspace

# One pass over the samples sums at most this many entries of cross moments, 32 MB, or one group.
MAX_ENTRIES = 2**22
# Up to this many parameters, computing their information takes no longer than the search.
MAX_PARAMETERS = 1000
# Subspaces that share at least this fraction of their samples with the one found make its parameters uncertain.
MIN_OVERLAP = 1e-3


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


def subspace_errors(
    family: SubspaceFamily, directions: Array, basis: Array, replicates: Replicates, *, is_fourth: bool
) -> SubspaceErrors:
    """Return the standard errors of a subspace that moments found.

    Notes
    -----
    Inside the span of all subspaces every replicate is solved exactly: its subspace is AWG, with the top solutions G of
    R g = λ A g. Outside it is P⊥AWG. P⊥A itself is of the order of the difference, so the G of all samples suffices.
    """
    scale = np.sqrt(family.frame.values)[:, None]
    images = scale * _replicate_images(replicates, family.dim)
    # The rotation of the G of all samples that is nearest to the image of each replicate.
    fits = np.linalg.lstsq(scale * directions, np.hstack(list(images)), rcond=None)[0]
    rotations = np.split(fits, len(images), axis=1)
    means = _cross_means_without_group(family.partitions, family.origin, family.dim, _scores_along, directions)
    moves = (
        _basis_move(basis, family.frame.basis @ image + family.frame.residual(mean) @ rotation)
        for image, mean, rotation in zip(images, means, rotations, strict=True)
    )
    if family.n_components == 1:
        weights = np.ones(len(images))
    elif is_fourth:
        weights = weight_replicates(replicates, directions)
    else:
        traces = np.einsum("bii,i->b", replicates.second, family.frame.values)
        weights = np.sum(images**2, axis=(1, 2)) / traces
    return SubspaceErrors(jackknife_from_moves(moves), float(jackknife(weights)))


def _replicate_images(replicates: Replicates, dim: int) -> Array:
    """Return AG of every replicate in the frame of all samples, (B, k r, r)."""
    matrices, _, root = whitened(replicates)
    _, U = np.linalg.eigh((matrices + matrices.transpose(0, 2, 1)) / 2)
    return np.linalg.solve(root, U[:, :, -dim:])


def _basis_move(basis: Array, image: Array) -> Array:
    """Return M(U'M)⁻¹ - U, (d, r): how far the span of an image lies from a basis.

    It equals the difference after the best rotation up to second order.
    """
    return np.asarray(image @ np.linalg.inv(basis.T @ image) - basis)


def _scores_along(partition: SubspacePartition, directions: Array) -> Array:
    return np.asarray(partition.projected @ directions)


def _cross_means_without_group(
    partitions: Partitions[Any], origin: Array | None, dim: int, compute_scores: Callable[..., Array], *shared: Any
) -> Iterator[Array]:
    """Yield the mean of x t', (d, r), over all samples but one group, for each group in turn."""
    total = partitions.reduce(_cross_sum, origin, compute_scores, shared).total
    n, n_groups = partitions.n_rows, partitions.n_groups
    for group, own in enumerate(cross_sums_by_group(partitions, origin, dim, compute_scores, *shared)):
        yield (total - own) / (n - len(range(group, n, n_groups)))


def cross_sums_by_group(
    partitions: Partitions[Any], origin: Array | None, dim: int, compute_scores: Callable[..., Array], *shared: Any
) -> Iterator[Array]:
    """Yield Σ x t', (d, r), over the samples of each group in turn: as many groups per pass as memory allows."""
    n_groups, n_at_once = partitions.n_groups, max(MAX_ENTRIES // (partitions.n_features * dim), 1)
    for start in range(0, n_groups, n_at_once):
        groups = range(start, min(start + n_at_once, n_groups))
        yield from partitions.reduce(_cross_sums, groups, n_groups, origin, compute_scores, shared).total


def _cross_sum(
    partition: Any, origin: Array | None, compute_scores: Callable[..., Array], shared: tuple[Any, ...]
) -> ArraySum:
    return ArraySum(sums_from_origin(partition.samples, compute_scores(partition, *shared), origin))


def _cross_sums(
    partition: Any,
    groups: range,
    n_groups: int,
    origin: Array | None,
    compute_scores: Callable[..., Array],
    shared: tuple[Any, ...],
) -> ArraySum:
    scores, rows = compute_scores(partition, *shared), [partition.rows_at(n_groups, group) for group in groups]
    return ArraySum(np.array([sums_from_origin(partition.samples[own], scores[own], origin) for own in rows]))


def jackknife_from_moves(moves: Iterable[Array]) -> Array:
    """Return the standard error from the move of each replicate. Only sums are kept, not the moves."""
    n_groups, total, squares = 0, np.zeros(1), np.zeros(1)
    for move in moves:
        n_groups, total, squares = n_groups + 1, total + move, squares + move**2
    variance = np.maximum(squares / n_groups - (total / n_groups) ** 2, 0)
    return np.asarray(np.sqrt((n_groups - 1) * variance))


def refined_subspace_errors(family: SubspaceFamily, refined: RefinedSubspace) -> SubspaceErrors:
    """Return the standard errors of a refined subspace.

    Notes
    -----
    Leaving out a group moves the estimate inside the span of all subspaces by one Newton step, which accounts for
    uncertain responsibilities. Outside of it samples are noise without information about them, so the step there is a
    regression of the residuals on the expected coordinates of each sample in every subspace.
    """
    mixture = refined.mixture
    partitions, grams = family.partitions.map_reduce(_assign_responsibilities, mixture, family.frame.values)
    overlapping = _overlapping_subspaces(mixture, grams.overlaps)
    parameters = [SubspaceParameters.at(mixture, index) for index in overlapping]
    steps = _newton_replicates(partitions, mixture, parameters)
    levels = steps[:, -len(mixture.weights) :]
    weights = mixture.weights[0] * (levels[:, 0] - levels @ mixture.weights)
    moves = _basis_moves(family, refined, parameters[0].basis_moves(steps), partitions, grams.coordinates)
    return SubspaceErrors(jackknife_from_moves(moves), float(jackknife(weights)))


@dataclass(frozen=True)
class ResponsibilityPartition(Partition):
    """Samples with their coordinates in the span of all subspaces and their responsibilities."""

    samples: Samples  # (n, d)
    coordinates: Array  # z, (n, p)
    energy: Array  # mean squared coordinate outside the span, (n,)
    resp: Array  # pᵢ, (n, k)


class GramMatrices(NamedTuple):
    """Sums over samples that show how far the subspaces overlap."""

    overlaps: Array  # Σ pᵢp₁, (k,): first column of the Gram matrix of the responsibilities
    coordinates: Array  # Σ ss', (k r, k r), of the expected coordinates in every subspace


def _assign_responsibilities(
    partition: SubspacePartition, mixture: SubspaceMixture, values: Array
) -> tuple[ResponsibilityPartition, GramMatrices]:
    Z = span_coordinates(partition.projected, values)
    resp = responsibilities(mixture, Z, partition.energy)
    expected = _expected_coordinates(mixture, Z, resp)
    grams = GramMatrices(resp.T @ resp[:, 0], expected.T @ expected)
    return ResponsibilityPartition(partition.first, partition.samples, Z, partition.energy, resp), grams


def _overlapping_subspaces(mixture: SubspaceMixture, overlaps: Array) -> list[int]:
    """Return the index of the subspace found, and of those that share its samples, by overlap."""
    shared = overlaps / max(float(overlaps.sum()), np.finfo(float).tiny)
    _, p, r = mixture.bases.shape
    others = [int(i) for i in np.argsort(-shared[1:], kind="stable") + 1 if shared[i] > MIN_OVERLAP]
    return [0, *others][: max(MAX_PARAMETERS // (p * r), 1)]


class SubspaceParameters(NamedTuple):
    """Rotations, log variances and log noise of one subspace, in units in which its members have variance 1.

    A rotation moves a column of the basis along a direction of the orthogonal complement.
    """

    component: int  # index in the mixture
    basis: Array  # U / √(l + s2), (p, r)
    complement: Array  # of the basis, divided by √s2, (p, p - r)
    units: Array  # length of a rotation of each column of the basis, (r,)
    noise_variance: float  # s2
    n_outside: int  # number of directions outside the span

    @classmethod
    def at(cls, mixture: SubspaceMixture, index: int) -> SubspaceParameters:
        """Return the parameters of one subspace of a mixture."""
        r, s2 = mixture.dim_of(index), float(mixture.noise_variances[index])
        basis, variances = mixture.bases[index][:, :r], mixture.variances[index][:r]
        total = np.sqrt(variances + s2)
        units = np.sqrt(s2) * total / np.maximum(variances, np.finfo(np.float64).tiny)
        complement = scipy.linalg.null_space(basis.T) / np.sqrt(s2)
        return cls(index, basis / total, complement, units, s2, mixture.n_outside)

    def scores(self, Z: Array, energy: Array, resp: Array) -> list[Array]:
        """Return derivatives of log-likelihoods of samples by rotations, (n, (p - r) r), and log variances, (n, r + 1).

        The last one is by the log noise.
        """
        own, inside = resp[:, None], Z @ self.basis
        residual = Z @ self.complement
        rotations = residual[:, :, None] * (own * inside)[:, None, :]
        n_noise = residual.shape[1] + self.n_outside
        excess = np.sum(residual**2, axis=1) + self.n_outside * energy / self.noise_variance - n_noise
        return [
            rotations.reshape(len(Z), residual.shape[1] * inside.shape[1]),
            0.5 * own * (inside**2 - 1),
            0.5 * own * excess[:, None] / np.sqrt(n_noise),
        ]

    def basis_moves(self, steps: Array) -> Array:
        """Return the moves of the basis, (B, p, r), by steps, (B, q), whose first entries are its rotations."""
        p, r = self.basis.shape
        rotations = steps[:, : (p - r) * r].reshape(len(steps), p - r, r)
        complement = self.complement / np.linalg.norm(self.complement, axis=0) if p > r else self.complement
        return np.asarray(complement @ rotations * self.units)


def _newton_replicates(
    partitions: Partitions[ResponsibilityPartition], mixture: SubspaceMixture, parameters: list[SubspaceParameters]
) -> Array:
    """Return how leaving out each group moves a maximum likelihood estimate, (B, q).

    Notes
    -----
    Without a group the scores no longer sum to zero. One Newton step, with the sum of their outer products over the
    remaining samples as the information, makes them zero again.
    """
    sums = partitions.reduce(_newton_sums, mixture, parameters, partitions.n_groups)
    remaining = 1 - 1 / partitions.n_groups
    return np.asarray(-sums.by_group @ np.linalg.pinv(sums.information * remaining, hermitian=True))


def _newton_sums(
    partition: ResponsibilityPartition, mixture: SubspaceMixture, parameters: list[SubspaceParameters], n_groups: int
) -> NewtonSums:
    """Sum the scores of one group at a time: there may be more parameters than features."""
    sums: list[Array] = []
    information = np.zeros((1, 1))
    for group in range(n_groups):
        rows = partition.rows_at(n_groups, group)
        columns = partition.coordinates[rows], partition.energy[rows], partition.resp[rows]
        scores = _scores(mixture, parameters, *columns)
        sums.append(scores.sum(axis=0))
        information = information + scores.T @ scores
    return NewtonSums(information, np.array(sums))


def _scores(
    mixture: SubspaceMixture, parameters: list[SubspaceParameters], Z: Array, energy: Array, resp: Array
) -> Array:
    """Return derivatives of each sample's log-likelihood by all parameters, (n, q), log weights last."""
    own = [columns for each in parameters for columns in each.scores(Z, energy, resp[:, each.component])]
    return np.hstack([*own, resp - mixture.weights])


def _basis_moves(
    family: SubspaceFamily,
    refined: RefinedSubspace,
    moves: Array,
    partitions: Partitions[ResponsibilityPartition],
    gram: Array,
) -> Iterator[Array]:
    """Yield the move of the basis without each group, (d, r)."""
    span, r = family.frame.basis, refined.basis.shape[1]
    rotation, _ = scipy.linalg.polar(refined.mixture.bases[0][:, :r].T @ (span.T @ refined.basis))
    remaining = 1 - 1 / len(moves)
    inverse_gram = np.linalg.pinv(gram * remaining, hermitian=True)[:, :r] @ rotation
    residuals = cross_sums_by_group(partitions, family.origin, r, _regression_weights, refined.mixture, inverse_gram)
    for move, residual in zip(moves, residuals, strict=True):
        yield span @ (move @ rotation) - family.frame.residual(residual)


def _regression_weights(partition: ResponsibilityPartition, mixture: SubspaceMixture, inverse_gram: Array) -> Array:
    """Return the weights of each sample in a regression on the expected coordinates, (n, r)."""
    return np.asarray(_expected_coordinates(mixture, partition.coordinates, partition.resp) @ inverse_gram)


def _expected_coordinates(mixture: SubspaceMixture, Z: Array, resp: Array) -> Array:
    """Return the expected coordinates s of each sample in every subspace, weighted by responsibilities, (n, k r)."""
    k, p, r = mixture.bases.shape
    gains = mixture.variances / (mixture.variances + mixture.noise_variances[:, None])
    inside = (Z @ mixture.bases.transpose(1, 0, 2).reshape(p, k * r)).reshape(len(Z), k, r)
    return np.asarray((resp[:, :, None] * gains * inside).reshape(len(Z), k * r))
