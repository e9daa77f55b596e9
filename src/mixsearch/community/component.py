"""What a search in a graph returns: one community, with the membership of every node."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mixsearch._typing import Array, DataFrame
from mixsearch.community.graph import Graph
from mixsearch.community.refinement import RefinedCommunity, refined_community_errors, rough_posterior
from mixsearch.confidence import (
    MIN_LISTED_CONFIDENCE,
    ConfidentComponent,
    ExampleFit,
    ExampleNames,
    posterior_of_all,
    trust,
)
from mixsearch.core.extraction import separate_rest
from mixsearch.core.jackknife import StandardErrors
from mixsearch.display import Card, give_or_take, plain_number
from mixsearch.mixture.em import clip_weight

_N_SHOWN = 8
# A 95% interval.
_SIGMAS = 1.96


@dataclass(frozen=True, repr=False, eq=False)
class Community(ConfidentComponent):
    """One community of a graph.

    Attributes
    ----------
    membership : array of shape (n,)
        The probability that each node is a member.
    members : list
        The names, or numbers, of the nodes that are more likely members than not, the surest first.
    n_members : float
        The expected number of members, and `n_members_interval`, a 95% interval of it.
    center : array of shape (n,)
        How often a link of a member leads to each node. Sums to one.
    weight : float
        The share of the nodes that are members. Before refinement, nodes count in proportion to their links.
    inside : float
        Links between members, relative to a graph of the same degrees without communities.
    is_detectable : bool
        Whether the links show communities at all. If not, every node has the same membership.

    See Also
    --------
    Component : `separation`, `scores`, `alternatives`, `stderr`, `confidence` and the rest.

    Examples
    --------
    >>> from mixsearch import CommunitySearch
    >>> from mixsearch.datasets import make_communities
    >>> data = make_communities(2000, 4, mean_degree=20, signal=4.0, random_state=0)
    >>> found = CommunitySearch(n_components=4).fit(data.adjacency).search(examples=data.known(2, 3))
    >>> found.is_detectable
    True
    >>> bool((data.labels[found.members] == 2).mean() > 0.9)
    True
    >>> low, high = found.n_members_interval
    >>> bool(low < (data.labels == 2).sum() < high)
    True
    """

    _graph: Graph = field(kw_only=True)
    _examples: Array | None = field(default=None, kw_only=True)  # numbers of labelled nodes
    _is_detectable: bool = field(default=True, kw_only=True)

    @cached_property
    def membership(self) -> Array:
        """The probability that each node is a member, (n,)."""
        if not self._is_detectable:
            return np.full(self._graph.n_nodes, self.weight)
        if isinstance(self._refined, RefinedCommunity):
            return self._refined.membership
        return np.asarray(self._posterior[:, 0])

    @cached_property
    def _posterior(self) -> Array:
        """The probability of this component, and then of the others, for each node, (n, k)."""
        if isinstance(self._refined, RefinedCommunity):
            posterior, index = self._refined.beliefs.posterior, self._refined.index
            return np.column_stack([posterior[:, index], np.delete(posterior, index, axis=1)])
        family: Any = self._family
        separated = separate_rest(family.tensor(np.eye(family.n_components)), self._candidates)
        return np.roll(rough_posterior(family, separated), -self._rank, axis=1)

    @property
    def is_detectable(self) -> bool:
        """Whether the links show communities at all."""
        return self._is_detectable

    @property
    def weight(self) -> float:
        """The share of the nodes that are members."""
        if not self._is_detectable:
            return 1 / max(len(self.scores), 2)
        return super().weight

    @property
    def members(self) -> list[Hashable]:
        """The nodes that are more likely members than not, the surest first."""
        order = np.argsort(-self.membership, kind="stable")
        return [self._graph.name(node) for node in order[: np.count_nonzero(self.membership > 0.5)]]

    @property
    def n_members(self) -> float:
        """The expected number of members."""
        return float(self.membership.sum())

    @property
    def n_members_interval(self) -> tuple[float, float]:
        """A 95% interval of the number of members."""
        n = self._graph.n_nodes
        half = _SIGMAS * self.stderr.weight * n if self._is_detectable else np.inf
        if not np.isfinite(half):  # also if the links are those of one node
            return (0.0, float(n))
        return (max(self.n_members - half, 0.0), min(self.n_members + half, float(n)))

    @property
    def inside(self) -> float:
        """Links between members, relative to a graph of the same degrees without communities."""
        strengths = np.asarray(self._graph.adjacency.sum(axis=1))
        ends = float(strengths @ self.membership)
        between = float(self.membership @ (self._graph.adjacency @ self.membership))
        return between * float(strengths.sum()) / max(ends**2, np.finfo(np.float64).tiny)

    def typical(self, n: int = 10) -> list[tuple[Hashable, float]]:
        """Return the nodes that are most surely members, without the labelled ones.

        Parameters
        ----------
        n : int, default=10
            The number of nodes.

        Returns
        -------
        list of (name, membership)
        """
        order = np.argsort(-self.membership, kind="stable")
        others = order if self._examples is None else order[~np.isin(order, self._examples)]
        return [(self._graph.name(node), float(self.membership[node])) for node in others[:n]]

    def to_frame(self) -> DataFrame:
        """Return a data frame of Polars, one row for each node.

        Returns
        -------
        polars.DataFrame
            With the columns node, membership and is_member.
        """
        import polars as pl

        return pl.DataFrame(self.to_columns())

    def to_columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, for other libraries.

        Returns
        -------
        dict of str to list or array
        """
        names = [self._graph.name(node) for node in range(self._graph.n_nodes)]
        return {"node": names, "membership": self.membership, "is_member": self.membership > 0.5}

    def _refined_errors(self, refined: Any) -> StandardErrors:
        return refined_community_errors(refined)

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the community that the labelled nodes, or the weights of nodes, mean.

        0 if the links show no communities.
        """
        if not self._is_detectable:
            return 0.0
        fit = self._example_fit
        return self._hint_confidence if fit is None else self._trust * fit.agreement * trust(fit.p_value)

    @property
    def _example_names(self) -> ExampleNames:
        nodes: list[int] = [] if self._examples is None else self._examples.tolist()
        return ExampleNames("node", [str(self._graph.name(node)) for node in nodes])

    @cached_property
    def _example_fit(self) -> ExampleFit | None:
        """What the labelled nodes say about this community, by what is known of them from links alone."""
        if self._examples is None:
            return None
        posterior = np.maximum(self._posterior, np.finfo(np.float64).tiny)
        known, ones = posterior[self._examples], np.ones(len(self._examples))
        weights = np.array([clip_weight(float(share)) for share in posterior.mean(axis=0)])
        agreement = posterior_of_all(np.log(known), np.log(weights))[0]
        return ExampleFit(float(agreement), known[:, 0], ones, ones)

    def _card(self) -> Card:
        low, high = self.n_members_interval
        return Card(
            title=f"Community, one of {len(self.scores)}",
            facts=[
                ("members", f"{self.n_members:,.0f} of {self._graph.n_nodes:,} nodes (95%: {low:,.0f} to {high:,.0f})"),
                ("weight", give_or_take(self.weight, self.stderr.weight) if self._is_detectable else "unknown"),
                ("links inside", f"{plain_number(round(self.inside, 2))} times as many as without communities"),
                *self._trust_facts(),
            ],
            bars=[(str(name), membership) for name, membership in self.typical(_N_SHOWN)],
            bars_title="membership of the surest nodes"
            + (", if this community is meant" if self.confidence < MIN_LISTED_CONFIDENCE else ""),
        )
