"""The view of topics, as a person uses it."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.xdist_group("browser")


def search(page, query, **more):
    page.goto("./")
    page.locator("#query").fill(query)
    painted(page, query)


def painted(page, hint):
    expect(page.locator("html")).to_have_attribute("data-painted", hint)


def words_shown(page):
    return page.locator(".word-row").evaluate_all("rows => rows.map((row) => row.dataset.word)")


def test_typing_a_word_shows_its_topic(page, serving):
    page.goto("./")
    page.keyboard.type("telescope")
    painted(page, "telescope")
    answer = serving.get("api/indexes/hobbies/topic", q="telescope")
    assert words_shown(page) == [each["word"] for each in answer["words"]]
    assert {"star", "galaxy", "telescope"} <= set(words_shown(page))
    expect(page.locator("#topic-title")).to_contain_text("star, galaxy")
    expect(page.locator("#share")).to_contain_text("of the corpus")
    expect(page.locator("#topic .verdict")).to_contain_text("singled out")
    assert "q=telescope" in page.url
