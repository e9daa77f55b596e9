"""Subspaces refined by EM, and members by a walk on samples that express each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import OVERSAMPLING, top_eigenpairs
from mixsearch.core.em import EMResult
from mixsearch.core.example_fit import examples_disagree
from mixsearch.core.noise_edge import SignalCheck, check_signal
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances
from mixsearch.core.walk import Members, Visits, find_members, start_at
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.errors import DoubtfulExamplesWarning
from mixsearch.subspace.em import SubspaceMixture, responsibilities, span_coordinates
from mixsearch.subspace.expression import SelfExpression
from mixsearch.subspace.family import SubspaceFamily
from mixsearch.subspace.moments import SubspacePartition

# An example is doubted if walks from the others visit more than this share of the samples sooner.
MAX_RANK = 0.5


class MemberSpan(NamedTuple):
    """The subspace of members, in all dimensions."""

    basis: Array  # (d, r), orthonormal columns
    variances: Array  # (r,), of the coordinates without the noise, falling
    noise_variance: float
    weight: float
    check: SignalCheck  # which directions stand out among the members: those of the subspace only, if the mixture suits


@dataclass(frozen=True, slots=True)
class RefinedSubspace:
    """A subspace after EM, with the mixture that it is part of."""

    basis: Array  # (d, r), orthonormal columns
    variances: Array  # (r,), of the coordinates without the noise, falling
    noise_variance: float
    weight: float
    objectives: tuple[float, ...]  # the log-likelihood at the start and after each accepted iteration
    mixture: SubspaceMixture  # the subspace itself first
    check: SignalCheck  # which directions stand out among its members


def refine_subspace(family: SubspaceFamily, fitted: EMResult[SubspaceMixture], index: int) -> RefinedSubspace | None:
    """Refine one subspace in all dimensions; return None if EM left it too few samples.

    Notes
    -----
    EM runs in the span of all subspaces. The span itself has the error of its eigenvectors, so the last iteration is
    done in all d dimensions. Outside the span the energy of a sample is all that matters for its membership, so the
    responsibilities are those of the same mixture in d dimensions, and the top eigenvectors of the weighted second
    moment increase its likelihood.
    """
    mixture = fitted.state.with_first(index)
    partitions, sums = family.partitions.map_reduce(_assign_first, mixture, family.frame.values, family.center)
    if sums.size < family.dim:
        return None
    span = _span_members(family, partitions, sums, mixture.dim_of(0))
    return RefinedSubspace(
        **{**span._asdict(), "weight": float(mixture.weights[0])}, objectives=fitted.objectives, mixture=mixture
    )


def span_members(family: SubspaceFamily, membership: Callable[[Samples], Array]) -> MemberSpan | None:
    """Return the subspace of members that are not those of a mixture; None if there are too few."""
    partitions, sums = family.partitions.map_reduce(_assign_members, membership, family.center)
    return None if sums.size < family.dim else _span_members(family, partitions, sums, family.dim)


def _span_members(family: SubspaceFamily, partitions: Partitions[OwnPartition], sums: OwnSums, dim: int) -> MemberSpan:
    """Return the subspace of the top eigenvectors of the second moment of members."""
    n_values, n_dims = min(dim + OVERSAMPLING, partitions.n_features), family.frame.n_components + family.n_noise
    with blas_threads_for(partitions):
        moment = second_moment(partitions, _row_weights, sums.size, center=family.origin)
        found = top_eigenpairs(moment, n_values, n_converged=dim)
    values, trace = found.values[:dim], float(sums.energy / sums.size)
    noise = max(trace - float(values.sum()), 0.0) / (n_dims - dim)
    return MemberSpan(
        basis=found.vectors[:, :dim],
        variances=np.maximum(values - noise, 0),
        noise_variance=noise,
        weight=sums.size / partitions.n_rows,
        check=check_signal(found.values, trace, np.ones(1), max(int(sums.size), 1), n_dims),
    )


@dataclass(frozen=True)
class OwnPartition(Partition):
    """Samples with their responsibilities for one subspace."""

    samples: Samples  # (n, d)
    resp: Array  # p, (n,)


class OwnSums(NamedTuple):
    """Sums over samples for one subspace."""

    size: float  # Σ p
    energy: float  # Σ p |x - center|²


def _assign_first(
    partition: SubspacePartition, mixture: SubspaceMixture, values: Array, center: Array
) -> tuple[OwnPartition, OwnSums]:
    """Compute the responsibilities of the first subspace."""
    resp = responsibilities(mixture, span_coordinates(partition.projected, values), partition.energy)[:, 0]
    return _weigh(partition, resp, center)


def _assign_members(
    partition: SubspacePartition, membership: Callable[[Samples], Array], center: Array
) -> tuple[OwnPartition, OwnSums]:
    return _weigh(partition, membership(partition.samples), center)


def _weigh(partition: SubspacePartition, resp: Array, center: Array) -> tuple[OwnPartition, OwnSums]:
    squares = squared_distances(partition.samples, center)
    sums = OwnSums(float(resp.sum()), float(resp @ squares))
    return OwnPartition(partition.first, partition.samples, resp), sums


def _row_weights(partition: OwnPartition, size: float) -> Array:
    return np.asarray(partition.resp / size)


@dataclass(frozen=True)
class WalkedMembers:
    """How likely each node is a member, by walks from the examples."""

    expression: SelfExpression
    members: Members
    visits: Visits
    nodes: Array  # the node of each example, (q,)
    span: MemberSpan | None = None  # the subspace of the members; None if there are too few

    @classmethod
    def from_examples(cls, expression: SelfExpression, examples: Samples, expected: float) -> WalkedMembers:
        """Walk from examples, (q, d), of which so large a share of the samples is expected to be alike."""
        nodes = np.asarray(expression.express(examples).toarray().argmax(axis=1))
        walk, m = expression.walk, len(expression.units)
        visits = Visits.of(walk, start_at(nodes, m), start_at(nodes[:0], m))
        return cls(expression, find_members(walk, visits, nodes, np.ones(m), max(expected * m, 1.0)), visits, nodes)

    def with_span(self, family: SubspaceFamily) -> WalkedMembers:
        """Return the same with the subspace of its members among all samples."""
        return replace(self, span=span_members(family, self.membership))

    def membership(self, X: Samples) -> Array:
        """Return the probability that samples are members, (n,)."""
        return np.asarray(self.expression.express(X) @ self.members.membership)

    @cached_property
    def confidence(self) -> float:
        """The mean probability of the nodes called members, other than the examples, to be members."""
        membership = np.delete(self.members.membership, self.nodes)
        n_called = max(round(self.members.n) - len(np.unique(self.nodes)), 1)
        return float(np.sort(membership)[::-1][:n_called].mean()) if len(membership) else 1.0

    def doubts(self) -> list[DoubtfulExamplesWarning]:
        """Return the doubt that some examples are unlike the others."""
        tested = self.nodes[self.visits.tested]
        if len(tested) < 2:
            return []
        left_out = self.visits.left_out()
        own = left_out[tested, np.arange(len(tested))]
        ranks = np.sum(left_out > own, axis=0) + 0.5 * np.sum(left_out == own, axis=0)
        unlike = self.visits.tested[ranks > MAX_RANK * len(left_out)]
        return [examples_disagree(unlike, len(self.nodes))] if len(unlike) else []
