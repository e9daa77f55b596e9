"""Random walks with restart on a graph: scores of nodes by example, and which of them are members."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from mixsearch._typing import Array

# The walk goes on with this probability, and else starts again at an example.
STAY = 0.98
# Conjugate gradients end at this fraction of the first residual.
TOLERANCE, MAX_ITER = 1e-4, 100
# Examples that are left out in turn, evenly spread over all of them.
MAX_TESTED = 200
# The log of the number of members deviates by this from that of the mixture. This and the next two numbers were chosen
# on development tables: docs/decisions/tables.md.
COUNT_DEVIATION = 0.7
# The density of the ranks of members is half at this part of the number of members, and falls with this power: rankings
# are not perfect.
HALF_RANK, RANK_POWER = 0.85, 3.0
# More ranks of left-out examples count like this many: they depend on each other.
MAX_RANKS = 20
MIN_CONDUCTANCE = 0.01
# Added to the share of rows left, which may be 0.
MIN_LEFT = 0.01
# Memberships fall by at least this part over all rows.
ORDER_SHARE = 1e-3


class Walk(NamedTuple):
    """A random walk with restart on a graph."""

    graph: sp.csr_array  # (n, n), scaled by the root of the degrees on both sides
    scale: Array  # one over the root of the degrees, (n,)

    @classmethod
    def on(cls, edges: sp.csr_array, weights: Array) -> Self:
        """Return the walk on the edges of a symmetric graph, (n, n), with a weight for each stored one."""
        indices, indptr, shape = edges.indices, edges.indptr, edges.shape
        degrees: Array = sp.csr_array((weights, indices, indptr), shape=shape).sum(axis=1)
        scale = 1 / np.sqrt(np.maximum(degrees, np.finfo(np.float64).tiny))
        normalized = weights * scale[row_of_edge(edges)] * scale[indices]
        return cls(sp.csr_array((normalized, indices, indptr), shape=shape), scale)

    def visits(self, starts: Array) -> Array:
        """Return how often the walk visits each row from each start, (n, q), relative to the degree of the row.

        Notes
        -----
        Visits h from a start a solve (I - sG)h = (1 - s)a with G = D^(-1/2) W D^(-1/2), by conjugate gradients.
        """
        target = (1 - STAY) * starts
        solution = np.zeros_like(target)
        residual, direction = target.copy(), target.copy()
        power = np.einsum("ij,ij->j", residual, residual)
        goal = TOLERANCE**2 * power
        for _ in range(MAX_ITER):
            if np.all(power <= goal):
                break
            moved = direction - STAY * (self.graph @ direction)
            step = power / np.maximum(np.einsum("ij,ij->j", direction, moved), np.finfo(np.float64).tiny)
            solution += step * direction
            residual -= step * moved
            last, power = power, np.einsum("ij,ij->j", residual, residual)
            direction = residual + (power / np.maximum(last, np.finfo(np.float64).tiny)) * direction
        return np.asarray(np.maximum(solution, 0) * self.scale[:, None])


def row_of_edge(edges: sp.csr_array) -> Array:
    """Return the row of each stored edge."""
    return np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))


def start_at(nodes: Array, n_nodes: int) -> sp.csc_array:
    """Return walks that start at one node each, (m, q)."""
    return sp.csc_array((np.ones(len(nodes)), nodes, np.arange(len(nodes) + 1)), shape=(n_nodes, len(nodes)))


class Visits(NamedTuple):
    """Visits of a walk from examples."""

    total: Array  # from all examples, (m,)
    alone: Array  # from each of the tested examples, (m, t)
    tested: Array  # which examples these are, (t,)
    no_members: Array  # from rows that are not members, on the scale of the visits from one example, (m,)
    n_examples: int

    @classmethod
    def of(cls, walk: Walk, starts: sp.csc_array, starts_not: sp.csc_array) -> Self:
        """Return the visits from examples, and from rows that are not members.

        Visits from several rows are the sum of those from each, so that one walk serves all that are not tested.
        """
        q = starts.shape[1]
        tested = np.unique(np.linspace(0, q - 1, min(q, MAX_TESTED)).astype(np.intp))
        others = np.delete(np.arange(q), tested)
        visits = walk.visits(
            np.column_stack([starts[:, tested].toarray(), starts[:, others].sum(axis=1), starts_not.sum(axis=1)])
        )
        return cls(visits[:, :-1].sum(axis=1), visits[:, :-2], tested, visits[:, -1] / q, q)

    def scores(self) -> Array:
        """Return the score of each node, (m,)."""
        return score_nodes(self.total / self.n_examples, self.no_members)

    def part(self) -> Array:
        """Return the part of the visits of each node that are from examples, (m,): 1 if there are no visits."""
        members = self.total / self.n_examples
        total = members + self.no_members
        return np.where(total > 0, members, 1) / np.where(total > 0, total, 1)

    def left_out(self) -> Array:
        """Return the score of each node without one of the tested examples, (m, t)."""
        others = (self.total[:, None] - self.alone) / max(self.n_examples - 1, 1)
        return score_nodes(np.maximum(others, 0), self.no_members[:, None])


def score_nodes(visits: Array, visits_not: Array) -> Array:
    """Return the score of each node, (m, ...): visits from examples, times the part that they are of all visits."""
    total = visits + visits_not
    return np.asarray(visits * (visits / np.where(total > 0, total, 1)))


class MembershipCurve(NamedTuple):
    """Membership as a function of rank / number of members.

    Height and steepness are linear in the facts of `CutFacts`, after a constant.
    """

    height: tuple[float, float, float, float]  # the logit of the membership of the first row
    log_steepness: tuple[float, float, float, float]
    shift: float  # where membership falls to half of its height, as a log


# Fitted to labelled tables: benchmarks/table_membership.py.
CURVE = MembershipCurve((-1.33, 0.48, -0.72, 1.17), (-1.56, 0.45, -0.65, -1.13), 0.0)


class CountInterval(NamedTuple):
    """The logs of the true number of members over the one found that 2.5% and 97.5% of searches stay below.

    They are linear in 1, the log of the number of examples and the log of the conductance.
    """

    low: tuple[float, float, float]
    high: tuple[float, float, float]


# Fitted to labelled and planted tables: benchmarks/table_membership.py. With more examples than this, intervals do not
# narrow further; and their ends are at least this factor away, for cuts inside a group may be clean by chance.
INTERVAL = CountInterval((-3.41, 0.78, -0.05), (1.77, -0.17, 0.28))
MAX_NARROWING, MIN_FACTOR = 10, 1.5


class CutFacts(NamedTuple):
    """What tells how far a cut is to be trusted; numbers, or arrays of one shape."""

    n_examples: Any
    conductance: Any  # the fraction of the members' edges that leave them
    share_left: Any  # of all rows, those that are not called members: a cut around nearly all rows shows no group

    def as_logs(self) -> Array:
        """Return 1 and the logs of the facts, (4, ...)."""
        conductance = np.maximum(self.conductance, MIN_CONDUCTANCE)
        left = np.asarray(self.share_left) + MIN_LEFT
        return np.stack(np.broadcast_arrays(1.0, np.log(self.n_examples), np.log(conductance), np.log(left)))


class Members(NamedTuple):
    """The number of rows like the examples, and the membership of each node of the graph."""

    n: float  # the number of members, and the rank at which membership falls
    low: float  # of a 95% interval of their number
    high: float
    membership: Array  # (m,)
    facts: CutFacts


def find_members(walk: Walk, visits: Visits, nodes: Array, sizes: Array, expected: float) -> Members:
    """Return the members that the visits of a walk show.

    Notes
    -----
    Each cut of the graph along the ranking has a posterior probability. A cut is as likely as it is clean; the log of
    its number of rows is normal around that of the mixture; and a left-out example has any rank among the members with
    the same probability, if rows are ranked rightly.
    """
    scores, q = visits.scores(), visits.n_examples
    order = np.argsort(-scores, kind="stable")
    counts = np.cumsum(sizes[order])
    is_cut = np.diff(scores[order]) != 0  # nodes that no walk visits are in no order
    expected = min(expected, float(sizes[scores > 0].sum()))
    conductances = np.where(is_cut, sweep_conductance(walk, order)[:-1], np.inf)
    n, conductance = find_cut(expected, _left_out_ranks(visits, nodes, sizes), counts, conductances)
    membership = np.empty(len(scores))
    facts = CutFacts(q, conductance, 1 - n / counts[-1])
    by_rank = membership_by_rank((counts - 0.5 * sizes[order]) / n, facts)
    membership[order] = _share_ties(by_rank, scores[order], sizes[order])
    return Members(n, *count_interval(n, facts), membership, facts)


def membership_by_rank(ratios: Array, facts: CutFacts, curve: MembershipCurve = CURVE) -> Array:
    """Return the probability to be a member at each rank, relative to the number of members.

    The facts are numbers, or arrays of the shape of the ranks.
    """
    logs = facts.as_logs()
    steepness = np.exp(curve.log_steepness @ logs)
    fall = expit(steepness * (curve.shift - np.log(ratios)))
    # A steep curve is 1 up to rounding for many rows, whose order would be lost.
    order = 1 - ORDER_SHARE * ratios / (1 + ratios)
    return np.asarray(expit(curve.height @ logs) * fall * order)


def count_interval(n: float, facts: CutFacts, interval: CountInterval = INTERVAL) -> tuple[float, float]:
    """Return a 95% interval of the number of members, if n are found."""
    logs = facts._replace(n_examples=min(facts.n_examples, MAX_NARROWING)).as_logs()[: len(interval.low)]
    low, high = (float(np.exp(each @ logs)) for each in interval)
    return n * min(low, 1 / MIN_FACTOR), n * max(high, MIN_FACTOR)


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


def _left_out_ranks(visits: Visits, nodes: Array, sizes: Array) -> Array:
    """Return how many rows rank before each tested example in a walk from the others, (t,): none for one example."""
    if visits.n_examples == 1:
        return np.empty(0)
    left_out, tested = visits.left_out(), nodes[visits.tested]
    # Among the rows that its node stands for, an example has the middle rank.
    return np.asarray(sizes @ (left_out > left_out[tested, np.arange(len(tested))]) + 0.5 * (sizes[tested] - 1))


def find_cut(expected: float, ranks: Array, counts: Array, conductances: Array) -> tuple[float, float]:
    """Return the likeliest number of members, and the conductance of the cut after them."""
    if not np.isfinite(conductances).any():
        return expected, 1.0
    sizes = counts[:-1].astype(np.float64)
    loss = np.log(np.maximum(conductances, MIN_CONDUCTANCE)) + 0.5 * (np.log(sizes / expected) / COUNT_DEVIATION) ** 2
    for rank in ranks.tolist():
        by_rank = np.log(sizes) + np.log1p(((rank + 1) / (HALF_RANK * sizes)) ** RANK_POWER)
        loss += min(1, MAX_RANKS / len(ranks)) * by_rank
    best = int(np.argmin(loss))
    return float(counts[best]), float(min(conductances[best], 1.0))
