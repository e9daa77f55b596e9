"""Dask arrays as partitions of samples. Dask is imported when the first Dask array is met."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from mixsearch.errors import SearchError


def is_dask(X: Any) -> bool:
    """Return whether samples are a Dask collection.

    Parameters
    ----------
    X : object

    Returns
    -------
    bool
    """
    return hasattr(X, "__dask_graph__")


def dask_arrays() -> ModuleType:
    """Import the functions on Dask arrays.

    Returns
    -------
    module
        `mixsearch.data.dask.arrays`.
    """
    return load_with_dask("mixsearch.data.dask.arrays", "Dask arrays need")


def dask_tables() -> ModuleType:
    """Import the functions on Dask arrays and data frames as tables.

    Returns
    -------
    module
        `mixsearch.data.dask.tables`.
    """
    return load_with_dask("mixsearch.data.dask.tables", "Dask tables need")


def load_with_dask(name: str, what: str) -> ModuleType:
    """Import a module of this package that needs Dask.

    Parameters
    ----------
    name : str
        Full name of the module.
    what : str
        Beginning of the error message, such as "Dask arrays need".

    Returns
    -------
    module

    Raises
    ------
    SearchError
        If a package is missing, with the command that installs it.
    """
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
