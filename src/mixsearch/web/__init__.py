"""The page and the HTTP API under it: topics as one types, segments as one clicks."""

from mixsearch.web.app import make_app
from mixsearch.web.processes import get_ready
from mixsearch.web.server import address_of, listen, make_server
from mixsearch.web.settings import Access, Limits

__all__ = ["Access", "Limits", "address_of", "get_ready", "listen", "make_app", "make_server"]
