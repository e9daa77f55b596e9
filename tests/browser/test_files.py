"""Files that are opened: texts become an index, a table shows rows like a few of them, a picture is cut."""

import csv
import io
import json
import re
import zipfile

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from mixsearch import segment
from mixsearch.datasets import make_landscape
from mixsearch.web import Access, Limits
from tests.browser.acting import COUNT_COLORED, FIND_WIDER, circle, drop_file
from tests.served_corpus import draw_texts
from tests.serving import serve

pytestmark = pytest.mark.xdist_group("browser")

SKY, MEADOW, LAKE = (216, 96), (108, 400), (540, 360)
N_CLOUD = 40


@pytest.fixture(scope="module")
def empty():
    with serve({}, Access(files=True), Limits(timeout=120)) as serving:
        yield serving


def make_reviews(n):
    return "\n".join(
        json.dumps({"review": text.encode(errors="replace").decode(), "stars": row % 5, "id": f"r{row}"})
        for row, text in enumerate(draw_texts(n))
    )


def test_texts_become_an_index_that_is_searched(open_page, empty):
    page = open_page(empty.address)
    page.goto("./")  # the page for texts takes files too
    drop_file(page, "many.jsonl", make_reviews(4000))
    page.get_by_role("button", name="Search its texts").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="many.jsonl")).to_be_visible()
    assert "many" not in {each["name"] for each in empty.get("api/indexes")["indexes"]}
    drop_file(page, "reviews.jsonl", make_reviews(240))
    expect(page.get_by_role("heading", name="reviews.jsonl")).to_be_visible()
    expect(page.locator("tbody th")).to_have_text(["review", "stars", "id"])
    expect(page.get_by_label("review holds text")).to_be_checked()
    expect(page.get_by_label("id holds text")).not_to_be_checked()
    page.get_by_role("button", name="Search its texts").click()
    expect(page.locator("#query")).to_be_visible()
    expect(page).to_have_url(re.compile("index=reviews"))


def test_a_file_that_cannot_be_opened_says_so(open_page, empty, library):
    page = open_page(empty.address)
    page.goto("open")
    drop_file(page, "broken.parquet", "PAR1 and nothing")
    expect(page.get_by_role("alert")).to_contain_text("broken.parquet")
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    drop_file(page, "notes.doc", "anything")
    expect(page.get_by_role("alert")).to_contain_text("'notes.doc' cannot be opened")
    drop_file(page, "notes.png", "not a picture")
    expect(page.get_by_role("alert")).to_contain_text("PNG, JPEG")
    for address in ("table?table=nothing", "segment?picture=long-gone"):
        page.goto(address)
        expect(page.get_by_role("alert")).to_contain_text("any more. Upload it again")
    with serve(library) as closed:
        page = open_page(closed.address)
        page.goto("open")
        expect(page.get_by_role("heading", name="No files of texts and tables here")).to_be_visible()


