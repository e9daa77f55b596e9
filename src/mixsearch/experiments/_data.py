"""The folder of real data, which the user names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from mixsearch.errors import SearchError

# The environment variable that names the folder.
VARIABLE = "MIXSEARCH_DATA"


def get_data_folder() -> Path:
    """Return the folder of real data."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise SearchError(
            "This experiment reads real data. Give their folder with --data, or in the variable {variable}.",
            code="data_missing",
            variable=VARIABLE,
        )
    return Path(named)


def find_missing(required_files: Iterable[str]) -> str | None:
    """Return a sentence about the missing files of an experiment, or None.

    Parameters
    ----------
    required_files : iterable of str
        Patterns of files below the data folder.

    Returns
    -------
    str or None
    """
    patterns = list(required_files)
    if not patterns:
        return None
    try:
        folder = get_data_folder()
    except SearchError as error:
        return str(error)
    absent = [pattern for pattern in patterns if not any(folder.glob(pattern))]
    return f"{folder} has no {' and no '.join(absent)}." if absent else None
