"""A component that was found among samples, and so knows how far they bear it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mixsearch.types import Array, Component, Hinted, Replicates, StandardErrors
from mixsearch.uncertainty import chance_of_being_right, component_errors


@dataclass(frozen=True, repr=False, eq=False)
class FoundComponent(Component):
    """A component with its samples: what standard errors and confidence need.

    See Also
    --------
    Component : `center`, `weight`, `separation`, `scores`, `alternatives` and the rest.
    """

    model: Any = field(kw_only=True)  # what was fitted: has leave_one_out(hint) and outside(direction)
    hinted: Hinted = field(kw_only=True)  # what the hint made of it
    choose: str = field(kw_only=True)  # what put the components in order
    hint_noise: Array | None = field(default=None, kw_only=True)  # a factor of the covariance of the hint in the frame

    @cached_property
    def stderr(self) -> StandardErrors:
        """Standard errors of `center` and `weight`; for a 95% interval take 1.96 of them to both sides."""
        return self._moment_errors() if self.refined is None else self._refined_errors(self.refined)

    def _moment_errors(self) -> StandardErrors:
        return component_errors(self.frame, self.direction, self._replicates, self.model.outside(self.direction))

    def _refined_errors(self, refined: Any) -> StandardErrors:
        raise NotImplementedError

    @cached_property
    def confidence(self) -> float:
        """The chance that this is the component that the hint means: that no other would come first on more samples."""
        return chance_of_being_right(
            self.hinted,
            self.candidates,
            self._replicates,
            choose=self.choose,
            rank=self.rank,
            hint_noise=self.hint_noise,
        )

    @cached_property
    def _replicates(self) -> Replicates:
        replicates: Replicates = self.model.leave_one_out(self.hinted.hint)
        return replicates
