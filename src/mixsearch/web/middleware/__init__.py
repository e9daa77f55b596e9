"""ASGI middleware: access to the server, and limits of requests."""

from mixsearch.web.middleware.access import SECURITY_HEADERS, AccessMiddleware
from mixsearch.web.middleware.connections import make_protocol
from mixsearch.web.middleware.timeout import TimeoutMiddleware

__all__ = ["SECURITY_HEADERS", "AccessMiddleware", "TimeoutMiddleware", "make_protocol"]
