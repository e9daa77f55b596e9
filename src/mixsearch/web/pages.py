"""The page itself: one file of markup for every view, and what it loads."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse

STATIC_FILES = Path(__file__).parent / "static"
STATIC = "/static/"
# Every view has an address of its own.
PAGES = ("/", "/overview", "/compare", "/segment")


def page_router() -> APIRouter:
    """The addresses of the views."""
    router = APIRouter()
    for path in PAGES:
        router.add_api_route(path, _page, include_in_schema=False)
    return router


async def _page() -> FileResponse:
    return FileResponse(STATIC_FILES / "index.html")
