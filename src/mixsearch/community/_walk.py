"""Members by a random walk: what the named nodes and their communities reach, if links do not follow the model."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from mixsearch._typing import Array
from mixsearch.core.walk import Walk

# Chosen on imports of six packages and nearest neighbours in three tables, other graphs than those that the
# documentation reports on (benchmarks/community_graphs.py): the first two by F1, the last by the Brier score.
# A community is meant too if it has this fraction of the named nodes of the one that has most.
_MIN_NAMED = 0.5
# The walk starts at the named nodes this often, and else at a link end of their communities.
_NAMED_STARTS = 0.7
# Odds of membership are this power of the visits, relative to those of the last member.
_ODDS_POWER = 8


def communities_meant(posterior: Array, named: Array, index: int) -> Array:
    """Return the communities that the named nodes mean together, (k,) of bool.

    Parameters
    ----------
    posterior : array of shape (n, k)
        The probability of each community for each node.
    named : array of int
        The named nodes.
    index : int
        The community that is meant in any case.

    Returns
    -------
    array of shape (k,)

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
    """Return the probability of membership by a walk from named nodes and from their community, (n,).

    Parameters
    ----------
    walk : Walk
        On the graph.
    strengths : array of shape (n,)
        Sum of the weights of the links of each node.
    named : array of int
        The named nodes; one of them at least has links.
    community : array of shape (n,)
        The probability that each node is in the community of the named ones. As many nodes become members.

    Returns
    -------
    array of shape (n,)
    """
    ends = strengths * community
    starts = (1 - _NAMED_STARTS) * ends / max(float(ends.sum()), np.finfo(np.float64).tiny)
    linked = named[strengths[named] > 0]  # no walk leads from the others
    starts[linked] += _NAMED_STARTS / len(linked)
    logs = np.log(np.maximum(_visits(walk, starts), np.finfo(np.float64).tiny))
    n_members = min(max(int(np.count_nonzero(community > 0.5)), 1), len(logs) - 1)
    last, next_one = -np.partition(-logs, [n_members - 1, n_members])[n_members - 1 : n_members + 1]
    return np.asarray(expit(_ODDS_POWER * (logs - (last + next_one) / 2)))


def walk_agreement(walk: Walk, starts: Array, membership: Array) -> float:
    """Return the share of the members that a random walk from some nodes also visits most, for their degrees.

    Parameters
    ----------
    walk : Walk
        On the graph.
    starts : array of shape (n,)
        How often the walk starts at each node.
    membership : array of shape (n,)
        The probability that each node is a member.

    Returns
    -------
    float
        Of as many nodes as there are members.
    """
    members = membership > 0.5
    nearest = np.argsort(-_visits(walk, starts), kind="stable")[: np.count_nonzero(members)]
    return float(members[nearest].mean()) if len(nearest) else 0.0


def _visits(walk: Walk, starts: Array) -> Array:
    """Return how often the walk visits each node, relative to its degree, (n,)."""
    return walk.visits((starts * walk.scale)[:, None])[:, 0]
