"""Searching: the box, its completions, changes by click and key, and saved topics."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import asked, row_of, search, see_topic, words_shown

pytestmark = pytest.mark.xdist_group("browser")


def test_the_start_leads_to_a_topic_and_an_empty_box_back(page, serving):
    page.goto("./")
    entries = page.locator(".entry")
    words = serving.get("api/indexes/hobbies")["distinctive_words"]
    expect(entries).to_have_count(len(words))
    assert entries.evaluate_all("all => all.map((each) => each.dataset.word)") == words
    expect(page.locator(".entry-share").first).to_contain_text("%")
    example = page.locator(".example-topic")
    word = example.locator("q").inner_text()
    example.get_by_role("button", name=f"Open the topic of {word}").click()
    see_topic(page, word)
    page.get_by_role("button", name="Clear the search").click()
    expect(page.locator(".welcome")).to_contain_text("403 documents")
    expect(page.locator("#query")).to_be_focused()
    entries.first.click()
    see_topic(page, words[0])


def test_the_answer_follows_each_key(page, serving):
    page.goto("./")
    box = page.locator("#query")
    box.press("t")
    box.press("e")
    see_topic(page, "telescope")  # the most frequent word that begins so
    expect(page.get_by_role("listbox")).to_be_visible()
    listed, title = (page.locator(each).bounding_box() for each in ("#completions", "#topic-title"))
    assert listed["y"] + listed["height"] <= title["y"]  # the answer stays in view
    box.press_sequentially("lescope")
    box.press("Enter")
    see_topic(page, "telescope")
    expect(page.get_by_role("listbox")).to_be_hidden()
    answer = serving.get("api/indexes/hobbies/topic", q="telescope")
    by_share = sorted(answer["words"], key=lambda each: -each["probability"])
    assert words_shown(page) == [each["word"] for each in by_share]
    expect(page.locator("#topic-title")).to_contain_text("star, galaxy")
    expect(page.locator("#topic .verdict")).to_contain_text("about it")
    expect(page.locator(".whisker")).to_have_count(len(by_share))
    expect(page.locator("#confidence")).to_contain_text("%")
    assert asked(page) == {"q": "telescope"}


def test_a_word_is_completed_by_keys_alone(page):
    page.goto("./")
    box = page.locator("#query")
    box.press_sequentially("oven -g")
    options = page.locator("#completions").get_by_role("option")
    expect(options.first).to_contain_text("document")
    box.press("ArrowDown")
    first = options.first.locator(".completion").inner_text()
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", options.first.get_attribute("id"))
    box.press("Enter")
    expect(box).to_have_value(f"oven -{first} ")
    expect(page.get_by_role("listbox")).to_be_hidden()
    see_topic(page, f"oven -{first}")


def test_misspelt_words_offer_others(page):
    page.goto("./?q=telescopw")
    trouble = page.locator("#trouble")
    expect(trouble).to_contain_text("is not among the")
    trouble.get_by_role("button", name="telescope").click()
    see_topic(page, "telescope")
    expect(page.locator("#query")).to_have_value("telescope")
    search(page, "oven telescopw")
    page.get_by_role("list", name="Notes").get_by_role("button", name="telescope").click()
    see_topic(page, "oven telescope")
    expect(page.locator(".skipped")).to_have_count(0)


def test_words_of_an_answer_are_added_and_excluded(page):
    search(page, "mate")
    row_of(page, "anchor").locator(".word-name").click()
    see_topic(page, "mate anchor")
    row_of(page, "anchor").locator(".word-name").click()
    see_topic(page, "mate")
    row_of(page, "harbour").locator(".word-name").click(modifiers=["Shift"])
    see_topic(page, "mate -harbour")
    expect(page.locator("#topic-title")).to_contain_text("chess")
    assert asked(page) == {"q": "mate -harbour"}
    plus = page.get_by_role("button", name="Add pawn to the search")
    plus.focus()
    plus.press("Enter")
    see_topic(page, "mate -harbour pawn")
    # The focus stays in the answer, so that one can go on.
    assert page.evaluate("document.getElementById('answer').contains(document.activeElement)")


def test_another_reading_is_one_click_away(page, open_page):
    search(page, "mate")
    first = page.locator("#topic-title").inner_text()
    shares = page.locator(".alternatives").inner_text().replace("under 1%", "0%")
    assert sum(int(share) for share in re.findall(r"(\d+)%", shares)) == 100
    page.locator(".alternative", has_text="chess, pawn").click()
    expect(page.locator("#topic-title")).to_contain_text("chess")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#copy-link").click()
    expect(page.locator("#copy-link")).to_have_text("Copied")
    other = open_page()
    other.goto(page.evaluate("navigator.clipboard.readText()"))
    expect(other.locator("#topic-title")).to_contain_text("chess")
    page.locator("#first-reading").click()
    expect(page.locator("#topic-title")).to_have_text(first)
    assert "alternative" not in asked(page)


def test_a_late_answer_never_covers_a_newer_one(page):
    page.route("**/topic?*q=oven*", lambda _route: None)  # no answer comes
    page.goto("./")
    with page.expect_request("**/topic?*q=oven*"):
        page.locator("#query").fill("oven")
    with page.expect_event("requestfailed", lambda request: "q=oven" in request.url):
        page.locator("#query").fill("pawn")
    see_topic(page, "pawn")


def test_the_other_index_is_asked_the_same(page):
    search(page, "violin oven")
    page.get_by_label("Index", exact=True).select_option("tiny")
    expect(page.locator("#topic-title")).to_contain_text("violin")
    assert "index=tiny" in page.url
    page.reload()
    expect(page.get_by_label("Index", exact=True)).to_have_value("tiny")
    page.goto("./?index=hobbies&documents=402")
    expect(page.locator("#topic")).to_be_visible()
    page.get_by_label("Index", exact=True).select_option("tiny")
    expect(page.locator(".welcome")).to_be_visible()  # its documents are others
    assert asked(page) == {}


def test_a_topic_is_saved_named_and_annotated(page):
    page.goto("./?q=mate&documents=4")
    see_topic(page, "mate")
    page.locator("#save-topic").click()
    page.get_by_label("Name of the topic").fill("At sea")
    page.get_by_label("Notes on the topic").fill("Look at <b>keel</b> too")
    page.locator(".saved-form").get_by_role("button", name="Save").click()
    search(page, "oven")
    page.locator("#saved .step", has_text="At sea").click()
    see_topic(page, "mate")
    expect(page.locator(".like-chip")).to_have_count(1)
    expect(page.locator("#save-topic")).to_have_text("Saved")
    expect(page.locator("#saved .note")).to_have_text("Look at <b>keel</b> too")
    page.get_by_role("button", name="Remove At sea").click()
    expect(page.locator("#saved")).to_be_hidden()
