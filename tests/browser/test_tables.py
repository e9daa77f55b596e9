"""Tables: rows are clicked or circled, and their group, line or subspace is highlighted."""

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


def clouds():
    """Forty rows on the left, forty on the right."""
    rng = np.random.default_rng(0)
    left, right = rng.normal(0, 0.4, (40, 2)), rng.normal((10, 0), 0.4, (40, 2))
    return "width,height\n" + "".join(f"{x:.3f},{y:.3f}\n" for x, y in np.concatenate([left, right]))


def open_table(page, text, name="clouds.csv"):
    page.goto("table")
    expect(page.locator(".file-drop")).to_be_visible()
    drop_file(page, name, text)
    page.get_by_role("button", name="Open as a table").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    page.locator("#axis-x").select_option("width")
    expect(page.locator(".axis-name").first).to_have_text("width")


def test_rows_that_are_surrounded_light_up_their_group(page):
    open_table(page, clouds())
    box = page.locator(".table-plot").bounding_box()
    middle = box["y"] + 0.45 * box["height"]
    page.mouse.move(box["x"] + 66, middle - 120)
    page.mouse.down()
    for x, y in ((180, middle - 120), (180, middle + 120), (66, middle + 120)):
        page.mouse.move(box["x"] + x, y)
    page.mouse.up()
    expect(page.locator(".table-path.found")).to_have_count(1)
    left, right = page.evaluate(COUNT_BLUE)
    assert left > 5 * right
    shown = page.locator(".table-answer h2").inner_text()
    assert 30 <= int(re.match(r"(\d+) rows", shown)[1]) <= 50
    page.go_back()
    expect(page.locator(".table-path.found")).to_have_count(0)


def test_a_click_takes_a_row_in_and_out_and_shift_marks_an_unlike_one(page):
    open_table(page, clouds())
    page.get_by_label("Rows by number").fill("3 17")
    page.get_by_role("button", name="Like", exact=True).click()
    expect(page.locator(".table-like")).to_have_count(2)
    mark = page.locator(".table-like").first.bounding_box()
    point = {"x": mark["x"] + mark["width"] / 2, "y": mark["y"] + mark["height"] / 2}
    page.mouse.move(**point)
    expect(page.locator(".table-pointed")).to_contain_text("width")
    page.mouse.click(**point)
    expect(page.locator(".table-like")).to_have_count(1)
    page.keyboard.down("Shift")
    page.mouse.click(**point)
    page.keyboard.up("Shift")
    expect(page.locator(".table-unlike")).to_have_count(1)
    assert "not_like=" in page.url
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".table-unlike")).to_have_count(0)


def place_of(page, row):
    """Return the pixel of the mark of an example."""
    box = page.locator(".table-like").nth(row).bounding_box()
    return np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])


def test_the_plot_is_zoomed_by_buttons_keys_and_wheel_and_moved(page):
    open_table(page, clouds())
    page.goto(f"{page.url}&like=3&like=50")
    expect(page.locator(".table-path.found")).to_have_count(1)
    plot = page.locator(".table-plot")
    distance = np.linalg.norm(place_of(page, 0) - place_of(page, 1))

    def see_distance(factor):
        page.wait_for_function(
            """([least, most]) => {
                const [a, b] = [...document.querySelectorAll(".table-like")].map((each) => each.cx.baseVal.value);
                return Math.abs(a - b) > least && Math.abs(a - b) < most;
            }""",
            arg=[0.9 * factor * distance, 1.1 * factor * distance],
        )

    page.get_by_role("button", name="Zoom in").click()
    see_distance(1.6)
    page.get_by_role("button", name="Show all").click()
    see_distance(1)
    plot.focus()
    page.keyboard.press("+")
    see_distance(1.6)
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -300)
    see_distance(1.6 * np.exp(0.45))
    page.get_by_role("button", name="Lasso").click()
    before = place_of(page, 0)[0]
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 200, steps=3)
    page.mouse.up()
    expect(page.locator(".table-like")).to_have_count(2)  # nothing was circled
    page.wait_for_function(
        "([before, x]) => Math.abs(document.querySelector('.table-like').cx.baseVal.value - (before - x - 40)) < 1",
        arg=[before, box["x"]],
    )


