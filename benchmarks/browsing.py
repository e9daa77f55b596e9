"""Chromium, driven by Playwright, and a server for it: for the tests of the page, its benchmarks and its pictures."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import urlopen

START_SECONDS = 60  # of the server
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


@contextmanager
def served(*arguments: object) -> Iterator[str]:
    """Run `mixsearch serve` with these arguments at a free port, and yield its address."""
    options = ("--no-open", "--no-token", "--port", "0")
    command = [sys.executable, "-m", "mixsearch", "serve", *map(str, arguments), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[bytes]) -> str:
    """Return the address of the server, once it answers."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line.decode()
        if line.startswith(b"Open "):
            break
    else:
        raise RuntimeError(f"The server did not start: {said}")
    address = said.rsplit("Open ", 1)[1].split()[0].rstrip("/")
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            with urlopen(f"{address}/api/health", timeout=5):
                return address
        except OSError:  # refused, or busy with its start
            time.sleep(0.05)
    raise RuntimeError(f"No answer at {address}")
