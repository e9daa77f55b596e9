"""Topics saved under a name, with notes: kept in the browser, exported and imported."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.acting import search, see_topic

pytestmark = pytest.mark.xdist_group("browser")


def save(page, query, name, note=""):
    search(page, query)
    page.locator("#save-topic").click()
    page.get_by_label("Name of the topic").fill(name)
    page.get_by_label("Notes on the topic").fill(note)
    page.locator(".saved-form").get_by_role("button", name="Save").click()
    expect(page.locator("#saved .step", has_text=name)).to_be_visible()


def names_saved(page):
    return page.locator("#saved .step span").all_inner_texts()


def exported(page):
    with page.expect_download() as download:
        page.locator("#saved").get_by_role("button", name="export").click()
    assert download.value.suggested_filename == "hobbies-saved-topics.json"
    return json.loads(download.value.path().read_text())


def test_a_topic_is_saved_named_and_annotated(page):
    save(page, "anchor", "At sea", "Look at <b>keel</b> too")
    save(page, "oven", "Kitchen")
    page.goto("./")
    expect(page.locator("#saved .step")).to_have_count(2)
    assert names_saved(page) == ["Kitchen", "At sea"]
    expect(page.locator("#saved .note")).to_have_text("Look at <b>keel</b> too")
    page.locator("#saved .step", has_text="At sea").click()
    see_topic(page, "anchor")
    expect(page.locator("#save-topic")).to_have_text("Saved")
    page.get_by_role("button", name="Rename or annotate Kitchen").click()
    page.get_by_label("Name of the topic").fill("Cooking")
    page.keyboard.press("Enter")
    assert names_saved(page) == ["Cooking", "At sea"]
    page.get_by_role("button", name="Remove Cooking").click()
    expect(page.locator("#saved .step")).to_have_count(1)


def test_saved_topics_are_a_file_that_another_browser_reads(page, open_page, tmp_path):
    save(page, "anchor", "At sea", "a note")
    file = exported(page)
    assert [(each["name"], each["note"], each["search"]) for each in file["topics"]] == [
        ("At sea", "a note", "q=anchor")
    ]
    (tmp_path / "saved.json").write_text(json.dumps(file))
    other = open_page()
    save(other, "oven", "Kitchen")
    for _ in range(2):  # the second time adds nothing
        other.get_by_label("File of saved topics").set_input_files(tmp_path / "saved.json")
        expect(other.locator("#saved .step")).to_have_count(2)
    assert names_saved(other) == ["Kitchen", "At sea"]


@pytest.mark.parametrize("content", ["not json", "[]", '{"kind": "other", "topics": []}'])
def test_another_file_is_refused(page, tmp_path, content):
    search(page, "anchor")
    (tmp_path / "other.json").write_text(content)
    page.get_by_label("File of saved topics").set_input_files(tmp_path / "other.json")
    expect(page.locator(".notice")).to_contain_text("not a file of saved topics")


def test_marks_and_filters_are_saved_with_a_topic(page):
    page.goto("./?q=mate&documents=4&narrower=1")
    see_topic(page, "mate")
    page.locator("#save-topic").click()
    page.keyboard.press("Enter")
    page.goto("./?q=oven")
    see_topic(page, "oven")
    page.locator("#saved .step").click()
    see_topic(page, "mate")
    expect(page.locator(".like-chip")).to_have_count(1)
    expect(page.locator("#narrower")).to_have_value("1")
