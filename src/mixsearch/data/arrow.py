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
