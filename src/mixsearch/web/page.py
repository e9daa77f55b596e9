"""The pages: one for texts and one for files, both built from web/page."""

from __future__ import annotations

import mimetypes
import re
from html import escape

from fastapi import APIRouter, FastAPI
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from mixsearch.web.settings import FILE_PAGES, HOME, STATIC, STATIC_FILES

_MAX_PATH = 200

# Whatever a machine has registered for this suffix: browsers run no module of another type.
mimetypes.add_type("text/javascript", ".js")


def add_pages(app: FastAPI) -> None:
    """Add the page and its files to an app."""
    router = APIRouter()
    router.add_api_route(HOME, _send_home, include_in_schema=False)
    for path in FILE_PAGES:
        router.add_api_route(path, _send_page, include_in_schema=False)
    app.include_router(router)
    app.mount(STATIC, StaticFiles(directory=STATIC_FILES))


def get_path(scope: Scope) -> str:
    """Return the path of a request below the path where the app is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


async def _send_home() -> HTMLResponse:
    return HTMLResponse(_read("index.html"))


async def _send_page() -> HTMLResponse:
    return HTMLResponse(_read("files.html"))


def make_not_found_page(path: str) -> str:
    """Return the HTML for an address at which nothing is, with links that lead up from there."""
    up = "../" * (path.count("/") - 1) or "./"
    html = re.sub(r'(href|src)="(?:\./)?', rf'\1="{up}', _read("not-found.html"))
    return html.replace("{path}", escape(path[:_MAX_PATH]))


def _read(name: str) -> str:
    return (STATIC_FILES / name).read_text(encoding="utf-8")
