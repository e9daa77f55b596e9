"""What a new user wants to do, and how many clicks it takes: the numbers that the guide gives."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.acting import see_topic
from tests.dated_corpus import open_made
from tests.serving import serve

pytestmark = pytest.mark.xdist_group("browser")
GUIDE = Path(__file__).parents[2] / "docs" / "web.md"
COUNT_CLICKS = "addEventListener('pointerdown', () => { window.nClicks = (window.nClicks ?? 0) + 1; }, true)"


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    with serve({"dated": open_made(tmp_path_factory.mktemp("dated"))}) as started:
        yield started


@pytest.fixture
def page(open_page, dated):
    page = open_page(dated.address, viewport={"width": 1280, "height": 720})
    page.add_init_script(COUNT_CLICKS)
    page.goto("./")
    expect(page.locator("#query")).to_be_focused()
    return page


def clicks_of_guide():
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \|", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {task: int(clicks) for task, clicks in rows}


def type_word(page, word):
    """Type a word: the first one at once, later ones after a slash."""
    if page.locator("#query").evaluate("box => box !== document.activeElement"):
        page.keyboard.press("/")
    page.keyboard.type(word)
    page.keyboard.press("Enter")
    see_topic(page, word)


def find_a_topic(page):
    type_word(page, "sushi")


def exclude_a_word(page):
    find_a_topic(page)
    row = page.locator(".word-row").nth(1)
    row.hover()
    row.get_by_role("button", name="Exclude").click()
    expect(page.locator("#query")).to_have_value(re.compile("sushi -"))


def compare_three_topics(page):
    for word in ("sushi", "court", "goal"):
        type_word(page, word)
        page.get_by_role("button", name="Pin to compare").click()
    page.get_by_role("link", name="Compare").click()
    expect(page.locator(".topic-head")).to_have_count(3)
    expect(page.locator(".band-chart .stroke")).to_have_count(3)


def see_a_topic_over_time(page):
    find_a_topic(page)
    expect(page.locator(".over .stroke")).to_have_count(1)


def mark_five_documents(page):
    find_a_topic(page)
    for n in range(5):
        page.locator('.document .mark.yes[aria-pressed="false"]').first.click()
        expect(page.locator(".like-chip")).to_have_count(n + 1)
        see_topic(page, "sushi")


def save_a_table(page):
    find_a_topic(page)
    with page.expect_download():
        page.locator('[data-download="csv"]').click()


def save_a_report(page):
    find_a_topic(page)
    with page.expect_download():
        page.locator('[data-download="html"]').click()


def copy_a_link(page):
    find_a_topic(page)
    page.get_by_role("button", name="Copy link").click()


def segment_and_correct(page):
    page.get_by_role("link", name="Segment").click()
    page.get_by_role("button", name="Try the example").click()
    stage = page.locator(".segment-stage")
    expect(page.locator(".segment-title")).to_contain_text("720")
    expect(page.locator(".segment-image")).to_have_js_property("complete", True)
    box = stage.bounding_box()
    for n, (right, down) in enumerate(((0.3, 0.2), (0.15, 0.83), (0.75, 0.75)), start=1):
        stage.click(position={"x": right * box["width"], "y": down * box["height"]})
        expect(page.locator(".segment-time")).to_contain_text(f"{max(n, 2)} segments")
    stage.click(position={"x": 0.5 * box["width"], "y": 0.9 * box["height"]}, modifiers=["Alt"])
    expect(page.locator(".segment-seed")).to_have_count(4)


TASKS = {
    "find a topic": find_a_topic,
    "exclude a word": exclude_a_word,
    "compare three topics, also over time": compare_three_topics,
    "see a topic over time": see_a_topic_over_time,
    "mark five documents": mark_five_documents,
    "save the table of a topic": save_a_table,
    "share it as a file that opens offline": save_a_report,
    "share it as a link": copy_a_link,
    "cut a picture into three segments, and correct one": segment_and_correct,
}


@pytest.mark.parametrize("task", TASKS)
def test_a_task_takes_as_many_clicks_as_the_guide_says(page, task):
    TASKS[task](page)
    assert page.evaluate("window.nClicks ?? 0") == clicks_of_guide()[task]
