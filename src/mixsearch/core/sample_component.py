"""A component that was found among samples: standard errors and confidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.component import Component
from mixsearch.core.jackknife import StandardErrors, component_errors, probability_of_first
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.tensor import separate_directions

# Components further behind than this many have no chance to come first.
MAX_RIVALS = 12


@dataclass(frozen=True, repr=False, eq=False)
class SampleComponent(Component):
    """A component with its samples: what standard errors and confidence need.

    See Also
    --------
    Component : `center`, `weight`, `separation`, `scores`, `alternatives` and the rest.
    """

    model: Any = field(kw_only=True)  # what was fitted: has leave_one_out(hint) and outside(direction)
    hinted: Hinted = field(kw_only=True)  # what the hint made of it
    choose: str = field(kw_only=True)  # what put the components in order

    @cached_property
    def stderr(self) -> StandardErrors:
        """Standard errors of `center` and `weight`; for a 95% interval take 1.96 of them to both sides.

        Those of moments are of whitening with the mean as normaliser, however the component was extracted.
        """
        return self._moment_errors() if self.refined is None else self._refined_errors(self.refined)

    def _moment_errors(self) -> StandardErrors:
        return component_errors(self.frame, self.direction, self._replicates, self.model.outside(self.direction))

    def _refined_errors(self, refined: Any) -> StandardErrors:
        raise NotImplementedError

    @cached_property
    def confidence(self) -> float:
        """The chance that this is the component that the hint means: that no other would come first on more samples."""
        return probability_of_first(
            self.hinted,
            self._replicates,
            self._rivals,
            self._place,
            choose=self.choose,
            hint_shifts=self._hint_shifts(),
        )

    def _hint_shifts(self) -> Array | None:
        """How the hint in the frame would move with the blocks of the jackknife, (B, k), were the frame theirs."""
        return None

    @cached_property
    def _rivals(self) -> Array:
        """The directions of all components that could be the one that the hint means, told apart, (k, q)."""
        likeliest = (self.candidates.points * np.sqrt(self.candidates.weights))[:, :MAX_RIVALS]
        return separate_directions(likeliest, self._tensor_within)

    @cached_property
    def _rival_points(self) -> Array:
        """W'μᵢ of the same, (k, q)."""
        overlaps = self.hinted.mean @ self._rivals
        return self._rivals / np.where(overlaps == 0, np.inf, overlaps)

    @property
    def _place(self) -> int:
        """Which of the rivals this component is nearest to: it is a mixture of two where they score about the same."""
        apart = np.sqrt(self.frame.values)[:, None] * (self._rival_points - self.point[:, None])
        return int(np.argmin(np.sum(apart**2, axis=0)))

    def _tensor_within(self, basis: Array) -> Array:
        """R of the columns of an orthonormal basis, (k, q), as hints in the frame, seen in that basis, (q, q, q)."""
        tensor: Array = self.model.tensor(basis)
        return tensor

    @cached_property
    def _replicates(self) -> Replicates:
        replicates: Replicates = self.model.leave_one_out(self.hinted.hint)
        return replicates
