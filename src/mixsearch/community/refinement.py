"""Communities refined by belief propagation: their fit to the links, members by a walk, standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax

from mixsearch._typing import Array
from mixsearch.community.em import Beliefs, BlockModel, Links, count_with_prior, estimate_model, propagate
from mixsearch.community.moments import CommunityChunk, CommunityFamily
from mixsearch.community.spectrum import count_apart, lanczos_eigenpairs
from mixsearch.core.component import Refined
from mixsearch.core.extraction import Candidates, all_components
from mixsearch.core.jackknife import StandardErrors
from mixsearch.graph.walk import Walk
from mixsearch.mixture.em import EMOptions

# Pairs of neighbours of a node that are looked at: enough for a ratio within a few percent.
_N_PAIRS = 20_000
# Neighbours linked more often than this multiple of what communities explain speak against the model. Block models with
# hubs, power laws and members of two communities reach 1.3, since communities are learned from the same links; graphs
# of imports begin at 1.4, those of nearest neighbours at 2.5 (benchmarks/community_fit.py).
MAX_CLOSURE = 1.35
# Standard deviations by which they must be more than explained.
_MIN_SIGMAS = 3.0
# Moments of few links are noisy: up to this many, in both directions, the likelier of two starts is taken.
_MAX_SMALL = 500_000
# Of k-means: starts, and how far a cluster is trusted to be a community.
_N_INIT, _START_TRUST, _SEED = 5, 0.9, 0
# Clusters need no more of eigenvectors.
_TOL = 1e-4
# Noise may leave a component of the moments without weight; it starts with this much.
_MIN_WEIGHT = 1e-3
# Chosen on imports of six packages and nearest neighbours in three tables, other graphs than those that the
# documentation reports on (benchmarks/community_graphs.py): the first two by F1, the last by the Brier score.
# A community is meant too if it has this fraction of the named nodes of the one that has most.
_MIN_NAMED = 0.5
# The walk starts at the named nodes this often, and else at a link end of their communities.
_NAMED_STARTS = 0.7
# Odds of membership are this power of the visits, relative to those of the last member.
_ODDS_POWER = 8
# Prior log odds are shifted by this much: little enough for the response to be linear, and more than rounding.
_SHIFT = 0.05
_OPTIONS = EMOptions(max_iter=30, tol=1e-5)


class Closure(NamedTuple):
    """Linked pairs among pairs of neighbours of the same node."""

    linked: float
    expected: float  # given the communities of both, and their degrees

    @property
    def ratio(self) -> float:
        """How many times as often as the communities explain neighbours of a node are linked."""
        return self.linked / max(self.expected, np.finfo(np.float64).tiny)

    @property
    def is_explained(self) -> bool:
        """Whether the communities explain the links between neighbours."""
        beyond = self.linked - self.expected
        return self.ratio <= MAX_CLOSURE or beyond <= _MIN_SIGMAS * np.sqrt(max(self.expected, 1.0))


def measure_closure(links: Links, posterior: Array, model: BlockModel, *, seed: int = 0) -> Closure:
    """Count linked pairs among random pairs of neighbours of a node, and compute their expected number.

    Notes
    -----
    In a block model nothing but the communities and degrees of two nodes says how often they are linked; that they have
    a neighbour in common says nothing more. In most graphs that people make it does.
    """
    adjacency, degrees, strengths = links.adjacency, links.degrees, links.strengths
    pairs = np.cumsum(degrees.astype(np.float64) * (degrees - 1))
    if not pairs[-1]:
        return Closure(0.0, 0.0)
    rng = np.random.default_rng(seed)
    nodes = np.searchsorted(pairs, pairs[-1] * rng.random(_N_PAIRS), side="right")
    first = (rng.random(_N_PAIRS) * degrees[nodes]).astype(np.intp)
    other = (first + 1 + (rng.random(_N_PAIRS) * (degrees[nodes] - 1)).astype(np.intp)) % degrees[nodes]
    ends = [adjacency.indptr[nodes] + each for each in (first, other)]
    i, j = (adjacency.indices[each] for each in ends)
    left_i, left_j = (strengths[adjacency.indices[each]] - adjacency.data[each] for each in ends)
    affinity = np.einsum("na,ab,nb->n", posterior[i], model.affinity, posterior[j])
    rates = np.maximum(left_i * left_j, 0) * affinity / strengths.sum()
    return Closure(float(np.count_nonzero(adjacency[i, j])), float(-np.expm1(-rates).sum()))


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
    collected = family.chunks.collect().chunk
    strengths = np.asarray(collected.samples.sum(axis=1), dtype=np.float64)
    logs = (collected.projected * root) @ centers - np.outer(strengths, 0.5 * np.sum(centers**2, axis=0))
    return np.asarray(softmax(logs / noise + np.log(np.maximum(candidates.weights, _MIN_WEIGHT)), axis=1))


def count_assortative(links: Links, max_components: int, options: EMOptions) -> int:
    """Return the number of communities whose members are linked with each other: two at least.

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
    linked = family.chunks.sum(_links_of_members, membership)
    center = linked / max(float(linked.sum()), np.finfo(np.float64).tiny)
    weight = float(membership.mean())
    return RefinedCommunity(center, weight, beliefs.objectives, links, beliefs, graph.closure, index, membership)


