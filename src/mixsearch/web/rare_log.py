"""One line in the log for what may happen a thousand times."""

from __future__ import annotations

import logging
from time import monotonic

_SECONDS = 60.0


class RareCounter:
    """Counts what happens, and says how often it did when it is time for a line.

    Parameters
    ----------
    seconds : float
        The time between two lines.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds, self._next, self._n_counted = seconds, float("-inf"), 0

    def count(self) -> int:
        """Count one more; return how many there were since the last line, or 0 if it is too early for the next."""
        self._n_counted += 1
        if monotonic() < self._next:
            return 0
        n_counted, self._n_counted = self._n_counted, 0
        self._next = monotonic() + self._seconds
        return n_counted


def describe_count(n_counted: int) -> str:
    """Return the end of a line for what happened several times."""
    return f" ({n_counted:,} times since the last line)" if n_counted > 1 else ""


class RareLog:
    """Log a warning at once, and count further ones for a minute before the next line.

    Parameters
    ----------
    logger : logging.Logger
        Where lines go.
    seconds : float
        The time between two lines.
    """

    def __init__(self, logger: logging.Logger, seconds: float = _SECONDS) -> None:
        self._logger, self._counter = logger, RareCounter(seconds)

    def warn(self, message: str, *facts: object) -> None:
        """Log a message like `logging` does, with the number of those that were not logged."""
        if n_counted := self._counter.count():
            self._logger.warning(message + describe_count(n_counted), *facts)


class RareWarnings(logging.Filter):
    """Lets every kind of warning of a logger through once a minute, with the number of those that were not logged.

    Parameters
    ----------
    seconds : float
        The time between two lines of one kind.
    """

    def __init__(self, seconds: float = _SECONDS) -> None:
        super().__init__()
        self._seconds = seconds
        self._counters: dict[str, RareCounter] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is logged."""
        if record.levelno != logging.WARNING:
            return True
        kind = str(record.msg)
        counted = self._counters.setdefault(kind, RareCounter(self._seconds)).count()
        record.msg = kind + describe_count(counted)
        return counted > 0
