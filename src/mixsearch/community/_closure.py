"""Whether links follow the block model: neighbours of a node are linked as often as communities explain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.community._em import BlockModel, Links

# Pairs of neighbours of a node that are looked at: enough for a ratio within a few percent.
_N_PAIRS = 20_000
# Neighbours linked more often than this multiple of what communities explain speak against the model. Block models with
# hubs, power laws and members of two communities reach 1.3, since communities are learned from the same links; graphs
# of imports begin at 1.4, those of nearest neighbours at 2.5 (benchmarks/community_fit.py).
MAX_CLOSURE = 1.35
# Standard deviations by which they must be more than explained.
_MIN_SIGMAS = 3.0


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

    Parameters
    ----------
    links : Links
    posterior : array of shape (n, k)
        The probability of each community for each node.
    model : BlockModel
    seed : int
        Seed of the pairs.

    Returns
    -------
    Closure

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
