"""A component that was found among samples: standard errors, the check of its examples, and what its lead is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.check import MembershipCheck, leave_out_each
from mixsearch.core.component import VectorComponent, format_interval
from mixsearch.core.family import Family
from mixsearch.core.jackknife import (
    StandardErrors,
    component_errors,
    interval_of_lead,
    probability_of_first,
    simulate_preferences,
)
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.tensor import separate_directions
from mixsearch.data.rows import DetachedChunks
from mixsearch.display import plain_chance

# Components further behind than this many have no chance to come first.
MAX_RIVALS = 12


@dataclass(frozen=True, repr=False, eq=False)
class SampleComponent(VectorComponent):
    """A component together with the fitted family, which standard errors and confidence need."""

    _family: Family = field(kw_only=True)
    _hinted: Hinted = field(kw_only=True)  # the hinted moment that the component was extracted from
    _choose: str = field(kw_only=True)  # what the candidates are sorted by
    _rehint: Array | None = field(default=None, kw_only=True)  # the hint of the second contraction, (k,), if any
    _hint: Any = field(default=None, kw_only=True)  # the direction, (d,), of a search by direction
    _examples: Any = field(default=None, kw_only=True)  # of a search by examples
    _search: Any = field(default=None, kw_only=True)  # the same search, to call with other examples

    @cached_property
    def stderr(self) -> StandardErrors:
        """Standard errors of `center` and `weight`; a 95% interval is 1.96 of them to each side.

        Those of a moment estimate are for whitening with the mean as normaliser, however it was extracted.
        """
        return self._moment_errors() if self._refined is None else self._refined_errors(self._refined)

    def _moment_errors(self) -> StandardErrors:
        residuals = self._family.residual_replicates(self._direction)
        again = self._rank == 0 and self._rehint is not None
        replicates = self._family.leave_one_out(self._rehint) if again else self._replicates
        return component_errors(self._frame, self._direction, replicates, residuals, self._to_features)

    def _refined_errors(self, refined: Any) -> StandardErrors:
        raise NotImplementedError

    @cached_property
    def check(self) -> MembershipCheck:
        """Whether examples come back when they are left out: the membership of each in what the others find."""
        return leave_out_each(self._search, self._examples)

    @property
    def _p_first(self) -> float:
        """The probability that the hint prefers this component on new samples too."""
        return probability_of_first(self._preferences, self._rival_index)

    @property
    def separation_interval(self) -> tuple[float, float]:
        """A 95% interval of `separation`, from the noise of the scores.

        `separation` itself tends to its upper end: noise drives the two largest scores apart.
        """
        return interval_of_lead(self._preferences, self._rival_index)

    @cached_property
    def _preferences(self) -> Array:
        """The scores of the rivals on simulated samples, (n, q)."""
        return simulate_preferences(
            self._hinted, self._replicates, self._rivals, choose=self._choose, hint_shifts=self._hint_shifts()
        )

    def _trust_facts(self) -> list[tuple[str, str]]:
        if isinstance(self._family.chunks, DetachedChunks):
            return super()._trust_facts()  # an answer that was pickled without its samples
        facts = [("separation", format_interval(self.separation, self.separation_interval))]
        if self._search is not None and self._examples is not None:
            facts.append(("check", str(self.check)))
        return facts

    def _hint_shifts(self) -> Array | None:
        """Return how the hint in the frame would shift with each group of the jackknife, (B, k), if it does."""
        family: Any = self._family
        return None if self._hint is None else family.hint_shifts(self._hint)

    @cached_property
    def _rivals(self) -> Array:
        """Directions of all components that the hint could mean, separated by every contraction, (k, q)."""
        likeliest = (self._candidates.points * np.sqrt(self._candidates.weights))[:, :MAX_RIVALS]
        return separate_directions(likeliest, self._family.tensor)

    @cached_property
    def _rival_points(self) -> Array:
        """W'μᵢ of the rivals, (k, q)."""
        overlaps = self._hinted.mean @ self._rivals
        return self._rivals / np.where(overlaps == 0, np.inf, overlaps)

    @property
    def _rival_index(self) -> int:
        """Index of the rival nearest to this component, which mixes two of them if their scores are close."""
        apart = np.sqrt(self._frame.values)[:, None] * (self._rival_points - self._point[:, None])
        return int(np.argmin(np.sum(apart**2, axis=0)))

    @cached_property
    def _replicates(self) -> Replicates:
        return self._family.leave_one_out(self._hinted.hint)


@dataclass(frozen=True, repr=False, eq=False)
class ConfidentComponent(SampleComponent):
    """A component with a probability that it is the one meant."""

    _trust: float = field(default=1.0, kw_only=True)  # what tests of the hint and of the fit leave of the confidence

    def _hint_shifts(self) -> Array | None:
        return None

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the component that the hint means: that it comes first on new samples too."""
        return self._hint_confidence

    @cached_property
    def _hint_confidence(self) -> float:
        """The probability that the hint prefers this component, which its lead is about, times the trust in it."""
        return self._trust * self._p_first

    def _trust_facts(self) -> list[tuple[str, str]]:
        if isinstance(self._family.chunks, DetachedChunks):
            return super()._trust_facts()
        return [
            ("confidence", plain_chance(self.confidence)),
            ("separation", format_interval(self.separation, self.separation_interval)),
        ]