def open_clouds(page):
    """Open a table with forty rows on the left and forty on the right."""
    rng = np.random.default_rng(0)
    places = [(0, 0), (10, 0)]
    rows = np.concatenate([rng.normal(place, 0.4, (N_CLOUD, 2)) for place in places])
    page.goto("open")
    drop_file(page, "clouds.csv", "width,height\n" + "".join(f"{x:.3f},{y:.3f}\n" for x, y in rows))
    expect(page.get_by_role("heading", name="clouds.csv")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(50)
    return rows


def rows_shown(page):
    return page.locator("tbody tr").evaluate_all("rows => rows.map((row) => Number(row.dataset.row))")


def test_rows_that_are_ticked_find_their_group(page):
    rows = open_clouds(page)
    for row in (3, 17, 30):
        page.get_by_role("button", name=f"yes: row {row}", exact=True).click()
    page.get_by_role("button", name="Find rows like these").click()
    answer = page.get_by_role("region", name="Answer")
    expect(answer).to_contain_text("come back among the first")
    n_members = int(re.match(r"About (\d+) of 80 rows", answer.locator("h2").inner_text())[1])
    assert abs(n_members - N_CLOUD) <= 10
    expect(page.locator("tbody th").nth(2)).to_have_text(re.compile("3|17|30"))
    assert max(rows_shown(page)[:30]) < N_CLOUD
    assert page.locator(".wide thead .link").all_inner_texts() == ["width", "height"]
    assert page.locator(".table-plot canvas").evaluate(COUNT_COLORED) > 100
    with page.expect_download() as download:
        page.get_by_role("link", name="Table as CSV").click()
    labelled = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert [labelled[row]["is_member"] for row in (3, 17, 30)] == ["true"] * 3
    page.get_by_role("button", name="Judge 10 rows").click()
    expect(page.locator("tbody tr")).to_have_count(10)
    page.locator("tbody button").first.focus()
    drawn = rows_shown(page)
    for row in drawn:
        page.keyboard.press("y" if row < N_CLOUD else "n")
    expect(page.locator(".judged")).to_have_text(re.compile("By 10 judged rows: [0-9]+ .[0-9]+ to [0-9]+. of 80 rows"))
    page.get_by_role("button", name="Apply 10 answers").click()
    expect(page).to_have_url(re.compile("not_examples="))
    circle(page, page.locator(".table-plot canvas"), 0.5)
    expect(page.locator("tbody tr")).to_have_count(N_CLOUD)
    for _ in range(4):
        page.go_back()
    expect(answer).not_to_contain_text("come back among the first")
    page.get_by_label("Filter").fill("width > 5")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(int((rows[:, 0] > 5).sum()))
    page.get_by_role("button", name="height").click()
    expect(page.get_by_role("columnheader", name="height")).to_have_attribute("aria-sort", "ascending")
    lowest = min(range(N_CLOUD, 2 * N_CLOUD), key=lambda row: rows[row, 1])
    expect(page.locator("tbody th").first).to_have_text(str(lowest))
    page.get_by_label("Filter").fill("width >> 5")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The filter cannot be read at character 8")


def click(page, pixel, **options):
    stage = page.locator(".stage")
    box = stage.bounding_box()
    position = {"x": (pixel[0] + 0.5) * box["width"] / 720, "y": (pixel[1] + 0.5) * box["height"] / 480}
    stage.click(position=position, **options)


def see_segments(page, n):
    expect(page.locator(".outlines path")).to_have_count(n)
    expect(page.locator(".stage")).to_have_attribute("aria-busy", "false")


def seeds_of(page, n):
    expect(page.locator(".seed[data-x]")).to_have_count(n)
    seeds = page.locator(".seed[data-x]").evaluate_all("all => all.map((one) => [one.dataset.x, one.dataset.y])")
    return [(int(x), int(y)) for x, y in seeds]


def save(page, name):
    with page.expect_download() as download:
        page.get_by_role("link", name=name).click()
    return download.value.path().read_bytes()


def labels_of(page):
    """Return which segment each pixel has, from the masks that are downloaded."""
    with zipfile.ZipFile(io.BytesIO(save(page, "All masks as ZIP"))) as archive:
        masks = [np.asarray(Image.open(archive.open(name))) for name in archive.namelist()]
    assert (np.sum(np.array(masks) == 255, axis=0) == 1).all()
    return np.argmax(masks, axis=0)


def test_clicks_cut_a_picture_and_correct_it(page):
    landscape = make_landscape(480, 720, random_state=3)
    page.goto("segment?picture=example")
    expect(page.locator(".stage img")).to_have_js_property("naturalWidth", 720)
    click(page, SKY)
    see_segments(page, 2)  # its segment and the background
    click(page, MEADOW)
    see_segments(page, 2)
    click(page, LAKE)
    see_segments(page, 3)
    seeds = seeds_of(page, 3)
    assert np.mean(labels_of(page) == segment(landscape.image, [[seed] for seed in seeds]).labels) > 0.999
    page.get_by_label("Name of segment 1").fill("sky")
    page.keyboard.press("Tab")
    expect(page.get_by_role("status").filter(has_text="sky: ")).to_be_visible()
    with Image.open(io.BytesIO(save(page, "Cut-out of sky"))) as cut_out:
        assert (np.asarray(cut_out)[..., 3] > 127).mean() == pytest.approx((labels_of(page) == 0).mean(), abs=0.01)
    page.reload()
    see_segments(page, 3)
    assert seeds_of(page, 3) == seeds
    page.get_by_role("button", name="Remove segment 3").click()
    see_segments(page, 2)
    page.get_by_role("button", name="Add to it: segment 2").click()
    page.locator(".stage").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".seed[data-x]")).to_have_count(3)
    see_segments(page, 2)
    page.get_by_role("button", name="Larger").click()
    expect(page.locator(".frame")).not_to_have_js_property("scrollLeft", 0)
    page.mouse.move(300, 380)
    page.mouse.down()
    page.mouse.move(340, 390, steps=4)
    page.mouse.up()  # a stroke has several seeds
    see_segments(page, 2)
    assert page.locator(".seed[data-x]").count() > 4
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".seed[data-x]")).to_have_count(3)
    page.get_by_role("button", name="Smaller").click()
    page.get_by_role("button", name="Undo").click()
    wrong = labels_of(page)[LAKE[1], LAKE[0]]
    click(page, LAKE, modifiers=["Alt"])
    expect(page.locator(".seed text").filter(has_text="×")).to_have_count(1)
    see_segments(page, 2)
    assert labels_of(page)[LAKE[1], LAKE[0]] != wrong


def test_a_picture_is_there_before_the_server_has_it(page, tmp_path):
    halves = np.zeros((60, 90, 3), dtype=np.uint8)
    halves[:, :45], halves[:, 45:] = (200, 30, 30), (30, 30, 200)
    noise = np.random.default_rng(0).integers(0, 20, halves.shape, dtype=np.uint8)
    Image.fromarray(halves + noise).save(tmp_path / "halves.png")
    held = []
    page.route("**/api/files?*", lambda route: held.append(route))
    page.goto("open")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(tmp_path / "halves.png")
    expect(page.locator(".stage img")).to_have_js_property("naturalWidth", 90)
    box = page.locator(".stage").bounding_box()
    for share in (0.2, 0.8):
        page.locator(".stage").click(position={"x": share * box["width"], "y": 0.5 * box["height"]})
    seeds_of(page, 2)
    (request,) = held
    request.continue_()
    see_segments(page, 2)
    labels = labels_of(page)
    assert (labels[:, :43] == 0).all()
    assert (labels[:, 47:] == 1).all()


def test_nothing_is_wider_than_a_small_phone(open_page):
    page = open_page(viewport={"width": 320, "height": 640})
    signs = {
        "open": "h1",
        "table?table=example&examples=3&examples=8&examples=40": ".answer h2",
        "segment?picture=example&seed=216,96&seed=108,400": ".outlines path >> nth=1",
    }
    for address, sign in signs.items():
        page.goto(address)
        page.locator(sign).wait_for(state="attached")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, page.evaluate(FIND_WIDER, 321)
