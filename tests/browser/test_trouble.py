"""A server that is gone, comes back, or asks for its token."""

import re

import pytest
from playwright.sync_api import expect

from mixsearch.web.settings import Access
from tests.browser.acting import open_topics, see_all, see_topic
from tests.serving import serve

pytestmark = pytest.mark.xdist_group("browser")
TOKEN = "open-sesame-42"


def test_the_page_goes_on_when_the_server_comes_back(page):
    open_topics(page, "oven")
    page.route("**/api/**", lambda route: route.abort())
    page.locator("#query").fill("pawn")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    page.unroute("**/api/**")
    see_topic(page, "pawn")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_server_without_an_index_still_cuts_pictures(open_page):
    with serve({}) as bare:
        page = open_page(bare.address)
        page.goto("./")
        expect(page.locator("#view")).to_contain_text("mixsearch serve reviews.csv")
        page.goto("segment")
        page.get_by_role("link", name="a picture").click()
        expect(page.locator(".stage img")).to_have_js_property("naturalWidth", 720)


def test_a_server_with_a_token_asks_for_it(open_page, library):
    with serve(library, Access(token=TOKEN)) as guarded:
        page = open_page(guarded.address)
        page.goto("./?t=q%3Doven&token=wrong")
        expect(page.get_by_role("alert")).to_have_text(re.compile("^Open the link printed in your terminal"))
        page.goto(f"./?t=q%3Doven&token={TOKEN}")
        see_topic(page, "oven")
        assert "token" not in page.url
        assert TOKEN not in page.evaluate("document.cookie")
        page.context.clear_cookies()
        page.locator("#query").fill("pawn")
        expect(page.get_by_role("alert")).to_contain_text("Open the link printed in your terminal")
        page.goto(f"./?token={TOKEN}")
        see_all(page)
        page.watch.faults.clear()  # being turned away is a status 401
