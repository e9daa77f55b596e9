"""The shell of the page: help, unknown addresses, tooltips, and a box that works before everything is loaded."""

import re

import pytest
from playwright.sync_api import expect

from mixsearch import __version__
from tests.browser.acting import search, see_topic

pytestmark = pytest.mark.xdist_group("browser")

WIDTHS = (320, 480, 768, 1024, 1440)


def test_help_says_what_can_be_done_and_which_version_it_is(page):
    page.goto("./")
    page.get_by_role("link", name="Help").click()
    expect(page.get_by_role("heading", name="Help")).to_be_visible()
    expect(page.get_by_text(f"mixsearch {__version__}")).to_be_visible()
    page.go_back()
    expect(page.locator("#query")).to_be_visible()


@pytest.mark.parametrize("path", ["nothing", "a/b/c"])
def test_an_unknown_address_is_a_page_that_leads_back(page, path):
    answer = page.goto(path)
    assert answer.status == 404
    expect(page.get_by_role("heading", name="Nothing is at this address")).to_be_visible()
    page.get_by_role("link", name="Topics").click()
    expect(page.locator(".entry").first).to_be_visible()
    page.watch.faults.clear()  # the status was the test's own


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


def test_tooltips_appear_with_the_focus_and_at_a_tap(open_page):
    page = open_page(has_touch=True)
    search(page, "mate")
    tip = page.locator("#tip")
    expect(tip).to_be_attached()
    page.keyboard.press("Tab")
    titled = page.locator("#topic [title][tabindex='0']").first
    titled.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(tip).to_have_text(titled.get_attribute("title"))
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    titled.tap()
    expect(tip).to_have_text(titled.get_attribute("title"))


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overflows_at_any_width(open_page, width):
    page = open_page(viewport={"width": width, "height": 800})
    for address, sign in (
        ("./?q=mate", ".whisker >> nth=0"),
        ("table?table=example&like=3&like=8", ".table-path.found"),
        ("help", "dd"),
        ("open", ".file-drop"),
    ):
        page.goto(address)
        page.locator(sign).first.wait_for(state="attached")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_nothing_overflows_at_twice_the_size(open_page):
    page = open_page(viewport={"width": 640, "height": 450}, device_scale_factor=2)  # 1280 x 900 at 200%
    for address in ("./?q=mate", "table?table=example&like=3&like=8", "overview"):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= 640, address


def test_forced_colours_keep_points_and_bars(open_page):
    page = open_page(forced_colors="active")
    page.goto("table?table=example&like=3&like=8")
    expect(page.locator(".table-path.found")).to_have_count(1)
    search(page, "mate")
    painted = page.locator(".word-row .bar > *").first.evaluate("each => getComputedStyle(each).backgroundColor")
    assert not re.fullmatch(r"rgba\(0, 0, 0, 0\)", painted)


def test_text_from_right_to_left_is_written_so(page):
    page.goto("./")
    expect(page.locator(".entry").first).to_be_visible()
    box = page.locator("#query")
    box.fill("שלום")
    assert box.evaluate("each => getComputedStyle(each).direction") == "rtl"
    box.fill("oven")
    assert box.evaluate("each => getComputedStyle(each).direction") == "ltr"


def test_the_policy_forbids_text_to_become_markup(page):
    page.goto("./")
    expect(page.locator(".entry").first).to_be_visible()
    with page.expect_console_message(lambda message: message.text.startswith("Policy violated")):
        blocked = page.evaluate(
            """() => { try { document.body.innerHTML = "<b>x</b>"; return false; } catch { return true; } }"""
        )
    assert blocked
    page.watch.faults.clear()  # the test's own violation
