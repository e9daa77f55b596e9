"""History: past searches and Back keep whole searches, and Back restores a view as it was left."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import HINT, asked, search, see_topic

pytestmark = pytest.mark.xdist_group("browser")
STANDING = 1500  # longer than an answer has to stand to count as read


def labels(page):
    return page.locator(".step span").all_inner_texts()


def n_entries(page):
    return page.evaluate("history.length")


def test_four_searches_leave_four_entries(page):
    page.goto("./")
    box = page.locator("#query")
    start = n_entries(page)
    words = ["oven", "telescope", "anchor", "pawn"]
    for word in words:
        box.fill("")
        for end in range(1, len(word) + 1):
            box.press(word[end - 1])
            expect(page.locator(HINT)).to_have_text(re.compile(f"^{word[:end]}"))
        box.press("Enter")
        see_topic(page, word)
        expect(page.locator(".step span").first).to_have_text(word)
    assert n_entries(page) == start + 4
    assert labels(page) == words[::-1]
    for word in words[-2::-1]:
        page.go_back()
        see_topic(page, word)


def test_a_pause_within_a_word_is_no_search(page):
    page.goto("./")
    box = page.locator("#query")
    start = n_entries(page)
    box.press_sequentially("tele")
    see_topic(page, "telescope")
    page.wait_for_timeout(STANDING)
    assert labels(page) == ["telescope"]
    box.press_sequentially("scope")
    see_topic(page, "telescope")
    page.wait_for_timeout(STANDING)
    assert labels(page) == ["telescope"]
    assert n_entries(page) == start + 1
    box.press_sequentially(" comet")  # another search, without a key that says so
    see_topic(page, "telescope comet")
    page.wait_for_timeout(STANDING)
    assert labels(page) == ["telescope comet", "telescope"]
    assert n_entries(page) == start + 2
    page.go_back()
    see_topic(page, "telescope")


def test_the_slider_and_the_order_of_words_leave_no_trace(page):
    search(page, "oven")
    start = n_entries(page)
    slider = page.locator("#narrower")
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    page.wait_for_timeout(STANDING)
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("narrower=2"))
    page.wait_for_timeout(STANDING)
    assert n_entries(page) == start + 1
    assert labels(page) == ["oven narrower", "oven"]
    page.get_by_role("button", name="frequent").click()
    expect(page.get_by_role("button", name="frequent")).to_have_attribute("aria-pressed", "true")
    assert n_entries(page) == start + 1
    assert labels(page) == ["oven narrower", "oven"]
    page.go_back()
    expect(slider).to_have_value("0")


def test_back_closes_a_document_and_leaves_the_list_as_it_was(page):
    search(page, "anchor")
    page.locator("#more").click()
    expect(page.locator(".document")).to_have_count(20)
    page.locator(".document-name").nth(15).click()
    reader = page.get_by_role("dialog")
    expect(reader).to_be_visible()
    expect(page).to_have_title(f"{page.locator('#reader-title').inner_text()} · mixsearch")
    before = page.evaluate("scrollY")
    assert before > 200
    page.go_back()
    expect(reader).to_be_hidden()
    expect(page.locator(".document")).to_have_count(20)
    expect(page).to_have_title("anchor · mixsearch")
    assert page.evaluate("scrollY") == before
    assert asked(page) == {"q": "anchor"}
    page.go_forward()  # to the entry of the document, which stays closed
    expect(page.locator(".document")).to_have_count(20)


def test_a_document_closed_by_escape_leaves_no_entry(page):
    search(page, "oven")
    page.locator("#query").fill("anchor")
    page.locator("#query").press("Enter")
    see_topic(page, "anchor")
    page.locator(".document-name").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.wait_for_function("() => !history.state?.isLayer")
    page.go_back()
    see_topic(page, "oven")


def test_back_from_more_like_this_leads_to_the_topic(page):
    search(page, "pawn")
    page.locator(".document-name").first.click()
    page.locator("#like").click()
    expect(page.locator(".like-chip")).to_be_visible()
    page.go_back()
    see_topic(page, "pawn")
    expect(page.locator(".like-chip")).to_have_count(0)


def test_back_keeps_the_pages_and_the_place(page):
    search(page, "anchor")
    for n in (20, 30):
        page.locator("#more").click()
        expect(page.locator(".document")).to_have_count(n)
    page.locator(".document").nth(24).scroll_into_view_if_needed()
    page.wait_for_function("() => history.state?.scroll === Math.round(scrollY)")
    before = page.evaluate("scrollY")
    assert before > 500
    for leave in (lambda: page.get_by_role("link", name="Overview").click(), lambda: page.keyboard.press("/")):
        leave()
        if page.locator("#query").count() and "overview" not in page.url:
            page.keyboard.type("pawn")
            see_topic(page, "pawn")
        else:
            expect(page.locator(".topic-mark").first).to_be_visible()
        page.go_back()
        see_topic(page, "anchor")
        expect(page.locator(".document")).to_have_count(30)
        page.wait_for_function("(before) => Math.abs(scrollY - before) < 3", arg=before)


def test_the_title_of_the_tab_follows(page):
    page.goto("./")
    expect(page).to_have_title("hobbies · mixsearch")
    page.locator("#query").fill("oven")
    expect(page).to_have_title("oven · mixsearch")
    page.locator("#query").fill("telescopw")
    expect(page).to_have_title("telescopw · mixsearch")
    page.locator("#query").fill("")
    expect(page).to_have_title("hobbies · mixsearch")


def test_another_index_is_asked_the_same(page):
    page.goto("./?q=violin&narrower=1")
    expect(page.locator("#trouble")).to_be_visible()
    page.get_by_label("Index", exact=True).select_option("tiny")
    see_topic(page, "violin")
    assert asked(page) == {"q": "violin", "narrower": "1"}
    assert "index=tiny" in page.url


def test_a_document_of_one_index_is_none_of_another(page):
    page.goto("./?index=hobbies&documents=402")
    expect(page.locator("#topic")).to_be_visible()
    page.get_by_label("Index", exact=True).select_option("tiny")
    expect(page.locator(".welcome")).to_be_visible()
    assert asked(page) == {}


def test_pins_are_those_of_all_tabs(page):
    search(page, "oven")
    other = page.context.new_page()
    search(other, "pawn")
    page.locator("#pin").click()
    expect(other.get_by_role("link", name="Compare")).to_contain_text("1")
    other.locator("#pin").click()
    other.get_by_role("link", name="Compare").click()
    expect(other.locator(".topic-head")).to_have_count(2)
