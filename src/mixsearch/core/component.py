"""The result of a search: one component, with the other candidates under the same hint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.check import Check, leave_out_each
from mixsearch.core.extraction import Candidates
from mixsearch.core.frame import Frame
from mixsearch.core.jackknife import StandardErrors, component_errors, estimate_p_first
from mixsearch.core.moments import Replicates
from mixsearch.core.tuning import TUNING
from mixsearch.display import Card, plain_chance, plain_number
from mixsearch.errors import SearchWarning, warn_user

# Rows among which left-out examples are ranked.
MAX_RANKED = 10_000


@dataclass(frozen=True, repr=False, eq=False)
class Component:
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
    score : float
        ⟨μ, v⟩, the score of this component under the hint.
    alternatives : tuple of Component
        The other components, most likely first. They are rough if the hint does not separate them.
    moment_estimate : Component
        The estimate before EM, after a search with ``refine=True``.
    stderr : tuple of arrays
        Standard errors; a 95% interval is 1.96 of them to each side.
    p_first : float
        The probability that the hint prefers this component on new samples too.
    check : Check
        Where examples rank among all samples when they are left out.
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
    >>> bool(found.p_first > 0.99), found.warnings
    (True, ())
    """

    _clear_separation: ClassVar[float] = TUNING.clear_separation
    _moments_are_sure: ClassVar[bool] = True  # whether a lead that is sure by moments is sure after EM too
    _noisy_separation: ClassVar[float] = 0.0  # a smaller lead is noise, whatever its standard error
    _frame: Frame
    _candidates: Candidates
    _rank: int = 0
    _family: Any = field(default=None, kw_only=True)  # the fit, which standard errors need
    _hinted: Any = field(default=None, kw_only=True)  # the hinted moment that the component was extracted from
    _choose: str = field(default="largest", kw_only=True)  # what the candidates are sorted by
    _rehint: Array | None = field(default=None, kw_only=True)  # the hint of the second contraction, (k,), if any
    _hint: Any = field(default=None, kw_only=True)  # the direction, (d,), of a search by direction
    _examples: Any = field(default=None, kw_only=True)  # of a search by examples
    _search: Any = field(default=None, kw_only=True)  # the same search, to call with other examples
    _refined: Any = field(default=None, kw_only=True)  # the component after EM, as its family keeps it
    _feature_names: Sequence[str] | None = field(default=None, kw_only=True)  # if the fit saw a data frame
    _warnings: tuple[SearchWarning, ...] = field(default=(), kw_only=True)

    @property
    def warnings(self) -> tuple[SearchWarning, ...]:
        """Every reason found not to trust the answer."""
        return self._warnings

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
    def separation(self) -> float:
        """The factor by which the component leads the best other one."""
        return self._candidates.separation(self._rank)

    @property
    def alternatives(self) -> tuple[Self, ...]:
        """The other components, most likely first."""
        ranks = range(self._candidates.points.shape[1])
        return tuple(self._with_rank(rank) for rank in ranks if rank != self._rank)

    def _with_rank(self, rank: int) -> Self:
        """Return another candidate as moments find it, from 0 for the preferred one."""
        return replace(self, _rank=rank, _refined=None, _warnings=())

    @property
    def moment_estimate(self) -> Self:
        """The estimate from moments alone, before EM."""
        return replace(self, _refined=None)

    # ---- What samples tell about the answer ----

    @cached_property
    def stderr(self) -> Any:
        """Standard errors of `center` and `weight`; a 95% interval is 1.96 of them to each side.

        Those of a moment estimate are for whitening with the mean as normaliser, however it was extracted.
        """
        return self._moment_errors() if self._refined is None else self._refined_errors(self._refined)

    def _moment_errors(self) -> StandardErrors:
        replicates, direction = self._replicates, self._direction
        residuals = self._family.residual_replicates(direction)
        if self._rank == 0 and self._rehint is not None:
            replicates = self._family.leave_one_out(self._rehint)
        return component_errors(self._frame, direction, replicates, residuals, self._to_features)

    def _refined_errors(self, refined: Any) -> StandardErrors:
        raise NotImplementedError

    @cached_property
    def _replicates(self) -> Replicates:
        replicates: Replicates = self._family.leave_one_out(self._hinted.hint)
        return replicates

    @cached_property
    def check(self) -> Check:
        """Where examples rank among all samples when they are left out."""
        return leave_out_each(self._search, self._examples, self._rows_to_rank(), self._family.chunks.n_rows)

    def _rows_to_rank(self) -> Any:
        """Return samples of the fit as a search takes examples, evenly spaced ones of many."""
        chunks = self._family.chunks
        return None if self._examples is None else chunks.thin(-(-chunks.n_rows // MAX_RANKED)).chunk.samples

    @cached_property
    def p_first(self) -> float:
        """The probability that the hint prefers this component on new samples too.

        `separation` alone says less: noise drives the two largest scores apart.
        """
        directions = self._candidates.points * np.sqrt(self._candidates.weights)
        moved = None if self._hint is None else self._family.hint_covariance(self._hint)
        return estimate_p_first(self._hinted, self._replicates, directions, self._rank, self._choose, moved)

    def _membership_of(self, examples: Any) -> Array:
        """Compute the membership of examples, as a search takes them."""
        answer: Any = self
        return np.asarray(answer.membership(examples))

    # ---- Display ----

    def _trust_facts(self) -> list[tuple[str, str]]:
        """Return the rows of the card that say how far to trust the answer."""
        if self._family.chunks.is_detached:
            return [("separation", plain_number(self.separation))]
        first = f"{plain_number(self.separation)} (comes first on new samples: {plain_chance(self.p_first)})"
        facts = [("separation", first)]
        if self._search is not None and self._examples is not None:
            facts.append(("check", str(self.check)))
        return facts

    def _card(self) -> Card:
        names = ["found", *(f"alternative {i}" for i in range(1, 8))]
        first = ", ".join([*(plain_number(float(x)) for x in self.center[:4]), "..."][: len(self.center)])
        return Card(
            title=f"{type(self).__name__}, one of {len(self.scores)}",
            facts=[
                ("weight", plain_number(self.weight)),
                *self._trust_facts(),
                ("center", f"[{first}] ({len(self.center):,} features)"),
            ],
            bars=list(zip(names, self.scores.tolist(), strict=False)),
            bars_title="score of each component under the hint",
        )

    def _card_with_warnings(self) -> Card:
        card = self._card()
        facts = [(name, value) for name, value in card.facts if name != "separation" or len(self.scores) > 1]
        return replace(card, facts=[*facts, *(("warning", str(warning)) for warning in self.warnings)])

    def __repr__(self) -> str:
        return self._card_with_warnings().text()

    def _repr_html_(self) -> str:
        return self._card_with_warnings().html()


C = TypeVar("C", bound=Component)


def add_warnings(found: C, warnings: Sequence[SearchWarning]) -> C:
    """Issue warnings about an answer, and return it with them among its warnings."""
    for warning in warnings:
        warn_user(warning)
    changed: Any = found  # every component is a dataclass
    return replace(changed, _warnings=(*found.warnings, *warnings)) if warnings else found
