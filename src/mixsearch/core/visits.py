"""How often a walk from the examples visits each node, together and from each example alone."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.walk import Walk

# Examples that are left out in turn, evenly spread over all of them.
MAX_TESTED = 200


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

        Parameters
        ----------
        walk : Walk
        starts : sparse array of shape (m, q)
            Where the walk from each example starts.
        starts_not : sparse array of shape (m, r)
            Where that from each row which is no member does.

        Returns
        -------
        Visits
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
