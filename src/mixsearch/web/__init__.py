"""The page and its HTTP API: search topics while typing, segment images by clicking."""

from mixsearch.web.app import make_app
from mixsearch.web.indexes import choose_name
from mixsearch.web.processes import start_fork_server
from mixsearch.web.security import keep_token, make_token
from mixsearch.web.server import listen, make_server, make_url
from mixsearch.web.settings import Access, Limits

__all__ = [
    "Access",
    "Limits",
    "choose_name",
    "keep_token",
    "listen",
    "make_app",
    "make_server",
    "make_token",
    "make_url",
    "start_fork_server",
]
