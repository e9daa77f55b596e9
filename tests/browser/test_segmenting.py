"""The view of segments: clicks on a picture, and what they cut out."""

import io
import json
import re
import zipfile
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from mixsearch import segment
from mixsearch.datasets import make_landscape
from mixsearch.segmentation import make_path, stroke
from tests.unit.segmentation.images import assert_same_labels

pytestmark = pytest.mark.xdist_group("browser")

SKY, MEADOW, LAKE = (216, 96), (108, 400), (540, 360)


@pytest.fixture(scope="module")
def landscape():
    return make_landscape(480, 720, random_state=3)


@pytest.fixture
def example(page):
    page.goto("segment")
    page.get_by_role("button", name="Try the example").click()
    expect(page.locator(".segment-title")).to_have_text("Example, 720 × 480 pixels")
    expect(page.locator(".segment-image")).to_have_js_property("complete", True)
    return page


def place(page, pixel):
    """Return where a pixel of the picture is on the stage."""
    stage = page.locator(".segment-stage").bounding_box()
    return {"x": (pixel[0] + 0.5) * stage["width"] / 720, "y": (pixel[1] + 0.5) * stage["height"] / 480}


def click(page, pixel, **options):
    page.locator(".segment-stage").click(position=place(page, pixel), **options)


def see_segments(page, n):
    expect(page.locator(".segment-time")).to_contain_text(f"{n} segments in")
    expect(page.locator(".segment-stage")).not_to_have_attribute("aria-busy", "true")


def seeds_shown(page):
    """Return the seeds of each segment, from the handles on the page."""
    handles = page.locator(".segment-seed").evaluate_all("all => all.map((one) => [one.textContent, one.dataset])")
    seeds = {}
    for number, pixel in handles:
        seeds.setdefault(number, []).append((int(pixel["x"]), int(pixel["y"])))
    return list(seeds.values())


def saved(page, name, expected_file=None):
    with page.expect_download() as download:
        page.get_by_role("region", name="Download").get_by_role("link", name=name, exact=True).click()
    assert expected_file in (None, download.value.suggested_filename)
    return download.value.path().read_bytes()


def labels_of(page):
    with Image.open(io.BytesIO(saved(page, "Labels"))) as image:
        return np.asarray(image)


def test_three_clicks_cut_the_picture_into_three_segments(example, landscape):
    for n, pixel in enumerate((SKY, MEADOW, LAKE), start=1):
        click(example, pixel)
        see_segments(example, max(n, 2))  # one seed makes its segment and the rest
    seeds = seeds_shown(example)
    assert np.abs(np.array(seeds)[:, 0] - (SKY, MEADOW, LAKE)).max() <= 1
    found = segment(landscape.image, seeds)
    assert_same_labels(labels_of(example), found.labels, found.probabilities)
    shares = [np.mean(found.labels == number) for number in range(3)]
    shown = example.locator(".segment-share").all_inner_texts()
    assert [float(text.rstrip("%")) for text in shown] == pytest.approx(np.multiply(100, shares), abs=0.6)
    outlines = [make_path(some) for some in found.outlines()]
    areas = [example.locator(f'.segment-area[data-segment="{number}"]') for number in range(3)]
    assert [area.get_attribute("d") for area in areas] == outlines


def test_the_segments_are_drawn_in_the_colours_of_the_list(example):
    for pixel in (SKY, MEADOW):
        click(example, pixel)
    see_segments(example, 2)
    swatches = example.locator(".segment-swatch").evaluate_all("all => all.map((one) => one.style.backgroundColor)")
    seeds = example.locator(".segment-seed").evaluate_all("all => all.map((one) => one.style.backgroundColor)")
    assert swatches == seeds
    assert len(set(swatches)) == 2
    stroke_of = "(one) => [one.dataset.segment, getComputedStyle(one).stroke]"
    drawn = dict(example.locator(".segment-area").evaluate_all(f"all => all.map({stroke_of})"))
    assert drawn == {str(number): color for number, color in enumerate(swatches)}


def test_the_border_that_neighbours_share_has_the_colour_of_the_smaller_one(example):
    for pixel in (LAKE, MEADOW):
        click(example, pixel)
    see_segments(example, 2)
    shares = [float(text.rstrip("%")) for text in example.locator(".segment-share").all_inner_texts()]
    last = example.locator(".segment-area").last.get_attribute("data-segment")
    assert shares[int(last)] == min(shares)


