"""Tables: rows are clicked or circled, and the rows like them are highlighted."""

import csv
import io
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.acting import drop_file

pytestmark = pytest.mark.xdist_group("browser")

# How much blue there is in the painted points, left and right of the middle.
COUNT_BLUE = """() => {
    const canvas = document.querySelector(".table-plot canvas");
    const {data, width, height} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const sums = [0, 0];
    for (let i = 0; i < width * height; i++)
        if (data[4 * i + 3] > 200 && data[4 * i + 2] > data[4 * i] + 60) sums[Number(i % width > width / 2)] += 1;
    return sums;
}"""


def open_clouds(page):
    """Open a table with forty rows on the left and forty on the right."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 0.4, (40, 2)), rng.normal((10, 0), 0.4, (40, 2))])
    page.goto("table")
    expect(page.locator(".file-drop")).to_be_visible()
    drop_file(page, "clouds.csv", "width,height\n" + "".join(f"{x:.3f},{y:.3f}\n" for x, y in rows))
    page.get_by_role("button", name="Open as a table").click()
    expect(page.get_by_role("heading", name="clouds.csv")).to_be_visible()
    page.locator("#axis-x").select_option("width")
    expect(page.locator(".axis-name").first).to_have_text("width")


def middle_of(page, selector):
    box = page.locator(selector).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_rows_that_are_surrounded_light_up_their_group(page):
    open_clouds(page)
    box = page.locator(".table-plot").bounding_box()
    middle = box["y"] + 0.45 * box["height"]
    page.mouse.move(box["x"] + 66, middle - 120)
    page.mouse.down()
    for x, y in ((180, middle - 120), (180, middle + 120), (66, middle + 120)):
        page.mouse.move(box["x"] + x, y)
    page.mouse.up()
    expect(page.locator(".table-answer")).to_contain_text("come back among the first")
    left, right = page.evaluate(COUNT_BLUE)
    assert left > 5 * right
    shown = page.locator(".table-answer h2").inner_text()
    assert 20 <= int(re.match(r"About (\d+) rows", shown)[1]) <= 60
    expect(page.get_by_role("region", name="Typical rows").locator("tbody tr").first).to_be_visible()
    page.go_back()
    expect(page.locator(".table-answer")).not_to_contain_text("come back among the first")


def test_a_click_takes_a_row_in_and_out_and_shift_marks_an_unlike_one(page):
    open_clouds(page)
    page.get_by_label("Rows by number").fill("3 17")
    page.get_by_role("button", name="Like", exact=True).click()
    expect(page.locator(".table-like")).to_have_count(2)
    point = middle_of(page, ".table-like")
    page.mouse.move(*point)
    expect(page.locator(".table-pointed")).to_contain_text("width")
    page.mouse.click(*point)
    expect(page.locator(".table-like")).to_have_count(1)
    page.keyboard.down("Shift")
    page.mouse.click(*point)
    page.keyboard.up("Shift")
    expect(page.locator(".table-unlike")).to_have_count(1)
    before = page.evaluate("document.querySelector('.table-like').cx.baseVal.value")
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_function(
        "before => Math.abs(document.querySelector('.table-like').cx.baseVal.value - before) > 20", arg=before
    )
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".table-unlike")).to_have_count(0)


def test_every_row_is_reached_and_marked_by_keys(page):
    open_clouds(page)
    page.locator(".table-plot").focus()
    page.keyboard.press("Home")
    reached = []
    for _ in range(80):
        text = page.locator(".table-pointed")
        expect(text).to_contain_text("Row ")
        reached.append(re.match(r"Row (\d+)", text.inner_text())[1])
        page.keyboard.press("PageDown")
    assert sorted(map(int, reached)) == list(range(80))
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".table-cursor")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".table-like")).to_have_count(1)
    expect(page.locator(".table-plot")).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".table-unlike")).to_have_count(1)
    expect(page.locator("#live")).to_contain_text("Rows are ranked")


def test_an_answer_has_its_check_and_a_file(page):
    page.goto("table?table=example&examples=3&examples=8&examples=40")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the labelled table").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert len(rows) == 178
    assert rows[3]["is_member"] == "true"
    expect(page.locator(".table-answer")).to_contain_text("come back among the first")
    page.goto("table?table=example&examples=99999")
    expect(page.locator(".table-answer")).to_contain_text("99999")
    page.goto("table?table=nothing")
    expect(page.get_by_role("alert")).to_contain_text("not on the server any more")
