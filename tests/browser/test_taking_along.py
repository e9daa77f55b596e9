"""Saving and sharing a topic: files, pictures, links, and the history."""

import csv
import io
import json
import xml.etree.ElementTree as ET

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.acting import asked, row_of, saved, search, see_topic, words_shown
from tests.closeness import assert_close

pytestmark = pytest.mark.xdist_group("browser")


def test_a_topic_is_saved_as_json(page, serving):
    search(page, "oven -sail")
    whole = serving.get("api/indexes/hobbies/topic", q="oven -sail", errors=True)
    assert_close(json.loads(saved(page, "json")), whole)


def test_a_topic_is_saved_as_csv(page, serving):
    search(page, "oven", narrower=-1)
    table = saved(page, "csv")
    everything = {"q": "oven", "narrower": -1, "errors": True}
    assert table == serving.read("api/indexes/hobbies/topic.csv", **everything)
    cells = [cell for row in csv.reader(io.StringIO(table.decode())) for cell in row]
    assert set(words_shown(page)) <= set(cells)


def test_a_topic_is_saved_as_a_picture(page):
    search(page, "oven")
    expect(page.locator(".whisker").first).to_be_attached()
    with Image.open(io.BytesIO(saved(page, "png"))) as picture:
        assert picture.format == "PNG"
        assert picture.width >= 1000
        colours = picture.convert("RGB").getcolors(1 << 24)
    assert len(colours) > 10
    assert max(colours)[1] == (255, 255, 255)


def test_a_topic_is_saved_as_a_drawing(page):
    search(page, "oven")
    drawing = ET.fromstring(saved(page, "svg"))
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    texts = {"".join(each.itertext()) for each in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert set(words_shown(page)) <= texts
    assert any("Topic of oven" in text for text in texts)


def test_a_link_shows_the_same_to_another_person(page, open_page):
    search(page, "mate")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("button.alternative", has_text="chess").click()
    expect(page.locator(".way-back")).to_be_visible()
    page.get_by_role("button", name="frequent").click()
    expect(page.get_by_role("button", name="frequent")).to_have_attribute("aria-pressed", "true")
    page.locator("#copy-link").click()
    expect(page.locator("#copy-link")).to_have_text("Copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url
    other = open_page()
    other.goto(link)
    see_topic(other, "mate")
    assert words_shown(other) == words_shown(page)
    assert other.locator("#topic-title").inner_text() == page.locator("#topic-title").inner_text()
    expect(other.locator(".way-back")).to_be_visible()
    expect(other.locator("#query")).to_have_value("mate")


def test_back_and_forward_go_through_the_searches(page):
    search(page, "mate")
    row_of(page, "anchor").locator(".word-name").click()
    see_topic(page, "mate anchor")
    row_of(page, "tide").locator(".word-name").click(modifiers=["Shift"])
    see_topic(page, "mate anchor -tide")
    page.go_back()
    see_topic(page, "mate anchor")
    expect(page.locator("#query")).to_have_value("mate anchor")
    page.go_back()
    see_topic(page, "mate")
    page.go_forward()
    see_topic(page, "mate anchor")
    expect(page.locator("#query")).to_have_value("mate anchor")


def test_typing_a_word_makes_one_step_of_history(page):
    search(page, "oven")
    steps = page.evaluate("history.length")
    page.locator("#query").press("End")
    page.locator("#query").press_sequentially(" garlic")
    see_topic(page, "oven garlic")
    assert page.evaluate("history.length") == steps + 1
    page.go_back()
    see_topic(page, "oven")


def test_the_trail_brings_past_searches_back(page):
    search(page, "oven")
    page.locator("#query").fill("telescope")
    page.locator("#query").press("Enter")
    see_topic(page, "telescope")
    trail = page.locator("#trail")
    expect(trail.locator(".step")).to_have_count(2)
    expect(trail.locator(".step").first).to_contain_text("telescope")
    trail.locator(".step", has_text="oven").click()
    see_topic(page, "oven")
    expect(page.locator("#query")).to_have_value("oven")
    page.reload()
    expect(trail.locator(".step").first).to_contain_text("oven")
    expect(trail.locator(".step")).to_have_count(2)
    trail.get_by_role("button", name="clear").click()
    expect(trail).to_be_hidden()
    assert asked(page) == {"q": "oven"}
