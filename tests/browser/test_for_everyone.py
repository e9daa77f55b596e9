"""Accessibility: keyboard, screen reader, light and dark, phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.acting import see_topic
from tests.browser.looking import (
    FIND_NAMELESS,
    FIND_WIDER,
    IS_FOCUS_SEEN,
    MEASURE_CONTRASTS,
    MEASURE_LIGHT,
    NUMBER_STOPS,
)

pytestmark = pytest.mark.xdist_group("browser")

# Each view with an address that shows most of it, and what is there when it is ready.
VIEWS = {
    "welcome": ("./", ".example-topic q"),
    "topic": ("./?q=mate", ".whisker >> nth=0"),
    "trouble": ("./?q=telescopw", "#trouble"),
    "overview": ("overview", ".topic-mark >> nth=0"),
    "documents": ("overview?show=documents", "canvas[data-drawn]"),
    "compare": ("compare?topic=q%3Dmate&topic=q%3Dharbour&topic=q%3Doven", ".topic-head >> nth=2"),
    "nothing pinned": ("compare", ".welcome"),
    "open a file": ("open", ".file-drop"),
    "bring a table": ("table", ".file-drop"),
    "rows of a table": ("table?table=example", ".table-answer h2"),
    "members": ("table?table=example&like=3&like=8&not_like=100", ".table-path.found"),
    "line": ("table?table=example&task=line&x=alcohol&y=proline&like=3&like=8&like=10", ".table-path.found"),
    "help": ("help", "dd:has-text('mixsearch ')"),
    "bring a picture": ("segment", ".segment-drop"),
    "segments": (
        "segment?picture=example&seed=216,96&seed=108,400%2B120,410&seed=540,360&seed=400,200&seed=90,60&seed=600,440",
        ".segment-share:has-text('%') >> nth=5",
    ),
}
AA, AA_LARGE = 4.5, 3.0

every_view = pytest.mark.parametrize("view", VIEWS)


def show(page, view):
    address, sign = VIEWS[view]
    page.goto(address)
    page.locator(sign).wait_for(state="attached")


@every_view
def test_a_phone_shows_a_view_without_scrolling_sideways(open_page, view):
    page = open_page(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    show(page, view)
    widest = page.evaluate(FIND_WIDER, 361)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360, widest


def test_a_phone_shows_all_tabs_and_three_topics_side_by_side(open_page):
    page = open_page(viewport={"width": 375, "height": 740}, is_mobile=True, has_touch=True)
    show(page, "compare")
    ends = page.locator("#tabs a").evaluate_all("all => all.map((each) => each.getBoundingClientRect().right)")
    assert max(ends) <= 375
    room = page.locator(".table-room").first
    assert room.evaluate("each => each.scrollWidth") <= room.evaluate("each => each.clientWidth")


@every_view
def test_every_control_has_a_name_and_is_reached_by_the_tab_key(page, view):
    show(page, view)
    assert page.evaluate(FIND_NAMELESS) == []
    stops = page.evaluate(NUMBER_STOPS)
    page.get_by_role("link", name="Skip to the content").focus()
    reached = set()
    for _ in range(len(stops) + 1):
        place = page.evaluate("document.activeElement.dataset.stop")
        if place is None:
            break
        reached.add(stops[place])
        page.keyboard.press("Tab")
    assert set(stops.values()) - reached == set()
    assert place is None, "no key leaves the page"


def test_the_focus_is_seen(page):
    show(page, "topic")
    for control in ("#query", "#pin", ".word-name >> nth=0", ".document-name >> nth=0", ".tabs a >> nth=1"):
        page.locator(control).focus()
        page.keyboard.press("Shift")  # as one who uses keys
        seen = page.locator(control).evaluate(IS_FOCUS_SEEN)
        assert seen, control


def test_the_way_to_the_content_can_be_cut_short(page):
    show(page, "topic")
    page.locator(".brand").focus()
    page.keyboard.press("Shift+Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    skip.press("Enter")
    expect(page.locator("#view")).to_be_focused()


def test_a_whole_search_goes_by_keys_alone(page):
    page.goto("./")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("mate")
    see_topic(page, "mate")
    page.keyboard.press("Enter")
    tab_to(page, "button.alternative")
    page.keyboard.press("Enter")
    expect(page.locator(".way-back")).to_be_visible()
    tab_to(page, ".document-name")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".document-name").first).to_be_focused()
    tab_to(page, ".tabs a[href^=overview]", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".topic-mark").first).to_be_visible()


def tab_to(page, selector, key="Tab"):
    """Press a key until a control has the focus, and return how often."""
    for n in range(1, 200):
        page.keyboard.press(key)
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return n
    return pytest.fail(f"The key {key} does not reach {selector}.")


def test_long_lists_are_one_stop_each(page):
    """Without this, there would be 71 Tab stops from the box to the first document."""
    show(page, "topic")
    page.locator("#query").focus()
    page.keyboard.press("End")
    assert tab_to(page, ".document-name") < 30
    assert tab_to(page, "#more") == 1


def test_the_documents_are_three_keys_away(page):
    show(page, "topic")
    page.locator("#query").focus()
    tab_to(page, ".skips > :last-child", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#documents-title")).to_be_focused()
    assert tab_to(page, ".document-name") <= 2


def test_arrow_keys_move_within_lists(page):
    show(page, "topic")
    rows = page.locator(".word-row[data-word]")
    rows.nth(0).locator(".word-name").focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1).locator(".word-name")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(rows.nth(1).locator(".tool").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(rows.nth(0).locator(".tool").first).to_be_focused()
    page.keyboard.press("End")
    expect(rows.last.locator(".word-name")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(rows.last.locator(".word-name")).to_be_focused()
    related = page.locator(".related-word")
    related.nth(0).focus()
    page.keyboard.press("ArrowRight")
    expect(related.nth(1)).to_be_focused()
    documents = page.locator(".document")
    documents.nth(0).locator(".document-name").focus()
    page.keyboard.press("ArrowDown")
    expect(documents.nth(1).locator(".document-name")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(documents.nth(1).locator("h3 > small")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(documents.nth(1).locator(".mark.yes")).to_be_focused()


def test_an_answer_is_read_aloud(page):
    show(page, "topic")
    live = page.get_by_role("status")
    expect(live).to_contain_text("Topic: mate")
    page.locator("#query").fill("telescopw")
    expect(live).to_contain_text("telescopw")


@every_view
def test_text_stands_out_from_what_is_behind_it_in_both_themes(page, view):
    show(page, view)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        texts = page.evaluate(MEASURE_CONTRASTS)
        assert len(texts) >= 10
        faint = [
            (text, f"{contrast:.2f}", style)
            for text, contrast, is_large, style in texts
            if contrast < (AA_LARGE if is_large else AA) - 0.01
        ]
        assert faint == [], theme


def luminance(page):
    return page.evaluate(MEASURE_LIGHT)


def test_the_page_is_light_or_dark_as_the_system_says(open_page):
    light, dark = open_page(color_scheme="light"), open_page(color_scheme="dark")
    for page in (light, dark):
        page.goto("./")
    assert luminance(light) > 0.8
    assert luminance(dark) < 0.2


def test_a_theme_that_was_chosen_stays(open_page):
    page = open_page(color_scheme="light")
    page.goto("./")
    expect(page.get_by_label("Index", exact=True)).to_be_visible()  # the last of the head to come
    switch = page.locator("#theme")
    expect(switch).to_have_accessible_name("Theme: as the system. Change to light.")
    switch.click()
    switch.click()
    expect(switch).to_have_accessible_name("Theme: dark. Change to as the system.")
    assert luminance(page) < 0.2
    page.reload()
    expect(switch).to_be_visible()
    assert luminance(page) < 0.2
    switch.click()
    assert luminance(page) > 0.8


def test_the_page_says_what_it_is(page):
    show(page, "topic")
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("main").count() == 1
    assert "mixsearch" in page.title()
    for view in ("welcome", "topic", "overview", "compare", "bring a picture", "segments"):
        show(page, view)
        assert page.locator("h1:visible, h1.visually-hidden").count() >= 1, view
