from .app import make_app
from .server import make_server
from .settings import Access, Limits

__all__ = [
    "Access",
    "Limits",
    "make_app",
    "make_server",
]
