"""How an index has changed since it was fitted, and whether to fit it again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from mixsearch.io.disk import damage_error
from mixsearch.io.folder import Folder

FACT = "growth"
# Refit from here on: half as many changed documents as were fitted, or one word in twenty more than expected that the
# index does not know.
MAX_CHANGED, MAX_NEW_WORDS = 0.5, 0.05


@dataclass(frozen=True)
class Growth:
    """Changes of an index since it was fitted.

    Parameters
    ----------
    n_fitted : int
        The number of documents of the fit.
    n_added, n_removed : int
        The number of documents that were added and removed since.
    new_words, expected_new : float
        The share of words of the added texts that the index did not know, and that in documents like those of the fit.
    """

    n_fitted: int
    n_added: int = 0
    n_removed: int = 0
    new_words: float = 0.0
    expected_new: float = 0.0

    @property
    def reason(self) -> Literal["new_words", "changed"] | None:
        """The reason to fit the index again; None if there is no need."""
        if self.new_words - self.expected_new > MAX_NEW_WORDS:
            return "new_words"
        return "changed" if self.n_added + self.n_removed > MAX_CHANGED * max(self.n_fitted, 1) else None

    @property
    def needs_refresh(self) -> bool:
        """Whether to fit the index again."""
        return self.reason is not None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields and `needs_refresh`, for JSON.

        Returns
        -------
        dict
        """
        return {**asdict(self), "needs_refresh": self.needs_refresh}


def read_growth(folder: Folder) -> Growth:
    """Read how an index has changed."""
    try:
        growth = Growth(**folder.facts[FACT])
        _ = growth.reason  # its fields are numbers
    except (KeyError, TypeError) as error:
        raise damage_error("'{path}' is damaged: its growth is unknown.", path=str(folder.path)) from error
    return growth
