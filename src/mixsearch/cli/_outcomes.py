"""Errors and warnings of several queries, on standard error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mixsearch.cli._console import describe, print_error, print_notes

if TYPE_CHECKING:
    from mixsearch.index import Outcome


def print_messages(outcomes: Sequence[Outcome]) -> bool:
    """Print the errors and warnings of queries, and return whether one had an error."""
    for outcome in outcomes:
        prefix = f"{outcome.query.name}: " if len(outcomes) > 1 else ""
        if outcome.error is not None:
            print_error(f"{prefix}{describe(outcome.error)}")
        print_notes(f"{prefix}{describe(warning)}" for warning in outcome.warnings)
    return any(outcome.error is not None for outcome in outcomes)
