"""Communities of all nodes from the moments, refined by belief propagation. No hint enters: all searches share them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from mixsearch._typing import Array
from mixsearch.community._em import Beliefs, Links, propagate
from mixsearch.community._moments import CommunityFamily, CommunityPartition
from mixsearch.core.component import Candidates, Refined
from mixsearch.core.em import EMOptions
from mixsearch.core.tensor import all_components
from mixsearch.data.chunks import ArraySum

# Noise may leave a component of the moments without weight; it starts with this much.
_MIN_WEIGHT = 1e-3


@dataclass(frozen=True, slots=True)
class RefinedCommunity(Refined):
    """A community after belief propagation."""

    links: Links
    beliefs: Beliefs
    index: int  # of the community among all

    @property
    def membership(self) -> Array:
        """The probability that each node is a member, (n,)."""
        return np.asarray(self.beliefs.posterior[:, self.index])


def fit_beliefs(family: CommunityFamily, links: Links, options: EMOptions) -> Beliefs:
    """Find all communities from the moments, without a hint, and refine them by belief propagation."""
    start = all_components(family.tensor(np.eye(family.n_components)), family.mean)
    return propagate(links, rough_posterior(family, start), options)


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


def refine_community(family: CommunityFamily, links: Links, beliefs: Beliefs, index: int) -> RefinedCommunity:
    """Return one of the communities that belief propagation found."""
    membership = beliefs.posterior[:, index]
    linked = family.partitions.reduce(_links_of_members, membership).total
    center = linked / max(float(linked.sum()), np.finfo(np.float64).tiny)
    return RefinedCommunity(center, float(membership.mean()), beliefs.objectives, links, beliefs, index)


def _links_of_members(partition: CommunityPartition, membership: Array) -> ArraySum:
    rows = slice(partition.first, partition.first + partition.n_rows)
    return ArraySum(np.asarray(partition.samples.T @ membership[rows]))