def test_a_laptop_shows_the_picture_its_tools_and_its_segments_at_once(open_page):
    page = open_page(viewport={"width": 1280, "height": 720})
    page.goto("segment?picture=example&seed=216,96&seed=108,400")
    see_segments(page, 2)
    picture = page.locator(".segment-stage").bounding_box()
    assert picture["height"] > 400
    assert picture["y"] + picture["height"] < 720
    for shown in (".segment-tools", ".segment-zoom", ".segment-rows", ".segment-downloads"):
        expect(page.locator(shown)).to_be_in_viewport(ratio=1)


def test_dragging_a_seed_moves_its_segment(example, landscape):
    for pixel in (SKY, LAKE):
        click(example, pixel)
    see_segments(example, 2)
    before = labels_of(example)
    example.locator(".segment-seed").nth(1).hover()
    stage, goal = example.locator(".segment-stage").bounding_box(), place(example, MEADOW)
    example.mouse.down()
    example.mouse.move(stage["x"] + goal["x"], stage["y"] + goal["y"], steps=5)
    example.mouse.up()
    moved = example.locator(f'.segment-seed[data-x="{MEADOW[0]}"][data-y="{MEADOW[1]}"]')
    expect(moved).to_have_text("2")
    see_segments(example, 2)
    example.wait_for_load_state("networkidle")
    after = labels_of(example)
    found = segment(landscape.image, seeds_shown(example))
    assert_same_labels(after, found.labels, found.probabilities)
    assert (after != before).any()
    example.get_by_role("button", name="Undo").click()
    assert np.abs(np.array(seeds_shown(example)[1]) - LAKE).max() <= 1


def test_a_segment_takes_more_pixels_and_loses_them(example):
    click(example, SKY)
    click(example, MEADOW)
    click(example, LAKE, modifiers=["Shift"])
    see_segments(example, 2)
    assert [len(pixels) for pixels in seeds_shown(example)] == [1, 2]
    example.locator(".segment-seed").last.click(button="right")
    expect(example.locator(".segment-seed")).to_have_count(2)
    example.get_by_role("button", name="Remove segment 1").click()
    expect(example.locator(".segment-seed")).to_have_count(1)
    example.locator(".segment-seed").press("Delete")
    expect(example.locator(".segment-seed")).to_have_count(0)
    expect(example.locator(".segment-area")).to_have_count(0)
    example.keyboard.press("Control+z")
    expect(example.locator(".segment-seed")).to_have_count(1)


def test_all_of_it_works_by_keys(example):
    stage = example.locator(".segment-stage")
    stage.focus()
    stage.press("Enter")
    seed = example.locator(".segment-seed")
    expect(seed).to_be_focused()
    before = seeds_shown(example)[0][0]
    seed.press("Shift+ArrowUp")
    seed.press("ArrowLeft")
    x, y = seeds_shown(example)[0][0]
    assert x < before[0]
    assert before[1] - y >= 10
    see_segments(example, 2)
    seed.press("Delete")
    expect(example.locator(".segment-seed")).to_have_count(0)
    expect(stage).to_be_focused()


def test_plain_colours_are_a_choice(example, landscape):
    for pixel in (SKY, MEADOW):
        click(example, pixel)
    see_segments(example, 2)
    example.get_by_text("Settings").click()
    for choice in ("Plain colours", "Likeliest"):
        example.get_by_text(choice).click()
        see_segments(example, 2)
    expect(example.get_by_label("Plain colours")).to_be_checked()
    expect(example).to_have_url(re.compile("features=rgb&assign=posterior"))
    expect(example.locator(".segment-row .verdict")).to_have_count(0)  # their separation says nothing of overlaps
    expect(example.locator(".segment-verdict")).to_have_text(["no verdict with these settings"] * 2)
    seeds = seeds_shown(example)
    found = segment(landscape.image, seeds, features="rgb", assign="posterior")
    assert_same_labels(labels_of(example), found.labels, found.probabilities)
    written = json.loads(saved(example, "JSON"))
    assert (written["features"], written["assign"]) == ("rgb", "posterior")


def test_settings_stay_where_they_are_when_an_answer_comes(example):
    for pixel in (SKY, MEADOW):
        click(example, pixel)
    see_segments(example, 2)
    example.get_by_text("Settings").click()
    other = example.get_by_text("Likeliest")
    before = other.bounding_box()
    example.get_by_text("Plain colours").click()
    expect(example.locator(".segment-verdict").first).to_have_text("no verdict with these settings")
    assert other.bounding_box() == before