def test_every_row_is_reached_and_marked_by_keys(page):
    open_table(page, clouds())
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
    expect(page.locator("#live")).to_contain_text("rows")


def test_arrow_keys_lead_to_the_next_row_in_their_direction(page):
    grid = "width,height\n" + "".join(f"{x},{y}\n" for x in range(5) for y in range(5))
    open_table(page, grid, "grid.csv")
    page.locator("#axis-y").select_option("height")
    expect(page.locator(".axis-name").nth(1)).to_have_text("height")
    page.locator(".table-plot").focus()
    at = 12  # the one in the middle comes first
    for key, change in (("ArrowUp", 0), ("ArrowRight", 5), ("ArrowUp", 1), ("ArrowLeft", -5), ("ArrowDown", -1)):
        page.keyboard.press(key)
        at += change
        expect(page.locator(".table-pointed")).to_contain_text(f"Row {at}:")


def test_the_labelled_table_can_be_taken_along(page):
    page.goto("table?table=example&like=3&like=8")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the labelled table").click()
    assert download.value.suggested_filename == "wine-labelled.csv"
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert len(rows) == 178
    assert rows[3]["is_member"] == "true"


def test_another_group_is_one_click_away(page):
    page.goto("table?table=example&like=3&like=8&like=40")
    chip = page.locator(".table-answer .chip").first
    expect(chip).to_contain_text("about")
    chip.click()
    expect(page.locator(".table-like")).to_have_count(3)
    assert not {"like=3&", "like=8&"} & set(re.findall(r"like=\d+&", page.url))


def test_rows_of_a_line_show_it_with_its_band(page):
    page.goto("table?table=example&task=line&x=alcohol&y=proline&like=3&like=8&like=10")
    expect(page.locator(".table-path.line")).to_have_count(1)
    expect(page.locator(".table-path.band")).to_have_count(1)
    expect(page.locator(".table-equation")).to_contain_text("proline =")


def test_residuals_are_shown_for_a_subspace(page):
    page.goto("table?table=example&task=subspace&like=3&like=8&like=10&like=20&like=30&like=33")
    expect(page.locator(".axis-name").nth(1)).to_have_text("Distance from the subspace")
    expect(page.locator(".table-answer")).to_contain_text("Direction 1")


def test_what_cannot_be_answered_is_a_sentence(page):
    page.goto("table?table=example&like=99999")
    expect(page.locator(".table-answer")).to_contain_text("99999")
    page.goto("table?table=nothing")
    expect(page.get_by_role("alert")).to_contain_text("not on the server any more")


@pytest.mark.parametrize("width", [390, 1280])
def test_names_of_columns_keep_their_words_whole_and_tables_of_rows_have_room(open_page, width):
    page = open_page(viewport={"width": width, "height": 844})
    page.goto("table")
    rng = np.random.default_rng(0)
    columns = ("width", "Displacement", "Weight_in_lbs", "Acceleration")
    rows = np.concatenate([rng.normal(0, 1, (40, 4)), rng.normal(10, 1, (40, 4))])
    text = ",".join(columns) + "\n" + "".join(",".join(f"{x:.2f}" for x in row) + "\n" for row in rows)
    expect(page.locator(".file-drop")).to_be_visible()
    drop_file(page, "cars.csv", text)
    page.get_by_role("button", name="Open as a table").click()
    page.locator("#row-numbers").fill("1, 2, 3")
    page.get_by_role("button", name="Like", exact=True).click()
    expect(page.get_by_role("heading", name="Typical rows")).to_be_visible()
    n_lines = page.locator(".table-answer tbody th", has_text="Acceleration").evaluate(
        """each => {
            const range = document.createRange();
            range.selectNodeContents(each);
            return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
        }"""
    )
    assert n_lines == 1
    typical = page.get_by_role("region", name="Typical rows")
    n_hidden = typical.evaluate("each => each.scrollWidth - each.clientWidth")
    if width > 900:
        assert n_hidden == 0
        plot, rows_below = page.locator(".table-plot").bounding_box(), typical.bounding_box()
        assert rows_below["y"] > plot["y"] + plot["height"]
        assert rows_below["x"] < plot["x"] + plot["width"] / 2
