"""One line in the log for what may happen a thousand times."""

from __future__ import annotations

import logging
from time import monotonic

_SECONDS = 60.0


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
        self._logger, self._seconds = logger, seconds
        self._next, self._n_counted = float("-inf"), 0

    def warn(self, message: str, *facts: object) -> None:
        """Log a message like `logging` does, with the number of those that were not logged."""
        self._n_counted += 1
        if monotonic() < self._next:
            return
        more = f" ({self._n_counted:,} times since the last line)" if self._n_counted > 1 else ""
        self._logger.warning(message + more, *facts)
        self._next, self._n_counted = monotonic() + self._seconds, 0
