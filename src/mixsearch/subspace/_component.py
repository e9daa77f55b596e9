"""One subspace of a mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mixsearch._typing import Array, SamplesLike
from mixsearch.core.component import Component, score_bars
from mixsearch.core.jackknife import interval_of_lead
from mixsearch.core.posterior import clip_weight, log_normal, posterior
from mixsearch.core.separation import separation_in_words
from mixsearch.core.validation import check_samples
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.display import Card, plain_number
from mixsearch.errors import SearchWarning
from mixsearch.subspace._candidates import SubspaceCandidates
from mixsearch.subspace._em import RefinedSubspace, SubspaceMixture, responsibilities, span_coordinates
from mixsearch.subspace._jackknife import SubspaceErrors, subspace_errors
from mixsearch.subspace._moments import SubspaceFamily
from mixsearch.subspace._refined_jackknife import refined_subspace_errors


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
    share : float
        The fraction of the hint that the subspace accounts for.
    alternatives : tuple of Subspace
        The other subspaces, most likely first.
    moment_estimate : Subspace
        The estimate before EM, after a search with ``refine=True``.
    stderr : SubspaceErrors
        Standard errors of `basis` and `weight`.
    confidence : float
        The probability that the hint means this subspace.

    See Also
    --------
    Component : What the components of all families have in common.
    """

    _candidates: SubspaceCandidates
    _rank: int = 0
    _refined: RefinedSubspace | None = field(default=None, kw_only=True)
    _feature_names: Sequence[str] | None = field(default=None, kw_only=True)  # if the fit saw a data frame
    _doubts: tuple[SearchWarning, ...] = field(default=(), kw_only=True)

    @property
    def _family(self) -> SubspaceFamily:
        """The mixture in which the subspace was found."""
        return self._candidates.family

    @property
    def _directions(self) -> Array:
        """√α W'U up to a rotation, (k r, r): the subspace in the frame."""
        # The directions of the others cost more passes over the samples, which the first one does not need.
        return self._candidates.directions[self._rank] if self._rank else self._candidates.first

    @cached_property
    def _axes(self) -> tuple[Array, Array]:
        """The basis, (d, r), and the lengths √(α l), (r,), as moments find them."""
        vectors, lengths, _ = np.linalg.svd(self._family.frame.unwhiten(self._directions), full_matrices=False)
        return vectors, lengths

    @property
    def basis(self) -> Array:
        """Orthonormal columns that span the subspace, (d, r)."""
        return self._axes[0] if self._refined is None else self._refined.basis

    @property
    def center(self) -> Array:
        """The point that all subspaces contain, (d,): the origin, or the mean of samples that lie off it."""
        return self._family.center

    @property
    def weight(self) -> float:
        """The subspace's share of the mixture.

        Notes
        -----
        VD^(1/2)G = √α U if coordinates have variance 1. If they have variance c², it is c√α U, and the trace of A is
        r c².
        """
        if self._refined is not None:
            return self._refined.weight
        return float(np.sum(self._axes[1] ** 2) / self._family.frame.values.sum())

    @property
    def variances(self) -> Array:
        """Variances of the coordinates along the basis, (r,), without the noise."""
        return self._axes[1] ** 2 / self.weight if self._refined is None else self._refined.variances

    @property
    def noise_variance(self) -> float:
        """The variance of the noise around the subspace: its own after refinement, before that of all samples."""
        return self._family.noise_variance if self._refined is None else self._refined.noise_variance

    @property
    def moment_estimate(self) -> Subspace:
        """The estimate from moments alone, before EM."""
        return replace(self, _refined=None)

    @cached_property
    def stderr(self) -> SubspaceErrors:
        """Standard errors of `basis` and `weight`; a 95% interval is 1.96 of them to both sides.

        A basis is determined up to a rotation only: the errors of its entries are those after the true basis is rotated
        onto it.
        """
        if self._refined is not None:
            return refined_subspace_errors(self._family, self._refined)
        replicates = self._candidates.replicates(self._directions)
        return subspace_errors(self._family, self._directions, self.basis, replicates)

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the subspace that the hint means."""
        return float(self._candidates.posterior(self._mixture)[self._index])

    @property
    def _mixture(self) -> SubspaceMixture:
        """All subspaces, fitted by EM."""
        return self._candidates.mixture if self._refined is None else self._refined.mixture

    @property
    def _index(self) -> int:
        """The index of this subspace in the mixture."""
        return self._candidates.index_of(self._directions) if self._refined is None else 0

    @property
    def separation(self) -> float:
        """How many times more of the hint the subspace contains than the best other one."""
        return self._candidates.separation(self._rank)

    @property
    def separation_interval(self) -> tuple[float, float]:
        """A 95% interval of `separation`, on simulated samples."""
        return interval_of_lead(self._candidates.simulate(self._mixture), self._index)

    @property
    def scores(self) -> Array:
        """|Uᵢ'v|², (k,): how much of the hint each subspace contains, in the order in which the hint prefers them."""
        return self._candidates.projections

    @property
    def share(self) -> float:
        """The fraction of the hint that the subspace accounts for."""
        return self._candidates.share(self._directions)

    @property
    def alternatives(self) -> tuple[Subspace, ...]:
        """The other subspaces, most likely first."""
        ranks = range(len(self._candidates.directions))
        return tuple(replace(self, _rank=rank, _refined=None) for rank in ranks if rank != self._rank)

    def membership(self, X: SamplesLike) -> Array:
        """Return the probability that each sample belongs to this subspace.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)

        Returns
        -------
        array of shape (n,)
            A lazy Dask array if X is one.

        Notes
        -----
        Compared in the span of all subspaces with one Gaussian for the rest of A, with the same noise; after
        refinement, with all other subspaces.
        """
        if is_dask(X):
            rows: Array = dask_arrays().map_rows(self.membership, X, len(self.center))
            return rows
        return self._membership(*self._family.locate(check_samples(X, len(self.center), self._feature_names)))

    def _membership(self, Y: Array, energy: Array) -> Array:
        values, directions = self._family.frame.values, self._directions
        if self._refined is not None:
            return responsibilities(self._refined.mixture, span_coordinates(Y, values), energy)[:, 0]
        if self.weight >= 1 or self._family.n_components == 1:
            return np.ones(len(Y))  # there is no rest
        weight = clip_weight(self.weight)
        # Densities need a positive noise variance.
        noise = max(self._family.noise_variance, 1e-9 * float(values[0])) * np.diag(1 / values)
        own = directions @ directions.T
        rest = (np.eye(len(own)) - own) / (1 - weight) + noise
        return posterior(weight, log_normal(Y, own / weight + noise), log_normal(Y, rest))

    def _card(self) -> Card:
        d, r = self.basis.shape
        return Card(
            title=f"Subspace of dimension {r} in {d:,} features",
            facts=[
                ("weight", plain_number(self.weight)),
                ("noise variance", plain_number(self.noise_variance)),
                ("separation", separation_in_words(self.separation)),
                ("share of the hint", plain_number(self.share)),
            ],
            bars=score_bars(self.scores),
            bars_title="how much of the hint each subspace contains",
        )
