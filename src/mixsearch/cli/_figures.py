"""Pictures from the command line: what is missing or refused becomes a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mixsearch import SearchError
from mixsearch.cli._console import aside


def load_plots() -> Any:
    """The module that draws, or what to install for it."""
    try:
        from mixsearch import plots
    except ImportError as error:
        raise SearchError(f"{error}.") from error
    return plots


def write_picture(draw: Callable[[Any], Any], path: Path) -> None:
    """Draw with the module of plots, save, and say where."""
    plots = load_plots()
    try:
        plots.save(draw(plots), path)
    except OSError as error:
        raise SearchError(f"The picture {str(path)!r} cannot be written: {error.strerror or error}.") from error
    except SearchError:
        raise
    except ValueError as error:  # a format that matplotlib does not know
        raise SearchError(f"The picture {str(path)!r} cannot be written: {error}.") from error
    aside().print(f"Picture: {path}", markup=False, soft_wrap=True)
