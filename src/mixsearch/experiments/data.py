"""Where real data are: a folder that the user names, never a part of the package."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from mixsearch.errors import SearchError

# The environment variable that names the folder.
VARIABLE = "MIXSEARCH_DATA"


def data_folder() -> Path:
    """The folder of real data."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise SearchError(f"This experiment reads real data. Name their folder with --data, or in {VARIABLE}.")
    return Path(named)


def missing(needs: Iterable[str]) -> str | None:
    """Why an experiment cannot run: which of the files it needs are not there. None where all are."""
    needed = list(needs)
    if not needed:
        return None
    try:
        folder = data_folder()
    except SearchError as error:
        return str(error)
    lacking = [pattern for pattern in needed if not any(folder.glob(pattern))]
    return f"{folder} has no {' and no '.join(lacking)}." if lacking else None
