"""The page: one HTML file for every view."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import FileResponse

from mixsearch.web.settings import PAGES, STATIC_FILES

router = APIRouter()


async def _send_page() -> FileResponse:
    return FileResponse(STATIC_FILES / "index.html")


for _path in PAGES:
    router.add_api_route(_path, _send_page, include_in_schema=False)
