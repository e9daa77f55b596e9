"""The pages: one for texts, which is built from web/page, and one for files, with preload links for its modules."""

from __future__ import annotations

import mimetypes
import posixpath
import re
from functools import lru_cache
from html import escape

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from mixsearch.web.settings import FILE_PAGES, HOME, STATIC, STATIC_FILES

_IMPORT = re.compile(r'^(?:import|export)\b[^"]*?from "(\.{1,2}/[\w./-]+)";', re.MULTILINE)
_VIEW = re.compile(r'^  (\w+): \{[^}]*?import\("(\./[\w./-]+)"\)', re.MULTILINE)
_START = "main.js"
_MAX_PATH = 200
# What every view asks for first.
_REQUESTS = ("api/settings",)

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


async def _send_page(request: Request) -> HTMLResponse:
    state = max(file.stat().st_mtime_ns for file in STATIC_FILES.rglob("*"))  # whoever edits a file reloads the page
    return HTMLResponse(_make_page(get_path(request.scope).strip("/"), state))


def make_not_found_page(path: str) -> str:
    """Return the HTML for an address at which nothing is, with links that lead up from there."""
    up = "../" * (path.count("/") - 1) or "./"
    html = re.sub(r'(href|src)="(?:\./)?', rf'\1="{up}', _read("not-found.html"))
    return html.replace("{path}", escape(path[:_MAX_PATH]))


@lru_cache(maxsize=64)
def _make_page(view: str, _: int) -> str:
    html = _read("files.html")
    views = dict(_VIEW.findall(_read(_START)))
    modules = _list_modules(_START, *([views[view].removeprefix("./")] if view in views else []))
    links = [f'    <link rel="modulepreload" href="static/{module}">\n' for module in modules]
    requests = [f'    <link rel="preload" href="{each}" as="fetch" crossorigin>\n' for each in _REQUESTS]
    return html.replace("  </head>", "".join((*requests, *links)) + "  </head>", 1)


def _list_modules(*first: str) -> list[str]:
    """Return modules and all that they import, each once, nearest first."""
    found: dict[str, None] = {}
    waiting = list(first)
    while waiting:
        module = waiting.pop(0)
        if module in found:
            continue
        found[module] = None
        folder = posixpath.dirname(module)
        waiting += [posixpath.normpath(posixpath.join(folder, each)) for each in _IMPORT.findall(_read(module))]
    return list(found)


def _read(name: str) -> str:
    return (STATIC_FILES / name).read_text(encoding="utf-8")
