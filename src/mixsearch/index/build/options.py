"""Options of building an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from mixsearch.machine import available_memory

# More topics than an analyst asks for at once: one index serves every smaller number.
DEFAULT_COMPONENTS = 100
# Reading text, transposing the counts and keeping them for the fit may each take this part of the memory.
_MEMORY_PART = 4

# Called with the step of the work, units done, units in all (None if unknown), and the name of the unit.
OnProgress = Callable[[str, int, int | None, str], None]


@dataclass(frozen=True, kw_only=True)
class IndexOptions:
    """How an index is built.

    Parameters
    ----------
    n_components : int or "auto", optional
        How many topics to fit; a search can use fewer. By default 100, or the number of words if that is smaller;
        "auto" for as many as the documents support.
    search : dict
        Further arguments of `TopicSearch`: alpha0, moments, weights, metric, damping, random_state.
    memory : int, optional
        About how many bytes the work may take; half of what the machine, or its container, has by default. Less memory
        means more reading from disk, never another result.
    overwrite : bool, default=False
        Replace an index that exists already.

    Examples
    --------
    >>> from mixsearch.index import IndexOptions
    >>> options = IndexOptions(n_components=50, search={"random_state": 0}, overwrite=True)
    """

    n_components: int | Literal["auto"] | None = None
    search: dict[str, Any] = field(default_factory=dict)
    memory: int | None = None
    overwrite: bool = False

    @property
    def memory_part(self) -> int:
        """The bytes that one step of the work may take."""
        memory = available_memory() // 2 if self.memory is None else self.memory
        return memory // _MEMORY_PART
