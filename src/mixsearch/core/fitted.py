"""The interface of a fitted mixture. It does not import scikit-learn, so that a stored fit opens at once."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

from mixsearch.core.family import Family
from mixsearch.core.validation import check_choice, check_positive_int
from mixsearch.display import pluralize
from mixsearch.errors import ArgumentError, Option

Preset = Literal["default", "paper"]
F = TypeVar("F", bound=Family)


class FittedMixture(Generic[F]):
    """A mixture that was fitted. An estimator is one once it is fitted."""

    preset: Preset
    _family: F

    def _check_fitted(self) -> None:
        """Raise unless there is a fit."""

    def _is_paper(self) -> bool:
        check_choice("preset", self.preset, ("default", "paper"))
        return self.preset == "paper"

    def _select_family(self, n_components: int | None) -> F:
        """Return the fit, or its first components only."""
        self._check_fitted()
        if n_components is None:
            return self._family
        check_positive_int("n_components", n_components)
        if n_components > self.n_components_:
            raise ArgumentError(
                "{argument}={value}, but this fit has {n_fitted} "
                + pluralize(self.n_components_, "component")
                + ". A search can use at most that many; fit "
                "again for more.",
                code="too_many_components",
                argument=Option("n_components"),
                value=n_components,
                n_fitted=self.n_components_,
            )
        return self._family.take(n_components)

    @property
    def n_components_(self) -> int:
        """The number of components of the fit."""
        return self._family.n_components
