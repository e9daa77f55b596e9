"""Topics side by side."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.acting import saved, search, see_topic

pytestmark = pytest.mark.xdist_group("browser")


def pin(page, query):
    search(page, query)
    page.locator("#pin").click()
    expect(page.locator("#pin")).to_have_text("Pinned")


@pytest.fixture
def compared(page):
    pin(page, "mate")
    pin(page, "harbour")
    page.get_by_role("navigation").get_by_role("link", name="Compare").click()
    expect(page.locator(".column")).to_have_count(2)
    return page


def test_pinned_topics_stand_side_by_side(compared, serving):
    answer = serving.get("api/indexes/hobbies/compare", topic=["q=mate", "q=harbour"])
    for column, topic in zip(compared.locator(".column").all(), answer["topics"], strict=True):
        assert column.get_attribute("data-hint") == topic["hint"]
        shown = column.locator(".pair").evaluate_all("all => all.map((one) => one.dataset.word)")
        assert shown == [each["word"] for each in topic["words"]]
    share = f"{100 * answer['overlaps'][0][1]:.0f}%"
    expect(compared.locator("#nearest")).to_contain_text(f"mate and harbour share {share} of their words")


def test_words_that_topics_share_are_set_off_together(compared):
    shared = compared.locator(".pair.is-shared")
    word = shared.first.get_attribute("data-word")
    shared.first.hover()
    expect(compared.locator(f'.pair[data-word="{word}"].is-linked')).to_have_count(2)
    expect(compared.locator(".is-linked")).to_have_count(2)


def test_a_topic_is_opened_or_removed_from_the_comparison(compared):
    compared.get_by_role("button", name="Remove mate").click()
    expect(compared.locator(".column")).to_have_count(1)
    compared.get_by_role("link", name="Open harbour").click()
    see_topic(compared, "harbour")
    compared.go_back()
    expect(compared.locator(".column")).to_have_count(1)
    compared.get_by_role("button", name="Remove harbour").click()
    expect(compared.locator(".welcome")).to_contain_text("Nothing pinned yet")


def test_a_comparison_is_a_link_and_a_file(compared, open_page, serving):
    topics = parse_qs(urlsplit(compared.url).query)["topic"]
    answer = serving.get("api/indexes/hobbies/compare", topic=topics)
    assert json.loads(saved(compared, "json")) == answer
    assert saved(compared, "csv") == serving.read("api/indexes/hobbies/compare.csv", topic=topics)
    assert saved(compared, "png").startswith(b"\x89PNG")
    assert b"<svg" in saved(compared, "svg")
    other = open_page()
    other.goto(compared.url)
    expect(other.locator(".column")).to_have_count(2)


def test_a_word_without_a_topic_says_so_in_its_column(page):
    page.goto("compare?topic=q%3Doven&topic=q%3Dtelescopw")
    expect(page.locator(".column")).to_have_count(2)
    expect(page.locator('.column[data-hint="telescopw"]')).to_contain_text("is not among the 157 words")


def test_nothing_pinned_says_how_to_pin(page):
    page.goto("compare")
    expect(page.locator(".welcome")).to_contain_text("Pin to compare")
    page.get_by_role("link", name="Find a topic").click()
    expect(page.locator("#query")).to_be_visible()
