"""Communities of a graph: find one of them from a few of its members.

If the links follow a block model (Ray, Sanghavi and Shakkottai, 2018), moments of neighbour triples find all
communities, and the examples choose one. If not, personalised PageRank from the examples ranks the nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

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
from mixsearch.core.validation import AUTO, check_n_components
from mixsearch.display import Card
from mixsearch.errors import DoubtfulExamplesWarning, HintError, SearchWarning, UnlikelyMixtureWarning, warn_user
from mixsearch.graph.links import Graph, read_graph
from mixsearch.graph.members import Members, choose_left_out, find_cut, find_members, rank_left_out
from mixsearch.graph.pagerank import PageRank


@dataclass(frozen=True)
class Tuning:
    """Chosen on block models, imports and nearest neighbours; other graphs are in benchmarks/communities.py."""

    restart: float = 0.02  # probability that the random walk returns to an example
    max_closure: float = 1.43  # linked pairs of those with a common neighbour, over those that communities explain, or
    # the inverse; 1.35 to 1.45 choose the same method for 62 graphs
    n_nodes: int = 500  # whose pairs are counted
    max_components: int = 64  # communities that are counted
    small_graph: int = 1_000  # nodes: with more, noise goes beyond the threshold, and dense matrices are slow


TUNING = Tuning()
TINY = float(np.finfo(np.float64).tiny)


# ---- Block model ----------------------------------------------------------------------------------------------------


class BlockModel(NamedTuple):
    """The communities of all nodes."""

    log_posterior: Array  # log-probability of each community, (n, k)
    closure: float  # links between neighbours of a node, relative to those that the communities explain

    @property
    def is_explained(self) -> bool:
        """Whether communities explain the links between neighbours of a node: there are some, and neither too many."""
        return 1 / TUNING.max_closure <= self.closure <= TUNING.max_closure

    def score(self, index: int) -> Array:
        """Compute -log(1 - membership) for one community, (n,)."""
        return np.asarray(-logsumexp(np.delete(self.log_posterior, index, axis=1), axis=1))

    def choose(self, positive: Array, negative: Array) -> int:
        """Choose the community that all positive and no negative examples are likeliest members of."""
        L = self.log_posterior
        joint = L[positive].sum(axis=0) - (len(positive) - 1) * (logsumexp(L, axis=0) - np.log(len(L)))
        joint -= [np.sum(BlockModel(L[negative], self.closure).score(index)) for index in range(L.shape[1])]
        return int(np.argmax(joint))


def fit_block_model(links: sp.csr_array, n_components: int) -> BlockModel:
    """Fit a block model with degrees: moments of neighbour triples, then one step of a mean field.

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
    log_posterior = log_softmax(logs + np.log(np.maximum(P.mean(axis=0), TINY)), axis=1)
    linked, expected = measure_closure(links, np.exp(log_posterior))
    return BlockModel(log_posterior, linked / max(expected, TINY))


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
        np.divide(per_triple * triples, each, out=np.zeros_like(each), where=has_triples) for each in (pairs, first)
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
    return np.asarray(softmax(logs / noise + np.log(np.maximum(components.weights, 1e-3)), axis=1))


def find_eigenpairs(matrix: Any, k: int, which: Literal["LA", "LM"], tol: float = 1e-4) -> tuple[Array, Array]:
    """Find the first k eigenpairs of a symmetric matrix or operator, (k,) falling and (n, k)."""
    n = matrix.shape[0]
    if n <= max(TUNING.small_graph // 2, 2 * k):
        values, vectors = np.linalg.eigh(np.column_stack([matrix @ unit for unit in np.eye(n)]))
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
    kept = np.flatnonzero(degrees <= 2 * np.sqrt(degrees.sum()))
    links = links[kept][:, kept] if links[kept][:, kept].nnz else links
    n, degrees = links.shape[0], np.asarray(links.sum(axis=1))
    spread = degrees @ degrees / degrees.sum() - 2  # r² - 1
    if spread <= 0:
        return 1
    scale = sp.diags_array((np.sqrt(spread + 1) / spread) ** 0.5 / np.sqrt(1 + degrees / spread))
    matrix = sp.csr_array(scale @ links @ scale, dtype=np.float32)  # enough to count, in half the time
    edge = 1 + 0.5 * n ** (-2 / 3) * (n > TUNING.small_graph)
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


# ---- Answer ---------------------------------------------------------------------------------------------------------


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
    >>> data = make_communities(2000, 4, mean_degree=20, signal=4.0, random_state=0)
    >>> found = CommunitySearch().fit(data.adjacency).search(examples=data.known(2, 3))
    >>> found.method
    'block model'
    >>> bool((data.labels[found.members] == 2).mean() > 0.9)
    True
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
            ("check", str(self.check)),
            ("method", self.reason),
            *(("warning", str(warning)) for warning in self.warnings),
        ]
        return Card("Community", facts)


# ---- Search ---------------------------------------------------------------------------------------------------------


