"""Assemble the page: one style sheet, and preload links for all modules that a view needs."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from pathlib import Path

from mixsearch.web.settings import STATIC_FILES

# The one style sheet of the page, which the server joins from those that the HTML file names.
STYLE = "page.css"
_STYLE_LINK = re.compile(r' *<link rel="stylesheet" href="static/([\w./-]+)">\n')
_IMPORT = re.compile(r'^(?:import|export)\b[^"]*?from "(\.{1,2}/[\w./-]+)";', re.MULTILINE)
_VIEW = re.compile(r'^  (\w+): \{[^}]*?import\("(\./[\w./-]+)"\)', re.MULTILINE)
_START = "main.js"
_MAX_PATH = 200
# What every view asks for first.
_REQUESTS = ("api/indexes", "api/settings")
_SEARCH_BOX = re.compile(r" *<!-- search box -->\n.*?<!-- end -->\n", re.DOTALL)


def make_page(path: str) -> str:
    """Return the HTML of a page, given its path."""
    return _make_page(path.strip("/") or "topics", find_state())


def make_not_found_page(path: str) -> str:
    """Return the HTML for an address at which nothing is, with links that lead up from there."""
    up = "../" * (path.count("/") - 1) or "./"
    html = re.sub(r'(href|src)="(?:\./)?', rf'\1="{up}', _read("not-found.html"))
    return html.replace("{path}", escape(path[:_MAX_PATH]))


def join_styles() -> bytes:
    """Return all style sheets of the page as one."""
    names = _STYLE_LINK.findall(_read("index.html"))
    return "\n".join(map(_read, names)).encode()


def find_state() -> tuple[int, int]:
    """Return what changes when a static file does: whoever edits one reloads the page and sees it."""
    times = [file.stat().st_mtime_ns for file in STATIC_FILES.rglob("*") if file.is_file()]
    return max(times), len(times)


@lru_cache(maxsize=64)
def _make_page(view: str, _: tuple[int, int]) -> str:
    html = _read("index.html")
    first, *_rest = _STYLE_LINK.findall(html)
    html = html.replace(f"static/{first}", f"static/{STYLE}", 1)
    html = _STYLE_LINK.sub(lambda found: found[0] if found[1] == STYLE else "", html)
    if view != "topics":
        html = _SEARCH_BOX.sub("", html)
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
        folder = Path(module).parent
        waiting += [_normalize(folder / each) for each in _IMPORT.findall(_read(module))]
    return list(found)


def _normalize(path: Path) -> str:
    """Return a path without its steps up."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _read(name: str) -> str:
    return (STATIC_FILES / name).read_text(encoding="utf-8")
