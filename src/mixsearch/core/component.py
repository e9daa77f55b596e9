"""What a search returns: one component, with the other candidates under the same hint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.jackknife import StandardErrors
from mixsearch.core.separation import separation_in_words
from mixsearch.display import Card, plain_number
from mixsearch.errors import SearchError


@dataclass(frozen=True, slots=True)
class Candidates:
    """All components as one hint shows them, in the order of preference: the chosen one first."""

    points: Array  # columns W'μᵢ, (k, q); q = k but where a method finds one component only
    weights: Array  # αᵢ, (k,)
    scores: Array  # ⟨μᵢ, v⟩, (k,)
    preference: Array  # what put them in order, (k,), falling

    @property
    def shares(self) -> Array:
        """αᵢ⟨μᵢ, v⟩² as parts of their sum v'Av, (k,): how much of the hint each component accounts for."""
        parts = self.weights * self.scores**2
        total = parts.sum()
        return np.asarray(parts / total if total > 0 else parts)

    def separation(self, rank: int) -> float:
        """By what factor this candidate leads the best other one (below 1: falls behind it).

        Two components of the same score cannot be told apart by the hint, whatever their shares: the lead is never more
        than the factor to the nearest other score.
        """
        if len(self.preference) == 1:
            return float("inf")
        lead = _lead(float(self.preference[rank]), float(self.preference[0 if rank else 1]))
        mine, others = float(self.scores[rank]), np.delete(self.scores, rank)
        below, above = others[others <= mine].max(initial=-np.inf), others[others >= mine].min(initial=np.inf)
        return min(lead, _lead(mine, float(below)), _lead(float(above), mine))


def _lead(mine: float, other: float) -> float:
    """The factor between two preferences, above 1 where mine is larger, also where both are negative."""
    if mine == other:
        return 1.0
    if mine > 0 and other > 0:
        return mine / other
    if mine < 0 and other < 0:
        return other / mine
    return float("inf") if mine > other else 0.0


@dataclass(frozen=True, slots=True)
class Refined:
    """A component after likelihood steps."""

    center: Array  # (d,)
    weight: float
    objectives: tuple[float, ...]  # the log-likelihood of the start and after each step that was kept


@dataclass(frozen=True, repr=False, eq=False)
class Component:
    """One component of a mixture, found from a hint, with the others that the hint could mean.

    Attributes
    ----------
    center : array of shape (d,)
        The component's parameter μ.
    weight : float
        Its share α of the mixture.
    separation : float
        The factor by which it leads the runner-up under the hint: 1 + δ of the paper. Near 1, the hint does not single
        out a component.
    score : float
        ⟨μ, v⟩, what the hint makes of this component.
    scores : array of shape (k,)
        The scores of all components, this hint's order.
    share : float
        The part of the hint that the component accounts for, α⟨μ, v⟩² / v'Av.
    alternatives : tuple of Component
        The other components, likeliest first. They are rough where the hint does not tell them apart.
    moment_estimate : Component
        The same without likelihood steps, where ``refine=True`` took some.
    stderr : StandardErrors
        Of `center` and `weight`.
    confidence : float
        The chance that the hint picked the right component.
    """

    frame: Frame
    candidates: Candidates
    rank: int = 0
    refined: Refined | None = field(default=None, kw_only=True)  # the same component after likelihood steps
    feature_names: Sequence[str] | None = field(default=None, kw_only=True)  # where the fit saw a data frame

    @cached_property
    def center(self) -> Array:
        """The component's parameter μ, (d,)."""
        return self._moment_center() if self.refined is None else self.refined.center

    def _moment_center(self) -> Array:
        return self.frame.unwhiten(self.point)

    @property
    def moment_estimate(self) -> Self:
        """The component as moments alone find it, without likelihood steps."""
        return replace(self, refined=None)

    @cached_property
    def stderr(self) -> StandardErrors:
        """Standard errors of `center` and `weight`; for a 95% interval take 1.96 of them to both sides."""
        raise SearchError(
            "Standard errors come from samples, and this component was found from moments alone. Search with one of "
            "the estimators, or vary the moments yourself."
        )

    @cached_property
    def confidence(self) -> float:
        """The chance that this is the component that the hint means: that no other would come first on more samples."""
        raise SearchError(
            "A confidence comes from samples, and this component was found from moments alone. Look at its separation."
        )

    @property
    def point(self) -> Array:
        """The center in the coordinates of the frame, (k,)."""
        return np.asarray(self.candidates.points[:, self.rank])

    @property
    def direction(self) -> Array:
        """The eigenvector √α W'μ, (k,)."""
        return np.asarray(self.point * np.sqrt(float(self.candidates.weights[self.rank])))

    @property
    def weight(self) -> float:
        """The component's share of the mixture."""
        return float(self.candidates.weights[self.rank]) if self.refined is None else self.refined.weight

    @property
    def score(self) -> float:
        """What the hint makes of this component, ⟨μ, v⟩."""
        return float(self.candidates.scores[self.rank])

    @property
    def scores(self) -> Array:
        """The scores of all components, (k,), in this hint's order of preference."""
        return self.candidates.scores

    @property
    def share(self) -> float:
        """The part of the hint that this component accounts for."""
        return float(self.candidates.shares[self.rank])

    @property
    def separation(self) -> float:
        """By what factor the component leads the best other one."""
        return self.candidates.separation(self.rank)

    @property
    def alternatives(self) -> tuple[Self, ...]:
        """The other components, likeliest first."""
        return tuple(map(self.ranked, self.other_ranks))

    @property
    def other_ranks(self) -> list[int]:
        """The ranks of the alternatives under the hint, from 0 for the likeliest component."""
        return [rank for rank in range(self.candidates.points.shape[1]) if rank != self.rank]

    def ranked(self, rank: int) -> Self:
        """The component of another rank, as moments find it."""
        return replace(self, rank=rank, refined=None)

    def _card(self) -> Card:
        """What `repr` and the notebook show."""
        return Card(
            title=f"{type(self).__name__}, one of {len(self.scores)}",
            facts=[
                ("weight", plain_number(self.weight)),
                ("separation", separation_in_words(self.separation)),
                ("share of the hint", plain_number(self.share)),
                ("center", _glance(self.center)),
            ],
            bars=_score_bars(self.candidates),
            bars_title="score of each component under the hint",
        )

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()


def _glance(center: Array) -> str:
    first = ", ".join(plain_number(float(x)) for x in center[:4])
    more = ", ..." if len(center) > 4 else ""
    return f"[{first}{more}] ({len(center):,} features)"


def _score_bars(candidates: Candidates) -> list[tuple[str, float]]:
    names = ["found"] + [f"alternative {i}" for i in range(1, len(candidates.scores))]
    return list(zip(names, candidates.scores.tolist(), strict=True))[:8]
