"""The page: one HTML file for every view."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from mixsearch.web.page import make_page
from mixsearch.web.settings import PAGES
from mixsearch.web.static_files import encode, send_encoded

router = APIRouter()


async def _send_page(request: Request) -> Response:
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    return send_encoded(request.headers, encode(make_page(path).encode(), "text/html"))


for _path in PAGES:
    router.add_api_route(_path, _send_page, include_in_schema=False)
