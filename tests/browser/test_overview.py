"""The map of topics."""

import csv
import io
import json

import pytest
from playwright.sync_api import expect

from tests.browser.acting import asked, saved, see_topic

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def overview(page):
    page.goto("overview")
    page.locator(".topic-mark").first.wait_for()
    return page


def test_the_map_has_a_circle_for_each_topic(overview, serving):
    topics = serving.get("api/indexes/hobbies/overview", n=30)["topics"]
    marks = overview.locator(".topic-mark")
    assert marks.count() == len(topics)
    radii = overview.locator(".topic-mark .disc").evaluate_all("all => all.map((one) => one.r.baseVal.value)")
    largest = max(range(len(topics)), key=lambda place: topics[place]["weight"])
    assert radii[largest] == max(radii)
    for topic, mark in zip(topics, marks.all(), strict=True):
        assert mark.get_attribute("aria-label").startswith(topic["words"][0])
    expect(overview.locator("#topic-table tbody tr")).to_have_count(len(topics))


def test_a_circle_leads_to_its_topic(overview):
    mark = overview.locator(".topic-mark").first
    word = mark.get_attribute("aria-label").split(":")[0].split(" (")[0]
    mark.focus()
    expect(overview.locator(".reading h2")).to_have_text(word)
    mark.press("Enter")
    see_topic(overview, word)
    assert asked(overview) == {"q": word}
    overview.go_back()
    expect(overview.locator(".topic-mark").first).to_be_visible()


def test_a_click_on_a_circle_opens_its_topic(overview):
    mark = overview.locator(".topic-mark").nth(1)
    word = mark.get_attribute("aria-label").split(":")[0].split(" (")[0]
    mark.locator(".disc").click()
    see_topic(overview, word)


def test_the_map_of_ones_own_words(overview, open_page):
    overview.get_by_role("button", name="My own").click()
    overview.get_by_label("Words to map").fill("oven, pawn telescopw")
    overview.keyboard.press("Enter")
    expect(overview.locator(".topic-mark")).to_have_count(2)
    note = overview.locator(".skipped")
    expect(note).to_contain_text("telescopw")
    other = open_page()
    other.goto(overview.url)
    expect(other.locator(".topic-mark")).to_have_count(2)
    note.get_by_role("button", name="telescope").click()
    expect(overview.locator(".topic-mark")).to_have_count(3)
    expect(note).to_have_count(0)


def test_words_that_are_all_unknown_say_so(page):
    page.goto("overview?words=qqqq")
    expect(page.locator("#trouble")).to_contain_text("qqqq")
    page.get_by_role("button", name="Map the distinctive words instead").click()
    expect(page.locator(".topic-mark").first).to_be_visible()


def test_the_words_and_how_many_are_a_choice(overview, serving):
    overview.get_by_role("button", name="Frequent").click()
    frequent = serving.get("api/indexes/hobbies/overview", n=30, by="frequent")["topics"]
    expect(overview.locator(".topic-mark")).to_have_count(len(frequent))
    assert asked(overview) == {"by": "frequent"}
    slider = overview.locator("#how-many")
    slider.focus()
    slider.press("Home")
    fewer = serving.get("api/indexes/hobbies/overview", n=10, by="frequent")["topics"]
    expect(overview.locator(".topic-mark")).to_have_count(len(fewer))
    assert asked(overview) == {"by": "frequent", "n": "10"}


def test_the_table_is_sorted_by_its_heads(overview):
    words = overview.locator("#topic-table tbody th a")
    overview.get_by_role("button", name="Word to type").click()
    assert words.all_inner_texts() == sorted(words.all_inner_texts())
    overview.get_by_role("button", name="Word to type").click()
    assert words.all_inner_texts() == sorted(words.all_inner_texts(), reverse=True)
    expect(overview.locator('[data-column="word"]')).to_have_attribute("aria-sort", "descending")


def test_the_map_is_saved_in_four_ways(overview, serving):
    topics = serving.get("api/indexes/hobbies/overview", n=30)["topics"]
    assert json.loads(saved(overview, "json"))["topics"] == topics
    rows = list(csv.DictReader(io.StringIO(saved(overview, "csv").decode(), newline="")))
    assert [row["words"] for row in rows] == [" ".join(topic["words"]) for topic in topics]
    assert saved(overview, "png").startswith(b"\x89PNG")
    assert b"<svg" in saved(overview, "svg")
