"""Graphs as users have them -> a symmetric adjacency matrix without self-loops, and the names of its nodes."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, GraphLike
from mixsearch.errors import GraphWarning, HintError, SearchError, warn_user

MAX_WEIGHT = 1e100  # of a link, whose square must not overflow; its inverse is the least


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph without self-loops."""

    adjacency: sp.csr_array  # weights of links, (n, n), symmetric
    names: Sequence[Hashable]  # of the nodes

    @property
    def n_links(self) -> int:
        """Number of links; each counts once."""
        return int(self.adjacency.nnz) // 2

    @cached_property
    def _indices(self) -> dict[Hashable, int]:
        return {name: index for index, name in enumerate(self.names)}

    def find(self, nodes: Any) -> Array:
        """Return the indices of nodes by their names, each once."""
        if nodes is None or isinstance(nodes, str) or not isinstance(nodes, Iterable):
            nodes = () if nodes is None else (nodes,)
        return np.array(list(dict.fromkeys(map(self._find_node, nodes))), dtype=np.intp)

    def _find_node(self, name: Any) -> int:
        if isinstance(name, Hashable) and name in self._indices:
            return self._indices[name]
        nearest = difflib.get_close_matches(str(name), map(str, self.names), n=3) if isinstance(name, str) else []
        raise HintError(
            "{node!r} is not a node of the graph."
            + (" Nearest: {nearest}." if nearest else " Nodes have names such as {first!r} and {last!r}."),
            code="unknown_node",
            node=name if isinstance(name, str | int) else str(name),
            nearest=", ".join(nearest),
            first=str(self.names[0]),
            last=str(self.names[-1]),
        )


def read_graph(source: GraphLike) -> Graph:
    """Read a graph from an adjacency matrix, a data frame of links, or a graph of networkx."""
    if isinstance(source, Graph):
        return source
    if hasattr(source, "nodes") and hasattr(source, "edges"):  # networkx
        links = list(source.edges(data="weight"))
        has_weights = any(weight is not None for _, _, weight in links)
        weights = [1.0 if weight is None else weight for _, _, weight in links] if has_weights else None
        return read_links([link[0] for link in links], [link[1] for link in links], weights, nodes=list(source.nodes))
    if hasattr(source, "columns") and len(source.columns) in (2, 3):
        return read_links(*(source[name].to_list() for name in source.columns))
    try:
        matrix: Any = sp.csr_array(sp.coo_array(source).astype(np.float64))
        n, d = matrix.shape
    except (TypeError, ValueError):
        n, d = 0, -1
    if n != d:
        raise SearchError(
            "A graph is a square adjacency matrix, a data frame with two columns of nodes (and a third one of "
            "weights), or a graph of networkx. The {type} given is none of these; its shape is {shape}.",
            code="not_a_graph",
            type=type(source).__name__,
            shape=str(np.shape(source)),
        )
    return make_graph(matrix, range(n))


def read_links(
    sources: Sequence[Hashable],
    targets: Sequence[Hashable],
    weights: Sequence[float] | None = None,
    *,
    nodes: Iterable[Hashable] = (),
) -> Graph:
    """Read a graph from its links. Repeated ones count once; if links have weights, these are added up."""
    values = np.ones(len(sources)) if weights is None else as_weights(weights)
    missing = {name for name in chain(sources, targets) if name is None or name != name or name == ""}
    if missing:
        is_whole = np.array([not {*link} & missing for link in zip(sources, targets, strict=True)])
        sources, targets = ([name for name, keep in zip(e, is_whole, strict=True) if keep] for e in (sources, targets))
        values = values[is_whole]
        n_incomplete = int(np.sum(~is_whole))
        warn_user(
            GraphWarning(
                "{n:,} links lack one of their nodes, and are left out.", code="links_incomplete", n=n_incomplete
            )
        )
    indices = {name: index for index, name in enumerate(dict.fromkeys(chain(nodes, sources, targets)))}
    ends = np.array([[indices[name] for name in names] for names in (sources, targets)], dtype=np.intp).reshape(2, -1)
    # Both orders of two nodes are the same link.
    matrix = sp.csr_array((values, (ends.min(axis=0), ends.max(axis=0))), shape=(len(indices),) * 2)
    if weights is None:
        matrix.sum_duplicates()
        matrix.data[:] = 1
    return make_graph(matrix, list(indices))


def as_weights(weights: Sequence[Any]) -> Array:
    """Return the weights of links as numbers."""
    try:
        return np.array([np.nan if weight is None else weight for weight in weights], dtype=np.float64)
    except (TypeError, ValueError):
        raise SearchError("The weights of links must be numbers.", code="not_numbers") from None


def make_graph(matrix: sp.csr_array, names: Sequence[Hashable]) -> Graph:
    """Make a graph: a link of two weights, one for each direction, has the larger one, and self-loops are left out."""
    sizes = matrix.data[matrix.data != 0]
    if not np.all((sizes >= 1 / MAX_WEIGHT) & (sizes <= MAX_WEIGHT)):  # nor if one is not a number
        raise SearchError(
            "The weights of links must be positive, from {least:g} to {most:g}. Leave out other links.",
            code="weights_not_positive",
            least=1 / MAX_WEIGHT,
            most=MAX_WEIGHT,
        )
    n_loops = int(np.count_nonzero(matrix.diagonal()))
    if n_loops:
        matrix = sp.csr_array(matrix - sp.diags_array(matrix.diagonal()))
        warn_user(
            GraphWarning("{n:,} nodes are linked to themselves; such links are left out.", code="self_loops", n=n_loops)
        )
    adjacency = sp.csr_array(matrix.maximum(matrix.T))
    adjacency.eliminate_zeros()
    adjacency.sort_indices()
    if not adjacency.nnz:
        raise SearchError("The graph has no links between different nodes.", code="no_links")
    return Graph(adjacency, names)
