"""Accessibility: axe-core, keyboard, screen reader, light and dark, phone; and the shell that all views share."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from mixsearch import __version__
from tests.browser.acting import search, see_topic
from tests.browser.looking import FIND_NAMELESS, FIND_WIDER, MEASURE_LIGHT, NUMBER_STOPS

pytestmark = pytest.mark.xdist_group("browser")

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN_AXE = """async ([tags, leftOut]) => (await axe.run(document, {
        runOnly: tags,
        rules: Object.fromEntries(leftOut.map((rule) => [rule, {enabled: false}])),
        resultTypes: ["violations"],
    })).violations
    .map(({id, nodes}) => [id, nodes.slice(0, 3).map(({html, failureSummary}) => `${html} ${failureSummary}`)])"""
LEFT_OUT = {
    # Seeds lie where they were set, however near to each other: WCAG 2.5.8 excepts what is essential.
    "segments": ["target-size"],
    # Of an SVG, the rule joins lines of text without blanks.
    "overview": ["label-content-name-mismatch"],
}
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
SCREENS = {"desktop": {}, "phone": PHONE}

# Each view with an address that shows most of it, and what is there when it is ready.
VIEWS = {
    "welcome": ("./", ".example-topic q"),
    "topic": ("./?q=mate", ".whisker >> nth=0"),
    "trouble": ("./?q=telescopw", "#trouble"),
    "overview": ("overview", ".topic-mark >> nth=0"),
    "documents": ("overview?show=documents", "canvas[data-drawn]"),
    "open a file": ("open", ".file-drop"),
    "table": ("table?table=example&examples=3&examples=8&not_examples=100", ".table-answer .plain-table"),
    "help": ("help", "dd:has-text('mixsearch ')"),
    "bring a picture": ("segment", ".segment-drop"),
    "segments": (
        "segment?picture=example&seed=216,96&seed=108,400%2B120,410&seed=540,360&seed=400,200&seed=90,60&seed=600,440",
        ".segment-share:has-text('%') >> nth=5",
    ),
}


def show(page, view):
    address, sign = VIEWS[view]
    page.goto(address)
    page.locator(sign).wait_for(state="attached")


def tab_to(page, selector, key="Tab"):
    """Press a key until a control has the focus, and return how often."""
    for n in range(1, 200):
        page.keyboard.press(key)
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return n
    return pytest.fail(f"The key {key} does not reach {selector}.")


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_nothing_in_any_view_and_theme(open_page, screen):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: run `make javascript`.")
    page = open_page(bypass_csp=True, **SCREENS[screen])
    found = {}
    for view in VIEWS:
        show(page, view)
        page.evaluate(AXE.read_text())
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            found[view, theme] = page.evaluate(RUN_AXE, [TAGS, LEFT_OUT.get(view, [])])
    assert {key: violations for key, violations in found.items() if violations} == {}


def test_no_view_scrolls_sideways(open_page):
    for options in (PHONE, {"viewport": {"width": 768, "height": 1024}}):
        page = open_page(**options)
        width = options["viewport"]["width"]
        for view in VIEWS:
            show(page, view)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, page.evaluate(FIND_WIDER, width + 1)


def test_every_control_has_a_name_and_is_reached_by_the_tab_key(open_page):
    for view in VIEWS:
        page = open_page()
        show(page, view)
        assert page.evaluate(FIND_NAMELESS) == [], view
        stops = page.evaluate(NUMBER_STOPS)
        page.get_by_role("link", name="Skip to the content").focus()
        reached = set()
        for _ in range(len(stops) + 1):
            place = page.evaluate("document.activeElement.dataset.stop")
            if place is None:
                break
            reached.add(stops[place])
            page.keyboard.press("Tab")
        assert set(stops.values()) - reached == set(), view
        assert place is None, f"no key leaves {view}"


def test_a_whole_search_goes_by_keys_alone(page):
    page.goto("./")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("mate")
    see_topic(page, "mate")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("Topic: mate")
    tab_to(page, "button.alternative")
    page.keyboard.press("Enter")
    expect(page.locator(".way-back")).to_be_visible()
    assert tab_to(page, ".document-name") < 30  # long lists are one stop each
    page.keyboard.press("ArrowDown")
    expect(page.locator(".document-name").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".document-name").nth(1)).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    tab_to(page, ".tabs a[href^=overview]", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".topic-mark").first).to_be_visible()


def test_a_theme_that_was_chosen_stays(open_page):
    page = open_page(color_scheme="light")
    page.goto("./")
    expect(page.get_by_label("Index", exact=True)).to_be_visible()  # the last of the head to come
    switch = page.locator("#theme")
    switch.click()
    switch.click()
    expect(switch).to_have_accessible_name("Theme: dark. Change to as the system.")
    assert page.evaluate(MEASURE_LIGHT) < 0.2
    page.reload()
    expect(switch).to_be_visible()
    assert page.evaluate(MEASURE_LIGHT) < 0.2
    switch.click()
    assert page.evaluate(MEASURE_LIGHT) > 0.8


def test_what_is_typed_before_the_page_is_ready_is_searched(page):
    held, is_held = [], [True]
    page.route("**/api/indexes", lambda route: held.append(route) if is_held[0] else route.continue_())
    page.goto("./", wait_until="commit")
    page.locator("#query").fill("oven")
    expect(page.locator("main[data-view]")).to_have_count(0)
    is_held[0] = False
    for route in held:
        route.continue_()
    see_topic(page, "oven")


def test_the_shell_helps_and_forbids_markup(open_page):
    page = open_page(has_touch=True)
    search(page, "mate")
    tip = page.locator("#tip")
    expect(tip).to_be_attached()
    titled = page.locator("#topic [title][tabindex='0']").first
    titled.tap()
    expect(tip).to_have_text(titled.get_attribute("title"))
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.get_by_role("link", name="Help").click()
    expect(page.get_by_text(f"mixsearch {__version__}")).to_be_visible()
    with page.expect_console_message(lambda message: message.text.startswith("Policy violated")):
        blocked = page.evaluate(
            """() => { try { document.body.innerHTML = "<b>x</b>"; return false; } catch { return true; } }"""
        )
    assert blocked
    page.watch.faults.clear()  # the test's own violation
