"""A real browser, and a real server for it."""

import contextlib
import os

import pytest
from benchmarks.browsing import find_browser, launch
from playwright.sync_api import expect, sync_playwright

from mixsearch.web import Access
from tests.browser.corpus import build_library
from tests.browser.watching import Watch
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
