"""A page under observation: whatever no view may do is recorded and fails the test."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

# As Chromium logs every answer that is an error.
_LOGGED_STATUS = re.compile(r"^Failed to load resource: (the server responded with a status of (?P<status>\d+))?")
_TELL_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`Policy violated: ${event.violatedDirective} by ${event.blockedURI}`));"""


class Watch:
    """What went wrong in the pages of a context."""

    def __init__(self, context: Any, address: str) -> None:
        self.faults: list[str] = []
        self._host = urlsplit(address).netloc
        context.add_init_script(_TELL_VIOLATIONS)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.faults.append(f"Uncaught: {error.error}"))
        context.on("request", self._see_request)

    def _hear(self, message: Any) -> None:
        logged = _LOGGED_STATUS.match(message.text)
        if logged is not None:
            self._check_status(int(logged["status"] or 0), message.location["url"])
        elif message.type in ("error", "warning"):
            self.faults.append(f"Console: {message.text}")

    def _check_status(self, status: int, address: str) -> None:
        """Requests to the API may be rejected, and some tests expect that; files must exist."""
        is_question = urlsplit(address).path.startswith("/api/")
        if status >= (500 if is_question else 400):
            self.faults.append(f"Status {status}: {address}")

    def _see_request(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != self._host:
            self.faults.append(f"Request to another host: {request.url}")
