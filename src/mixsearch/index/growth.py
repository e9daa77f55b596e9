"""How an index has changed since its topics were fitted, and whether to fit them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

FACT = "growth"
# Refit the topics from here on: a topic outside the frame as strong as the weakest of the fit, half as many
# changed documents as were fitted, or one word in twenty of the added texts that the index does not know.
MAX_OUTSIDE, MAX_CHANGED, MAX_NEW_WORDS = 1.0, 0.5, 0.05


@dataclass(frozen=True)
class Growth:
    """Changes of an index since its topics were fitted.

    Parameters
    ----------
    n_fitted : int
        The number of documents that the topics were learned from.
    n_added, n_removed : int
        The number of documents that were added and removed since.
    outside : float
        How strong a topic of the added documents is that the index cannot represent, compared with its weakest one.
    new_words : float
        The share of words of the added texts that the index had never seen.
    """

    n_fitted: int
    n_added: int = 0
    n_removed: int = 0
    outside: float = 0.0
    new_words: float = 0.0

    @property
    def reason(self) -> Literal["outside", "new_words", "changed"] | None:
        """The reason to refit the topics; None if there is no need."""
        if self.outside >= MAX_OUTSIDE:
            return "outside"
        if self.new_words > MAX_NEW_WORDS:
            return "new_words"
        return "changed" if self.n_added + self.n_removed > MAX_CHANGED * max(self.n_fitted, 1) else None

    @property
    def needs_refresh(self) -> bool:
        """Whether to refit the topics."""
        return self.reason is not None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields and `needs_refresh`, for JSON.

        Returns
        -------
        dict
        """
        return {**asdict(self), "needs_refresh": self.needs_refresh}


def read_growth(facts: Mapping[str, Any], n_documents: int) -> Growth:
    """Return the changes that a folder knows of; none if nothing was changed."""
    stored = facts.get(FACT)
    return Growth(n_documents) if stored is None else Growth(**stored)


def store_growth(facts: dict[str, Any], growth: Growth) -> None:
    """Write the changes among the facts of a folder."""
    facts[FACT] = asdict(growth)
