"""PyArrow, an extra: the module, or an error with the install line."""

from __future__ import annotations

from typing import Any

from mixsearch.errors import SearchError


def import_pyarrow(what: str, extra: str = "text") -> Any:
    """Return the module `pyarrow`, or raise an error with the install line."""
    try:
        import pyarrow
    except ImportError as error:
        raise SearchError(
            "{what} need PyArrow, which is not installed: pip install 'mixsearch[{extra}]'.",
            code="package_missing",
            what=what,
            package="pyarrow",
            extra=extra,
        ) from error
    return pyarrow


def has_pyarrow() -> bool:
    """Return whether PyArrow is installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True
