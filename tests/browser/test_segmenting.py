"""The view of segments: clicks on a picture, and what they cut out."""

import io
import re
import zipfile

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from mixsearch import segment
from mixsearch.datasets import make_landscape

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


def saved(page, name):
    with page.expect_download() as download:
        page.get_by_role("region", name="Download").get_by_role("link", name=name, exact=True).click()
    return download.value.path().read_bytes()


def labels_of(page):
    with Image.open(io.BytesIO(saved(page, "Labels"))) as image:
        return np.asarray(image)


def assert_same(labels, others):
    """Nearly all pixels have the same labels; one in a thousand may be on the border."""
    assert np.mean(labels == others) > 0.999


def drag(page, start, end):
    """Draw with the mouse from one pixel to another."""
    stage = page.locator(".segment-stage").bounding_box()
    one, other = place(page, start), place(page, end)
    page.mouse.move(stage["x"] + one["x"], stage["y"] + one["y"])
    page.mouse.down()
    page.mouse.move(stage["x"] + other["x"], stage["y"] + other["y"], steps=6)
    page.mouse.up()


def upload(page, file):
    page.goto("segment")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a picture").click()
    chooser.value.set_files(file)


def test_three_clicks_cut_the_picture_into_three_segments(example, landscape, open_page):
    for n, pixel in enumerate((SKY, MEADOW, LAKE), start=1):
        click(example, pixel)
        see_segments(example, max(n, 2))  # one seed makes its segment and the rest
    seeds = seeds_shown(example)
    assert np.abs(np.array(seeds)[:, 0] - (SKY, MEADOW, LAKE)).max() <= 1
    found = segment(landscape.image, seeds)
    assert_same(labels_of(example), found.labels)
    shown = example.locator(".segment-share").all_inner_texts()
    shares = [100 * np.mean(found.labels == number) for number in range(3)]
    assert [float(text.rstrip("%")) for text in shown] == pytest.approx(shares, abs=0.6)
    expect(example).to_have_url(re.compile("seed=.*seed=.*seed="))
    other = open_page()
    other.goto(example.url)
    see_segments(other, 3)
    assert seeds_shown(other) == seeds


def test_a_segment_is_corrected(example, landscape):
    click(example, SKY)
    click(example, MEADOW)
    see_segments(example, 2)
    wrong = labels_of(example)[LAKE[1], LAKE[0]]
    other = 1 - wrong
    example.get_by_role("button", name=f"Add to it: segment {other + 1}", exact=True).click()
    click(example, LAKE)
    expect(example.locator(".segment-seed")).to_have_count(3)
    see_segments(example, 2)
    assert_same(labels_of(example), segment(landscape.image, seeds_shown(example)).labels)
    example.locator(".segment-seed").last.click(button="right")
    expect(example.locator(".segment-seed")).to_have_count(2)
    example.get_by_role("button", name="Done").click()
    see_segments(example, 2)
    click(example, LAKE, modifiers=["Alt"])
    expect(example.locator(".segment-seed.is-not")).to_have_count(1)
    see_segments(example, 2)
    assert labels_of(example)[LAKE[1], LAKE[0]] != wrong
    example.get_by_role("button", name="Undo").click()
    expect(example.locator(".segment-seed")).to_have_count(2)


def test_seeds_are_drawn_dragged_and_moved_by_keys(example):
    click(example, SKY)
    example.locator(".segment-options").get_by_text("Brush", exact=True).click()
    drag(example, (80, 400), (200, 420))
    expect(example.locator(".segment-seed.is-stroke")).to_have_count(1)
    example.locator(".segment-options").get_by_text("Point", exact=True).click()
    drag(example, SKY, (300, 60))
    see_segments(example, 2)
    x, y = seeds_shown(example)[0][0]
    assert np.hypot(x - 300, y - 60) < 4
    seed = example.locator(".segment-seed").first
    seed.press("Shift+ArrowUp")
    see_segments(example, 2)
    assert y - seeds_shown(example)[0][0][1] >= 10
    seed.press("Delete")
    expect(example.locator(".segment-seed")).to_have_count(1)
    example.keyboard.press("Control+z")
    expect(example.locator(".segment-seed")).to_have_count(2)
    example.get_by_role("button", name="Zoom in").click()
    box = example.locator(".segment-box")
    assert box.evaluate("box => box.scrollWidth / box.clientWidth") > 1.4


def test_segments_are_saved_under_their_names(example):
    click(example, SKY)
    click(example, MEADOW)
    example.get_by_label("Name of segment 1").fill("sky")
    see_segments(example, 2)
    expect(example).to_have_url(re.compile("seed=sky"))
    with zipfile.ZipFile(io.BytesIO(saved(example, "Cut-outs"))) as archive:
        assert "sky" in archive.namelist()[0]
    with Image.open(io.BytesIO(saved(example, "Overlay"))) as overlay:
        assert overlay.size == (720, 480)
    with example.expect_download() as download:
        example.get_by_role("link", name="Cut-out of sky").click()
    assert download.value.suggested_filename == "example-sky.png"
    with Image.open(download.value.path()) as cut:
        assert (cut.mode, cut.getpixel(SKY)[3], cut.getpixel(MEADOW)[3]) == ("RGBA", 255, 0)


def test_a_picture_of_ones_own_is_cut(page, tmp_path):
    (tmp_path / "notes.png").write_text("no picture at all")
    upload(page, tmp_path / "notes.png")
    expect(page.get_by_role("alert")).to_contain_text("PNG, JPEG")
    halves = np.zeros((60, 90, 3), dtype=np.uint8)
    halves[:, :45], halves[:, 45:] = (200, 30, 30), (30, 30, 200)
    noise = np.random.default_rng(0).integers(0, 20, halves.shape, dtype=np.uint8)
    Image.fromarray(halves + noise).save(tmp_path / "halves.png")
    upload(page, tmp_path / "halves.png")
    expect(page.locator(".segment-title")).to_have_text("halves.png, 90 × 60 pixels")
    stage = page.locator(".segment-stage")
    box = stage.bounding_box()
    for share in (0.2, 0.8):
        stage.click(position={"x": share * box["width"], "y": 0.5 * box["height"]})
    see_segments(page, 2)
    labels = labels_of(page)
    assert (labels[:, :43] == 0).all()
    assert (labels[:, 47:] == 1).all()
    page.goto("segment?picture=long-gone&seed=1,1")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("button", name="Try the example")).to_be_visible()
