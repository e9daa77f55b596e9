"""Graphs as users have them -> a symmetric adjacency matrix without self-loops, and the names of its nodes."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.errors import GraphWarning, HintError, SearchError, warn_user

_MAX_SUGGESTIONS = 3


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph without self-loops.

    Attributes
    ----------
    adjacency : sparse array of shape (n, n)
        Symmetric, with the weight of each link.
    names : list, optional
        The names of the nodes; without them, nodes are numbered from 0.
    """

    adjacency: Any
    names: Sequence[Hashable] | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.adjacency.shape[0])

    @property
    def n_links(self) -> int:
        """Number of links; each counts once."""
        return int(self.adjacency.nnz) // 2

    def name(self, node: int) -> Hashable:
        """Return the name of a node, or its number."""
        return int(node) if self.names is None else self.names[node]

    def find(self, nodes: Any) -> Array:
        """Return the numbers of nodes, each once."""
        wanted: list[Any] = [nodes] if isinstance(nodes, str | Integral) else list(nodes)
        if not wanted:
            raise HintError("No node was named. Name a few members of the community.", code="no_nodes_named")
        if self.names is None:
            return _check_numbers(wanted, self.n_nodes)
        return np.array(list(dict.fromkeys(_find_name(self._places, each) for each in wanted)), dtype=np.intp)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {name: place for place, name in enumerate(self.names or ())}


def _check_numbers(wanted: list[Any], n_nodes: int) -> Array:
    for each in wanted:
        if not isinstance(each, Integral) or not 0 <= int(each) < n_nodes:
            raise HintError(
                "{node!r} is not a node: nodes have the numbers 0 to {last}.",
                code="unknown_node",
                node=each if isinstance(each, str) else int(each) if isinstance(each, Integral) else str(each),
                last=n_nodes - 1,
            )
    return np.array(list(dict.fromkeys(int(each) for each in wanted)), dtype=np.intp)


def _find_name(places: dict[Hashable, int], name: Hashable) -> int:
    if name in places:
        return places[name]
    nearest = difflib.get_close_matches(str(name), map(str, places), n=_MAX_SUGGESTIONS)
    raise HintError(
        "{node!r} is not a node of the graph."
        + (" Nearest: {nearest}." if nearest else " Check the spelling; case matters."),
        code="unknown_node",
        node=name,
        nearest=", ".join(nearest),
    )


def as_graph(source: Any, names: Iterable[Hashable] | None = None) -> Graph:
    """Return a graph from an adjacency matrix, or from an object of networkx or igraph."""
    if isinstance(source, Graph):
        return source
    if hasattr(source, "get_adjacency_sparse"):  # igraph
        given = source.vs["name"] if "name" in source.vs.attributes() else None
        weight = "weight" if "weight" in source.es.attributes() else None
        source, names = source.get_adjacency_sparse(weight), given if names is None else names
    elif hasattr(source, "nodes") and hasattr(source, "adjacency"):  # networkx
        given = list(source.nodes)
        source = _collect_links(source, given)
        names = (None if given == list(range(len(given))) else given) if names is None else names
    adjacency = _check_adjacency(source)
    return Graph(_make_simple(adjacency), _check_names(names, adjacency.shape[0]))


def _collect_links(graph: Any, nodes: list[Hashable]) -> Any:
    """Return the adjacency matrix of an object of networkx."""
    places = {name: place for place, name in enumerate(nodes)}
    links = [(places[one], places[other], weight) for one, other, weight in graph.edges(data="weight", default=1.0)]
    sources, targets, weights = np.array(links, dtype=np.float64).reshape(-1, 3).T
    one_way = sp.coo_array((weights, (sources.astype(np.intp), targets.astype(np.intp))), shape=(len(nodes),) * 2)
    return one_way if graph.is_directed() else one_way + sp.triu(one_way, k=1).T + sp.tril(one_way, k=-1).T


