"""Tables of PyArrow and data frames of pandas, both optional, and which of their values are missing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from mixsearch._typing import DataFrame
from mixsearch.errors import SearchError


def import_pyarrow(what: str) -> Any:
    """Return the module `pyarrow`, or raise an error with the install line."""
    try:
        import pyarrow
    except ImportError as error:
        raise make_package_error("pyarrow", what) from error
    return pyarrow


def make_package_error(package: str, what: str) -> SearchError:
    """Return the error for a package of the extra `cli` that is not installed."""
    return SearchError(
        "{what} need {package}, which is not installed: pip install 'mixsearch[{extra}]'.",
        code="package_missing",
        what=what,
        package=package,
        extra="cli",
    )


def take_rows(batch: Any, rows: Any) -> Any:
    """Return some rows of a record batch or table, by their numbers."""
    return batch.take(import_pyarrow("Columns").array(rows))


def pack_batch(batch: Any) -> bytes:
    """Return a record batch as bytes, with its metadata."""
    arrow = import_pyarrow("Columns")
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def unpack_batch(packed: bytes) -> Any:
    """Return the record batch that was packed."""
    with import_pyarrow("Columns").ipc.open_stream(packed) as reader:
        return reader.read_next_batch()


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


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, and the NaT and NA of pandas."""
    return (
        value is None or type(value).__name__ in {"NAType", "NaTType"} or (isinstance(value, float) and value != value)
    )
