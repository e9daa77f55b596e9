"""Communities of all nodes from the moments, refined by belief propagation. No hint enters: all searches share them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch._typing import Array
from mixsearch.community._closure import Closure, measure_closure
from mixsearch.community._eigen import lanczos_eigenpairs
from mixsearch.community._em import Beliefs, Links, estimate_model, propagate
from mixsearch.community._moments import CommunityFamily, CommunityPartition
from mixsearch.community._rank_selection import count_apart
from mixsearch.core.component import Candidates, Refined
from mixsearch.core.em import EMOptions
from mixsearch.core.tensor import all_components
from mixsearch.data.chunks import ArraySum

# Moments of few links are noisy: up to this many, in both directions, the likelier of two starts is taken.
_MAX_SMALL = 500_000
# Of k-means: starts, and how far a cluster is trusted to be a community.
_N_INIT, _START_TRUST, _SEED = 5, 0.9, 0
# Clusters need no more of eigenvectors.
_TOL = 1e-4
# Noise may leave a component of the moments without weight; it starts with this much.
_MIN_WEIGHT = 1e-3


class RefinedGraph(NamedTuple):
    """All communities after belief propagation."""

    beliefs: Beliefs
    closure: Closure


@dataclass(frozen=True, slots=True)
class RefinedCommunity(Refined):
    """A community after belief propagation."""

    links: Links
    beliefs: Beliefs
    closure: Closure
    index: int  # of the community among all
    membership: Array  # the probability that each node is a member, (n,)


def refine_graph(family: CommunityFamily, links: Links, options: EMOptions) -> RefinedGraph:
    """Find all communities from the moments, without a hint, and refine them by belief propagation."""
    beliefs = propagate(links, _posterior_of_moments(family), options)
    if family.n_components == 1:
        return RefinedGraph(beliefs, measure_closure(links, beliefs.posterior, beliefs.model))
    start = cache(lambda: assortative_start(links, family.n_components))
    if links.adjacency.nnz <= _MAX_SMALL:
        beliefs = max(beliefs, propagate(links, start(), options), key=lambda each: each.gain)
    closure = measure_closure(links, beliefs.posterior, beliefs.model)
    if closure.is_explained:
        return RefinedGraph(beliefs, closure)
    # Hubs and chains are likelier blocks than what people call communities, unless members must stay together.
    assortative = propagate(links, start(), options, assortative=True)
    return RefinedGraph(assortative if assortative.shows_communities else beliefs, closure)


def rough_closure(family: CommunityFamily, links: Links) -> Closure:
    """Measure whether the communities of the moments explain the links between neighbours, without refinement."""
    posterior = _posterior_of_moments(family)
    return measure_closure(links, posterior, estimate_model(links, posterior))


def _posterior_of_moments(family: CommunityFamily) -> Array:
    return rough_posterior(family, all_components(family.tensor(np.eye(family.n_components)), family.mean))


def assortative_start(links: Links, n_components: int) -> Array:
    """Return rough communities whose members are linked with each other, (n, k).

    Notes
    -----
    The frame is that of common neighbours, the square of the regularised Laplacian, in which members that avoid each
    other count as well. Here only the largest eigenvalues of the Laplacian do, and rows of their eigenvectors are
    clustered by direction: moments of order three need neighbours that are independent.
    """
    from sklearn.cluster import KMeans  # not needed by large graphs that follow a block model

    scale = 1 / np.sqrt(links.strengths + links.strengths.mean())
    laplacian = links.adjacency.copy()
    laplacian.data *= np.repeat(scale, links.degrees) * scale[laplacian.indices]
    _, vectors = lanczos_eigenpairs(laplacian, n_components, which="LA", seed=_SEED, tol=_TOL)
    directions = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    clusters = KMeans(n_components, n_init=_N_INIT, random_state=_SEED).fit_predict(directions)
    return np.asarray(_START_TRUST * np.eye(n_components)[clusters] + (1 - _START_TRUST) / n_components)


def rough_posterior(family: CommunityFamily, candidates: Candidates) -> Array:
    """Return the probability of each component for each node, (n, k), from its links as the frame shows them.

    Notes
    -----
    Links are counts of small means. The frame's metric scales them so that their noise is nearly the same in every
    direction, with a variance proportional to the degree. The log-likelihood is then quadratic.
    """
    frame = family.frame
    root = np.sqrt(frame.values)
    centers = root[:, None] * candidates.points  # in coordinates of the metric, (k, q)
    scaled = family.whitener * root  # the basis times the metric
    noise = float(np.mean((scaled**2).T @ family.link_mean))
    collected = family.partitions.collect().partition
    strengths = np.asarray(collected.samples.sum(axis=1), dtype=np.float64)
    logs = (collected.projected * root) @ centers - np.outer(strengths, 0.5 * np.sum(centers**2, axis=0))
    return np.asarray(softmax(logs / noise + np.log(np.maximum(candidates.weights, _MIN_WEIGHT)), axis=1))


def count_assortative(links: Links, max_components: int, options: EMOptions) -> int:
    """Return the number of communities whose members are linked with each other: two at least.

    Parameters
    ----------
    links : Links
    max_components : int
        The number of communities to start from.
    options : EMOptions

    Returns
    -------
    int

    Notes
    -----
    Communities linked more than by chance are merged, first among rough ones and then among those that belief
    propagation leaves: with too many it would find none in a small graph.
    """
    n_rough = count_apart(links.adjacency, assortative_start(links, min(max_components, links.n_nodes // 2)))
    beliefs = propagate(links, assortative_start(links, n_rough), options, assortative=True)
    return max(count_apart(links.adjacency, beliefs.posterior) if beliefs.shows_communities else n_rough, 2)


def choose_community(beliefs: Beliefs, members: Array, examples: Array | None) -> int:
    """Return the community that all labelled nodes are likeliest of, or whose nodes have the largest mean weight."""
    posterior = np.maximum(beliefs.posterior, np.finfo(np.float64).tiny)
    if examples is None:
        return int(np.argmax(members @ posterior / posterior.sum(axis=0)))
    together = np.log(posterior[examples]).sum(axis=0) - (len(examples) - 1) * np.log(posterior.mean(axis=0))
    return int(np.argmax(together))


def refine_community(
    family: CommunityFamily, links: Links, graph: RefinedGraph, index: int, membership: Array
) -> RefinedCommunity:
    """Return one of the communities that belief propagation found, with the membership of all nodes, (n,)."""
    beliefs = graph.beliefs
    linked = family.partitions.reduce(_links_of_members, membership).total
    center = linked / max(float(linked.sum()), np.finfo(np.float64).tiny)
    weight = float(membership.mean())
    return RefinedCommunity(center, weight, beliefs.objectives, links, beliefs, graph.closure, index, membership)


def _links_of_members(partition: CommunityPartition, membership: Array) -> ArraySum:
    rows = slice(partition.first, partition.first + partition.n_rows)
    return ArraySum(np.asarray(partition.samples.T @ membership[rows]))
