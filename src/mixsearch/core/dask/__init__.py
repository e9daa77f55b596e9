"""Dask arrays as chunks of samples. Dask is imported when the first Dask array is met."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from mixsearch.errors import SearchError


def is_dask(X: Any) -> bool:
    """Return whether samples are a Dask collection."""
    return hasattr(X, "__dask_graph__")


def dask_arrays() -> ModuleType:
    """Import the functions on Dask arrays."""
    return load_with_dask("mixsearch.core.dask.arrays", "Dask arrays need")


def dask_tables() -> ModuleType:
    """Import the functions on Dask arrays and data frames as tables."""
    return load_with_dask("mixsearch.core.dask.tables", "Dask tables need")


def load_with_dask(name: str, what: str) -> ModuleType:
    """Import a module of this package that needs Dask."""
    try:
        return import_module(name)
    except ImportError as error:
        raise SearchError(
            "{what} the packages of mixsearch[dask], and {package} is missing. Install them with "
            "`pip install 'mixsearch[dask]'`.",
            code="package_missing",
            what=what,
            package=error.name,
        ) from error
