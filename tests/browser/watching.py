"""A page that is watched: what no view may do is noted, and fails the test."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

# Every answer that is an error is logged so by Chromium; which errors are due is known by their statuses.
_LOGGED_STATUS = "Failed to load resource"
_TELL_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`Policy violated: ${event.violatedDirective} by ${event.blockedURI}`));"""


class Watch:
    """What went wrong in the pages of a context."""

    def __init__(self, context: Any, address: str) -> None:
        self.faults: list[str] = []
        self.requests: list[str] = []
        self._host = urlsplit(address).netloc
        context.add_init_script(_TELL_VIOLATIONS)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.faults.append(f"Uncaught: {error.error}"))
        context.on("request", self._see_request)
        context.on("response", self._see_response)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_LOGGED_STATUS):
            self.faults.append(f"Console: {message.text}")

    def _see_request(self, request: Any) -> None:
        parts = urlsplit(request.url)
        self.requests.append(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != self._host:
            self.faults.append(f"Request to another host: {request.url}")

    def _see_response(self, response: Any) -> None:
        is_question = urlsplit(response.url).path.startswith("/api/")
        if response.status >= (500 if is_question else 400):
            self.faults.append(f"Status {response.status}: {response.url}")
