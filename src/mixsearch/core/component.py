"""The result of a search: one component, with the other candidates under the same hint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.separation import separation_in_words
from mixsearch.display import Card, plain_number
from mixsearch.errors import SearchError, SearchWarning


@dataclass(frozen=True, slots=True)
class Candidates:
    """All components as one hint orders them, the preferred one first."""

    points: Array  # columns W'μᵢ, (k, q); q = k unless a method finds one component only
    weights: Array  # αᵢ, (k,)
    scores: Array  # ⟨μᵢ, v⟩, (k,)
    preference: Array  # what they are sorted by, (k,), falling

    @property
    def shares(self) -> Array:
        """αᵢ⟨μᵢ, v⟩² as fractions of their sum v'Av, (k,)."""
        parts = self.weights * self.scores**2
        total = parts.sum()
        return np.asarray(parts / total if total > 0 else parts)

    def separation(self, index: int) -> float:
        """Return the factor by which a candidate leads the best other one; below 1 it falls behind.

        A hint cannot separate two components of the same score, whatever their shares: the lead is never more than the
        factor to the nearest other score.
        """
        if len(self.preference) == 1:
            return float("inf")
        lead = _ratio(float(self.preference[index]), float(self.preference[0 if index else 1]))
        mine, others = float(self.scores[index]), np.delete(self.scores, index)
        below, above = others[others <= mine].max(initial=-np.inf), others[others >= mine].min(initial=np.inf)
        return min(lead, _ratio(mine, float(below)), _ratio(float(above), mine))


def _ratio(mine: float, other: float) -> float:
    """Return the factor between two preferences: above 1 if mine is larger, even if both are negative."""
    if mine == other:
        return 1.0
    if mine > 0 and other > 0:
        return mine / other
    if mine < 0 and other < 0:
        return other / mine
    return float("inf") if mine > other else 0.0


@dataclass(frozen=True, slots=True)
class Refined:
    """A component after EM."""

    center: Array  # (d,)
    weight: float
    objectives: tuple[float, ...]  # the log-likelihood at the start and after each accepted iteration


class Component(ABC):
    """One component of a mixture, found from a hint.

    Attributes
    ----------
    center : array of shape (d,)
        The component's parameter μ.
    weight : float
        Its share α of the mixture.
    separation : float
        The factor by which it leads the runner-up under the hint: 1 + δ of the paper. Near 1, the hint does not single
        out a component.
    scores : array of shape (k,)
        The scores of all components, in the order in which the hint prefers them.
    share : float
        The fraction of the hint that the component accounts for.
    alternatives : tuple of Component
        The other components, most likely first. They are rough if the hint does not separate them.
    moment_estimate : Component
        The estimate before EM, after a search with ``refine=True``.
    stderr : tuple of arrays
        Standard errors; a 95% interval is 1.96 of them to each side.
    separation_interval : (float, float)
        A 95% interval of `separation`.
    warnings : tuple of SearchWarning
        Every reason found not to trust the answer, each with a code, its facts and a sentence.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> data = make_gaussian_mixture(2000, 30, 4, random_state=0)
    >>> found = GaussianSearch(n_components=4).fit(data.X).search(examples=data.X[data.labels == 2][:3])
    >>> found.center.shape, len(found.scores), len(found.alternatives)
    ((30,), 4, 3)
    >>> low, high = found.separation_interval
    >>> bool(low < found.separation < high), found.warnings
    (True, ())
    """

    _clear_separation: ClassVar[float] = 1.5  # a lead by this factor is not noise
    _warnings: tuple[SearchWarning, ...]

    @property
    def warnings(self) -> tuple[SearchWarning, ...]:
        """Every reason found not to trust the answer."""
        return self._warnings

    @property
    @abstractmethod
    def center(self) -> Array:
        """The component's parameter μ, (d,)."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """The component's share of the mixture."""

    @property
    @abstractmethod
    def separation(self) -> float:
        """The factor by which the component leads the best other one."""

    @property
    @abstractmethod
    def separation_interval(self) -> tuple[float, float]:
        """A 95% interval of `separation`."""

    @property
    @abstractmethod
    def scores(self) -> Array:
        """The scores of all components, in the order in which the hint prefers them."""

    @property
    @abstractmethod
    def share(self) -> float:
        """The fraction of the hint that this component accounts for."""

    @property
    @abstractmethod
    def alternatives(self) -> tuple[Self, ...]:
        """The other components, most likely first."""

    @property
    @abstractmethod
    def moment_estimate(self) -> Self:
        """The estimate from moments alone, before EM."""

    @property
    @abstractmethod
    def stderr(self) -> Any:
        """Standard errors; a 95% interval is 1.96 of them to each side."""

    def _membership_of(self, examples: Any) -> Array:
        """Compute the membership of examples, as a search takes them."""
        answer: Any = self
        return np.asarray(answer.membership(examples))

    @abstractmethod
    def _card(self) -> Card:
        """Return what `repr` and a notebook show."""

    def __repr__(self) -> str:
        return self._card_with_warnings().text()

    def _repr_html_(self) -> str:
        return self._card_with_warnings().html()

    def _card_with_warnings(self) -> Card:
        card = self._card()
        facts = [(name, value) for name, value in card.facts if name != "separation" or len(self.scores) > 1]
        return replace(card, facts=[*facts, *(("warning", str(warning)) for warning in self.warnings)])


