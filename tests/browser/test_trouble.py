"""Errors on the page: a sentence, and what to do next."""

import pytest
from playwright.sync_api import expect

from mixsearch.web.settings import Access
from tests.browser.acting import search, see_topic
from tests.serving import serve

pytestmark = pytest.mark.xdist_group("browser")
TOKEN = "open-sesame-42"


def test_a_server_that_was_stopped_is_told_in_words(open_page, library):
    with serve(library) as short_lived:
        page = open_page(short_lived.address)
        search(page, "oven")
        short_lived.stop()
        page.locator("#query").fill("pawn")
        expect(page.locator("#trouble")).to_contain_text("The server does not answer")
        expect(page.get_by_role("button", name="Try again")).to_be_visible()
        expect(page.locator("#query")).to_have_value("pawn")
        page.get_by_role("link", name="Overview").click()
        expect(page.get_by_text("The server does not answer").first).to_be_visible()


def test_a_server_that_comes_back_is_asked_again(page):
    search(page, "oven")
    page.route("**/api/**", lambda route: route.abort())
    page.locator("#query").fill("pawn")
    expect(page.locator("#trouble")).to_contain_text("The server does not answer")
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


def test_an_answer_that_is_no_json_is_told_in_words(page):
    page.route("**/topic?*", lambda route: route.fulfill(status=200, body="<html>"))
    page.goto("./?q=oven")
    expect(page.locator("#trouble")).to_contain_text("an invalid answer")


def test_an_address_of_nonsense_opens_the_page_all_the_same(page):
    page.goto("./?q=oven&narrower=abc&alternative=-3&documents=x&words_by=zzz&index=none&n_components=")
    see_topic(page, "oven")


def test_another_reading_that_does_not_exist_is_told_in_words(page):
    page.goto("./?q=oven&alternative=99")
    expect(page.locator("#trouble")).to_be_visible()
    assert len(page.locator("#trouble p").first.inner_text()) > 20


def test_a_server_without_an_index_still_cuts_pictures(open_page):
    with serve({}) as bare:
        page = open_page(bare.address)
        page.goto("./")
        expect(page.locator("#view")).to_contain_text("no index of documents")
        expect(page.locator("#view")).to_contain_text("mixsearch serve reviews.csv")
        for view in ("overview", "compare"):
            page.goto(view)
            expect(page.locator("#view")).to_contain_text("no index of documents")
        page.goto("segment")
        expect(page.get_by_role("button", name="Try the example")).to_be_visible()


@pytest.fixture(scope="module")
def guarded(library):
    with serve(library, Access(token=TOKEN)) as started:
        yield started


def test_a_server_with_a_token_asks_for_it(open_page, guarded):
    page = open_page(guarded.address)
    page.goto("./?q=oven")
    box = page.get_by_label("This server asks for its token")
    expect(box).to_be_focused()
    expect(page.get_by_role("alert")).to_have_count(0)
    box.fill("wrong")
    box.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("That is not the token of this server")
    expect(box).to_have_value("")
    box.fill(TOKEN)
    page.get_by_role("button", name="Open").click()
    see_topic(page, "oven")
    page.watch.faults.clear()  # being turned away is a status 401


def test_a_session_that_was_lost_leads_to_the_token_and_back(open_page, guarded):
    page = open_page(guarded.address)
    page.goto(f"./?q=oven&token={TOKEN}")
    see_topic(page, "oven")
    expect(page.locator(".whisker").first).to_be_attached()  # the last that the answer asks for by itself
    page.context.clear_cookies()
    page.locator("#query").fill("pawn")
    box = page.get_by_label("This server asks for its token")
    box.fill(TOKEN)
    box.press("Enter")
    see_topic(page, "pawn")
    page.watch.faults.clear()  # being turned away is a status 401


def test_a_link_with_the_token_opens_and_hides_it(open_page, guarded):
    page = open_page(guarded.address)
    page.goto(f"./?q=oven&token={TOKEN}")
    see_topic(page, "oven")
    assert "token" not in page.url
    assert TOKEN not in page.content()
    assert TOKEN not in page.evaluate("document.cookie")
    page.goto("./")
    expect(page.locator("#query")).to_be_visible()


def test_a_link_with_a_wrong_token_stays_outside(open_page, guarded):
    page = open_page(guarded.address)
    page.goto("./?q=oven&token=guess")
    expect(page.get_by_label("This server asks for its token")).to_be_visible()
    page.watch.faults.clear()
