"""Documents: typical ones below a topic, and whole ones over the page."""

import pytest
from playwright.sync_api import expect

from tests.browser.acting import asked, search, see_topic
from tests.browser.corpus import ODD_NAME, ODD_TEXT, SCRIPT

pytestmark = pytest.mark.xdist_group("browser")


def names_shown(page):
    return page.locator(".document-name").all_inner_texts()


def test_the_typical_documents_of_a_topic_have_its_words_marked(page, serving):
    search(page, "anchor")
    answer = serving.get("api/indexes/hobbies/topic", q="anchor")
    assert names_shown(page) == [each["name"] for each in answer["documents"]]
    assert page.locator(".snippet").all_inner_texts() == [each["snippet"] for each in answer["documents"]]
    marked = {text.lower() for text in page.locator(".snippet mark").all_inner_texts()}
    assert "anchor" in marked
    assert marked <= {each["word"] for each in answer["words"]}


def test_more_documents_follow_page_by_page(page, serving):
    search(page, "anchor")
    page.locator("#more").click()
    expect(page.locator(".document")).to_have_count(20)
    page.locator("#more").click()
    expect(page.locator(".document")).to_have_count(30)
    all_thirty = serving.get("api/indexes/hobbies/topic", q="anchor", n_documents=30)["documents"]
    assert names_shown(page) == [each["name"] for each in all_thirty]
    assert len(set(names_shown(page))) == 30


def test_a_document_opens_whole_and_escape_gives_the_focus_back(page, serving):
    search(page, "anchor")
    third = page.locator(".document-name").nth(2)
    third.click()
    reader = page.get_by_role("dialog")
    expect(reader).to_be_visible()
    row = page.locator(".document").nth(2).get_attribute("data-row")
    expect(reader.locator(".whole")).to_have_text(serving.get(f"api/indexes/hobbies/documents/{row}")["text"])
    assert "anchor" in [text.lower() for text in reader.locator("mark").all_inner_texts()]
    page.keyboard.press("Escape")
    expect(reader).to_be_hidden()
    expect(third).to_be_focused()


def test_one_leafs_through_the_documents_by_buttons_and_keys(page):
    search(page, "anchor")
    names = names_shown(page)
    page.locator(".document-name").first.click()
    title = page.locator("#reader-title")
    expect(page.locator("#previous")).to_be_disabled()
    page.locator("#next").click()
    expect(title).to_have_text(names[1])
    page.keyboard.press("ArrowRight")
    expect(title).to_have_text(names[2])
    page.keyboard.press("ArrowLeft")
    expect(title).to_have_text(names[1])
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.locator(".document-name").nth(1)).to_be_focused()


def test_more_like_this_searches_with_the_document(page):
    search(page, "pawn")
    row = page.locator(".document").first.get_attribute("data-row")
    name = page.locator(".document-name").first.inner_text()
    page.locator(".document-name").first.click()
    page.locator("#like").click()
    see_topic(page, name)
    assert asked(page) == {"documents": row}
    expect(page.locator("#query")).to_have_value("")
    expect(page.locator("#topic-title")).to_contain_text("chess")
    page.locator(".likes").get_by_role("button").click()
    expect(page.locator(".welcome")).to_be_visible()


def test_a_very_long_document_is_shown_by_its_beginning(page):
    search(page, "telescope", narrower=3)
    row = 402
    page.goto(f"./?documents={row}")
    button = page.locator(f'.document[data-row="{row}"] .document-name')
    button.click()
    expect(page.locator(".reader-text")).to_contain_text("The rest is left out")


def test_an_index_without_texts_says_so(page):
    page.goto("./?index=tiny&q=violin")
    page.locator(".document-name").first.click()
    expect(page.locator(".reader-text")).to_have_text("The index keeps no texts.")


def test_markup_in_a_document_is_shown_as_text_and_nothing_runs(page):
    search(page, "pwned")
    odd = page.locator(".document-name", has_text="Log <img")
    expect(odd).to_have_text(ODD_NAME)
    snippets = " ".join(page.locator(".snippet").all_inner_texts())
    assert "<script>window.pwned=1</script>" in snippets
    odd.click()
    expect(page.locator("#reader-title")).to_have_text(ODD_NAME)
    expect(page.locator(".whole")).to_have_text(ODD_TEXT)
    assert SCRIPT in page.locator(".whole").inner_text()
    assert page.locator("#view script, #view img[src=x], #view b:text('bold')").count() == 0
    page.locator("#like").click()
    expect(page.locator(".likes")).to_contain_text(ODD_NAME)
    assert page.evaluate("window.pwned") is None


def test_markup_in_an_address_is_shown_as_text_and_nothing_runs(page):
    page.goto(f"./?q={SCRIPT.replace('=', '%3D')}")
    expect(page.locator("#topic .eyebrow")).to_contain_text("<script>")
    page.goto("./?q=oven&index=%3Cscript%3Ewindow.pwned=1%3C/script%3E")
    see_topic(page, "oven")
    page.goto("compare?topic=q%3D%3Cimg+src%3Dx+onerror%3Dpwned%3D1%3E")
    expect(page.locator(".topic-head")).to_contain_text("<img")
    assert page.evaluate("window.pwned") is None
    assert page.locator("#view img").count() == 0


def test_texts_of_any_script_stay_as_they_are(page):
    search(page, "captain pwned")
    name = page.locator(".document-name", has_text="⚓")
    expect(name).to_have_text("אוניה ⚓")
    name.click()
    expect(page.locator(".whole")).to_contain_text("🚢 ⚓ סירה شراع")
