"""History: Back and Forward go through whole searches, and restore a view as it was left."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import HINT, asked, row_of, search, see_topic

pytestmark = pytest.mark.xdist_group("browser")


def n_entries(page):
    return page.evaluate("history.length")


def test_each_search_is_one_entry(page):
    page.goto("./")
    box = page.locator("#query")
    start = n_entries(page)
    words = ["oven", "telescope", "pawn"]
    for word in words:
        box.fill("")
        for end in range(1, len(word) + 1):
            box.press(word[end - 1])
            expect(page.locator(HINT)).to_have_text(re.compile(f"^{word[:end]}"))
        box.press("Enter")
        see_topic(page, word)
    assert n_entries(page) == start + len(words)
    page.go_back()
    see_topic(page, "telescope")
    page.go_back()
    see_topic(page, "oven")
    expect(page).to_have_title("oven · mixsearch")
    page.go_forward()
    see_topic(page, "telescope")
    expect(box).to_have_value("telescope")


def test_changes_by_click_are_entries_and_the_order_of_words_is_none(page):
    search(page, "mate")
    row_of(page, "anchor").locator(".word-name").click()
    see_topic(page, "mate anchor")
    start = n_entries(page)
    page.get_by_role("button", name="frequent").click()
    expect(page.get_by_role("button", name="frequent")).to_have_attribute("aria-pressed", "true")
    assert n_entries(page) == start
    page.go_back()
    see_topic(page, "mate")
    assert asked(page) == {"q": "mate"}


def test_back_closes_a_document_and_leaves_the_list_as_it_was(page):
    search(page, "oven")
    page.locator("#query").fill("anchor")
    page.locator("#query").press("Enter")
    see_topic(page, "anchor")
    page.locator("#more").click()
    expect(page.locator(".document")).to_have_count(20)
    page.locator(".document-name").nth(15).click()
    reader = page.get_by_role("dialog")
    expect(reader).to_be_visible()
    page.go_back()
    expect(reader).to_be_hidden()
    expect(page.locator(".document")).to_have_count(20)
    assert asked(page) == {"q": "anchor"}
    page.locator(".document-name").first.click()
    expect(reader).to_be_visible()
    page.keyboard.press("Escape")
    expect(reader).to_be_hidden()
    page.wait_for_function("() => !history.state?.isLayer")
    page.go_back()
    see_topic(page, "oven")


def test_back_keeps_the_pages_and_the_place(page):
    search(page, "anchor")
    for n in (20, 30):
        page.locator("#more").click()
        expect(page.locator(".document")).to_have_count(n)
    page.locator(".document").nth(24).scroll_into_view_if_needed()
    page.wait_for_function("() => scrollY > 500 && history.state?.scroll === Math.round(scrollY)")
    before = page.evaluate("scrollY")
    page.get_by_role("link", name="Overview").click()
    expect(page.locator(".topic-mark").first).to_be_visible()
    page.go_back()
    see_topic(page, "anchor")
    expect(page.locator(".document")).to_have_count(30)
    page.wait_for_function("(before) => Math.abs(scrollY - before) < 3", arg=before)
