"""A real browser, and a real server for it."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from benchmarks.browsing import find_browser, launch
from playwright.sync_api import expect, sync_playwright

from mixsearch.web import Access
from tests.browser.corpus import build_library
from tests.serving import serve

# For a machine whose cores are busy with other tests; what is there at once takes no time at all.
WORKER_TIMEOUT = 60_000
expect.set_options(timeout=WORKER_TIMEOUT)


class Chromium:
    """A browser that is started again for the next test if it, or its driver, has died."""

    def __init__(self):
        self._playwright = self._browser = None

    def new_context(self, **options):
        if self._browser is not None:
            with contextlib.suppress(Exception):  # a plain one says that the driver is gone
                return self._browser.new_context(**options)
        self.close()
        self._playwright = sync_playwright().start()
        self._browser = launch(self._playwright)
        return self._browser.new_context(**options)

    def close(self):
        for part, end in ((self._browser, "close"), (self._playwright, "stop")):
            if part is not None:
                with contextlib.suppress(Exception):
                    getattr(part, end)()
        self._playwright = self._browser = None


@pytest.fixture(scope="module")
def chromium():
    if find_browser() is None and not os.environ.get("MIXSEARCH_REQUIRE_BROWSER"):
        pytest.skip("No Chromium was found: run `make browser`, or name one in MIXSEARCH_CHROMIUM.")
    browser = Chromium()
    yield browser
    browser.close()


@pytest.fixture(scope="package")
def library(tmp_path_factory):
    return build_library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="package")
def serving(library):
    with serve(library, Access(files=True)) as started:
        yield started


@pytest.fixture
def open_page(chromium, serving):
    """Open a new browser for each call, like another user; at the end, check that nothing went wrong."""
    watches, contexts = [], []

    def open_one(address=serving.address, **options):
        context = chromium.new_context(
            **{"base_url": address, "viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        )
        context.set_default_timeout(WORKER_TIMEOUT)
        watches.append(Watch(context, address))
        contexts.append(context)
        page = context.new_page()
        page.watch = watches[-1]
        return page

    yield open_one
    for context in contexts:
        with contextlib.suppress(Exception):  # of a browser that has died: the test itself says so
            context.close()
    assert [fault for watch in watches for fault in watch.faults] == []


@pytest.fixture
def page(open_page):
    return open_page()


# As Chromium logs every answer that is an error.
_LOGGED_STATUS = re.compile(r"^Failed to load resource: (the server responded with a status of (?P<status>\d+))?")
_TELL_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`Policy violated: ${event.violatedDirective} by ${event.blockedURI}`));"""


class Watch:
    """What went wrong in the pages of a context."""

    def __init__(self, context: Any, address: str) -> None:
        self.faults: list[str] = []
        self._host = urlsplit(address).netloc
        context.add_init_script(_TELL_VIOLATIONS)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.faults.append(f"Uncaught: {error.error}"))
        context.on("request", self._see_request)

    def _hear(self, message: Any) -> None:
        logged = _LOGGED_STATUS.match(message.text)
        if logged is not None:
            self._check_status(int(logged["status"] or 0), message.location["url"])
        elif message.type in ("error", "warning"):
            self.faults.append(f"Console: {message.text}")

    def _check_status(self, status: int, address: str) -> None:
        """Requests to the API may be rejected, and some tests expect that; files must exist."""
        is_question = urlsplit(address).path.startswith("/api/")
        if status >= (500 if is_question else 400):
            self.faults.append(f"Status {status}: {address}")

    def _see_request(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != self._host:
            self.faults.append(f"Request to another host: {request.url}")
