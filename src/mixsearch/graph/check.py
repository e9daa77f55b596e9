"""The check of an answer from examples: where each ranks among all rows when it is left out."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.check import Check
from mixsearch.graph.pagerank import contrast


def leave_one_out(positive: Array, negative: Array, examples: Array) -> Check:
    """Rank each positive example among the nodes that are not examples, by the PageRank from the others.

    `positive` has the PageRank from each of q examples, (n, q), `negative` the total from negative ones, (n,).
    """
    n, q = positive.shape
    if q < 2:
        return Check(np.empty(0, dtype=np.int64), n)
    total, others = positive.sum(axis=1), np.setdiff1d(np.arange(n), examples)
    left_out = contrast(np.maximum(total[:, None] - positive, 0), negative[:, None])
    ranks = 1 + np.sum(left_out[others] > left_out[examples, np.arange(q)], axis=0)
    return Check(np.sort(ranks), n)
