"""Documents: typical ones below a topic, and whole ones over the page."""

import pytest
from playwright.sync_api import expect

from tests.browser.acting import asked, search, see_topic
from tests.browser.corpus import ODD_NAME, ODD_TEXT, SCRIPT

pytestmark = pytest.mark.xdist_group("browser")


def names_shown(page):
    return page.locator(".document-name").all_inner_texts()


def test_documents_of_a_topic_follow_page_by_page(page, serving):
    search(page, "anchor")
    documents = serving.get("api/indexes/hobbies/topic", q="anchor", n_documents=20)["documents"]
    assert page.locator(".snippet").all_inner_texts() == [each["snippet"] for each in documents[:10]]
    assert "anchor" in {text.lower() for text in page.locator(".snippet mark").all_inner_texts()}
    page.locator("#more").click()
    expect(page.locator(".document")).to_have_count(20)
    assert names_shown(page) == [each["name"] for each in documents]


def test_a_document_is_read_and_leafed_from(page, serving):
    search(page, "anchor")
    names = names_shown(page)
    page.locator(".document-name").first.click()
    reader = page.get_by_role("dialog")
    row = page.locator(".document").first.get_attribute("data-row")
    expect(reader.locator(".whole")).to_have_text(serving.get(f"api/indexes/hobbies/documents/{row}")["text"])
    expect(page.locator("#previous")).to_be_disabled()
    page.locator("#next").click()
    expect(page.locator("#reader-title")).to_have_text(names[1])
    page.keyboard.press("ArrowRight")
    expect(page.locator("#reader-title")).to_have_text(names[2])
    page.keyboard.press("Escape")
    expect(reader).to_be_hidden()
    expect(page.locator(".document-name").nth(2)).to_be_focused()
    page.locator(".document-name").first.click()
    page.locator("#like").click()
    see_topic(page, names[0])
    assert asked(page) == {"documents": row}
    expect(page.locator("#query")).to_have_value("")


def test_markup_is_shown_as_text_and_nothing_runs(page):
    search(page, "pwned")
    odd = page.locator(".document-name", has_text="Log <img")
    expect(odd).to_have_text(ODD_NAME)
    assert "<script>window.pwned=1</script>" in " ".join(page.locator(".snippet").all_inner_texts())
    expect(page.locator(".document-name", has_text="⚓")).to_have_text("אוניה ⚓")
    odd.click()
    expect(page.locator(".whole")).to_have_text(ODD_TEXT)
    assert page.locator("#view script, #view img[src=x], #view b:text('bold')").count() == 0
    page.locator("#like").click()
    expect(page.locator(".likes")).to_contain_text(ODD_NAME)
    page.goto(f"./?q={SCRIPT.replace('=', '%3D')}")
    expect(page.locator("#topic .eyebrow")).to_contain_text("<script>")
    page.goto("./?q=oven&index=%3Cscript%3Ewindow.pwned=1%3C/script%3E")
    see_topic(page, "oven")
    assert page.evaluate("window.pwned") is None


def test_a_text_that_is_long_or_missing_says_so(page):
    page.goto("./?documents=402")
    page.locator('.document[data-row="402"] .document-name').click()
    expect(page.locator(".reader-text")).to_contain_text("The rest is left out")
    page.goto("./?index=tiny&q=violin")
    page.locator(".document-name").first.click()
    expect(page.locator(".reader-text")).to_have_text("The index keeps no texts.")
