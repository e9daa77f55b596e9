"""axe-core finds no violation in any view: light and dark, on a desktop and on a phone."""

from pathlib import Path

import pytest

from tests.browser.test_for_everyone import VIEWS, show

pytestmark = pytest.mark.xdist_group("browser")

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SCREENS = {
    "desktop": {},
    "phone": {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True},
}
LEFT_OUT = {
    # Seeds lie where they were set, however near to each other: WCAG 2.5.8 excepts what is essential.
    "segments": ["target-size"],
    # Of an SVG, the rule joins lines of text without blanks.
    "overview": ["label-content-name-mismatch"],
}
RUN = """async ([tags, leftOut]) => (await axe.run(document, {
        runOnly: tags,
        rules: Object.fromEntries(leftOut.map((rule) => [rule, {enabled: false}])),
        resultTypes: ["violations"],
    })).violations
    .map(({id, nodes}) => [id, nodes.slice(0, 3).map(({html, failureSummary}) => `${html} ${failureSummary}`)])"""


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("screen", SCREENS)
def test_every_view_passes(open_page, view, screen):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: run `make javascript`.")
    page = open_page(bypass_csp=True, **SCREENS[screen])
    show(page, view)
    page.evaluate(AXE.read_text())
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(RUN, [TAGS, LEFT_OUT.get(view, [])]) == [], theme
