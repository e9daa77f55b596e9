"""All subspaces of a mixture as one hint orders them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.em import MAX_ITER, EMOptions
from mixsearch.core.moments import Replicates
from mixsearch.subspace._em import RefinedSubspace, SubspaceMixture, fit_mixture, refine_subspace
from mixsearch.subspace._extraction import SubspaceCandidate, extract_subspace
from mixsearch.subspace._moments import SubspaceFamily
from mixsearch.subspace._posterior import (
    match_subspace,
    posterior_of_examples,
    posterior_of_point,
    squared_projections,
)

# How the mixture is fitted for the confidence of an estimate that was not refined.
DEFAULT_OPTIONS = EMOptions(MAX_ITER, 0.01)


@dataclass(frozen=True, eq=False)
class SubspaceCandidates:
    """All subspaces as one hint orders them. Those after the first are computed on first use."""

    family: SubspaceFamily
    first: SubspaceCandidate
    hint: Array  # in the frame, (k r, q)
    are_samples: bool = False  # whether the hint consists of samples, which contain noise

    @cached_property
    def directions(self) -> list[Array]:
        """The directions of all subspaces, (k r, r) each, every one extracted from what the others leave."""
        found, point = [self.first.directions], self.first.next_direction
        while point is not None and (len(found) + 1) * self.family.dim <= len(point):
            # The best direction orthogonal to those found is a point of the next subspace, so it is a hint for it.
            hinted = self.family.hinted((self.family.frame.values * point)[None, :])
            candidate = extract_subspace(hinted, self.family.dim, np.hstack(found))
            found.append(candidate.directions)
            point = candidate.next_direction
        return found

    @cached_property
    def replicates(self) -> Replicates:
        """The moments of this hint without each group of samples."""
        return self.family.leave_one_out(self.hint.T)

    def share(self, directions: Array) -> float:
        """Return the fraction of the hint that a subspace accounts for, |G'c|² / |c|²."""
        return float(np.sum((directions.T @ self.hint) ** 2) / np.sum(self.hint**2))

    def refine(self, options: EMOptions) -> RefinedSubspace | None:
        """Refine the subspace that the hint means by EM; return None if EM leaves it too few samples."""
        fitted = fit_mixture(self.family, self._start, options)
        if self.are_samples:
            preference = posterior_of_examples(fitted.state, self._points)
        else:
            preference = squared_projections(fitted.state, self._points[0])
        return refine_subspace(self.family, fitted, int(preference.argmax()))

    def confidence(self, directions: Array) -> float:
        """Return the probability that the hint means the subspace with these directions, (k r, r)."""
        mixture = self._mixture
        return float(self.posterior(mixture)[match_subspace(self.family.frame, mixture, directions)])

    def posterior(self, mixture: SubspaceMixture) -> Array:
        """Return the probability that the hint means each subspace of a mixture, (k,).

        Samples contain noise and belong to a subspace with a probability. A point means the subspace that contains most
        of it.
        """
        if self.are_samples:
            return posterior_of_examples(mixture, self._points)
        return posterior_of_point(self.family, mixture, self._points[0])

    @cached_property
    def _mixture(self) -> SubspaceMixture:
        """All subspaces, fitted by EM."""
        return fit_mixture(self.family, self._start, DEFAULT_OPTIONS).state

    @property
    def _start(self) -> Array:
        """The point from which EM finds its start, (k r,)."""
        return np.asarray(self.first.directions[:, 0])

    @property
    def _points(self) -> Array:
        """The hint in the units of the features, (q, k r)."""
        return np.asarray(self.hint.T / np.sqrt(self.family.frame.values), dtype=np.float64)
