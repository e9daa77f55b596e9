"""Data frames of pandas, an extra."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from mixsearch._typing import DataFrame
from mixsearch.errors import SearchError


def build_frame(columns: Mapping[str, Any]) -> DataFrame:
    """Return columns as a data frame of pandas."""
    return import_pandas().DataFrame(dict(columns))


def import_pandas() -> Any:
    """Return the module `pandas`, or raise an error with the install line."""
    try:
        return import_module("pandas")
    except ImportError as error:
        raise SearchError(
            "A data frame needs pandas, which is not installed: pip install pandas.",
            code="package_missing",
            package="pandas",
        ) from error
