"""Errors on the page: a sentence, and what to do next."""

import pytest
from playwright.sync_api import expect

from mixsearch.web.settings import Access
from tests.browser.acting import search, see_topic
from tests.serving import serve

pytestmark = pytest.mark.xdist_group("browser")
TOKEN = "open-sesame-42"


def test_a_server_that_comes_back_is_asked_again(page):
    search(page, "oven")
    page.route("**/api/**", lambda route: route.abort())
    page.locator("#query").fill("pawn")
    expect(page.locator("#trouble")).to_contain_text("The server does not answer")
    expect(page.locator("#query")).to_have_value("pawn")
    page.unroute("**/api/**")
    see_topic(page, "pawn")


def test_an_answer_that_failed_is_asked_for_again(page):
    failing = [True]

    def answer(route):
        if failing[0]:
            route.fulfill(status=503, json={"error": {"code": "busy", "message": "Too busy.", "suggestions": []}})
        else:
            route.continue_()

    page.route("**/topic?*", answer)
    page.goto("./?q=oven")
    expect(page.locator("#trouble")).to_contain_text("Too busy.")
    failing[0] = False
    page.get_by_role("button", name="Try again").click()
    see_topic(page, "oven")
    page.watch.faults.clear()  # the status was the test's own


def test_addresses_of_nonsense_are_answered(page):
    page.goto("./?q=oven&narrower=abc&alternative=-3&documents=x&words_by=zzz&index=none&n_components=")
    see_topic(page, "oven")
    page.goto("./?q=oven&alternative=99")
    expect(page.locator("#trouble p").first).not_to_be_empty()
    assert page.goto("a/b/c").status == 404
    page.get_by_role("link", name="Topics").click()
    expect(page.locator(".entry").first).to_be_visible()
    page.watch.faults.clear()  # the status was the test's own


def test_a_server_without_an_index_still_cuts_pictures(open_page):
    with serve({}) as bare:
        page = open_page(bare.address)
        page.goto("./")
        expect(page.locator("#view")).to_contain_text("mixsearch serve reviews.csv")
        page.goto("overview")
        expect(page.locator("#view")).to_contain_text("no index of documents")
        page.goto("segment")
        expect(page.get_by_role("button", name="Try the example")).to_be_visible()


def test_a_server_with_a_token_asks_for_it(open_page, library):
    with serve(library, Access(token=TOKEN)) as guarded:
        page = open_page(guarded.address)
        page.goto("./?q=oven")
        box = page.get_by_label("This server asks for its token")
        expect(box).to_be_focused()
        box.fill("wrong")
        box.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("That is not the token of this server")
        box.fill(TOKEN)
        page.get_by_role("button", name="Open").click()
        see_topic(page, "oven")
        expect(page.locator(".whisker").first).to_be_attached()  # the last that the answer asks for by itself
        page.context.clear_cookies()
        page.locator("#query").fill("pawn")
        expect(box).to_be_visible()
        page.goto(f"./?q=oven&token={TOKEN}")
        see_topic(page, "oven")
        assert "token" not in page.url
        assert TOKEN not in page.evaluate("document.cookie")
        page.watch.faults.clear()  # being turned away is a status 401
