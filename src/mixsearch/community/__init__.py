"""Communities of a graph: stochastic block models."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.community._component import Community
    from mixsearch.community._graph import Graph, as_graph, graph_from_links
    from mixsearch.community._moments import fit_community
    from mixsearch.community._search import CommunitySearch
    from mixsearch.community._spectrum import GraphSpectrum
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = [
    "Community",
    "CommunitySearch",
    "Graph",
    "GraphSpectrum",
    "as_graph",
    "fit_community",
    "graph_from_links",
]
