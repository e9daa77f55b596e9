"""A real browser, and a real server for it."""

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


@pytest.fixture(scope="package")
def chromium():
    if find_browser() is None and not os.environ.get("MIXSEARCH_REQUIRE_BROWSER"):
        pytest.skip("No Chromium was found: run `make browser`, or name one in MIXSEARCH_CHROMIUM.")
    with sync_playwright() as playwright:
        browser = launch(playwright)
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
        context.close()
    assert [fault for watch in watches for fault in watch.faults] == []


@pytest.fixture
def page(open_page):
    return open_page()
