"""Members by a walk from the examples on samples that express each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.example_fit import examples_disagree
from mixsearch.core.walk import Members, Visits, find_members, start_at
from mixsearch.errors import DoubtfulExamplesWarning
from mixsearch.subspace._expression import SelfExpression
from mixsearch.subspace._family import SubspaceFamily
from mixsearch.subspace._refinement import MemberSpan, span_members

# An example is doubted if walks from the others visit more than this share of the samples sooner.
MAX_RANK = 0.5


@dataclass(frozen=True)
class WalkedMembers:
    """How likely each node is a member, by walks from the examples."""

    expression: SelfExpression
    members: Members
    visits: Visits
    nodes: Array  # the node of each example, (q,)
    span: MemberSpan | None = None  # the subspace of the members; None if there are too few

    @classmethod
    def from_examples(cls, expression: SelfExpression, examples: Samples, expected: float) -> WalkedMembers:
        """Walk from examples, (q, d), of which so large a share of the samples is expected to be alike."""
        nodes = np.asarray(expression.express(examples).toarray().argmax(axis=1))
        walk, m = expression.walk, len(expression.units)
        visits = Visits.of(walk, start_at(nodes, m), start_at(nodes[:0], m))
        return cls(expression, find_members(walk, visits, nodes, np.ones(m), max(expected * m, 1.0)), visits, nodes)

    def with_span(self, family: SubspaceFamily) -> WalkedMembers:
        """Return the same with the subspace of its members among all samples."""
        return replace(self, span=span_members(family, self.membership))

    def membership(self, X: Samples) -> Array:
        """Return the probability that samples are members, (n,)."""
        return np.asarray(self.expression.express(X) @ self.members.membership)

    @cached_property
    def confidence(self) -> float:
        """The mean probability of the nodes called members, other than the examples, to be members."""
        membership = np.delete(self.members.membership, self.nodes)
        n_called = max(round(self.members.n) - len(np.unique(self.nodes)), 1)
        return float(np.sort(membership)[::-1][:n_called].mean()) if len(membership) else 1.0

    def doubts(self) -> list[DoubtfulExamplesWarning]:
        """Return the doubt that some examples are unlike the others."""
        tested = self.nodes[self.visits.tested]
        if len(tested) < 2:
            return []
        left_out = self.visits.left_out()
        own = left_out[tested, np.arange(len(tested))]
        ranks = np.sum(left_out > own, axis=0) + 0.5 * np.sum(left_out == own, axis=0)
        unlike = self.visits.tested[ranks > MAX_RANK * len(left_out)]
        return [examples_disagree(unlike, len(self.nodes))] if len(unlike) else []
