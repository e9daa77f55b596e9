"""Searching: the box, its completions, and changes to a search by click and key."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import asked, row_of, search, see_topic, words_shown

pytestmark = pytest.mark.xdist_group("browser")


def test_typing_a_word_shows_its_topic(page, serving):
    page.goto("./")
    page.locator("#query").press_sequentially("telescope")
    see_topic(page, "telescope")
    answer = serving.get("api/indexes/hobbies/topic", q="telescope")
    by_share = sorted(answer["words"], key=lambda each: -each["probability"])
    assert words_shown(page) == [each["word"] for each in by_share]
    assert {"star", "galaxy", "telescope"} <= set(words_shown(page))
    expect(page.locator("#topic-title")).to_contain_text("star, galaxy")
    expect(page.locator("#share")).to_contain_text("%")
    expect(page.locator("#topic .verdict")).to_contain_text("about it")
    assert asked(page) == {"q": "telescope"}


def test_the_answer_follows_each_key(page):
    page.goto("./")
    box = page.locator("#query")
    box.press("g")
    see_topic(page, "good")  # the most frequent word that begins so
    box.press("a")
    see_topic(page, "garden")
    box.press("l")
    see_topic(page, "galaxy")
    expect(page.locator("#topic-title")).to_contain_text("galaxy")
    box.press("Backspace")
    see_topic(page, "garden")
    expect(page.locator("#topic-title")).to_contain_text("garden")


def test_an_emptied_box_shows_words_to_begin_with(page):
    search(page, "pawn")
    page.get_by_role("button", name="Clear the search").click()
    expect(page.locator(".welcome")).to_contain_text("403 documents")
    expect(page.locator("#query")).to_be_focused()
    entry = page.locator(".welcome .entry").first
    word = entry.get_attribute("data-word")
    expect(entry).to_contain_text("%")
    entry.click()
    see_topic(page, word)
    expect(page.locator("#query")).to_have_value(word)


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


def test_enter_closes_the_completions_while_the_answer_stays(page):
    page.goto("./")
    box = page.locator("#query")
    box.press_sequentially("te")
    expect(page.get_by_role("listbox")).to_be_visible()
    box.press_sequentially("lescope")
    box.press("Enter")
    expect(page.get_by_role("listbox")).to_be_hidden()
    see_topic(page, "telescope")
    expect(page.get_by_role("listbox")).to_be_hidden()


@pytest.mark.parametrize("width", [390, 600, 800, 1280])
def test_completions_do_not_hide_what_was_found_while_typing(open_page, width):
    page = open_page(viewport={"width": width, "height": 844})
    page.goto("./")
    page.locator("#query").press_sequentially("s")
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(8)
    expect(page.locator("#pin")).to_be_visible()
    listed, button = (page.locator(each).bounding_box() for each in ("#completions", "#pin"))
    assert listed["y"] + listed["height"] <= button["y"] or listed["x"] + listed["width"] <= button["x"]


def test_escape_closes_the_completions_and_keeps_the_text(page):
    page.goto("./")
    page.locator("#query").press_sequentially("te")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(page.locator("#query")).to_have_value("te")


def test_a_misspelt_word_offers_others_and_they_work(page):
    page.goto("./")
    page.locator("#query").fill("telescopw")
    trouble = page.locator("#trouble")
    expect(trouble).to_contain_text("telescopw")
    expect(trouble).to_contain_text("is not among the")
    trouble.get_by_role("button", name="telescope").click()
    see_topic(page, "telescope")
    expect(page.locator("#query")).to_have_value("telescope")
    expect(trouble).to_have_count(0)


def test_one_misspelt_word_among_others_is_left_out_and_can_be_mended(page):
    search(page, "oven telescopw")
    note = page.get_by_role("list", name="Notes")
    expect(note).to_contain_text("telescopw is not in the corpus and was left out")
    note.get_by_role("button", name="telescope").click()
    see_topic(page, "oven telescope")
    expect(page.locator(".skipped")).to_have_count(0)


def test_a_click_adds_a_word_and_another_takes_it_out(page):
    search(page, "mate")
    row_of(page, "anchor").get_by_role("button", name="anchor", exact=True).click()
    see_topic(page, "mate anchor")
    expect(page.locator("#query")).to_have_value("mate anchor")
    row_of(page, "anchor").locator(".word-name").click()
    see_topic(page, "mate")


def test_a_shift_click_excludes_a_word(page, serving):
    search(page, "mate")
    row_of(page, "harbour").locator(".word-name").click(modifiers=["Shift"])
    see_topic(page, "mate -harbour")
    expect(page.locator("#topic-title")).to_contain_text("chess")
    assert asked(page) == {"q": "mate -harbour"}


def test_plus_and_minus_do_the_same_by_keys(page):
    search(page, "mate")
    plus = page.get_by_role("button", name="Add sail to the search")
    plus.focus()
    expect(plus).to_be_visible()
    plus.press("Enter")
    see_topic(page, "mate sail")
    minus = page.get_by_role("button", name="Exclude harbour from the search")
    minus.focus()
    minus.press("Space")
    see_topic(page, "mate sail -harbour")
    # The focus stays in the answer, so that one can go on.
    assert page.evaluate("document.getElementById('answer').contains(document.activeElement)")


def test_a_related_word_is_added_by_a_click(page):
    search(page, "oven")
    related = page.locator(".related-word").first
    word = related.evaluate("button => button.firstChild.textContent")
    related.click()
    see_topic(page, f"oven {word}")


def test_the_slider_goes_from_broad_to_narrow_and_back(page, serving):
    search(page, "garden")
    before = page.locator("#uses").inner_text()
    slider = page.locator("#narrower")
    slider.focus()
    slider.press("Home")
    broad = serving.get("api/indexes/hobbies/topic", q="garden", narrower=-3)
    expect(page.locator("#uses")).to_have_text(f"uses {broad['n_components']} of 12 topics")
    assert page.locator("#uses").inner_text() != before
    assert asked(page) == {"q": "garden", "narrower": "-3"}
    slider.press("End")
    expect(page.locator("#uses")).to_have_text(re.compile("^uses (all|12 of) 12 topics$"))
    expect(slider).to_have_attribute("aria-valuetext", "3 narrower than automatic")
    page.get_by_role("button", name="reset").click()
    expect(slider).to_have_value("0")
    expect(page.locator("#uses")).to_have_text(before)
    expect(page.get_by_role("button", name="reset")).to_be_hidden()


def test_another_reading_is_one_click_away_and_so_is_the_first(page):
    search(page, "mate")
    expect(page.locator("#topic .verdict")).to_have_class("verdict doubt")
    first = page.locator("#topic-title").inner_text()
    chess = page.locator(".alternative", has_text="chess, pawn")
    chess.click()
    expect(page.locator("#topic-title")).to_contain_text("chess")
    expect(page.locator(".way-back")).to_contain_text("Another meaning of mate")
    assert asked(page)["alternative"] == "1"
    page.locator("#first-reading").click()
    expect(page.locator("#topic-title")).to_have_text(first)
    assert "alternative" not in asked(page)


def test_frequent_words_may_come_first(page, serving):
    search(page, "oven")
    page.get_by_role("button", name="frequent").click()
    answer = serving.get("api/indexes/hobbies/topic", q="oven", words_by="probability")
    expect(page.locator(".word-row[data-word]").first).to_have_attribute("data-word", answer["words"][0]["word"])
    assert words_shown(page) == [each["word"] for each in answer["words"]]


def test_error_bars_arrive_after_the_answer(page, serving):
    search(page, "oven")
    expect(page.locator(".whisker")).to_have_count(15)
    expect(page.locator(".word-row[data-word] .error").first).to_contain_text("±")
    expect(page.locator("#confidence")).to_contain_text("%")


def test_a_slash_leads_back_to_the_box(page):
    search(page, "oven")
    page.locator("#topic-title").focus()
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    expect(page.locator("#query")).to_have_value("oven")


def test_the_other_index_is_a_choice_away(page):
    search(page, "oven")
    page.get_by_label("Index", exact=True).select_option("tiny")
    expect(page.locator("#trouble")).to_contain_text("oven")  # the same question, which this index has no answer to
    expect(page.locator("#query")).to_have_value("oven")
    page.locator("#query").fill("")
    expect(page.locator(".welcome")).to_contain_text("60 documents")
    page.locator("#query").press_sequentially("violin")
    see_topic(page, "violin")
    assert "index=tiny" in page.url
    page.reload()
    expect(page.locator("#topic-title")).to_contain_text("violin")
    expect(page.get_by_label("Index", exact=True)).to_have_value("tiny")


def test_a_late_answer_never_covers_a_newer_one(page):
    held = []
    page.route("**/topic?*q=oven*", lambda route: held.append(route))
    page.goto("./")
    box = page.locator("#query")
    box.fill("oven")
    while not held:
        page.wait_for_timeout(10)
    box.fill("pawn")
    see_topic(page, "pawn")
    held[0].continue_()
    page.wait_for_timeout(300)
    expect(page.locator("#topic-title")).to_contain_text("chess")


def test_all_readings_are_one_bar_that_adds_up(page, serving):
    search(page, "mate")
    answer = serving.get("api/indexes/hobbies/topic", q="mate")
    shares = [answer["share_of_hint"], *(each["share_of_hint"] for each in answer["alternatives"])]
    widths = page.locator(".stacked i").evaluate_all("all => all.map((one) => parseFloat(one.style.width))")
    assert sum(widths) == pytest.approx(100, abs=0.1)
    assert widths[:-1] == pytest.approx(sorted((100 * share for share in shares), reverse=True), abs=0.01)
    shown = page.locator(".alternatives").inner_text()
    percents = [int(number) for number in re.findall(r"(\d+)%", shown.replace("under 1%", "0%"))]
    assert sum(percents) == 100
    assert percents[:-1] == sorted(percents[:-1], reverse=True)
    expect(page.locator(".alternative[aria-current]")).to_have_count(1)


def test_bars_are_in_the_order_of_what_they_show(page):
    for order in ("distinctive", "frequent"):
        search(page, "anchor")
        page.get_by_role("button", name=order, exact=True).click()
        expect(page.locator(f'.switch [aria-pressed="true"]:text("{order}")')).to_be_visible()
        widths = page.locator(".word-row .fill").evaluate_all("all => all.map((one) => parseFloat(one.style.width))")
        assert widths == sorted(widths, reverse=True)


def test_buttons_of_a_word_leave_it_readable_and_a_laptop_shows_what_to_do_with_a_topic(open_page):
    page = open_page(viewport={"width": 1280, "height": 720})
    search(page, "oven")
    row = page.locator(".word-row").nth(1)
    row.hover()
    word, button = row.locator(".word-name").bounding_box(), row.locator(".tool").first.bounding_box()
    assert word["x"] + word["width"] <= button["x"]
    page.evaluate("window.scrollTo(0, 0)")
    for name in ("Pin to compare", "Save", "Copy link"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport()


def test_a_long_past_search_does_not_widen_its_column(page):
    search(page, "recipe oven butter flour sauce garlic onion simmer")
    step, answer = page.locator("#trail .step").bounding_box(), page.locator("#answer").bounding_box()
    assert step["x"] + step["width"] < answer["x"]
