"""Describe in words how an index has changed since its topics were fitted."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from mixsearch.display import pluralize

if TYPE_CHECKING:
    from mixsearch.index import Growth


def describe_growth(growth: Growth, path: Path) -> list[str]:
    """Return the advice to refit the topics, with its reason; empty if there is no need."""
    if growth.reason is None:
        return []
    changed = growth.n_added + growth.n_removed
    reasons = {
        "outside": "the added documents have a topic that the index cannot represent",
        "new_words": f"{growth.new_words:.0%} of the words of the added texts are new to the index",
        "changed": f"{changed:,} {pluralize(changed, 'document was', 'documents were')} added or removed since the "
        f"topics were fitted to {growth.n_fitted:,}",
    }
    return [f"Refit the topics: {reasons[growth.reason]}. Run: {shlex.join(['mixsearch', 'refresh', str(path)])}"]
