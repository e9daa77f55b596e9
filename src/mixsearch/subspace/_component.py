"""One subspace of a mixture, as a search finds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.component import Component
from mixsearch.core.em import MAX_ITER, EMOptions
from mixsearch.core.moments import Replicates
from mixsearch.core.posterior import clip_weight, log_normal, posterior
from mixsearch.core.separation import separation_in_words
from mixsearch.core.validation import check_samples
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.display import Card, plain_number
from mixsearch.subspace._choice import chances_of_point, chances_of_samples, held_by
from mixsearch.subspace._em import RefinedSubspace, Subspaces, coordinates, find_mixture, memberships, refine_subspace
from mixsearch.subspace._extraction import SubspaceCandidate, extract_subspace
from mixsearch.subspace._jackknife import SubspaceErrors, nearest_subspace, subspace_errors
from mixsearch.subspace._moments import SubspaceFamily
from mixsearch.subspace._refined_jackknife import refined_subspace_errors

# What the other subspaces are known by, where only moments were asked for.
DEFAULT_STEPS = EMOptions(MAX_ITER, 0.01)


@dataclass(frozen=True, eq=False)
class SubspaceCandidates:
    """All subspaces of a mixture, as one hint shows them; those after the first are found when asked for."""

    model: SubspaceFamily
    first: SubspaceCandidate
    hint: Array  # in the frame, (k r, q)
    are_samples: bool = False  # whether the hint is made of samples, and so of noise as well
    feature_names: Sequence[str] | None = None  # where the fit saw a data frame

    def share(self, directions: Array) -> float:
        """The part of the hint that a subspace accounts for: |G'c|² / |c|²."""
        return float(np.sum((directions.T @ self.hint) ** 2) / np.sum(self.hint**2))

    @cached_property
    def members(self) -> list[Array]:
        """The directions of all subspaces, each found from a point that the ones before it leave."""
        r = self.first.directions.shape[1]
        members, point = [self.first.directions], self.first.next_direction
        while point is not None and (len(members) + 1) * r <= len(point):
            # The likeliest direction outside is a point of the next subspace, and so a hint for it.
            hinted = self.model.hinted((self.model.frame.values * point)[None, :])
            found = extract_subspace(hinted, r, np.hstack(members))
            members.append(found.directions)
            point = found.next_direction
        return members

    @cached_property
    def replicates(self) -> Replicates:
        """The moments of this hint without each block of samples."""
        return self.model.leave_one_out(self.hint.T)

    def refine(self, steps: EMOptions) -> RefinedSubspace | None:
        """The subspace that the hint means after likelihood steps; None where they leave it too few samples."""
        mixture, objectives = self._find(steps)
        share = self._chances_of_examples(mixture) if self.are_samples else held_by(mixture, self._points[0])
        return refine_subspace(self.model, mixture, int(share.argmax()), objectives)

    @cached_property
    def mixture(self) -> Subspaces:
        """All subspaces as well as they are known, whatever the hint makes of them."""
        return self._find(DEFAULT_STEPS)[0]

    def chances(self, mixture: Subspaces) -> Array:
        """How likely the hint means each subspace of a mixture, (k,).

        Samples are noisy and belong to a subspace with a probability; a point means the one that holds most of it.
        """
        if self.are_samples:
            return self._chances_of_examples(mixture)
        return chances_of_point(self.model, mixture, self._points[0])

    def _chances_of_examples(self, mixture: Subspaces) -> Array:
        return chances_of_samples(mixture, self._points)

    @property
    def _points(self) -> Array:
        """The hint in the units of the features, (q, k r)."""
        return np.asarray(self.hint.T / np.sqrt(self.model.frame.values), dtype=np.float64)

    def _find(self, steps: EMOptions) -> tuple[Subspaces, tuple[float, ...]]:
        directions = self.first.directions
        return find_mixture(self.model, directions[:, 0], directions.shape[1], steps)


