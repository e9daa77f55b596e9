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


def subjects_shown(page):
    return [name.split()[0] for name in page.locator(".document-name").all_inner_texts()]


def test_marked_documents_say_which_meaning_of_a_word_is_meant(page, serving):
    """Mate is a word of chess and of sailing."""
    for wanted, other in (("chess", "sailing"), ("sailing", "chess")):
        names = {each["name"]: each["row"] for each in documents_with_mate(serving)}
        yes = [row for name, row in names.items() if name.startswith(wanted)][:3]
        no = [row for name, row in names.items() if name.startswith(other)][:3]
        page.goto(
            f"./?q=mate&{'&'.join(f'documents={row}' for row in yes)}&{'&'.join(f'not_documents={row}' for row in no)}"
        )
        see_topic(page, "mate")
        assert subjects_shown(page).count(wanted) >= 9
        expect(page.locator(".like-chip")).to_have_count(len(yes) + len(no))
        assert not set(rows_shown(page)) & {str(row) for row in no}


def documents_with_mate(serving):
    chess, sailing = (serving.get("api/indexes/hobbies/topic", q=word)["documents"] for word in ("chess", "harbour"))
    return [*chess, *sailing]


def test_a_switch_shows_its_mark_before_the_answer_comes_and_further_marks_are_added(page):
    search(page, "mate")
    first, second, third = rows_shown(page)[:3]
    page.route("**/topic?*", lambda _route: None)  # no answer comes
    for row, answer in ((first, "Yes"), (second, "Yes"), (second, "No"), (third, "Yes"), (third, "Yes")):
        page.locator(f'.document[data-row="{row}"]').get_by_role("button", name=answer).click()
    pressed = [page.locator(f'.document[data-row="{row}"] [aria-pressed="true"]') for row in (first, second, third)]
    expect(pressed[0]).to_have_text("Yes")
    expect(pressed[1]).to_have_text("No")
    expect(pressed[2]).to_have_count(0)
    expect(page.locator("#answer")).to_have_attribute("aria-busy", "true")
    page.unroute("**/topic?*")
    page.reload()
    see_topic(page, "mate")
    assert asked(page) == {"q": "mate", "documents": first, "not_documents": second}


def test_yes_and_no_are_two_switches_and_the_answer_follows(page, serving):
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


def test_marks_made_one_after_the_other_are_one_past_search(page):
    search(page, "mate")
    for n_marks, answer in enumerate(("yes", "no", "yes"), 1):
        page.locator(f'.document:has(.mark.yes[aria-pressed="false"]) .mark.{answer}').first.click()
        expect(page.locator(".like-chip")).to_have_count(n_marks)
        see_topic(page, "mate")
    steps = page.locator("#trail .step")
    expect(steps.first).to_contain_text("3 documents marked")
    expect(steps).to_have_count(2)  # and the word alone


def test_documents_are_marked_by_keyboard(page):
    search(page, "anchor")
    second = rows_shown(page)[1]
    page.locator(f'.document[data-row="{second}"] .mark.no').focus()
    page.keyboard.press("Enter")
    expect(page.locator(".like-chip.no")).to_have_count(1)
    expect(page.locator(f'.document[data-row="{second}"]')).to_have_count(0)
    expect(page.locator(".document").nth(1).locator(".mark.no")).to_be_focused()


def test_an_open_document_is_marked_and_the_answer_follows_when_it_is_closed(page):
    search(page, "anchor")
    rows = rows_shown(page)
    page.locator(".document-name").first.click()
    reader = page.get_by_role("dialog")
    reader.get_by_role("button", name=re.compile("^Yes")).click()
    expect(reader.locator(".mark.yes")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowRight")
    reader.get_by_role("button", name=re.compile("^No")).click()
    page.keyboard.press("Escape")
    expect(page.locator(".like-chip")).to_have_count(2)
    assert asked(page) == {"q": "anchor", "documents": rows[0], "not_documents": rows[1]}
    page.go_back()
    expect(page.locator(".likes")).to_be_hidden()
    assert asked(page) == {"q": "anchor"}


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


def test_a_word_is_added_to_a_search_by_documents(page):
    page.goto("./?documents=4")
    page.locator(".word-row[data-word] .word-name").first.click()
    expect(page.locator("#query")).not_to_have_value("")
    expect(page.locator(".like-chip")).to_have_count(1)