def graph_from_links(
    sources: Sequence[Hashable], targets: Sequence[Hashable], weights: ArrayLike | None = None
) -> Graph:
    """Return a graph from its links."""
    places: dict[Hashable, int] = {}
    pairs = list(zip(sources, targets, strict=True))
    is_whole = np.array([not (_is_missing(one) or _is_missing(other)) for one, other in pairs], dtype=bool)
    values = np.ones(len(pairs)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not is_whole.all():
        pairs, values = [pair for pair, is_kept in zip(pairs, is_whole, strict=True) if is_kept], values[is_whole]
        warn_user(
            GraphWarning(
                "{n:,} links lack one of their nodes, and are left out.",
                code="links_incomplete",
                n=int(np.count_nonzero(~is_whole)),
            )
        )
    numbered = [places.setdefault(name, len(places)) for pair in pairs for name in pair]
    ends, n = np.array(numbered, dtype=np.int64).reshape(-1, 2), len(places)
    # Both orders of two nodes are the same link.
    low, high = ends.min(axis=1, initial=n), ends.max(axis=1, initial=0)
    once = _check_adjacency(sp.csr_array((values, (low, high)), shape=(n, n)))
    n_repeated = len(ends) - once.nnz
    if weights is None:
        once.data[:] = 1.0
        if n_repeated:
            warn_user(
                GraphWarning(
                    "{n:,} of {n_links:,} links are repeated, and count once. Give weights to count them more often.",
                    code="repeated_links",
                    n=n_repeated,
                    n_links=len(ends),
                )
            )
    return Graph(_make_simple(sp.csr_array(once + sp.triu(once, k=1).T)), list(places))


def _is_missing(name: Hashable) -> bool:
    return name is None or name != name or name == ""


def _check_adjacency(source: Any) -> Any:
    """Return a matrix as a sparse one with positive, finite entries."""
    adjacency: Any = sp.csr_array(sp.coo_array(source)).astype(np.float64)
    n, d = adjacency.shape
    if n != d:
        raise SearchError(
            "An adjacency matrix is square, but this one has shape ({n}, {d}). Build one from a table of links with "
            "scipy.sparse.coo_array.",
            code="not_square",
            n=n,
            d=d,
        )
    adjacency.sum_duplicates()
    if not np.isfinite(adjacency.data).all():
        raise SearchError("The graph has links of weight NaN or infinity.", code="weights_not_finite")
    if adjacency.data.min(initial=0.0) < 0:
        raise SearchError(
            "The graph has links of negative weight, down to {smallest:.3g}. Weights must be positive: leave out such "
            "links, or search in their absolute values.",
            code="negative_weights",
            smallest=float(adjacency.data.min()),
        )
    adjacency.eliminate_zeros()
    return _with_short_indices(adjacency)


def _with_short_indices(adjacency: Any) -> Any:
    """Return a matrix with indices of 32 bits if they suffice: products read half as much."""
    if max(adjacency.nnz, adjacency.shape[0]) > np.iinfo(np.int32).max:
        return adjacency
    indices, starts = adjacency.indices.astype(np.int32), adjacency.indptr.astype(np.int32)
    return sp.csr_array((adjacency.data, indices, starts), adjacency.shape)


def _make_simple(adjacency: Any) -> Any:
    """Return a symmetric matrix without self-loops, and note what was changed."""
    loops = int(np.count_nonzero(adjacency.diagonal()))
    if loops:
        adjacency = sp.csr_array(adjacency - sp.diags_array(adjacency.diagonal(), format="csr"))
        adjacency.eliminate_zeros()
        warn_user(
            GraphWarning("{n:,} nodes are linked to themselves; such links are left out.", code="self_loops", n=loops)
        )
    reverse = sp.csr_array(adjacency.T)
    one_way = abs(adjacency - reverse)
    if one_way.nnz and one_way.data.max() > 1e-9 * adjacency.data.max():
        warn_user(
            GraphWarning(
                "The graph is directed. A link counts in both directions; of two that differ, the larger weight.",
                code="directed_graph",
            )
        )
        adjacency = sp.csr_array(adjacency.maximum(reverse))
    if not adjacency.nnz:
        raise SearchError("The graph has no links between different nodes.", code="no_links")
    adjacency.sort_indices()
    return adjacency


def _check_names(names: Iterable[Hashable] | None, n_nodes: int) -> list[Hashable] | None:
    if names is None:
        return None
    listed = list(names)
    if len(listed) != n_nodes:
        raise SearchError(
            "{n_names:,} names were given for {n_nodes:,} nodes.",
            code="other_length",
            n_names=len(listed),
            n_nodes=n_nodes,
        )
    if len(set(listed)) < n_nodes:
        twice, _ = Counter(listed).most_common(1)[0]
        raise SearchError("Two nodes have the name {name!r}.", code="repeated_name", name=twice)
    return listed