def test_masks_are_taken_home_under_the_names_given(example, landscape):
    for pixel in (SKY, MEADOW):
        click(example, pixel)
    example.get_by_label("Name of segment 1").fill("sky")
    see_segments(example, 2)
    expect(example).to_have_url(re.compile("seed=sky"))
    found = segment(landscape.image, seeds_shown(example))
    expect(example.get_by_label("Name of sky")).to_have_value("sky")
    with zipfile.ZipFile(io.BytesIO(saved(example, "Masks", "example-masks.zip"))) as archive:
        names = archive.namelist()
        masks = [np.asarray(Image.open(io.BytesIO(archive.read(name)))) for name in names]
    assert "sky" in names[0]
    for number, mask in enumerate(masks):
        assert_same_labels(mask > 0, found.labels == number, found.probabilities)
    with Image.open(io.BytesIO(saved(example, "Overlay"))) as overlay:
        assert overlay.size == (720, 480)


def test_a_link_brings_the_seeds_of_the_example_back(example, open_page):
    click(example, SKY)
    click(example, MEADOW)
    expect(example).to_have_url(re.compile("seed=.*seed="))
    other = open_page()
    other.goto(example.url)
    see_segments(other, 2)
    assert seeds_shown(other) == seeds_shown(example)
    assert len(parse_qs(urlsplit(other.url).query)["seed"]) == 2


def test_a_picture_of_ones_own_is_cut(page, tmp_path):
    halves = np.zeros((60, 90, 3), dtype=np.uint8)
    halves[:, :45], halves[:, 45:] = (200, 30, 30), (30, 30, 200)
    noise = np.random.default_rng(0).integers(0, 20, halves.shape, dtype=np.uint8)
    Image.fromarray(halves + noise).save(tmp_path / "halves.png")
    page.goto("segment")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a picture").click()
    chooser.value.set_files(tmp_path / "halves.png")
    expect(page.locator(".segment-title")).to_have_text("halves.png, 90 × 60 pixels")
    stage = page.locator(".segment-stage")
    box = stage.bounding_box()
    for share in (0.2, 0.8):
        stage.click(position={"x": share * box["width"], "y": 0.5 * box["height"]})
    see_segments(page, 2)
    labels = labels_of(page)
    assert (labels[:, :43] == 0).all()
    assert (labels[:, 47:] == 1).all()


def drag(page, start, end):
    """Draw with the mouse from one pixel to another."""
    stage = page.locator(".segment-stage").bounding_box()
    one, other = place(page, start), place(page, end)
    page.mouse.move(stage["x"] + one["x"], stage["y"] + one["y"])
    page.mouse.down()
    page.mouse.move(stage["x"] + other["x"], stage["y"] + other["y"], steps=6)
    page.mouse.up()


def choose(page, mode):
    page.locator(".segment-options").get_by_text(mode, exact=True).click()


def test_a_correction_is_obeyed_and_changes_what_is_near_it(example, landscape):
    click(example, SKY)
    click(example, MEADOW)
    see_segments(example, 2)
    base = [pixels[0] for pixels in seeds_shown(example)]
    before = labels_of(example)
    wrong = before[LAKE[1], LAKE[0]]
    other = 1 - wrong
    example.get_by_role("button", name=f"Add to it: segment {other + 1}", exact=True).click()
    click(example, LAKE)
    expect(example.locator(".segment-seed")).to_have_count(3)
    see_segments(example, 2)
    example.wait_for_load_state("networkidle")
    after = labels_of(example)
    x, y = seeds_shown(example)[other][1]
    assert after[y, x] == other
    expected = segment(landscape.image, base).correct({f"segment {other + 1}": (x, y)})
    assert_same_labels(after, expected.labels, expected.probabilities)


def test_a_stroke_of_the_brush_is_a_seed(example, landscape):
    click(example, SKY)
    choose(example, "Brush")
    drag(example, (80, 400), (200, 420))
    expect(example.locator(".segment-seed.is-stroke")).to_have_count(1)
    see_segments(example, 2)
    expect(example).to_have_url(re.compile("seed=[0-9]+%2C[0-9]+%7E"))
    typed = parse_qs(urlsplit(example.url).query)["seed"]
    points = [tuple(map(int, point.split(","))) for point in typed[1].split("~")]
    assert len(points) > 2
    found = segment(landscape.image, [seeds_shown(example)[0], stroke(points)])
    assert_same_labels(labels_of(example), found.labels, found.probabilities)


def test_a_spot_can_be_taken_out_of_a_segment(example, landscape):
    click(example, SKY)
    click(example, MEADOW)
    see_segments(example, 2)
    covering = labels_of(example)[LAKE[1], LAKE[0]]
    click(example, LAKE, modifiers=["Alt"])
    expect(example.locator(".segment-seed.is-not")).to_have_count(1)
    see_segments(example, 2)
    example.wait_for_load_state("networkidle")
    assert labels_of(example)[LAKE[1], LAKE[0]] != covering
    expect(example).to_have_url(re.compile("not=[12]"))
    example.reload()
    expect(example.locator(".segment-seed.is-not")).to_have_count(1)


