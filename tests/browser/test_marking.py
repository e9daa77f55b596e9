"""Documents marked as about a topic or as not about it, and the answer that follows."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import asked, search, see_topic

pytestmark = pytest.mark.xdist_group("browser")


def rows_shown(page):
    return page.locator(".document").evaluate_all("all => all.map((one) => one.dataset.row)")


def mark(page, row, answer):
    page.locator(f'.document[data-row="{row}"]').get_by_role("button", name=answer).click()
    expect(page.locator(f".like-chip.{answer.lower()}").last).to_be_visible()
    see_topic(page, page.locator("#query").input_value())


def test_the_answer_follows_the_marks(page, serving):
    search(page, "mate")
    first, second = rows_shown(page)[:2]
    mark(page, first, "Yes")
    expect(page.locator(f'.document[data-row="{first}"] .mark.yes')).to_have_attribute("aria-pressed", "true")
    mark(page, second, "No")
    expect(page.locator(f'.document[data-row="{second}"]')).to_have_count(0)
    assert asked(page) == {"q": "mate", "documents": first, "not_documents": second}
    answer = serving.get("api/indexes/hobbies/topic", q="mate", documents=[first], not_documents=[second])
    expect(page.locator("#topic-title")).to_have_text(", ".join(each["word"] for each in answer["words"][:3]))
    page.locator(".like-chip.no").get_by_role("button").click()
    expect(page.locator(f'.document[data-row="{second}"]')).to_have_count(1)
    page.go_back()
    expect(page.locator(".like-chip.no")).to_have_count(1)
    page.get_by_role("button", name="clear all").click()
    expect(page.locator(".likes")).to_be_hidden()
    assert asked(page) == {"q": "mate"}


def test_an_open_document_is_marked_and_the_answer_follows_when_it_is_closed(page):
    search(page, "anchor")
    rows = rows_shown(page)
    page.locator(".document-name").first.click()
    reader = page.get_by_role("dialog")
    reader.get_by_role("button", name=re.compile("^Yes")).click()
    page.keyboard.press("ArrowRight")
    reader.get_by_role("button", name=re.compile("^No")).click()
    page.keyboard.press("Escape")
    expect(page.locator(".like-chip")).to_have_count(2)
    assert asked(page) == {"q": "anchor", "documents": rows[0], "not_documents": rows[1]}
    page.go_back()
    expect(page.locator(".likes")).to_be_hidden()


def test_other_words_are_another_search_without_the_marks(page):
    search(page, "mate")
    mark(page, rows_shown(page)[0], "Yes")
    page.locator("#query").fill("mate rook")
    see_topic(page, "mate rook")
    expect(page.locator(".like-chip")).to_have_count(1)
    page.locator("#query").fill("oven")
    see_topic(page, "oven")
    expect(page.locator(".likes")).to_be_hidden()
    assert asked(page) == {"q": "oven"}