@dataclass(frozen=True, repr=False, eq=False)
class Subspace(Component):
    """One subspace of a mixture.

    Attributes
    ----------
    basis : array of shape (d, r)
        Orthonormal columns that span it, in the order of their weight.
    weight : float
        Its share of the mixture.
    separation : float
        The gap after the r-th eigenvalue. Near 1, the hint does not single out a subspace.
    scores : array of shape (k r,)
        All eigenvalues of the whitened hinted moment.
    share : float
        The part of the hint that the subspace accounts for.
    alternatives : tuple of Subspace
        The other subspaces, likeliest first, each found from what this one leaves of the hint.
    variances : array of shape (r,)
        Of the coordinates along the columns of `basis`, without the noise.
    noise_variance : float
        The variance of the noise around it.
    moment_estimate : Subspace
        The same without likelihood steps, where ``refine=True`` took some.
    stderr : SubspaceErrors
        Of `basis` and `weight`.
    confidence : float
        The chance that the hint means this subspace.
    """

    _set: SubspaceCandidates
    _rank: int = 0
    _refined: RefinedSubspace | None = None  # the same subspace after likelihood steps

    @property
    def _family(self) -> SubspaceFamily:
        """The mixture that the subspace was found in."""
        return self._set.model

    @property
    def _directions(self) -> Array:
        """√α W'U up to a rotation, (k r, r): the subspace in the frame."""
        return self._set.members[self._rank] if self._rank else self._set.first.directions

    @property
    def center(self) -> Array:
        """The origin, (d,): every subspace passes through it."""
        return np.zeros(len(self._family.frame.basis))

    @cached_property
    def _image(self) -> tuple[Array, Array]:
        vectors, lengths, _ = np.linalg.svd(self._family.frame.unwhiten(self._directions), full_matrices=False)
        return vectors, lengths

    @property
    def basis(self) -> Array:
        """Orthonormal columns that span the subspace, (d, r)."""
        return self._image[0] if self._refined is None else self._refined.basis

    @property
    def weight(self) -> float:
        """The subspace's share of the mixture.

        Notes
        -----
        VD^(1/2)G = √α U where coordinates have variance 1. Where it is c², that is c√α U, and the trace of A is r c².
        """
        if self._refined is not None:
            return self._refined.weight
        return float(np.sum(self._image[1] ** 2) / self._family.frame.values.sum())

    @property
    def variances(self) -> Array:
        """The variances of the coordinates along the basis, (r,), without the noise."""
        return self._image[1] ** 2 / self.weight if self._refined is None else self._refined.variances

    @property
    def noise_variance(self) -> float:
        """The variance of the noise around the subspace: of its own after likelihood steps, of all samples before."""
        return self._family.noise_variance if self._refined is None else self._refined.noise

    @property
    def moment_estimate(self) -> Subspace:
        """The subspace as moments alone find it, without likelihood steps."""
        return replace(self, _refined=None)

    @cached_property
    def stderr(self) -> SubspaceErrors:
        """Standard errors of `basis` and `weight`; for a 95% interval take 1.96 of them to both sides.

        A basis is known up to a rotation only: those of its entries are for a truth turned onto it.
        """
        if self._refined is not None:
            return refined_subspace_errors(self._family, self._refined)
        return subspace_errors(self._family, self._directions, self.basis, self._set.replicates)

    @cached_property
    def confidence(self) -> float:
        """The chance that this is the subspace that the hint means."""
        if self._refined is not None:
            return float(self._set.chances(self._refined.mixture)[0])
        mixture = self._set.mixture
        nearest = nearest_subspace(self._family.frame, mixture.bases, self._directions[None])[0]
        return float(self._set.chances(mixture)[nearest])

    @property
    def separation(self) -> float:
        """The gap after the r-th eigenvalue; for an alternative, its share over that of the subspace found."""
        first = self._set.first
        return self.share / self._set.share(first.directions) if self._rank else first.separation

    @property
    def scores(self) -> Array:
        """Eigenvalues of the whitened hinted moment, falling."""
        return self._set.first.scores

    @property
    def share(self) -> float:
        """The part of the hint that the subspace accounts for."""
        return self._set.share(self._directions)

    @property
    def alternatives(self) -> tuple[Subspace, ...]:
        """The other subspaces, likeliest first."""
        ranks = range(len(self._set.members))
        return tuple(Subspace(self._set, rank) for rank in ranks if rank != self._rank)

    def membership(self, X: Any) -> Any:
        """The probability that each sample belongs to this subspace, (n,).

        Notes
        -----
        In the signal space, the density of noise plus this subspace against that of noise plus the rest of A; after
        likelihood steps, against all other subspaces.
        """
        frame, weight = self._family.frame, clip_weight(self.weight)
        if is_dask(X):
            return dask_arrays().map_rows(self.membership, X, frame.basis.shape[0])
        Y = frame.whiten(check_samples(X, frame.basis.shape[0], self._set.feature_names))
        if self._refined is not None:
            return memberships(self._refined.mixture, coordinates(Y, frame.values))[:, 0]
        floor = max(self._family.noise_variance, 1e-9 * float(frame.values[0]))
        noise = floor * np.diag(1 / frame.values)
        if self.weight >= 1 or len(self.scores) == self._directions.shape[1]:
            return np.ones(len(Y))  # there is no rest
        own = self._directions @ self._directions.T
        rest = (np.eye(len(own)) - own) / (1 - weight) + noise
        return posterior(weight, log_normal(Y, own / weight + noise), log_normal(Y, rest))

    def _card(self) -> Card:
        d, r = self.basis.shape
        return Card(
            title=f"Subspace of dimension {r} in {d:,} features",
            facts=[
                ("weight", plain_number(self.weight)),
                ("separation", separation_in_words(self.separation)),
                ("share of the hint", plain_number(self.share)),
            ],
            bars=[
                (f"direction {i + 1}{'' if i < r else ' (outside)'}", float(score))
                for i, score in enumerate(self.scores[: r + 3])
            ],
            bars_title="what the hint makes of each direction",
        )