def test_what_the_pointer_is_on_is_shown(example):
    click(example, SKY)
    click(example, MEADOW)
    see_segments(example, 2)
    example.locator(".segment-stage").hover(position=place(example, (300, 450)))
    hot = example.locator(".segment-area.is-hot")
    expect(hot).to_have_count(1)
    expect(hot).to_have_attribute("data-segment", "1")
    example.get_by_label("Name of segment 1").focus()
    expect(hot).to_have_attribute("data-segment", "0")


def test_the_picture_is_zoomed_and_clicks_hit_the_same_pixels(example):
    for _ in range(3):
        example.get_by_role("button", name="Zoom in").click()
    box = example.locator(".segment-box")
    assert box.evaluate("box => box.scrollWidth / box.clientWidth") > 3
    middle = box.bounding_box()
    example.mouse.click(middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2)
    [[(x, y)]] = seeds_shown(example)
    assert abs(x - 360) <= 4
    assert abs(y - 240) <= 4
    choose(example, "Move")
    before = box.evaluate("box => box.scrollLeft")
    drag(example, (350, 270), (320, 270))
    assert box.evaluate("box => box.scrollLeft") > before + 20
    example.locator(".segment-stage").focus()
    example.keyboard.press("0")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0


def test_the_ring_asks_where_a_seed_helps_most(example):
    click(example, SKY)
    see_segments(example, 2)
    click(example, (225, 100))  # two seeds of one thing: nobody knows where one segment ends
    see_segments(example, 2)
    expect(example.locator(".segment-stage .segment-suggested")).to_be_visible()
    example.locator(".segment-doubt").get_by_role("button", name="segment 2").click()
    expect(example.locator(".segment-seed")).to_have_count(3)
    assert [len(pixels) for pixels in seeds_shown(example)] == [1, 2]


def test_only_the_connected_piece_and_no_holes(example):
    click(example, SKY)
    see_segments(example, 2)
    with example.expect_response(lambda answer: answer.request.method == "POST") as sent:
        example.get_by_label("Only the connected piece").check()
    assert sent.value.request.post_data_json["connected"] is True
    with example.expect_response(lambda answer: answer.request.method == "POST") as sent:
        example.get_by_label("Fill holes").check()
    assert sent.value.request.post_data_json["fill_holes"] is True
    expect(example).to_have_url(re.compile("connected=true&fill_holes=true"))


def test_cut_outs_and_outlines_are_taken_home(example):
    click(example, SKY)
    click(example, MEADOW)
    example.get_by_label("Name of segment 1").fill("sky")
    see_segments(example, 2)
    expect(example).to_have_url(re.compile("seed=sky"))
    with example.expect_download() as download:
        example.get_by_role("link", name="Cut-out of sky").click()
    assert download.value.suggested_filename == "example-sky.png"
    with Image.open(download.value.path()) as cut:
        assert (cut.mode, cut.getpixel(SKY)[3], cut.getpixel(MEADOW)[3]) == ("RGBA", 255, 0)
    assert b'viewBox="0 0 720 480"' in saved(example, "SVG", "example-outlines.svg")
    collection = json.loads(saved(example, "GeoJSON", "example-outlines.geojson"))
    assert [each["properties"]["name"] for each in collection["features"]] == ["sky", "segment 2"]


def test_a_photo_beyond_the_limits_is_shrunk_before_it_is_sent(page, tmp_path):
    photo = np.zeros((4200, 6000, 3), dtype=np.uint8)  # 25 megapixels
    photo[:, 3000:] = (200, 180, 40)
    Image.fromarray(photo).save(tmp_path / "phone.jpg")
    page.goto("segment")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a picture").click()
    chooser.value.set_files(tmp_path / "phone.jpg")
    title = page.locator(".segment-title")
    expect(title).to_contain_text("shrunk from 6000 × 4200")
    width, height = map(int, re.search(r"(\d+) × (\d+) pixels", title.inner_text()).groups())
    assert 0.9 * 24_000_000 < width * height <= 24_000_000


def test_a_file_that_is_no_picture_says_so(page, tmp_path):
    (tmp_path / "notes.png").write_text("no picture at all")
    page.goto("segment")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a picture").click()
    chooser.value.set_files(tmp_path / "notes.png")
    expect(page.get_by_role("alert")).to_contain_text("PNG, JPEG")
    expect(page.get_by_role("button", name="Choose a picture")).to_be_visible()


def test_a_picture_that_the_server_has_not_says_so(page):
    page.goto("segment?picture=long-gone&seed=1,1")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("button", name="Try the example")).to_be_visible()
