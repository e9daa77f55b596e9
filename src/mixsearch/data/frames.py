"""pandas, which is optional: the module, or an error with the install line."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mixsearch.errors import SearchError


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
