"""Journeys on the page for texts."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import (
    COUNT_COLORED,
    FIND_WIDER,
    address_of,
    circle,
    commit,
    open_topics,
    see_all,
    see_topic,
    titles,
)
from tests.browser.corpus import LONG_TEXT, ODD_NAME

pytestmark = pytest.mark.xdist_group("browser")


def test_the_start_is_the_page_with_topics_drawn(page):
    page.goto("./")
    see_all(page)
    chips = page.locator(".chip")
    assert 3 <= chips.count() <= 5
    expect(page.locator(".lines .name")).to_have_count(chips.count())
    expect(page.locator("#topic-title")).to_have_text(chips.first.locator(".chip-name").inner_text())
    expect(page.locator(".documents li")).to_have_count(10)
    assert page.locator(".plane canvas").evaluate(COUNT_COLORED) > 100


def test_topics_are_typed_compared_and_removed(page):
    page.goto("./")
    commit(page, "oven")
    expect(page.locator(".chip")).to_have_count(1)  # instead of those of the start
    commit(page, "pawn")
    expect(page.locator(".chip-name")).to_have_text(["oven", "pawn"])
    expect(page.locator(".lines .name")).to_have_count(2)
    expect(page.locator(".sentence")).to_have_text(re.compile("This is it. About [0-9]+ of 403 documents .*"))
    assert all(title.startswith("chess") for title in titles(page)[:5])
    page.go_back()
    see_topic(page, "oven")
    page.go_forward()
    see_topic(page, "pawn")
    page.get_by_role("button", name="Remove pawn").click()
    see_topic(page, "oven")
    expect(page).to_have_url(re.compile(re.escape(address_of("oven")[2:])))


def test_a_period_or_group_that_is_clicked_shows_its_documents(page):
    open_topics(page, "pawn", "oven")
    see_all(page)
    last = page.locator(".series").last.locator(".dot").last.bounding_box()
    page.mouse.move(last["x"] + 3, last["y"] - 60)
    expect(page.locator(".readout")).to_contain_text("2023: pawn")
    page.mouse.click(last["x"] + 3, last["y"] - 60)
    expect(page.get_by_label("Only one date")).to_have_value("2023")
    expect(page.locator(".documents time")).to_have_text([re.compile("2023-")] * 10)
    page.get_by_label("Column of the chart").select_option("place")
    page.locator(".group").filter(has_text="old").click()
    expect(page.get_by_label("Only one place")).to_have_value('the "old" town')
    expect(page.locator(".sentence")).to_contain_text("of 240 documents")
    page.reload()
    expect(page.locator(".sentence")).to_contain_text("of 240 documents")
    page.get_by_label("Only one place").select_option("any place")
    expect(page.locator(".sentence")).to_contain_text("of 403 documents")


def test_documents_that_are_circled_on_the_map_make_a_topic(page):
    open_topics(page, "oven")
    see_all(page)
    circle(page, page.locator(".plane canvas"), 0.5)
    expect(page.locator(".chip-name").nth(1)).to_have_text(re.compile("like [0-9]+ documents"))
    see_topic(page, page.locator(".chip-name").nth(1).inner_text())
    expect(page.locator(".documents li")).to_have_count(10)


def test_marks_are_applied_together_and_ten_of_them_say_how_many(page):
    open_topics(page, "mate")
    see_all(page)
    best = titles(page)
    page.get_by_role("button", name="Judge a sample").click()
    expect(page.get_by_role("button", name="Best documents")).to_be_visible()
    names = titles(page)
    page.locator(".documents .title").first.focus()
    for name in names:
        page.keyboard.press("y" if name.startswith("chess") else "n")
    expect(page.locator(".sentence")).to_have_text(
        re.compile("By 10 judged documents: [0-9]+ .[0-9]+ to [0-9]+. of 403")
    )
    expect(page.locator(".band")).to_have_count(1)
    page.locator(".lines").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".readout")).to_have_text(re.compile(r"mate [0-9.<]+% \([0-9.<]+% to [0-9.]+%\)"))
    assert titles(page) == names  # the list stays where it is
    page.get_by_role("button", name="Best documents").click()
    assert titles(page) == best
    page.get_by_role("button", name="Apply 10 marks").click()
    expect(page).to_have_url(re.compile("documents"))
    expect(page.locator(".columns")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#topic-title")).to_contain_text("mate, like")
    assert [title for title in titles(page) if not title.startswith("chess")] == []


def test_documents_are_read_one_after_the_other(page):
    open_topics(page, "sail")
    first, second = page.locator(".documents .title").all()[:2]
    first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text(first.inner_text())
    expect(dialog.locator("mark").first).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(dialog.get_by_role("heading")).to_have_text(second.inner_text())
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    open_topics(page, "sail", where=f"id = '{ODD_NAME}'")
    page.locator(".documents .title").click()
    expect(dialog.locator(".text")).to_contain_text("<script>window.pwned=1</script>")
    page.keyboard.press("Escape")
    open_topics(page, "telescope", where="id = 'A long night'")
    page.locator(".documents .title").click()
    assert len(dialog.locator(".text").inner_text()) > 0.9 * min(len(LONG_TEXT), 200_000)
    assert page.evaluate("window.pwned") is None


def test_a_search_is_saved_beside_the_index_and_downloaded(page, open_page):
    open_topics(page, "oven", "pawn", by="place")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Forget")).to_be_visible()
    other = open_page()
    other.goto("./")
    other.get_by_label("Saved searches").select_option("oven, pawn")
    expect(other.locator(".chip-name")).to_have_text(["oven", "pawn"])
    expect(other.get_by_label("Column of the chart")).to_have_value("place")
    with other.expect_download() as download:
        other.get_by_role("link", name="Documents as CSV").click()
    assert len(download.value.path().read_text().splitlines()) == 404
    other.get_by_role("button", name="Forget").click()
    expect(other.get_by_label("Saved searches")).to_have_count(0)


def test_a_shared_file_works_without_the_server(page, chromium, tmp_path):
    open_topics(page, "oven", "pawn")
    with page.expect_download() as download:
        page.get_by_role("link", name="Share as HTML").click()
    download.value.save_as(tmp_path / "shared.html")
    context = chromium.new_context(offline=True)
    faults = []
    alone = context.new_page()
    alone.on("console", lambda message: faults.append(message.text))
    alone.on("pageerror", lambda error: faults.append(str(error)))
    alone.goto((tmp_path / "shared.html").as_uri())
    see_topic(alone, "oven")
    see_all(alone)
    alone.get_by_role("button", name="pawn", exact=True).first.click()
    see_topic(alone, "pawn")
    assert titles(alone)[0].startswith("chess")
    alone.get_by_label("Column of the chart").select_option("place")
    alone.locator(".group").first.click()
    expect(alone.get_by_label("Only one place")).not_to_have_value("")
    alone.locator(".documents .title").first.click()
    expect(alone.get_by_role("dialog").locator(".text")).not_to_be_empty()
    context.close()
    assert faults == []


def test_what_cannot_be_read_says_why(page):
    page.goto("./")
    page.locator("#query").fill("telescopw")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("telescopw")
    alert.get_by_role("button", name="telescope").click()
    see_topic(page, "telescope")
    page.locator("#query").press("Enter")
    box = page.get_by_label("Filter of the documents")
    box.fill("place = ")
    box.press("Enter")
    expect(alert.first).to_contain_text("expected a value")
    box.fill("place = 'Rome'")
    box.press("Enter")
    expect(page.locator(".sentence")).to_contain_text("of 163 documents")
    expect(alert).to_have_count(0)
    page.goto("./?t=q%3Doven%26narrower%3Dabc&t=x&by=none&selected=-3&index=none")
    see_topic(page, "oven")


def test_keys_alone_do_it_on_a_narrow_page(open_page):
    page = open_page(viewport={"width": 320, "height": 640})
    page.goto("./")
    see_all(page)
    assert page.evaluate(FIND_WIDER, 320) == []
    page.keyboard.press("/")
    page.keyboard.type("pawn")
    see_topic(page, "pawn")
    page.keyboard.press("Enter")
    expect(page.locator(".chip-name")).to_have_text(["pawn"])
    page.locator(".lines").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Only one date")).to_have_value("2023")
    page.locator(".documents .title").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".documents .title").nth(1)).to_be_focused()
    page.keyboard.press("y")
    page.get_by_role("button", name="Apply 1 mark").press("Enter")
    expect(page.locator("#topic-title")).to_contain_text("pawn, like document")
    assert page.evaluate(FIND_WIDER, 320) == []
