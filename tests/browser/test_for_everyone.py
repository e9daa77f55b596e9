"""Accessibility of all views, in light and dark, by axe-core."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.acting import address_of, see_all

pytestmark = pytest.mark.xdist_group("browser")

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN_AXE = """async (tags) => (await axe.run(document, {runOnly: tags, resultTypes: ["violations"]})).violations
    .map(({id, nodes}) => [id, nodes.slice(0, 3).map(({html, failureSummary}) => `${html} ${failureSummary}`)])"""
# Each view with an address that shows most of it, and what is there when it is ready.
VIEWS = {
    "open a file": ("open", "h1"),
    "table": ("table?table=example&examples=3&examples=8&examples=40&not_examples=100", ".answer h2"),
    "segments": (
        "segment?picture=example&seed=216,96&seed=108,400%2B120,410&seed=540,360",
        ".share:has-text('%') >> nth=2",
    ),
}


def find_violations(page):
    return page.evaluate(RUN_AXE, TAGS)


@pytest.mark.skipif(not AXE.exists(), reason="`npm ci` installs axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_to_say(open_page, scheme):
    page = open_page(color_scheme=scheme, bypass_csp=True)  # axe is not ours
    page.add_init_script(path=AXE)
    page.goto(address_of("mate", "oven"))
    see_all(page)
    expect(page.locator(".documents li")).to_have_count(10)
    page.locator("summary").click()
    page.locator(".documents .yes").first.click()
    page.locator(".lines").focus()
    page.keyboard.press("ArrowLeft")
    assert find_violations(page) == []
    page.locator(".documents .title").first.click()
    expect(page.get_by_role("dialog").locator(".text")).to_be_visible()
    assert find_violations(page) == []
    page.goto(address_of("mate", "telescopw", by="place", selected=1))
    expect(page.get_by_role("alert").first).to_be_visible()
    assert find_violations(page) == []
    page.locator("#query").fill("te")
    expect(page.get_by_role("option").first).to_be_visible()
    assert find_violations(page) == []
    for view, (address, sign) in VIEWS.items():
        page.goto(address)
        page.locator(sign).wait_for(state="attached")
        assert find_violations(page) == [], view
