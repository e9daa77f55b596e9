"""One subspace of a mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mixsearch._typing import Array, SamplesLike
from mixsearch.core.component import Component, score_bars
from mixsearch.core.example_fit import ExampleFit
from mixsearch.core.jackknife import interval_of_lead, probability_of_first
from mixsearch.core.posterior import clip_weight, log_normal, posterior
from mixsearch.core.separation import separation_in_words
from mixsearch.core.validation import check_samples
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.data.partitions import DetachedPartitions
from mixsearch.display import Card, plain_number
from mixsearch.errors import DoubtfulExamplesWarning, SearchWarning
from mixsearch.subspace.candidates import SubspaceCandidates
from mixsearch.subspace.em import SubspaceMixture, min_noise, responsibilities, span_coordinates
from mixsearch.subspace.extraction import MomentWeight
from mixsearch.subspace.family import SubspaceFamily
from mixsearch.subspace.jackknife import SubspaceErrors, refined_subspace_errors, subspace_errors
from mixsearch.subspace.refinement import MemberSpan, RefinedSubspace, WalkedMembers
from mixsearch.subspace.span_check import has_no_signal, trust_in_members, trust_in_moments

# Examples of an answer that was not refined are looked at more closely if one is a member with less probability.
MIN_MEMBERSHIP = 0.05


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
        The probability that the hint means this subspace; if the answer comes from self-expression, the mean membership
        of the samples found.
    carried_by : {"mixture", "self-expression"}
        The source of memberships: the mixture of subspaces, or samples that express each other, if these predict
        features better. In either case `basis` is that of the members.
    hint_in_signal : float
        The fraction of the hint's squared length that lies in the span of all subspaces: about k r / d for a random
        direction.

    See Also
    --------
    Component : What the components of all families have in common.

    Examples
    --------
    >>> from mixsearch import SubspaceSearch
    >>> from mixsearch.datasets import make_subspaces
    >>> data = make_subspaces(5000, 40, 3, dim=2, random_state=0)
    >>> found = SubspaceSearch(n_components=3, dim=2).fit(data.X).search(examples=data.X[data.labels == 0][:3])
    >>> found.basis.shape
    (40, 2)
    >>> bool(((found.membership(data.X) > 0.5) == (data.labels == 0)).mean() > 0.9)
    True
    """

    _candidates: SubspaceCandidates
    _rank: int = 0
    _refined: RefinedSubspace | None = field(default=None, kw_only=True)
    _walked: WalkedMembers | None = field(default=None, kw_only=True)  # if samples express each other better
    _feature_names: Sequence[str] | None = field(default=None, kw_only=True)  # if the fit saw a data frame
    _doubts: tuple[SearchWarning, ...] = field(default=(), kw_only=True)
    _trust: float = field(default=1.0, kw_only=True)  # what tests of the hint and of the fit leave of the confidence
    _hint_in_signal: float = field(default=1.0, kw_only=True)

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
        return self._axes[0] if self._span is None else self._span.basis

    @property
    def center(self) -> Array:
        """The point that all subspaces contain, (d,): the origin, or the mean of samples that lie off it."""
        return self._family.center

    @property
    def weight(self) -> float:
        """The subspace's share of the mixture."""
        return self._moment_weight.value if self._span is None else self._span.weight

    @property
    def _span(self) -> RefinedSubspace | MemberSpan | None:
        """The subspace of the members in all dimensions; None if moments alone found it."""
        return self._refined if self._walked is None else self._walked.span

    @cached_property
    def _moment_weight(self) -> MomentWeight:
        return self._candidates.weight(self._directions)

    def __getstate__(self) -> dict[str, Any]:
        # The samples may stay behind, but the weight is needed for memberships.
        has_samples = not isinstance(self._family.partitions, DetachedPartitions)
        known = {"_moment_weight": self._moment_weight} if self._span is None and has_samples else {}
        return {**self.__dict__, **known}

    @property
    def variances(self) -> Array:
        """Variances of the coordinates along the basis, (r,), without the noise."""
        return self._axes[1] ** 2 / self.weight if self._span is None else self._span.variances

    @property
    def noise_variance(self) -> float:
        """The variance of the noise around the subspace."""
        if self._span is not None:
            return self._span.noise_variance
        return self._family.own_noise(self._directions, self.weight)

    @property
    def moment_estimate(self) -> Subspace:
        """The estimate from moments alone, before EM."""
        return replace(self, _refined=None, _walked=None)

    @property
    def carried_by(self) -> Literal["mixture", "self-expression"]:
        """The source of memberships: the mixture of subspaces, or samples that express each other."""
        return "mixture" if self._walked is None else "self-expression"

    @cached_property
    def stderr(self) -> SubspaceErrors:
        """Standard errors of `basis` and `weight`; a 95% interval is 1.96 of them to each side.

        A basis is determined only up to a rotation: the errors of its entries are those after the true basis is rotated
        onto it. They are NaN if the answer comes from self-expression.
        """
        if self._walked is not None:
            return SubspaceErrors(np.full(self.basis.shape, np.nan), float("nan"))
        if self._refined is not None:
            return refined_subspace_errors(self._family, self._refined)
        replicates = self._candidates.replicates(self._directions)
        is_fourth = self._moment_weight.is_fourth
        return subspace_errors(self._family, self._directions, self.basis, replicates, is_fourth=is_fourth)

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the subspace that the hint means.

        Samples contain noise and belong to a subspace with a probability. A direction means the subspace that contains
        most of it.
        """
        if self._walked is not None:
            return self._trust * self._walked.confidence
        if self._candidates.outside.are_samples:
            return self._trust * self._example_fit.confidence
        return self._trust * probability_of_first(self._candidates.simulate(self._mixture), self._index)

    @property
    def hint_in_signal(self) -> float:
        """The fraction of the hint's squared length that lies in the span of all subspaces."""
        return self._hint_in_signal

    @cached_property
    def _example_fit(self) -> ExampleFit:
        """The agreement of the examples with this subspace."""
        return self._candidates.example_fit(self._mixture, self._index)

    def _example_doubts(self) -> list[DoubtfulExamplesWarning]:
        """Return the doubts that examples are members of this subspace.

        Without refinement all subspaces must be fitted for that, to some of the samples, unless a quick look finds
        nothing strange.
        """
        candidates = self._candidates
        if not candidates.outside.are_samples:
            return []
        if self._walked is not None:
            return self._walked.doubts()
        if self._refined is not None:
            return self._example_fit.doubts()
        memberships = self._membership(candidates.hinted_coordinates, candidates.outside.energies)
        if memberships.min() > MIN_MEMBERSHIP and candidates.looks_typical(self._directions, self.weight):
            return []
        few = candidates.thin()
        return few.example_fit(few.mixture, few.index_of(self._directions)).doubts()

    def _span_trust(self) -> float:
        """Return what is left of the confidence if there are more subspaces than the fit has."""
        if self._walked is not None:
            return 0.0 if has_no_signal(self._family) else 1.0
        if self._refined is None:
            return trust_in_moments(self._family, self._directions)
        return trust_in_members(self._family, self._refined.check)

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
        return tuple(
            replace(self, _rank=rank, _refined=None, _walked=None, _doubts=()) for rank in ranks if rank != self._rank
        )

    def membership(self, X: SamplesLike) -> Array:
        """Return the probability that each sample belongs to this subspace.

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
        Compared in the span of all subspaces with one Gaussian for the rest of A, with the same noise; after
        refinement, with all other subspaces. If the answer comes from self-expression, walks from the examples give the
        memberships of some samples, and every other sample gets its membership from those that express it.
        """
        if is_dask(X):
            rows: Array = dask_arrays().map_rows(self.membership, X, len(self.center))
            return rows
        samples = check_samples(X, len(self.center), self._feature_names)
        return (
            self._membership(*self._family.locate(samples))
            if self._walked is None
            else self._walked.membership(samples)
        )

    def _membership(self, Y: Array, energy: Array) -> Array:
        values, directions = self._family.frame.values, self._directions
        if self._refined is not None:
            return responsibilities(self._refined.mixture, span_coordinates(Y, values), energy)[:, 0]
        if self.weight >= 1 or self._family.n_components == 1:
            return np.ones(len(Y))  # there is no rest
        weight = clip_weight(self.weight)
        average, inverse, floor = self._family.noise_variance, np.diag(1 / values), min_noise(self._family)
        noises = [max(each, floor) for each in (self.noise_variance, average)]
        own = directions @ directions.T
        rest = (np.eye(len(own)) - own) / (1 - weight) + noises[1] * inverse
        return posterior(weight, log_normal(Y, own / weight + noises[0] * inverse), log_normal(Y, rest))

    def _card(self) -> Card:
        d, r = self.basis.shape
        return Card(
            title=f"Subspace of dimension {r} in {d:,} features",
            facts=[
                ("weight", plain_number(self.weight)),
                ("noise variance", plain_number(self.noise_variance)),
                ("separation", separation_in_words(self.separation)),
                ("share of the hint", plain_number(self.share)),
                ("carried by", self.carried_by),
            ],
            bars=score_bars(self.scores),
            bars_title="how much of the hint each subspace contains",
        )