class CommunitySearch(BaseEstimator):
    """Find one community of a graph from a few of its members.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of communities. "auto" counts those that the links can show.

    Attributes
    ----------
    n_components_ : int
        Number of communities of the block model; 1 if the links do not show any.

    Notes
    -----
    In a stochastic block model with degrees, communities and numbers of links say how often two nodes are linked, also
    two neighbours of one node. Where these are linked much more often, as in most graphs that people make, the answer
    comes from personalised PageRank.

    References
    ----------
    A. Ray, S. Sanghavi, S. Shakkottai, "Searching for a Single Community in a Graph", 2018.

    Examples
    --------
    >>> from mixsearch import CommunitySearch
    >>> from mixsearch.datasets import make_communities
    >>> data = make_communities(2000, 4, mean_degree=20, signal=4.0, random_state=0)
    >>> search = CommunitySearch().fit(data.adjacency)
    >>> print(search.search(examples=data.known(2, 3)).reason)
    Block model of 4 communities: they explain how often nodes with a common neighbour are linked.
    """

    n_components_: int

    def __init__(self, n_components: int | Literal["auto"] = "auto") -> None:
        self.n_components = n_components

    def fit(self, X: GraphLike, y: None = None, *, names: Iterable[Hashable] | None = None) -> Self:
        """Fit the communities of a graph.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, n), data frame or networkx.Graph
            The adjacency matrix, whose entries are the weights of links; or a data frame with one row for each link:
            two nodes and, if there is a third column, its weight. Links count in both directions.
        y : None
            Ignored.
        names : iterable of length n, optional
            The names of the nodes of a matrix; without them, nodes are numbered from 0.

        Returns
        -------
        self
        """
        requested = None if self.n_components == AUTO else check_n_components(self.n_components)
        # 1) the graph, and its links as counts: with weights scaled so that their mean is their mean square
        graph = self._graph = read_graph(X, names)
        links = graph.adjacency * (graph.adjacency.sum() / graph.adjacency.power(2).sum())
        # 2) communities of a block model, and whether these explain the links between neighbours
        self._model = fit_block_model(links, requested or count_communities(links))
        self.n_components_ = self._model.log_posterior.shape[1]
        # 3) personalised PageRank
        self._pagerank = PageRank(graph.adjacency, TUNING.restart)
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
        graph, model = self._graph, self._model
        # 1) the examples
        positive, negative = graph.find(examples), graph.find(not_examples)
        check_examples(graph, positive, negative)
        # 2) one score for each node, and membership
        uses_model = model.is_explained and self.n_components_ > 1
        if uses_model:
            found = select_members(model, positive, negative)
        else:
            found = find_members(self._pagerank, positive, negative)
        # 3) members: those more likely than not, or those before a cut
        order = np.argsort(-found.scores, kind="stable")
        if uses_model:
            n_members = int(np.sum(found.membership > 0.5))
        else:
            n_members = max(find_cut(graph.adjacency, order, found.check.ranks), len(positive))
        members = [graph.names[node] for node in order[:n_members]]
        # 4) reasons not to trust the answer
        warnings = find_warnings(graph, model, positive, negative)
        for warning in warnings:
            warn_user(warning)
        method = "block model" if uses_model else "pagerank"
        reason = explain_method(model, uses_model)
        return Community(*found[:4], members, method, reason, tuple(warnings), graph.names)


def explain_method(model: BlockModel, uses_model: bool) -> str:
    """Say which method finds the members, and why."""
    k = model.log_posterior.shape[1]
    if uses_model:
        return f"Block model of {k} communities: they explain how often nodes with a common neighbour are linked."
    if model.is_explained:
        return "Personalised PageRank: no communities stand out in the links."
    return (
        f"Personalised PageRank: nodes with a common neighbour are linked {model.closure:.1f} times as often as the "
        "communities of a block model explain."
    )


def select_members(model: BlockModel, positive: Array, negative: Array) -> Members:
    """Select the members of the community of the examples, and rank each example by the choice of the others."""
    index = model.choose(positive, negative)
    scores = model.score(index)
    left_out = [model.score(model.choose(np.delete(positive, t), negative)) for t in choose_left_out(len(positive))]
    check = rank_left_out(np.array(left_out).reshape(-1, len(scores)).T, positive)
    membership = -np.expm1(-scores)
    scores[positive], scores[negative] = np.nextafter(scores.max(), np.inf), 0
    membership[positive], membership[negative] = 1, 0
    return Members(scores, membership, True, check)


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


def find_warnings(graph: Graph, model: BlockModel, positive: Array, negative: Array) -> list[SearchWarning]:
    """Find reasons not to trust an answer: no communities, or examples of another one."""
    if not model.is_explained:
        return []
    if model.log_posterior.shape[1] == 1:
        return [
            UnlikelyMixtureWarning(
                "The links show no communities: those of a graph without any, but with the same degrees, would look "
                "alike. The nodes nearest to the examples may not belong together. Provide more links.",
                code="undetectable",
            )
        ]
    membership = np.exp(model.log_posterior[positive, model.choose(positive, negative)])
    others = positive[membership * len(positive) < MAX_DISAGREEMENT]
    if not len(others):
        return []
    return [
        DoubtfulExamplesWarning(
            "{n_disagreeing} of {n_examples} examples belong to another community: {nodes}.",
            n_disagreeing=len(others),
            n_examples=len(positive),
            nodes=", ".join(str(graph.names[node]) for node in others[:5]),
        )
    ]
