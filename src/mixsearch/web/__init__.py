"""The page and its HTTP API: search topics while typing, segment images by clicking."""

from mixsearch.web.app import make_app
from mixsearch.web.server import listen, make_server
from mixsearch.web.settings import Access, Limits

__all__ = ["Access", "Limits", "listen", "make_app", "make_server"]
