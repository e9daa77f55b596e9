"""Samples beyond the memory of one machine: Dask arrays as shards. Dask is imported where one is met, not before."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from mixsearch.errors import SearchError


def is_dask(X: Any) -> bool:
    """Whether samples are a collection of Dask."""
    return hasattr(X, "__dask_graph__")


def dask_arrays() -> ModuleType:
    """What is done with Dask arrays."""
    return load_with_dask("mixsearch.data.dask.arrays", "Dask arrays need")


def load_with_dask(name: str, what: str) -> ModuleType:
    """A module of this package that needs Dask, or what to install; `what` begins that sentence."""
    try:
        return import_module(name)
    except ImportError as error:
        raise SearchError(
            f"{what} the packages of mixsearch[dask], and {error.name} is missing. Install them with "
            "`pip install 'mixsearch[dask]'`."
        ) from error