def _links_of_members(chunk: CommunityChunk, membership: Array) -> Any:
    rows = slice(chunk.first, chunk.first + chunk.n_rows)
    return np.asarray(chunk.samples.T @ membership[rows])


def communities_meant(posterior: Array, named: Array, index: int) -> Array:
    """Return the communities that the named nodes mean together, (k,) of bool.

    Notes
    -----
    If links do not follow a block model, there are communities within communities, and their number is a matter of
    taste: the named nodes say which of them go together.
    """
    n_named = posterior[named].sum(axis=0)
    # A single node that may be in either of two communities does not say that they are one.
    is_meant = n_named > _MIN_NAMED * max(float(n_named.max()), 1.0)
    is_meant[index] = True
    return np.asarray(is_meant)


def walk_membership(walk: Walk, strengths: Array, named: Array, community: Array) -> Array:
    """Return the probability of membership by a walk from named nodes and from their community, (n,)."""
    ends = strengths * community
    starts = (1 - _NAMED_STARTS) * ends / max(float(ends.sum()), np.finfo(np.float64).tiny)
    linked = named[strengths[named] > 0]  # no walk leads from the others
    starts[linked] += _NAMED_STARTS / len(linked)
    logs = np.log(np.maximum(_visits(walk, starts), np.finfo(np.float64).tiny))
    n_members = min(max(int(np.count_nonzero(community > 0.5)), 1), len(logs) - 1)
    last, next_one = -np.partition(-logs, [n_members - 1, n_members])[n_members - 1 : n_members + 1]
    return np.asarray(expit(_ODDS_POWER * (logs - (last + next_one) / 2)))


def walk_agreement(walk: Walk, starts: Array, membership: Array) -> float:
    """Return the share of the members that a random walk from some nodes also visits most, for their degrees."""
    members = membership > 0.5
    nearest = np.argsort(-_visits(walk, starts), kind="stable")[: np.count_nonzero(members)]
    return float(members[nearest].mean()) if len(nearest) else 0.0


def _visits(walk: Walk, starts: Array) -> Array:
    """Return how often the walk visits each node, relative to its degree, (n,)."""
    return walk.visits((starts * walk.scale)[:, None])[:, 0]


def refined_community_errors(refined: RefinedCommunity) -> StandardErrors:
    """Return the standard errors of a refined community.

    Notes
    -----
    The posterior variance of the number of members is the derivative of its mean by prior log odds of a member. Shares
    and densities are estimated again, so that their own errors count, and the errors of nodes that depend on each
    other; those of single nodes alone, Σ p(1 - p), would be far too small. Where members were found by a random walk,
    its number and that of belief propagation differ by an error as well. How often the links of members lead to a node
    is a count, with the variance of one.
    """
    links, beliefs, index = refined.links, refined.beliefs, refined.index
    shift = _SHIFT * np.eye(len(beliefs.model.weights))[index]
    more, fewer = (count_with_prior(links, beliefs, side * shift, _OPTIONS)[index] for side in (1, -1))
    alone = float(np.sum(refined.membership * (1 - refined.membership)))
    apart = float(np.sum(refined.membership - beliefs.posterior[:, index]))
    variance = max(float(more - fewer) / (2 * _SHIFT), alone) + apart**2
    total = float(links.strengths @ refined.membership)
    squares = links.adjacency.power(2) @ refined.membership
    return StandardErrors(
        np.sqrt(squares) / max(total, np.finfo(np.float64).tiny), float(np.sqrt(variance)) / links.n_nodes
    )
