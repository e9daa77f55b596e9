"""Cases of `trust.py` with subspaces: searches for the first of three planes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from trust_question import CENTER_LIMIT, Question, is_weight_right
from workloads import draw_subspaces

from mixsearch import SubspaceSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_hint
from mixsearch.datasets.mixtures import SubspacesData
from mixsearch.errors import collect_warnings

D, GAMMA, NOISE = 40, 0.9, 0.3

Hint = Callable[[SubspacesData, np.random.Generator], dict[str, Any]]
Change = Callable[[SubspacesData, np.random.Generator], SubspacesData]


@dataclass(frozen=True)
class SubspaceCase:
    """How samples are drawn and corrupted, and the hint for a subspace.

    Right is an answer whose projector has at most three times the error of the one from all true members, and a weight
    within five standard errors of their share.
    """

    hint: Hint
    scales: tuple[tuple[float, ...], ...] = ((1.0, 1.0),) * 3
    deviations: tuple[float, ...] = (NOISE,) * 3
    change: Change = lambda data, rng: data
    n_components: int = 3
    refine: bool = False
    target: int = 0
    has_answer: bool = True

    def __call__(self, seed: int) -> Question:
        """Draw the samples and the hint."""
        rng = np.random.default_rng(seed)
        drawn = draw_subspaces(6_000, D, self.scales, self.deviations, seed=seed)
        data, dim = self.change(drawn, rng), drawn.bases.shape[2]
        hint = self.hint(data, rng)
        return Question(
            ask=lambda: self._fit(data, dim).search(**hint, refine=self.refine),
            is_right=lambda found: self._is_right(found, data, drawn.oracle()[self.target]),
            has_answer=self.has_answer,
        )

    def _fit(self, data: SubspacesData, dim: int) -> SubspaceSearch:
        """Fit without its warnings: what they mean for an answer must be among its own doubts."""
        with collect_warnings():
            return SubspaceSearch(self.n_components, dim=dim).fit(data.X)

    def _is_right(self, found: Any, data: SubspacesData, oracle: Array) -> bool:
        basis = found.basis[:D]  # what was added has nothing of the subspace
        own = _distance(basis, data.bases[self.target])
        limit = CENTER_LIMIT * _distance(oracle, data.bases[self.target])
        return own <= limit and is_weight_right(found.weight, data.weights[self.target], len(data.X))


def _distance(one: Array, other: Array) -> float:
    """Return the norm of the difference of two projectors."""
    return float(np.linalg.norm(one @ one.T - other @ other.T, 2))


def direction(data: SubspacesData, rng: np.random.Generator) -> dict[str, Any]:
    return {"hint": make_hint(data.bases, 0, gamma=GAMMA)}


def examples(*components: int) -> Hint:
    """Samples of the components given, drawn at random."""

    def draw(data: SubspacesData, rng: np.random.Generator) -> dict[str, Any]:
        rows = [rng.choice(np.flatnonzero(data.labels == component)) for component in components]
        return {"examples": data.X[rows]}

    return draw


def examples_of_two(*counts: int) -> Hint:
    """Samples of the first subspace, and some of the second that are longer than half of its samples.

    One near zero is near the first subspace as well: nobody can say that it does not belong there.
    """

    def draw(data: SubspacesData, rng: np.random.Generator) -> dict[str, Any]:
        members, others = (np.flatnonzero(data.labels == component) for component in (0, 1))
        lengths = np.linalg.norm(data.X[others] @ data.bases[1], axis=1)
        pools = members, others[lengths > np.median(lengths)]
        rows = [rng.choice(pool, size=count) for pool, count in zip(pools, counts, strict=True)]
        return {"examples": data.X[np.concatenate(rows)]}

    return draw


def with_second_share(low: float, high: float) -> Hint:
    """Make a direction of which the second subspace contains a random fraction of what the first one contains."""

    def draw(data: SubspacesData, rng: np.random.Generator) -> dict[str, Any]:
        dim, share = data.bases.shape[2], rng.uniform(low, high)
        held = [_unit(rng, dim), np.sqrt(share) * _unit(rng, dim), np.zeros(dim)]
        return {"hint": np.linalg.lstsq(np.hstack(list(data.bases)).T, np.concatenate(held), rcond=None)[0]}

    return draw


def orthogonal(data: SubspacesData, rng: np.random.Generator) -> dict[str, Any]:
    """A direction orthogonal to all subspaces."""
    span, _ = np.linalg.qr(np.hstack(list(data.bases)))
    drawn = rng.standard_normal(D)
    return {"hint": drawn - span @ (span.T @ drawn)}


def far_away(data: SubspacesData, rng: np.random.Generator) -> dict[str, Any]:
    """An example 170 standard deviations of the noise from every subspace."""
    return {"examples": 170 * NOISE * _unit(rng, D)[None]}


def _unit(rng: np.random.Generator, n_features: int) -> Array:
    drawn = rng.standard_normal(n_features)
    return np.asarray(drawn / np.linalg.norm(drawn))


def off_origin(data: SubspacesData, rng: np.random.Generator) -> SubspacesData:
    return replace(data, X=data.X + 5 * _unit(rng, D))


def outlier(data: SubspacesData, rng: np.random.Generator) -> SubspacesData:
    """One sample that is thirty times as long as others."""
    X = data.X.copy()
    X[rng.integers(len(X))] = 30 * np.sqrt(np.mean(np.sum(X**2, axis=1))) * _unit(rng, D)
    return replace(data, X=X)


def constant_columns(data: SubspacesData, rng: np.random.Generator) -> SubspacesData:
    return replace(data, X=np.hstack([data.X, np.zeros((len(data.X), 20))]))


FOUR, STRAY, BOTH = examples(*[0] * 4), examples_of_two(4, 1), examples_of_two(3, 3)
STRETCHED = ((np.sqrt(3.0), 1.0),) * 3
LARGER = ((1.0, 1.0), (1.4, 1.4), (2.0, 2.0))
THREE_DIMENSIONS = ((1.0, 1.0, 1.0),) * 3
FOUR_PLANES: dict[str, Any] = {"scales": ((1.0, 1.0),) * 4, "deviations": (NOISE,) * 4}
CASES: dict[str, SubspaceCase] = {
    "direction": SubspaceCase(direction),
    "direction, refined": SubspaceCase(direction, refine=True),
    "examples, 4": SubspaceCase(FOUR),
    "examples, 4, refined": SubspaceCase(FOUR, refine=True),
    "the second holds .4 to .9 of the first one's share": SubspaceCase(with_second_share(0.4, 0.9), THREE_DIMENSIONS),
    "the second holds .4 to .9 of the first one's share, refined": SubspaceCase(
        with_second_share(0.4, 0.9), THREE_DIMENSIONS, refine=True
    ),
    "direction with a tie": SubspaceCase(with_second_share(1.0, 1.0), has_answer=False),
    "direction orthogonal to all": SubspaceCase(orthogonal, has_answer=False),
    "direction orthogonal to all, refined": SubspaceCase(orthogonal, refine=True, has_answer=False),
    "coordinates of variance 3 and 1, direction": SubspaceCase(direction, STRETCHED),
    "coordinates of variance 3 and 1, examples": SubspaceCase(FOUR, STRETCHED),
    "coordinates of variance 3 and 1, refined": SubspaceCase(FOUR, STRETCHED, refine=True),
    "subspaces of variance 1, 2 and 4": SubspaceCase(FOUR, LARGER),
    "subspaces of variance 1, 2 and 4, refined": SubspaceCase(FOUR, LARGER, refine=True),
    "noise 1:4": SubspaceCase(examples(*[2] * 4), deviations=(0.2, 0.3, 0.4), target=2),
    "noise 1:4, refined": SubspaceCase(examples(*[2] * 4), deviations=(0.2, 0.3, 0.4), target=2, refine=True),
    "off the origin, direction": SubspaceCase(direction, change=off_origin),
    "off the origin, examples": SubspaceCase(FOUR, change=off_origin),
    "off the origin, examples, refined": SubspaceCase(FOUR, change=off_origin, refine=True),
    "3 examples of one, 3 of another": SubspaceCase(BOTH, has_answer=False),
    "3 examples of one, 3 of another, refined": SubspaceCase(BOTH, refine=True, has_answer=False),
    "4 examples of one, 1 of another": SubspaceCase(STRAY, has_answer=False),
    "4 examples of one, 1 of another, refined": SubspaceCase(STRAY, refine=True, has_answer=False),
    "example 170 σ away": SubspaceCase(far_away, has_answer=False),
    "example 170 σ away, refined": SubspaceCase(far_away, refine=True, has_answer=False),
    "1 sample 30 times as long among 6,000": SubspaceCase(FOUR, change=outlier),
    "1 sample 30 times as long among 6,000, refined": SubspaceCase(FOUR, change=outlier, refine=True),
    "k=3 for 4 subspaces": SubspaceCase(FOUR, **FOUR_PLANES),
    "k=3 for 4 subspaces, refined": SubspaceCase(FOUR, refine=True, **FOUR_PLANES),
    "k=5 for 4 subspaces": SubspaceCase(FOUR, n_components=5, **FOUR_PLANES),
    "k=5 for 4 subspaces, refined": SubspaceCase(FOUR, n_components=5, refine=True, **FOUR_PLANES),
    "20 columns of zeros": SubspaceCase(FOUR, change=constant_columns),
    "20 columns of zeros, refined": SubspaceCase(FOUR, change=constant_columns, refine=True),
}
# Why a row cannot hold.
REASONS = {
    "k=3": "the members of right answers vary in a further direction too, about as much as those of wrong ones",
}
