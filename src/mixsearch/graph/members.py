"""From scores to members: where examples rank when they are left out, and what this says about every other node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import rel_entr
from scipy.stats import rankdata

from mixsearch._typing import Array
from mixsearch.core.check import Check
from mixsearch.graph.pagerank import PageRank, contrast
from mixsearch.graph.tuning import TUNING

# With fewer examples, too little is known for a probability.
MIN_EXAMPLES = 3
# More examples than these are not left out in turn.
MAX_LEFT_OUT = 50
# More examples than these may be of several groups of one class.
MAX_SPLIT = 10
# Scores below this, relative to the highest one, are equal.
FLOOR = 1e-12


class Members(NamedTuple):
    """The members that examples show.

    Attributes
    ----------
    scores : array of shape (n,)
        One score per node: the highest for positive examples, 0 for negative ones.
    membership : array of shape (n,)
        Monotone in the score: a probability, or a rank from 0 to 1 if there are too few examples.
    is_probability : bool
        Which of the two membership is.
    check : Check
        Where examples rank when they are left out.
    apart : array of int
        The positive examples of the smaller of two groups, as indices of them; empty if they are of one group.
    """

    scores: Array
    membership: Array
    is_probability: bool
    check: Check
    apart: Array = np.empty(0, dtype=np.intp)


def find_members(pagerank: PageRank, positive: Array, negative: Array, sizes: Array | None = None) -> Members:
    """Find the members of a graph from positive and negative examples, which are nodes, each given once.

    `sizes` has the number of rows that each node stands for, (n,).
    """
    # 1) scores, and the ranks of left-out examples
    from_positive, from_negative = pagerank.from_nodes(positive), pagerank.from_nodes(negative).sum(axis=1)
    scores = contrast(from_positive.sum(axis=1), from_negative)
    check = leave_one_out(from_positive, from_negative, positive, sizes)
    # 2) membership of the others, and the recall that it expects
    is_probability = len(check.ranks) >= MIN_EXAMPLES
    if is_probability:
        n_rows = np.ones(len(scores)) if sizes is None else np.array(sizes, dtype=np.float64)
        n_rows[positive], n_rows[negative] = 0, 0
        membership = estimate_membership(scores, check, n_rows)
        check = check._replace(curve=expect_recall(membership, n_rows))
    # 3) examples are members or not
    scores[positive], scores[negative] = scores.max(initial=0), 0
    if not is_probability:
        membership = 1 - rank_scores(scores, sizes) / check.n_rows
    membership[positive], membership[negative] = 1, 0
    return Members(scores, membership, is_probability, check, split_examples(from_positive, positive, sizes))


def rank_scores(scores: Array, sizes: Array | None = None) -> Array:
    """Compute how many rows have a higher score than each node, (n,): half of those with the same score count."""
    if sizes is None:
        return np.asarray(rankdata(-scores) - 0.5)
    order, level = np.unique(-scores, return_inverse=True)
    counts = np.bincount(level, sizes, len(order))
    return np.asarray((np.cumsum(counts) - counts / 2)[level])


def leave_one_out(positive: Array, negative: Array, examples: Array, sizes: Array | None = None) -> Check:
    """Rank each positive example among the nodes that are not examples, by the PageRank from the others.

    `positive` has the PageRank from each of q examples, (n, q), `negative` the total from negative ones, (n,).
    """
    total = positive.sum(axis=1, keepdims=True)
    tested = choose_left_out(len(examples))
    return rank_left_out(contrast(np.maximum(total - positive[:, tested], 0), negative[:, None]), examples, sizes)


def choose_left_out(q: int) -> Array:
    """Choose the examples that are left out in turn: none of one, and not more than a few dozen of many."""
    return np.unique(np.linspace(0, q - 1, min(q, MAX_LEFT_OUT)).astype(np.intp)) if q > 1 else np.empty(0, np.intp)


def rank_left_out(scores: Array, examples: Array, sizes: Array | None = None) -> Check:
    """Rank left-out examples among the nodes that are not examples, by scores without them, (n, len(tested))."""
    sizes = np.ones(len(scores)) if sizes is None else sizes
    is_other = np.ones(len(scores))
    is_other[examples] = 0
    weights = sizes * is_other
    tested = examples[choose_left_out(len(examples))]
    own = scores[tested, np.arange(len(tested))]
    ranks = 1 + weights @ (scores > own) + 0.5 * (weights @ (scores == own) + sizes[tested] - 1)
    return Check(np.sort(np.minimum(np.ceil(ranks), sizes.sum())).astype(np.int64), int(sizes.sum()))


def estimate_membership(scores: Array, check: Check, sizes: Array) -> Array:
    """Estimate the probability that nodes are members, (n,), from their scores and the ranks of left-out examples.

    `sizes` has the number of rows that each node stands for, (n,), 0 for examples.

    Notes
    -----
    Examples are drawn from the members at random, so that membership is proportional to the probability of being an
    example (Elkan and Noto, 2008): p(s) = min(1, s^b / mean(t^b)) at the score s, where left-out examples have scores
    t. The mean of p over powers b weighs each by the probability of the ranks of left-out examples.

    Where members and others overlap, the best rows are not all members, and examples alone cannot tell how many are. p
    is multiplied by a², where a is the probability that a member precedes another row, as p and the ranks imply it.
    """
    order = np.argsort(-scores, kind="stable")
    scores, sizes = np.maximum(scores, FLOOR * scores.max())[order], sizes[order]
    middle, n = np.cumsum(sizes) - sizes / 2, check.n_rows
    # 1) the scores of left-out examples
    left_out = np.interp(check.ranks - 0.5, middle, scores)
    scores, left_out = scores / left_out.max(), left_out / left_out.max()
    # 2) membership and its likelihood for each power
    curves = np.array([np.minimum(1, scores**power / np.mean(left_out**power)) for power in TUNING.powers])
    totals = np.maximum(curves @ sizes, FLOOR)
    at_ranks = np.array([np.interp(check.ranks - 0.5, middle, curve) for curve in curves])
    log_likelihood = np.log(np.maximum(at_ranks, FLOOR) / totals[:, None]).sum(axis=1)
    likelihood = np.exp(log_likelihood - log_likelihood.max())
    membership = np.average(curves, axis=0, weights=likelihood)
    # 3) the probability that a member precedes another row
    n_members = max(float(membership @ sizes), FLOOR)
    expected = membership * sizes @ middle / n_members  # rank of a member
    n_before = np.mean([*check.ranks, *[expected] * TUNING.prior_examples])
    share = min(n_members / n, 1 - FLOOR)
    precedes = np.clip((1 - n_before / n - share / 2) / (1 - share), 0.5, 1)
    result = np.empty(len(scores))
    result[order] = precedes**2 * membership
    return result


def expect_recall(membership: Array, sizes: Array) -> Array:
    """Compute numbers of rows, best first, and the fraction of all members that membership expects in them, (2, m)."""
    order = np.argsort(-membership, kind="stable")
    rows, members = np.cumsum(sizes[order]), np.cumsum((membership * sizes)[order])
    return np.hstack([np.zeros((2, 1)), [rows, members / max(members[-1], FLOOR)]])


def find_cut(adjacency: sp.csr_array, order: Array, ranks: Array) -> int:
    """Find the number of first nodes that are members, by the links among them and the ranks of left-out examples.

    Notes
    -----
    Of a fraction v of all link ends, nodes have the fraction v² of the links among each other by chance. The gain of a
    cut is the log-likelihood ratio of their true fraction to it. A member has the rank r among m members with a
    probability that is proportional to 1 / (m (1 + (r/m)³)).
    """
    n, total = len(order), adjacency.sum()
    position = np.empty(n, dtype=np.intp)
    position[order] = np.arange(n)
    links = adjacency.tocoo()
    last = np.maximum(position[links.row], position[links.col])
    inside = np.minimum(np.cumsum(np.bincount(last, links.data, n)) / total, 1)
    chance = np.minimum(np.cumsum(np.asarray(adjacency.sum(axis=1))[order]) / total, 1) ** 2
    gain = np.where(inside > chance, rel_entr(inside, chance) + rel_entr(1 - inside, 1 - chance), 0)
    sizes = np.arange(1.0, n + 1)
    loss = np.log(sizes) + sum(np.log(sizes) + np.log1p((rank / sizes) ** 3) for rank in ranks)
    return int(np.argmin(TUNING.rank_weight * loss - np.log(np.maximum(gain, np.finfo(np.float64).tiny)))) + 1


def split_examples(positive: Array, examples: Array, sizes: Array | None = None) -> Array:
    """Find the examples of the smaller of two groups of at least two, if there are two: their indices.

    `positive` has the PageRank from each of q examples, (n, q).

    Notes
    -----
    Two examples are connected if the walks from them visit each other more than a mean row (the geometric mean of both
    directions); a group are examples that are connected, directly or through others.
    """
    if not 1 < len(examples) <= MAX_SPLIT:
        return np.empty(0, dtype=np.intp)
    lift = positive[examples] / np.maximum(np.average(positive, axis=0, weights=sizes), np.finfo(np.float64).tiny)
    n_groups, group = connected_components(lift * lift.T >= 1, directed=False)
    counts = np.bincount(group)
    if n_groups != 2 or counts.min() < 2:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(group != counts.argmax())
