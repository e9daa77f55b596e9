"""The map of documents: points by topic, titles, a lasso, zoom."""

import struct

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.acting import asked

pytestmark = pytest.mark.xdist_group("browser")
N_DOCUMENTS = 403
COUNT_COLORS = """canvas => {
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Map();
    for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3] === 255) {
            const key = `${data[i]},${data[i + 1]},${data[i + 2]}`;
            seen.set(key, (seen.get(key) ?? 0) + 1);
        }
    }
    return [...seen.values()].filter((n) => n > 200).length;
}"""


@pytest.fixture
def mapped(page):
    page.goto("overview?show=documents")
    expect(page.locator(f'canvas[data-drawn="{N_DOCUMENTS}"]')).to_be_visible()
    return page


@pytest.fixture(scope="module")
def points(serving):
    """Return the positions of the documents, from the server."""
    body = serving.read("api/indexes/hobbies/overview/documents")
    (n,) = struct.unpack_from("<I", body)
    rows = np.frombuffer(body, "<u4", n, 4)
    x, y = (np.frombuffer(body, "<u2", n, 4 + 4 * n + 2 * n * axis) / 65535 for axis in (0, 1))
    return rows, np.column_stack([x, y]), np.frombuffer(body, "u1", n, 4 + 8 * n)


def place_of(page, point):
    """Return the pixel of a point, if the whole map is in view."""
    box = page.locator("canvas").bounding_box()
    stretch = min(max(box["width"] / box["height"], 1), 1.7)
    scale = min(box["width"] / stretch, box["height"])
    left, top = (box["width"] - scale * stretch) / 2, (box["height"] - scale) / 2
    return box["x"] + left + scale * stretch * point[0], box["y"] + top + scale * point[1]


def loneliest(points):
    """Return the document that is farthest from all others."""
    distances = np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(len(points))
    return int(distances.min(axis=1).argmax())


def test_documents_of_a_subject_have_a_place_and_a_color_of_their_own(mapped, points):
    rows, places, topics = points
    assert sorted(rows) == list(range(N_DOCUMENTS))
    subjects = rows[rows < 400] % 5
    middles = np.array([np.median(places[rows < 400][subjects == each], axis=0) for each in range(5)])
    nearest = np.linalg.norm(places[rows < 400][:, None] - middles, axis=2).argmin(axis=1)
    assert np.mean(nearest == subjects) > 0.9
    assert len(set(topics)) > 4
    assert mapped.locator("canvas").evaluate(COUNT_COLORS) >= 4


def test_a_point_shows_the_title_of_its_document(mapped, points, serving):
    rows, places, _ = points
    chosen = loneliest(places)
    mapped.mouse.move(*place_of(mapped, places[chosen]))
    name = serving.get(f"api/indexes/hobbies/documents/{rows[chosen]}")["name"]
    expect(mapped.locator(".point-tip b")).to_have_text(name)
    expect(mapped.locator(".point-tip")).to_contain_text("about")


def test_a_lasso_finds_more_like_what_it_circles(mapped, points):
    rows, places, _ = points
    own = (rows < 400) & (rows % 5 == 2)  # astronomy
    middle = np.median(places[own], axis=0)
    mapped.get_by_role("button", name="Lasso").click()
    corners = [(-0.06, -0.06), (0.06, -0.06), (0.06, 0.06), (-0.06, 0.06), (-0.06, -0.06)]
    for place, corner in enumerate(corners):
        mapped.mouse.move(*place_of(mapped, middle + corner), steps=5)
        if place == 0:
            mapped.mouse.down()
    mapped.mouse.up()
    inside = np.all(np.abs(places - middle) < 0.06, axis=1).sum()
    expect(mapped.locator(".chosen")).to_contain_text("chosen")
    shown = int(mapped.locator(".chosen").inner_text().split()[0])
    assert abs(shown - inside) <= 0.1 * inside + 2
    mapped.locator("#like-chosen").click()
    expect(mapped.locator("#topic-title")).to_contain_text("star")
    assert set(asked(mapped)) == {"documents"}


def test_documents_are_chosen_one_by_one(mapped, points):
    _, places, _ = points
    x, y = place_of(mapped, places[loneliest(places)])
    mapped.mouse.click(x, y)
    expect(mapped.locator(".chosen")).to_contain_text("1 document chosen")
    mapped.mouse.click(x, y)
    expect(mapped.locator(".chosen")).to_be_hidden()


def test_the_map_is_zoomed_and_moved_by_buttons_wheel_keys_and_drag(mapped):
    canvas = mapped.locator("canvas")
    states = [canvas.evaluate("canvas => canvas.toDataURL()")]

    def see_change():
        mapped.wait_for_function("before => document.querySelector('canvas').toDataURL() !== before", arg=states[-1])
        states.append(canvas.evaluate("canvas => canvas.toDataURL()"))

    mapped.get_by_role("button", name="Zoom in").click()
    see_change()
    canvas.focus()
    mapped.keyboard.press("ArrowLeft")
    see_change()
    mapped.keyboard.press("-")
    see_change()
    box = canvas.bounding_box()
    mapped.mouse.move(box["x"] + 200, box["y"] + 200)
    mapped.mouse.wheel(0, -300)
    see_change()
    mapped.mouse.down()
    mapped.mouse.move(box["x"] + 260, box["y"] + 240, steps=4)
    mapped.mouse.up()
    see_change()
    mapped.get_by_role("button", name="Show all").click()
    see_change()


def test_the_kind_of_map_is_in_the_address(mapped):
    mapped.get_by_role("button", name="Topics", exact=True).click()
    expect(mapped.locator(".topic-mark").first).to_be_visible()
    assert "show" not in asked(mapped)
    mapped.go_back()
    expect(mapped.locator("canvas[data-drawn]")).to_be_visible()
