"""Draw graphs of a stochastic block model with known truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mixsearch._typing import Array
from mixsearch.datasets.random import RandomState
from mixsearch.errors import ArgumentError, Option


@dataclass(frozen=True, slots=True)
class CommunityData:
    """A graph of a stochastic block model.

    Attributes
    ----------
    adjacency : sparse array of shape (n, n)
        Symmetric, 1 for each link.
    labels : array of shape (n,)
        The community of each node.
    weights : array of shape (k,)
        The probability of each community.
    affinity : array of shape (k, k)
        Links between two communities, relative to a graph of the same degrees without communities.
    """

    adjacency: sp.csr_array[Any]
    labels: Array
    weights: Array
    affinity: Array

    def known(self, community: int, n: int) -> Array:
        """Return a few members of a community: the first ones that have links."""
        has_links = np.diff(self.adjacency.indptr) > 0
        return np.flatnonzero((self.labels == community) & has_links)[:n]


def make_communities(
    n_nodes: int = 10_000,
    n_components: int = 4,
    *,
    mean_degree: float = 20.0,
    signal: float = 2.0,
    weights: ArrayLike | None = None,
    degree_exponent: float | None = None,
    random_state: RandomState = None,
) -> CommunityData:
    """Draw a graph with more links within communities than between them.

    Parameters
    ----------
    n_nodes : int, default=10_000
        Number of nodes.
    n_components : int, default=4
        Number of communities, k.
    mean_degree : float, default=20
        Mean number of links of a node.
    signal : float, default=2
        Multiple of the detection threshold (Kesten-Stigum): mean degree times λ², where λ is the second eigenvalue of
        the matrix that says where a link of each community leads. Below 1, communities of equal size cannot be
        detected.
    weights : array of shape (k,), optional
        Probabilities of the communities; equal by default.
    degree_exponent : float, optional
        Above 2. Propensities to link follow a power law with this exponent; without it, all nodes have the same.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    CommunityData

    Examples
    --------
    >>> data = make_communities(1000, 3, mean_degree=15, random_state=0)
    >>> data.adjacency.shape, sorted(set(data.labels.tolist()))
    ((1000, 1000), [0, 1, 2])
    """
    rng = check_random_state(random_state)
    strength = np.sqrt(signal / mean_degree)
    if not 0 <= strength <= 1:
        raise ArgumentError(
            "{argument} must be between 0 and the mean degree {mean_degree}, where no links are left between "
            "communities, got {value}.",
            argument=Option("signal"),
            value=signal,
            mean_degree=mean_degree,
        )
    shares = np.full(n_components, 1 / n_components) if weights is None else np.asarray(weights, dtype=np.float64)
    shares = shares / shares.sum()
    # Links lead to the own community with probability λ, and anywhere otherwise.
    affinity = 1 - strength + strength * np.diag(1 / shares)
    labels = rng.choice(n_components, size=n_nodes, p=shares)
    propensity = (
        np.ones(n_nodes) if degree_exponent is None else (1 - rng.rand(n_nodes)) ** (-1 / (degree_exponent - 1))
    )
    links = _draw_links(rng, labels, propensity, affinity, mean_degree)
    return CommunityData(links, labels, shares, affinity)


def _draw_links(
    rng: np.random.RandomState, labels: Array, propensity: Array, affinity: Array, mean_degree: float
) -> sp.csr_array[Any]:
    """Draw the number of links between each two communities, then their ends."""
    n, k = len(labels), len(affinity)
    groups = [np.flatnonzero(labels == a) for a in range(k)]
    ends = np.array([propensity[group].sum() for group in groups])
    expected = mean_degree * n * affinity * np.outer(ends, ends) / ends.sum() ** 2
    pairs = []
    for a in range(k):
        for b in range(a, k):
            size = rng.poisson(expected[a, b] * (0.5 if a == b else 1.0))
            if size:
                drawn = [rng.choice(groups[c], size, p=propensity[groups[c]] / ends[c]) for c in (a, b)]
                pairs.append(np.array(drawn))
    low, high = np.sort(np.hstack(pairs), axis=0) if pairs else np.zeros((2, 0), dtype=int)
    once = sp.csr_array((np.ones(len(low)), (low, high)), shape=(n, n))
    once.sum_duplicates()
    once.data[:] = 1.0
    above = sp.triu(once, k=1)
    return sp.csr_array(above + above.T)
