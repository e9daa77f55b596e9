"""ASGI middleware: access to the server, limits of requests, and compression."""

from mixsearch.web.middleware.access import SECURITY_HEADERS, AccessMiddleware
from mixsearch.web.middleware.compression import CompressionMiddleware
from mixsearch.web.middleware.connections import make_protocol
from mixsearch.web.middleware.timeout import TimeoutMiddleware

__all__ = ["SECURITY_HEADERS", "AccessMiddleware", "CompressionMiddleware", "TimeoutMiddleware", "make_protocol"]
