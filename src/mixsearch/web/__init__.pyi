from .app import make_app
from .settings import Access, Limits

__all__ = [
    "Access",
    "Limits",
    "make_app",
]
