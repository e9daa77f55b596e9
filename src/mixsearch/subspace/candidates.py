"""All subspaces of a mixture as one hint orders them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.em import MAX_ITER, EMOptions, EMResult
from mixsearch.core.example_fit import ExampleFit
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.subspace.em import SubspaceMixture, fit_mixture, min_noise
from mixsearch.subspace.extraction import (
    MomentWeight,
    extract_subspace,
    moment_weight,
    remaining_subspaces,
    settle_subspace,
    trace_share,
)
from mixsearch.subspace.family import SubspaceFamily
from mixsearch.subspace.posterior import (
    Gaussian,
    fit_examples,
    match_subspace,
    posterior_of_examples,
    simulate_projections,
    squared_projections,
)
from mixsearch.subspace.refinement import RefinedSubspace, refine_subspace
from mixsearch.subspace.shared import choose_fit, find_own_dims

# How the mixture is fitted for the confidence of an estimate that was not refined.
DEFAULT_OPTIONS = EMOptions(MAX_ITER, 0.01)
# A subspace with this many times the score of all others together is the one that the hint prefers.
CLEAR_LEAD = 3.0
# Samples to which all subspaces are fitted to look at examples more closely, and per direction of their span.
MIN_SAMPLES, MIN_PER_DIRECTION = 2000, 100


class Outside(NamedTuple):
    """The part of a hint outside the span of all subspaces."""

    energies: Array  # mean squared coordinate of each of its points there, (q,)
    direction: Array | None = None  # P⊥v, (d,), of a direction; None for samples, which contain noise

    @property
    def are_samples(self) -> bool:
        """Whether the hint consists of samples."""
        return self.direction is None


@dataclass(frozen=True, eq=False)
class SubspaceCandidates:
    """All subspaces as one hint orders them. Those not found yet are computed on first use."""

    family: SubspaceFamily
    hinted: Hinted  # the moment under the hint of the user
    found: tuple[Array, ...]  # directions, (k r, r) each, of the preferred one and of others, if they are known
    outside: Outside  # what of the hint is not in the span
    is_settled: bool = True  # whether the moment was contracted with what was found

    @classmethod
    def from_hint(cls, family: SubspaceFamily, hinted: Hinted, outside: Outside) -> SubspaceCandidates:
        """Find the subspace that contains most of the hint.

        Notes
        -----
        The moment under the hint yields a direction; the subspace is that of the direction, not of the hint. If it does
        not account for most of the hinted moment, all subspaces are found and compared.
        """
        found: list[Array] = []
        for directions in remaining_subspaces(family.hinted, hinted, family.dim, []):
            found.append(directions)
            if _is_clear(hinted, directions):
                break
        candidates = cls(family, hinted, tuple(found), outside)
        best = int(np.argmax([candidates.projection(each) for each in found]))
        if best == 0:
            return candidates
        # Found orthogonally to others, with their errors.
        alone = settle_subspace(family.hinted, found[best][:, 0], family.dim)
        return cls(family, hinted, (alone,), outside)

    @classmethod
    def from_printed_algorithm(cls, family: SubspaceFamily, hinted: Hinted, outside: Outside) -> SubspaceCandidates:
        """Find the subspace by Algorithm 3 of the paper, which contracts the moment with the hint alone."""
        directions = extract_subspace(hinted, family.dim).directions
        return cls(family, hinted, (directions,), outside, is_settled=False)

    @property
    def first(self) -> Array:
        """The directions of the preferred subspace, (k r, r)."""
        return self.found[0]

    @cached_property
    def directions(self) -> list[Array]:
        """The directions of all subspaces, (k r, r) each: the preferred one, then the others by falling projection."""
        rest = remaining_subspaces(self.family.hinted, self.hinted, self.family.dim, list(self.found))
        others = [*self.found[1:], *rest]
        return [self.first, *sorted(others, key=self.projection, reverse=True)]

    @cached_property
    def projections(self) -> Array:
        """How much of the hint each subspace contains, (k,), in the order of `directions`."""
        return np.array([self.projection(each) for each in self.directions])

    def projection(self, directions: Array) -> float:
        """Return |U'v|² of a subspace, averaged over the points of the hint."""
        basis, _ = np.linalg.qr(np.sqrt(self.family.frame.values)[:, None] * directions)
        return float(np.sum((self.points @ basis) ** 2) / len(self.points))

    def separation(self, rank: int) -> float:
        """Return the ratio of the projections onto one subspace and onto the best other one."""
        others = np.delete(self.projections, rank)
        best = float(others.max(initial=0.0))
        return float(self.projections[rank]) / best if best > 0 else float("inf")

    @property
    def is_clear(self) -> bool:
        """Whether the preferred subspace accounts for most of the hinted moment."""
        return _is_clear(self.hinted, self.first)

    def replicates(self, directions: Array) -> Replicates:
        """Return the moments that a subspace was extracted from, without each group of samples."""
        return self.family.leave_one_out(directions.T if self.is_settled else self.hinted.hint.T)

    def share(self, directions: Array) -> float:
        """Return the fraction of the hint that a subspace accounts for, |G'c|² / |c|²."""
        hint = self.hinted.hint
        return float(np.sum((directions.T @ hint) ** 2) / np.sum(hint**2))

    def refine(self, options: EMOptions, shared: EMResult[SubspaceMixture] | None = None) -> RefinedSubspace | None:
        """Refine the subspace that the hint means by EM; return None if EM leaves it too few samples.

        EM from moments under the hint may end in a worse maximum than the mixture that all searches share.
        """
        hinted = find_own_dims(self.family, fit_mixture(self.family, self.directions, options), options)
        fitted = hinted if shared is None else choose_fit(self.family, [hinted, shared])
        if self.outside.are_samples:
            preference = posterior_of_examples(fitted.state, self.points, self.outside.energies)
        else:
            preference = squared_projections(fitted.state, self.points)
        return refine_subspace(self.family, fitted, int(preference.argmax()))

    def index_of(self, directions: Array) -> int:
        """Return the index in `mixture` of the subspace with these directions, (k r, r)."""
        return match_subspace(self.family.frame, self.mixture, directions)

    def example_fit(self, mixture: SubspaceMixture, index: int) -> ExampleFit:
        """Return the agreement of the hint's examples with one subspace of a mixture."""
        return fit_examples(self.family, mixture, index, self.points, self.outside.energies)

    def looks_typical(self, directions: Array, weight: float) -> bool:
        """Return whether the examples of the hint look like members of a subspace that moments found."""
        family = self.family
        basis, lengths, _ = np.linalg.svd(np.sqrt(family.frame.values)[:, None] * directions, full_matrices=False)
        noise = max(family.own_noise(directions, weight), min_noise(family))
        own = Gaussian(basis, lengths**2 / weight + noise, noise, family.n_outside)
        return own.looks_typical(self.points, self.outside.energies)

    def simulate(self, mixture: SubspaceMixture) -> Array:
        """Return the projections of the hint onto the subspaces of a mixture on simulated samples, (n, k)."""
        return simulate_projections(self.family, mixture, self.points, self.outside.direction)

    def weight(self, directions: Array) -> MomentWeight:
        """Return the weight of a subspace; if it was not settled, the part in the trace of A."""
        if self.family.n_components == 1:
            return MomentWeight(1.0, is_fourth=False)
        if self.is_settled:
            return moment_weight(self.family, directions)
        return MomentWeight(trace_share(self.family, directions), is_fourth=False)

    @cached_property
    def mixture(self) -> SubspaceMixture:
        """All subspaces, fitted by EM."""
        return fit_mixture(self.family, self.directions, DEFAULT_OPTIONS).state

    def thin(self) -> SubspaceCandidates:
        """Return the same with fewer samples, which suffice to compare examples with the subspaces."""
        n_needed = max(MIN_SAMPLES, MIN_PER_DIRECTION * self.family.frame.n_components)
        step = max(self.family.partitions.n_rows // n_needed, 1)
        return replace(self, family=self.family.thin(step))

    @property
    def points(self) -> Array:
        """The hint in the units of the features, (q, k r)."""
        return np.asarray(self.hinted.hint.T / np.sqrt(self.family.frame.values), dtype=np.float64)

    @property
    def hinted_coordinates(self) -> Array:
        """The hint in the frame, as samples are, (q, k r)."""
        return np.asarray(self.hinted.hint.T / self.family.frame.values, dtype=np.float64)


def _is_clear(hinted: Hinted, directions: Array) -> bool:
    """Return whether a subspace has a clearly larger score than all others together."""
    score = float(np.trace(directions.T @ hinted.matrix @ directions))
    return bool(score > CLEAR_LEAD * (float(np.trace(hinted.matrix)) - score))
