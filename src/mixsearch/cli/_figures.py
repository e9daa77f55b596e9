"""Figures that a command draws, with matplotlib as an optional package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mixsearch import SearchError
from mixsearch.cli._console import describe, print_notes, record_warnings, stderr_console


def load_plots() -> Any:
    """Import `mixsearch.plots`, or raise an error that says what to install."""
    try:
        from mixsearch import plots
    except ImportError as error:
        raise SearchError("{reason}.", code="extra_missing", reason=str(error), extra="cli") from error
    return plots


def write_figure(draw: Callable[[Any], Any], path: Path) -> None:
    """Draw with `mixsearch.plots`, save the figure and print its path."""
    plots = load_plots()
    try:
        with record_warnings() as warned:
            plots.save_figure(draw(plots), path)
    except SearchError:
        raise
    except (OSError, ValueError) as error:  # matplotlib raises ValueError for a format that it does not know
        reason = getattr(error, "strerror", None) or str(error)
        raise SearchError(
            "Cannot write the figure '{path}': {reason}.", code="cannot_write", path=str(path), reason=reason
        ) from error
    print_notes(map(describe, warned))
    stderr_console().print(f"Figure: {path}", markup=False, soft_wrap=True)