@dataclass(frozen=True, repr=False, eq=False)
class VectorComponent(Component):
    """A component whose parameter is one vector, found by whitening or cancellation.

    Attributes
    ----------
    score : float
        ⟨μ, v⟩, the score of this component under the hint.
    share : float
        α⟨μ, v⟩² / v'Av.
    """

    _frame: Frame
    _candidates: Candidates
    _rank: int = 0
    _refined: Any = field(default=None, kw_only=True)  # the component after EM, as its family keeps it
    _feature_names: Sequence[str] | None = field(default=None, kw_only=True)  # if the fit saw a data frame
    _warnings: tuple[SearchWarning, ...] = field(default=(), kw_only=True)

    @cached_property
    def center(self) -> Array:
        """The component's parameter μ, (d,)."""
        return self._moment_center() if self._refined is None else self._refined.center

    def _moment_center(self) -> Array:
        return self._to_features(self._frame.unwhiten(self._point))

    def _to_features(self, points: Array) -> Array:
        """Map centers, (r,) or (r, q), from the features of the frame to those of the user, (d,) or (d, q)."""
        return points

    @property
    def moment_estimate(self) -> Self:
        """The estimate from moments alone, before EM."""
        return replace(self, _refined=None)

    @cached_property
    def stderr(self) -> Any:
        """Standard errors of `center` and `weight`; a 95% interval is 1.96 of them to each side."""
        raise SearchError(
            "Standard errors need samples, but this component was found from moments alone. Search with one of the "
            "estimators, or vary the moments yourself.",
            code="needs_samples",
        )

    @property
    def _point(self) -> Array:
        """The center in the coordinates of the frame, (k,)."""
        return np.asarray(self._candidates.points[:, self._rank])

    @property
    def _direction(self) -> Array:
        """The eigenvector √α W'μ, (k,)."""
        return np.asarray(self._point * np.sqrt(float(self._candidates.weights[self._rank])))

    @property
    def weight(self) -> float:
        """The component's share of the mixture."""
        return float(self._candidates.weights[self._rank]) if self._refined is None else self._refined.weight

    @property
    def score(self) -> float:
        """The score of this component under the hint, ⟨μ, v⟩."""
        return float(self._candidates.scores[self._rank])

    @property
    def scores(self) -> Array:
        """The scores of all components, (k,), in the order in which the hint prefers them."""
        return self._candidates.scores

    @property
    def share(self) -> float:
        """The fraction of the hint that this component accounts for."""
        return float(self._candidates.shares[self._rank])

    @property
    def separation(self) -> float:
        """The factor by which the component leads the best other one."""
        return self._candidates.separation(self._rank)

    @property
    def separation_interval(self) -> tuple[float, float]:
        """A 95% interval of `separation`."""
        raise SearchError(
            "An interval of the separation needs samples, but this component was found from moments alone.",
            code="needs_samples",
        )

    @property
    def alternatives(self) -> tuple[Self, ...]:
        """The other components, most likely first."""
        ranks = range(self._candidates.points.shape[1])
        return tuple(self._with_rank(rank) for rank in ranks if rank != self._rank)

    def _with_rank(self, rank: int) -> Self:
        """Return another candidate as moments find it, from 0 for the preferred one."""
        return replace(self, _rank=rank, _refined=None, _warnings=())

    def _trust_facts(self) -> list[tuple[str, str]]:
        """Return the rows of the card that say how far to trust the answer."""
        return [("separation", separation_in_words(self.separation))]

    def _card(self) -> Card:
        return Card(
            title=f"{type(self).__name__.removeprefix('Vector')}, one of {len(self.scores)}",
            facts=[
                ("weight", plain_number(self.weight)),
                *self._trust_facts(),
                ("share of the hint", plain_number(self.share)),
                ("center", _format_center(self.center)),
            ],
            bars=score_bars(self.scores),
            bars_title="score of each component under the hint",
        )


def format_interval(value: float, interval: tuple[float, float]) -> str:
    """Return a value with its 95% interval."""
    low, high = map(plain_number, interval)
    return f"{plain_number(value)} (95% interval {low} to {high})"


def _format_center(center: Array) -> str:
    first = ", ".join(plain_number(float(x)) for x in center[:4])
    more = ", ..." if len(center) > 4 else ""
    return f"[{first}{more}] ({len(center):,} features)"


def score_bars(scores: Array) -> list[tuple[str, float]]:
    """Return the scores of the component found and of its first alternatives, with their names."""
    names = ["found"] + [f"alternative {i}" for i in range(1, len(scores))]
    return list(zip(names, scores.tolist(), strict=True))[:8]
