"""All regressions that a hint could mean, with what is known about them before any hint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.component import Candidates
from mixsearch.core.tensor import all_components
from mixsearch.regression._example_fit import MemberNoise, measure_members, settle_noise
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._mixture import RegressionMixture, mixture_from_moments
from mixsearch.regression._recognition import LikelyMixture, find_likely


@dataclass(frozen=True)
class Rivals:
    """All regressions that a hint could mean. What they are depends on no hint, so one serves every search.

    Attributes
    ----------
    family : RegressionFamily
    given : Candidates, optional
        Those that one hint prefers, if there are too many to separate all.
    """

    family: RegressionFamily
    given: Candidates | None = None

    @cached_property
    def candidates(self) -> Candidates:
        """The regressions in the frame, separated by every contraction of the third moment."""
        if self.given is not None:
            return self.given
        return all_components(self.family.tensor(np.eye(self.family.frame.n_components)), self.family.mean)

    @property
    def directions(self) -> Array:
        """√αᵢ W'μᵢ, orthonormal, (k, q)."""
        return np.asarray(self.candidates.points * np.sqrt(self.candidates.weights))

    @cached_property
    def mixture(self) -> RegressionMixture:
        """The mixture for standardized x, with the noise from moments."""
        return mixture_from_moments(self.family, self.candidates)

    @cached_property
    def settled(self) -> MemberNoise:
        """The noise around these regressions, and the residuals of their members."""
        return settle_noise(self.family, self.mixture)

    @cached_property
    def likely(self) -> LikelyMixture:
        """The regressions that EM finds from these."""
        return find_likely(self.family, self.mixture)

    @cached_property
    def likely_members(self) -> MemberNoise:
        """The noise of the regressions that EM finds, and the residuals of their members."""
        return measure_members(self.family, self.likely.mixture)
