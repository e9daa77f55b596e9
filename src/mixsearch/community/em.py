"""Belief propagation: the communities of all nodes, and the densities of links between them, by likelihood.

Each node sends each neighbour what it believes about its own community, from all its other neighbours. On graphs with
few short cycles the beliefs are exact, and reach the accuracy of the best possible method down to the detection
threshold, where counting a neighbour's opinion of oneself as evidence would not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.mixture.em import EMOptions

# Messages in a chunk: they stay in cache until they are replaced.
_CACHED_MESSAGES = 2**17
# Sizes of communities are brought up to date after each chunk.
_MIN_CHUNKS = 16
# Communities must be ten times as likely as none, or the eigenvalue beyond the threshold was a matter of chance.
_MIN_GAIN = float(np.log(10))
# One of this share has swallowed the others, which were noise.
_MAX_SHARE = 0.99
# Below this, a probability is as good as zero, and its logarithm is still finite in single precision.
_TINY = 1e-30


class BlockModel(NamedTuple):
    """Shares of the communities, and densities of links between them."""

    weights: Array  # share of the nodes, (k,)
    affinity: Array  # (k, k): links between two communities, relative to a graph of the same degrees without any


@dataclass(frozen=True, eq=False)
class Links:
    """The links of a graph in both directions, in the order of its adjacency matrix."""

    adjacency: Any  # (n, n), symmetric, with sorted indices

    @classmethod
    def from_adjacency(cls, adjacency: Any) -> Self:
        """Return links with weights scaled so that their mean is their mean square, as for counts of rare events.

        A link of any weight is one observation: without this, weights in other units would count as more of them.
        """
        scaled = adjacency.copy()
        scaled.data *= scaled.data.sum() / np.sum(scaled.data**2)
        return cls(scaled)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @cached_property
    def degrees(self) -> Array:
        """Number of links of each node, (n,)."""
        return np.diff(self.adjacency.indptr)

    @cached_property
    def strengths(self) -> Array:
        """Sum of the weights of the links of each node, (n,)."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.float64)

    @cached_property
    def reverse(self) -> Array:
        """The place of the link in the other direction, for each link."""
        places = np.arange(self.adjacency.nnz, dtype=self.adjacency.indices.dtype)
        return sp.csr_array((places, self.adjacency.indices, self.adjacency.indptr), self.adjacency.shape).tocsc().data

    @cached_property
    def is_weighted(self) -> bool:
        """Whether some links weigh more than others."""
        data = self.adjacency.data
        return bool(data.min() < data.max())

    def chunks(self, n_communities: int) -> Iterator[slice]:
        """Yield runs of nodes whose messages fit into cache, and no fewer runs than keep updates from overshooting."""
        ends, start = self.adjacency.indptr, 0
        size = max(min(_CACHED_MESSAGES // n_communities, self.adjacency.nnz // _MIN_CHUNKS), 1)
        while start < self.n_nodes:
            stop = int(np.searchsorted(ends, ends[start] + size, side="right")) - 1
            stop = min(max(stop, start + 1), self.n_nodes)
            yield slice(start, stop)
            start = stop


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is known of the communities of all nodes."""

    model: BlockModel
    posterior: Array  # of each node and community, (n, k)
    messages: Array  # over each link, (2m, k), single precision
    objectives: tuple[float, ...]  # log-likelihood by Bethe's approximation, above that of one community, at each sweep
    is_converged: bool
    is_assortative: bool = False  # whether the densities between different communities are all the same

    @property
    def gain(self) -> float:
        """The log-likelihood above that of a graph without communities."""
        return self.objectives[-1]

    @property
    def shows_communities(self) -> bool:
        """Whether communities are much likelier than none, and none of them has swallowed the others."""
        return self.gain > _MIN_GAIN and bool(self.model.weights.max() <= _MAX_SHARE)


def propagate(links: Links, responsibilities: Array, options: EMOptions, *, assortative: bool = False) -> Beliefs:
    """Run belief propagation from rough communities, and learn the shares and densities on the way."""
    messages = np.repeat(responsibilities.astype(np.float32), links.degrees, axis=0)
    model = estimate_model(links, responsibilities, assortative=assortative)
    return _iterate(links, Beliefs(model, responsibilities, messages, (), False, assortative), options)


def estimate_model(links: Links, responsibilities: Array, *, assortative: bool = False) -> BlockModel:
    """Estimate the shares of communities and the densities of links between them from responsibilities, (n, k)."""
    counts = responsibilities.T @ (links.adjacency @ responsibilities)
    return _maximize(links, responsibilities, counts, assortative=assortative)


def count_with_prior(links: Links, beliefs: Beliefs, log_odds: Array, options: EMOptions) -> Array:
    """Return the expected number of members of each community, (k,), if prior log odds are added to what is learned."""
    start = replace(beliefs, messages=beliefs.messages.copy())
    return np.asarray(_iterate(links, start, options, log_odds).posterior.sum(axis=0))


def _iterate(links: Links, start: Beliefs, options: EMOptions, log_odds: Array | float = 0.0) -> Beliefs:
    """Sweep over all nodes until beliefs settle. The messages of the start are overwritten."""
    model, posterior, messages = start.model, start.posterior, start.messages
    objectives: list[float] = []
    is_converged = False
    while len(objectives) < options.max_iter and not is_converged:
        before, prior = posterior, np.log(np.maximum(model.weights, _TINY)) + log_odds
        posterior, counts, objective = sweep(links, prior, model.affinity, posterior, messages)
        objectives.append(objective)
        model = _maximize(links, posterior, counts, assortative=start.is_assortative)
        is_converged = bool(np.abs(posterior - before).mean() < options.tol)
    return replace(
        start,
        model=model,
        posterior=posterior,
        messages=messages,
        objectives=tuple(objectives),
        is_converged=is_converged,
    )


def _maximize(links: Links, posterior: Array, counts: Array, *, assortative: bool) -> BlockModel:
    """Return shares and densities from expected members and links; one link more keeps empty communities finite."""
    ends = links.strengths @ posterior
    expected = np.outer(ends, ends) / links.strengths.sum()
    affinity = (1 + (counts + counts.T) / 2) / (1 + expected)
    if assortative:
        is_between = ~np.eye(len(ends), dtype=bool)
        between = (1 + counts[is_between].sum()) / (1 + expected[is_between].sum())
        affinity = np.where(is_between, between, np.maximum(affinity, between))
    return BlockModel(posterior.mean(axis=0), affinity)


def sweep(links: Links, prior: Array, affinity: Array, posterior: Array, messages: Array) -> tuple[Array, Array, float]:
    """Update all messages in place, and return the beliefs, expected links between communities and the log-likelihood.

    Notes
    -----
    Node i of degree lᵢ is in community a with probability proportional to αₐ exp(-lᵢ hₐ) Π C ψ(j -> i), over its
    neighbours j. Its message to one of them leaves out the factor of that one: it is the belief divided by it.
    """
    single = affinity.astype(np.float32)
    ends, total = links.strengths @ posterior, links.strengths.sum()
    beliefs = np.empty_like(posterior, dtype=np.float64)
    counts, log_z = np.zeros_like(affinity), 0.0
    ones = np.ones((len(prior), 1), dtype=np.float32)
    for nodes in links.chunks(len(prior)):
        edges = slice(int(links.adjacency.indptr[nodes.start]), int(links.adjacency.indptr[nodes.stop]))
        degrees = links.degrees[nodes]
        incoming = messages[links.reverse[edges]]
        factors = np.maximum(incoming @ single, _TINY)
        weights = links.adjacency.data[edges].astype(np.float32) if links.is_weighted else None
        if weights is not None:
            factors **= weights[:, None]
        logs = prior - np.outer(links.strengths[nodes], affinity @ ends / total)
        logs += _sum_by_node(np.log(factors), degrees)
        largest = logs.max(axis=1, keepdims=True)
        odds = np.exp(logs - largest)
        sums = odds.sum(axis=1, keepdims=True)
        beliefs[nodes] = odds / sums
        # Links present and links absent nearly cancel: what both know of the size of a community must be of one age.
        ends = ends + links.strengths[nodes] @ (beliefs[nodes] - posterior[nodes])
        outgoing = np.repeat(beliefs[nodes].astype(np.float32), degrees, axis=0)
        outgoing /= factors
        # A product with ones: NumPy sums short rows much more slowly.
        outgoing /= np.maximum(outgoing @ ones, _TINY)
        messages[edges] = outgoing
        pairs = np.maximum(np.einsum("ea,ea->e", outgoing @ single, incoming), _TINY)
        share = (1.0 if weights is None else weights) / pairs
        counts += (outgoing * share[:, None]).T @ incoming * affinity
        log_pairs = np.log(pairs) if weights is None else weights * np.log(pairs)
        log_z += float(np.sum(largest) + np.sum(np.log(sums)) - 0.5 * np.sum(log_pairs, dtype=np.float64))
    return beliefs, counts, log_z + 0.5 * float(ends @ affinity @ ends / total + total)


def _sum_by_node(values: Array, degrees: Array) -> Array:
    """Sum what the links of each node contribute, (n, k)."""
    sums = np.zeros((len(degrees), values.shape[1]))
    linked = np.flatnonzero(degrees)
    if len(linked):
        starts = (np.cumsum(degrees) - degrees)[linked]
        sums[linked] = np.add.reduceat(values, starts, axis=0)
    return sums
