"""How an index has changed since its topics were learned, in words."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mixsearch.index import Growth


def describe_growth(growth: Growth, path: Path) -> list[str]:
    """Return the advice to learn the topics anew, with its reason; none if there is no need."""
    if not growth.needs_refresh:
        return []
    changed = growth.n_added + growth.n_removed
    reasons = [
        (growth.outside >= 1, "the added documents have a topic that the index cannot represent"),
        (growth.new_words > 0.05, f"{growth.new_words:.0%} of their words are new to it"),
        (True, f"{changed:,} documents were added or removed since the topics were learned from {growth.n_fitted:,}"),
    ]
    reason = next(sentence for holds, sentence in reasons if holds)
    return [f"Learn the topics anew: {reason}. Run: {shlex.join(['mixsearch', 'refresh', str(path)])}"]
