"""Communities of a graph: find one of them from a few of its members.

If the links follow a block model (Ray, Sanghavi and Shakkottai, 2018), moments of neighbour triples find all
communities, and the examples choose one. If not, personalised PageRank from the examples ranks the nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.special import log_softmax, logsumexp, softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array, DataFrame, GraphLike
from mixsearch.core.check import MAX_DISAGREEMENT, Check
from mixsearch.core.extraction import all_components
from mixsearch.core.frame import Frame
from mixsearch.core.moments import sum_cubes, symmetrize
from mixsearch.core.validation import AUTO, check_n_components, check_n_samples
from mixsearch.display import Card
from mixsearch.errors import DoubtfulExamplesWarning, HintError, SearchWarning, warn_user
from mixsearch.graph.links import Graph, read_graph
from mixsearch.graph.members import Members, choose_left_out, find_cut, find_members, rank_left_out
from mixsearch.graph.pagerank import PageRank
from mixsearch.graph.tuning import TUNING as GRAPH_TUNING


@dataclass(frozen=True)
class Tuning:
    """Chosen on every other graph of benchmarks/communities.py, and reported on the others."""

    max_closure: float = 1.35  # linked pairs of nodes with a common neighbour over those explained, or inverse
    n_nodes: int = 500  # whose pairs are counted
    max_components: int = 64  # communities that are counted


TUNING = Tuning()
TINY = float(np.finfo(np.float64).tiny)


def fit_block_model(links: sp.csr_array, n_components: int) -> Array:
    """Compute the log-probability of each community for each node, (n, k): by moments and one step of a mean field.

    Notes
    -----
    Nodes i and j of communities a and b and of degrees d have dᵢ dⱼ C_ab / Σd links on average. In a mean field,
    log P(i in a) = log αₐ + Σⱼ xᵢⱼ Σ_b P(j in b) log C_ab - dᵢ Σ_b C_ab D_b / Σd up to a constant, with D = P'd.
    """
    degrees = np.asarray(links.sum(axis=1))
    P = estimate_posterior(links, n_components)
    neighbors = links @ P
    C = estimate_rates(degrees, P, neighbors)
    logs = neighbors @ np.log(C) - np.outer(degrees, C @ (degrees @ P) / degrees.sum())
    return np.asarray(log_softmax(logs + np.log(np.maximum(P.mean(axis=0), TINY)), axis=1))


def estimate_posterior(links: sp.csr_array, n_components: int) -> Array:
    """Estimate the community of each node from moments of its neighbours, (n, k): k may be smaller than asked for.

    Notes
    -----
    Given the community a of a node, its links are independent draws from a distribution μₐ over nodes. Pairs of
    different neighbours of a node give A = Σ αₐμₐμₐ', triples give T = Σ αₐ μₐ⊗μₐ⊗μₐ. A link with itself is not a
    pair, so every power of one link is taken off. A node of degree d has the weight d(d - 1)(d - 2) / (d + τ)² in all
    moments, where τ is the mean degree: hubs count in proportion to their degree, and leaves for little.
    """
    # 1) weights of links, of pairs and of triples of links
    first, second, third = (np.asarray(links.power(power).sum(axis=1)) for power in (1, 2, 3))
    pairs, triples = first**2 - second, first**3 - 3 * first * second + 2 * third
    has_triples = triples > 1e-9 * first**3  # less is rounding
    per_triple = has_triples / (first + first.mean()) ** 2
    per_pair, per_link = (
        np.divide(per_triple * triples, x, out=np.zeros_like(x), where=has_triples) for x in (pairs, first)
    )
    weight = per_triple @ triples
    n = len(first)
    if not weight > 0 or n_components < 2:
        return np.ones((n, 1))
    # 2) the second moment in units S of the noise, and its frame W
    S = 1 / np.sqrt(first + first.mean())
    squares, cubes = sp.csr_array(links.power(2).T), links.power(3).T @ per_triple

    def multiply(u: Array) -> Array:
        u = S * u.ravel()
        return np.asarray(S * (links.T @ (per_pair * (links @ u)) - (squares @ per_pair) * u) / weight)

    values, vectors = find_eigenpairs(LinearOperator((n, n), multiply, dtype=np.float64), n_components, "LA")
    rank = int(np.sum(values > 1e-9 * values[0]))
    if rank < 2:
        return np.ones((n, 1))
    frame = Frame(vectors[:, :rank], values[:rank], S)
    W, Y = frame.whiten(sp.eye_array(n, format="csr")), frame.whiten(links)
    # 3) the third moment in the frame, and its components
    tensor = sum_cubes(Y, Y, per_triple) - symmetrize(sum_cubes(W, squares @ (per_triple[:, None] * Y), np.ones(n)))
    tensor += 2 * sum_cubes(W, W, cubes)
    mean = links.T @ per_link / weight
    components = all_components(tensor / weight, W.T @ mean)
    # 4) the posterior of each node: in units S the noise of a link is nearly the same in every direction
    scale = np.sqrt(frame.values)
    centers = scale[:, None] * components.points
    noise = float(np.mean(((scale * W) ** 2).T @ mean))
    logs = (Y * scale) @ centers - np.outer(first, 0.5 * np.sum(centers**2, axis=0))
    return np.asarray(softmax(logs / noise + np.log(np.maximum(components.weights, TINY)), axis=1))


def find_eigenpairs(matrix: Any, k: int, which: Literal["LA", "LM"], tol: float = 1e-4) -> tuple[Array, Array]:
    """Find the first k eigenpairs of a symmetric matrix or operator, (k,) falling and (n, k)."""
    n = matrix.shape[0]
    if n <= 2 * k:
        values, vectors = np.linalg.eigh(matrix @ np.eye(n))
    else:
        values, vectors = eigsh(matrix, k, which=which, v0=np.random.default_rng(0).standard_normal(n), tol=tol)
    order = np.argsort(-(np.abs(values) if which == "LM" else values), kind="stable")[:k]
    return values[order], vectors[:, order]


def count_communities(links: sp.csr_array) -> int:
    """Count the communities that the links can show: 1 if there are none.

    Notes
    -----
    Walks that never turn back branch out by r² = Σd² / Σd - 1 at each step. The matrix r A / (r² - 1), divided by the
    roots of 1 + d / (r² - 1) on both sides, has as many eigenvalues beyond 1 as the Bethe Hessian has negative ones:
    one for each community above the detection threshold of Kesten and Stigum.
    """
    degrees = np.asarray(links.sum(axis=1))
    # Two nodes of more links than this would be linked more than once by chance: such hubs avoid each other.
    subset = np.flatnonzero(degrees <= 2 * np.sqrt(degrees.sum()))
    links = links[subset][:, subset] if links[subset][:, subset].nnz else links
    n, degrees = links.shape[0], np.asarray(links.sum(axis=1))
    spread = degrees @ degrees / degrees.sum() - 2  # r² - 1
    if spread <= 0:
        return 1
    scale = sp.diags_array((np.sqrt(spread + 1) / spread) ** 0.5 / np.sqrt(1 + degrees / spread))
    matrix = sp.csr_array(scale @ links @ scale, dtype=np.float32)  # enough to count, in half the time
    edge = 1 + 0.5 * n ** (-2 / 3)  # noise goes beyond the threshold by a multiple of this
    for k in (16, TUNING.max_components):
        count = int(np.sum(np.abs(find_eigenpairs(matrix, min(k, n), "LM", tol=1e-3)[0]) > edge))
        if count < k:
            break
    return max(count, 1)


def measure_closure(links: sp.csr_array, P: Array, n_nodes: int = TUNING.n_nodes) -> tuple[float, float]:
    """Count linked pairs among those that have a neighbour in common, and compute their expected number.

    Notes
    -----
    In a block model only the communities and degrees of two nodes say how often they are linked; a neighbour in common
    says nothing more. In most graphs that people make it does.
    """
    degrees = np.asarray(links.sum(axis=1))
    linked = sp.csr_array((np.ones(links.nnz), links.indices, links.indptr), shape=links.shape)
    nodes = np.sort(np.random.default_rng(0).permutation(np.flatnonzero(degrees))[:n_nodes])
    pairs = (linked[nodes] @ linked).tocoo()
    i, j = (ends[nodes[pairs.row] != pairs.col] for ends in (nodes[pairs.row], pairs.col))
    C = estimate_rates(degrees, P, links @ P)
    rates = np.maximum(degrees[i] - 1, 0) * np.maximum(degrees[j] - 1, 0) / degrees.sum()
    expected = -np.expm1(-rates * np.einsum("ia,ab,ib->i", P[i], C, P[j]))
    return float(np.sum(linked[i, j])), float(expected.sum())


def estimate_rates(degrees: Array, P: Array, neighbors: Array) -> Array:
    """Estimate the links between communities, relative to a graph of the same degrees without any, (k, k)."""
    ends = degrees @ P
    return np.asarray((1 + P.T @ neighbors) / (1 + np.outer(ends, ends) / degrees.sum()))


def search_block_model(log_posterior: Array, positive: Array, negative: Array) -> Members:
    """Search for the community of the examples, and rank each example by the community that the others choose."""
    L, k = log_posterior, log_posterior.shape[1]
    all_scores = np.stack([-logsumexp(np.delete(L, a, axis=1), axis=1) for a in range(k)], axis=1)  # -log(1 - P)

    def choose(nodes: Array) -> int:
        return int(np.argmax(L[nodes].sum(axis=0) - all_scores[negative].sum(axis=0)))

    scores = all_scores[:, choose(positive)]
    left_out = [choose(np.delete(positive, t)) for t in choose_left_out(len(positive))]
    check, membership = rank_left_out(all_scores[:, left_out], positive), -np.expm1(-scores)
    apart = np.flatnonzero(membership[positive] * len(positive) < MAX_DISAGREEMENT)
    scores[positive], scores[negative] = np.nextafter(scores.max(), np.inf), 0
    membership[positive], membership[negative] = 1, 0
    return Members(scores, membership, True, check, apart)


@dataclass(frozen=True, repr=False, eq=False)
class Community:
    """The community of a few nodes of a graph.

    Attributes
    ----------
    scores : array of shape (n,)
        One score for each node. Examples have the highest one, `not_examples` 0.
    membership : array of shape (n,)
        Rises with the score: the probability that each node is a member, or, where `is_probability` is false, a rank
        between 0 and 1. Without a block model, a probability needs three examples.
    is_probability : bool
        Which of the two membership is.
    check : Check
        Where examples rank among all nodes when they are left out.
    members : list of names
        The members, best first: those more likely than not, or, by PageRank, those before the cut.
    method : {"block model", "pagerank"}
        How the scores were found.
    reason : str
        The method and why it was used, as a sentence.
    warnings : tuple of SearchWarning
        Reasons not to trust the answer.

    Examples
    --------
    >>> from mixsearch import CommunitySearch
    >>> from mixsearch.datasets import make_communities
    >>> data = make_communities(500, 2, mean_degree=20, signal=4.0, random_state=0)
    >>> community = CommunitySearch(2).fit(data.adjacency).search(examples=data.known(0, 3))
    >>> community.membership.shape
    (500,)
    """

    scores: Array
    membership: Array
    is_probability: bool
    check: Check
    members: list[Hashable]
    method: str
    reason: str
    warnings: tuple[SearchWarning, ...]
    _names: Sequence[Hashable]

    def to_frame(self) -> DataFrame:
        """Return a data frame of Polars, one row for each node.

        Returns
        -------
        polars.DataFrame
            With the columns node, score, membership and is_member.
        """
        import polars as pl

        members = set(self.members)
        columns = {
            "node": pl.Series(list(self._names), strict=False),
            "score": self.scores,
            "membership": self.membership,
            "is_member": [name in members for name in self._names],
        }
        return pl.DataFrame(columns)

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        first = ", ".join(map(str, self.members[:10]))
        facts = [
            ("members", f"{len(self.members):,} of {len(self.scores):,} nodes: {first}, ..."),
            ("check", str(self.check).replace("rows", "nodes")),
            ("method", self.reason),
            *(("warning", str(warning)) for warning in self.warnings),
        ]
        return Card("Community", facts)


class CommunitySearch(BaseEstimator):
    """Find one community of a graph from a few of its members.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of communities; auto counts those that the links can show.

    Attributes
    ----------
    n_components_ : int
        Number of communities of the block model; 1 if the links do not show any.
    method_, reason_ : str
        How communities are searched for, "block model" or "pagerank", and why.

    Notes
    -----
    In a block model (Ray, Sanghavi and Shakkottai, "Searching for a Single Community in a Graph", 2018), communities
    and numbers of links say how often two nodes are linked, whatever neighbours they share. In most graphs that people
    make, nodes with a common neighbour are linked much more often: the answer then comes from personalised PageRank.

    Examples
    --------
    >>> from mixsearch import CommunitySearch
    >>> from mixsearch.datasets import make_communities
    >>> data = make_communities(2000, 4, mean_degree=20, signal=4.0, random_state=0)
    >>> community = CommunitySearch().fit(data.adjacency).search(examples=data.known(2, 3))
    >>> print(community.reason)
    Block model of 4 communities, since these explain the links.
    >>> bool((data.labels[community.members] == 2).mean() > 0.9)
    True
    """

    n_components_: int

    def __init__(self, n_components: int | Literal["auto"] = "auto") -> None:
        self.n_components = n_components

    def fit(self, X: GraphLike, y: None = None) -> Self:
        """Fit the communities of a graph.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, n), data frame or networkx.Graph
            The adjacency matrix, whose entries are the weights of links; or a data frame with one row for each link:
            two nodes and, if there is a third column, its weight. Links count in both directions.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        requested = None if self.n_components == AUTO else check_n_components(self.n_components)
        # 1) the graph, and its links as counts: with weights scaled so that their mean is their mean square
        graph = self._graph = read_graph(X)
        check_n_samples(graph.adjacency, requested or 1, f"{requested} communities")
        links = graph.adjacency * (graph.adjacency.sum() / graph.adjacency.power(2).sum())
        # 2) communities of a block model, and whether these explain the links between neighbours
        self._log_posterior = fit_block_model(links, requested or count_communities(links))
        self.n_components_ = self._log_posterior.shape[1]
        linked, expected = measure_closure(links, np.exp(self._log_posterior))
        closure, k = linked / max(expected, TINY), self.n_components_
        self.method_ = "pagerank"
        if not 1 / TUNING.max_closure <= closure <= TUNING.max_closure:
            times = f"{closure:.1f} times as often as communities alone explain"
            self.reason_ = f"PageRank, since nodes with a common neighbour are linked {times}."
        elif k == 1:
            self.reason_ = "PageRank, since the links do not show any communities: the examples may not have one."
        else:
            self.method_ = "block model"
            self.reason_ = f"Block model of {k} communities, since these explain the links."
        # 3) personalised PageRank
        self._pagerank = PageRank(graph.adjacency, GRAPH_TUNING.restart)
        self.n_features_in_ = len(graph.names)
        return self

    def search(self, examples: Any, not_examples: Any = None) -> Community:
        """Find the community of a few nodes.

        Parameters
        ----------
        examples : name or sequence of names
            A few members.
        not_examples : name or sequence of names, optional
            Nodes that are not members.

        Returns
        -------
        Community
        """
        check_is_fitted(self)
        graph = self._graph
        # 1) the examples
        positive, negative = graph.find(examples), graph.find(not_examples)
        check_examples(graph, positive, negative)
        # 2) scores and membership
        uses_model = self.method_ == "block model"
        if uses_model:
            result = search_block_model(self._log_posterior, positive, negative)
        else:
            result = find_members(self._pagerank, positive, negative)
        # 3) members: those more likely than not, or those before a cut
        order = np.argsort(-result.scores, kind="stable")
        cut = np.sum(result.membership > 0.5) if uses_model else find_cut(graph.adjacency, order, result.check.ranks)
        members = [graph.names[node] for node in order[: max(int(cut), len(positive))]]
        # 4) a reason not to trust the answer: walks of PageRank often do not connect examples of one community
        warnings = []
        if uses_model and len(result.apart):
            disagreeing = [str(graph.names[node]) for node in positive[result.apart]]
            warning = DoubtfulExamplesWarning(
                "{n_disagreeing} of {n_examples} examples belong to another community: {nodes}.",
                n_disagreeing=len(disagreeing),
                n_examples=len(positive),
                nodes=", ".join(disagreeing[:5]),
            )
            warn_user(warning)
            warnings.append(warning)
        return Community(*result[:4], members, self.method_, self.reason_, tuple(warnings), graph.names)


def check_examples(graph: Graph, positive: Array, negative: Array) -> None:
    """Refuse examples that do not say anything."""
    if not len(positive):
        raise HintError("No node was named. Name a few members of the community.", code="no_nodes_named")
    both = np.intersect1d(positive, negative)
    if len(both):
        raise HintError(
            "{node!r} is among the examples and among those of other communities.",
            code="examples_contradict",
            node=str(graph.names[both[0]]),
        )
    if not np.diff(graph.adjacency.indptr)[positive].any():
        raise HintError(
            "The nodes named have no links, so that nothing is known about their community. Name others.",
            code="examples_without_links",
        )
