"""What a caller may choose about an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mixsearch.index.memory import physical_memory

# More topics than an analyst asks for at once: one index serves every smaller number.
DEFAULT_COMPONENTS = 100
# Parts of the memory: for the counts in a fit, for non-zeros that change their order, for reading text.
COUNTS_PART, MOVING_PART, READING_PART = 4, 4, 4

# Step of the work, units done, units in all (None where unknown), and what the units are.
OnProgress = Callable[[str, int, int | None, str], None]


@dataclass(frozen=True, kw_only=True)
class IndexOptions:
    """How an index is built.

    Parameters
    ----------
    n_components : int or "auto", optional
        How many topics to fit; a search may use fewer. By default 100, or as many as there are words; "auto" as many as
        the documents show.
    search : dict
        Further arguments of `TopicSearch`: alpha0, moments, weights, metric, damping, random_state.
    memory : int, optional
        Bytes that the work may take, about; half of the machine's memory by default. Less means more reading from disk,
        never another result.
    overwrite : bool, default=False
        Replace an index that is there already.
    """

    n_components: int | str | None = None
    search: dict[str, Any] = field(default_factory=dict)
    memory: int | None = None
    overwrite: bool = False

    @property
    def bytes(self) -> int:
        """The memory in bytes."""
        if self.memory is not None:
            return self.memory
        return physical_memory() // 2
