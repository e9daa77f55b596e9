"""Errors that no command expects: a sentence with a code, and the traceback in a file that the sentence names."""

from __future__ import annotations

import sys

from mixsearch import __version__
from mixsearch.errors import Coded, SearchError

_MAX_REASON = 200
_OPTIONAL = {"fastapi", "h11", "matplotlib", "matplotlib.axes", "PIL", "skimage", "starlette", "uvicorn"}


def explain_unexpected(error: Exception) -> Coded:
    """Return the sentence for any error. That of a bug names the file with its traceback."""
    if isinstance(error, Coded):
        return error
    if isinstance(error, ImportError) and error.name in _OPTIONAL:
        return SearchError(
            "{package} is not installed: pip install 'mixsearch[all]'", code="extra_missing", package=error.name
        )
    if isinstance(error, MemoryError):
        return SearchError(
            "This machine does not have enough memory, or the limit set for this process is too low. Use less data or "
            "a machine with more memory.",
            code="out_of_memory",
        )
    if isinstance(error, OSError) and error.errno is not None:
        from mixsearch.io.disk import make_disk_error  # most commands end without it

        action, path = ("write to", "the output") if error.filename is None else ("read or write", str(error.filename))
        return make_disk_error(action, path, error)
    kind, reason = type(error).__name__, " ".join(str(error).split())[:_MAX_REASON]
    return SearchError(
        "mixsearch failed unexpectedly ({kind}: {reason}). {place} Please report it.",
        code="internal",
        kind=kind,
        reason=reason,
        place=_save_traceback(error),
    )


def _save_traceback(error: Exception) -> str:
    """Write the traceback to a file that only this user can read, and return where it is as a sentence."""
    import tempfile  # commands that succeed need not wait for these
    import traceback

    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", prefix="mixsearch-error-", suffix=".txt", delete=False
        ) as file:
            file.write(f"mixsearch {__version__}, Python {sys.version}, {sys.platform}\n{sys.argv}\n")
            traceback.print_exception(error, file=file)
    except OSError:
        return "The details could not be written, since the folder for temporary files cannot be written to."
    return f"The details are in '{file.name}'."
