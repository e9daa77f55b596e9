"""From visits of a walk to members: how many rows there are, and how likely each row is one of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from mixsearch._typing import Array
from mixsearch.core.visits import Visits
from mixsearch.core.walk import Walk, row_of_edge

# With three examples, the ranks of left-out examples say as much about the number of members as the mixture does.
EXAMPLES_FOR_RANKS = 2
# The log of the number of members deviates by this, over the cubic root of the number of examples.
COUNT_DEVIATION = 0.4
MIN_CONDUCTANCE = 0.01


class MembershipCurve(NamedTuple):
    """Membership as a function of rank / number of members.

    Height and steepness are linear in 1, the log of the number of examples and the log of the conductance.
    """

    height: tuple[float, float, float]  # the logit of the membership of the first row
    log_steepness: tuple[float, float, float]
    shift: float  # where membership falls to half of its height, as a log


# Fitted to labelled tables: benchmarks/table_membership.py.
CURVE = MembershipCurve((-0.02, 0.46, -0.16), (-1.30, 0.51, -0.60), -0.08)


class Members(NamedTuple):
    """How many rows are like the examples, and how likely each node of the graph is one of them."""

    n: float  # the number of members, and the rank at which membership falls
    membership: Array  # (m,)
    conductance: float  # the fraction of the members' edges that leave them


def find_members(walk: Walk, visits: Visits, nodes: Array, sizes: Array, expected: float) -> Members:
    """Return the members that the visits of a walk show.

    Parameters
    ----------
    walk : Walk
    visits : Visits
    nodes : array of shape (q,)
        The node of each example.
    sizes : array of shape (m,)
        The number of rows that each node stands for.
    expected : float
        The number of rows in the components of the examples.

    Returns
    -------
    Members

    Notes
    -----
    If rows are ranked rightly, a left-out example has any rank among the members with the same probability: the median
    of these ranks is half of the number of members.
    """
    scores, q = visits.scores(), visits.n_examples
    order = np.argsort(-scores, kind="stable")
    counts = np.cumsum(sizes[order])
    n = expected
    if q > 1:
        left_out, tested = visits.left_out(), nodes[visits.tested]
        # Among the rows that its node stands for, an example has the middle rank.
        ranks = sizes @ (left_out > left_out[tested, np.arange(len(tested))]) + 0.5 * (sizes[tested] - 1)
        share = (q - 1) / (q - 1 + EXAMPLES_FOR_RANKS)
        n = float(np.exp(share * np.log(2 * np.median(ranks) + 2) + (1 - share) * np.log(expected)))
    is_cut = np.diff(scores[order]) != 0  # nodes that no walk visits are in no order
    visited = float(sizes[scores > 0].sum())
    conductances = np.where(is_cut, sweep_conductance(walk, order)[:-1], np.inf)
    n, conductance = _find_cut(min(n, visited), COUNT_DEVIATION / np.cbrt(q), counts, conductances)
    membership = np.empty(len(scores))
    by_rank = membership_by_rank((counts - 0.5 * sizes[order]) / n, q, conductance)
    membership[order] = _share_ties(by_rank, scores[order], sizes[order])
    return Members(n, membership, conductance)


def membership_by_rank(ratios: Array, n_examples: Any, conductance: Any, curve: MembershipCurve = CURVE) -> Array:
    """Return the probability to be a member at each rank, relative to the number of members.

    The number of examples and the conductance are numbers, or arrays of the shape of the ranks.
    """
    conductance = np.maximum(conductance, MIN_CONDUCTANCE)
    facts = np.stack(np.broadcast_arrays(1.0, np.log(n_examples), np.log(conductance)))
    steepness = np.exp(curve.log_steepness @ facts)
    return np.asarray(expit(curve.height @ facts) * expit(steepness * (curve.shift - np.log(ratios))))


def sweep_conductance(walk: Walk, order: Array) -> Array:
    """Return the conductance of the first 1, 2, ... nodes of an order: edges that leave them, by the smaller side."""
    m = len(order)
    position = np.empty(m, dtype=np.intp)
    position[order] = np.arange(m)
    graph = walk.graph
    rows = row_of_edge(graph)
    first, last = position[rows], position[graph.indices]
    forward = first < last
    weights = (graph.data / (walk.scale[rows] * walk.scale[graph.indices]))[forward]
    changes = np.bincount(first[forward], weights, m) - np.bincount(last[forward], weights, m)
    volume = np.cumsum(walk.scale[order] ** -2.0)
    smaller = np.minimum(volume, volume[-1] - volume)
    return np.asarray(np.cumsum(changes) / np.maximum(smaller, np.finfo(np.float64).tiny))


def _share_ties(membership: Array, scores: Array, sizes: Array) -> Array:
    """Return the mean membership of nodes with equal scores, such as those that no walk visits, for each of them."""
    tie = np.concatenate([[0], np.cumsum(np.diff(scores) != 0)])
    return np.asarray((np.bincount(tie, sizes * membership) / np.bincount(tie, sizes))[tie])


def _find_cut(n: float, deviation: float, counts: Array, conductances: Array) -> tuple[float, float]:
    """Return the number of rows after which the graph has its best cut, and the conductance there.

    Parameters
    ----------
    n : float
        The number of rows that is expected.
    deviation : float
        The standard deviation of its logarithm.
    counts : array of shape (m,)
        The number of rows of the first 1, 2, ... nodes.
    conductances : array of shape (m - 1,)
        Of the cut after each node but the last; infinite where there is none.

    Returns
    -------
    n : float
        The same if there is no cut.
    conductance : float

    Notes
    -----
    The number of rows has a normal distribution on a logarithmic scale, and a cut is as likely as it is clean.
    """
    if not np.isfinite(conductances).any():
        return n, 1.0
    distances = np.log(counts[:-1] / n) / deviation
    best = int(np.argmin(np.log(np.maximum(conductances, MIN_CONDUCTANCE)) + 0.5 * distances**2))
    return float(counts[best]), float(min(conductances[best], 1.0))
