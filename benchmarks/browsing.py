"""Chromium, driven by Playwright: for the tests of the page, its benchmark and its pictures."""

from __future__ import annotations

import os
import shutil
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No sandbox inside of a container, no pixels for a graphics card, and not a word to its maker.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    # Whatever a page asks of other hosts fails at once.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


def find_browser() -> str | None:
    """The browser that MIXSEARCH_CHROMIUM names, or the first that is installed."""
    chosen = os.environ.get("MIXSEARCH_CHROMIUM")
    return chosen or next(filter(None, map(shutil.which, BROWSERS)), None)


def launch(playwright: Any) -> Any:
    """The browser, without a window."""
    path = find_browser()
    if path is None:
        raise FileNotFoundError("No Chromium was found. Run `make browser`, or name one in MIXSEARCH_CHROMIUM.")
    return playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
