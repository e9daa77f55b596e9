"""Pages of the reference that are made from the program: its commands, its HTTP API, its errors."""

from __future__ import annotations

from pathlib import Path

from mixsearch.cli.app import COMMANDS
from mixsearch.web import make_app

from .commands import make_command_list, make_command_page
from .errors import make_error_page
from .http import make_http_page


def write_pages(folder: Path) -> None:
    """Write all pages. Those that did not change keep their time, so that Sphinx need not read them again."""
    for name, text in make_pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def make_pages() -> dict[str, str]:
    """Return the text of every page, by its path in the folder of generated pages."""
    pages = {f"cli/{name}.md": make_command_page(name) for name in COMMANDS}
    pages["commands.md"] = make_command_list()
    pages["http.md"] = make_http_page(make_app({}).openapi())
    pages["errors.md"] = make_error_page()
    return pages
