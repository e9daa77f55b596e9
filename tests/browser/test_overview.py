"""The maps of topics and of documents."""

import struct

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.acting import asked, see_topic

pytestmark = pytest.mark.xdist_group("browser")
N_DOCUMENTS = 403


@pytest.fixture
def overview(page):
    page.goto("overview")
    page.locator(".topic-mark").first.wait_for()
    return page


@pytest.fixture
def mapped(page):
    page.goto("overview?show=documents")
    expect(page.locator(f'canvas[data-drawn="{N_DOCUMENTS}"]')).to_be_visible()
    return page


@pytest.fixture(scope="module")
def points(serving):
    """Return the rows and the positions of the documents, from the server."""
    body = serving.read("api/indexes/hobbies/overview/documents")
    (n,) = struct.unpack_from("<I", body)
    x, y = (np.frombuffer(body, "<u2", n, 4 + 4 * n + 2 * n * axis) / 65535 for axis in (0, 1))
    return np.frombuffer(body, "<u4", n, 4), np.column_stack([x, y])


def place_of(page, point):
    """Return the pixel of a point, if the whole map is in view."""
    box = page.locator("canvas").bounding_box()
    stretch = min(max(box["width"] / box["height"], 1), 1.7)
    scale = min(box["width"] / stretch, box["height"])
    left, top = (box["width"] - scale * stretch) / 2, (box["height"] - scale) / 2
    return box["x"] + left + scale * stretch * point[0], box["y"] + top + scale * point[1]


def test_a_circle_for_each_topic_leads_to_it(overview, serving):
    topics = serving.get("api/indexes/hobbies/overview", n=30)["topics"]
    marks = overview.locator(".topic-mark")
    for topic, mark in zip(topics, marks.all(), strict=True):
        assert mark.get_attribute("aria-label").startswith(topic["words"][0])
    radii = overview.locator(".topic-mark .disc").evaluate_all("all => all.map((one) => one.r.baseVal.value)")
    largest = max(range(len(topics)), key=lambda place: topics[place]["weight"])
    assert radii[largest] == max(radii)
    words = overview.locator("#topic-table tbody th a")
    overview.get_by_role("button", name="Word to type").click()
    assert words.all_inner_texts() == sorted(topic["words"][0] for topic in topics)
    marks.first.focus()
    expect(overview.locator(".reading h2")).to_have_text(topics[0]["words"][0])
    marks.first.press("Enter")
    see_topic(overview, topics[0]["words"][0])
    overview.go_back()
    overview.locator(".topic-mark .disc").nth(1).click()
    see_topic(overview, topics[1]["words"][0])


def test_the_words_of_the_map_are_a_choice(overview, serving):
    overview.get_by_role("button", name="Frequent").click()
    frequent = serving.get("api/indexes/hobbies/overview", n=30, by="frequent")["topics"]
    expect(overview.locator(".topic-mark")).to_have_count(len(frequent))
    assert asked(overview) == {"by": "frequent"}
    overview.get_by_role("button", name="My own").click()
    overview.get_by_label("Words to map").fill("oven, pawn telescopw")
    overview.keyboard.press("Enter")
    expect(overview.locator(".topic-mark")).to_have_count(2)
    overview.locator(".skipped").get_by_role("button", name="telescope").click()
    expect(overview.locator(".topic-mark")).to_have_count(3)
    overview.goto("overview?words=qqqq")
    expect(overview.locator("#trouble")).to_contain_text("qqqq")
    overview.get_by_role("button", name="Map the distinctive words instead").click()
    expect(overview.locator(".topic-mark").first).to_be_visible()


def test_documents_of_the_map_are_pointed_at_and_circled(mapped, points, serving):
    rows, places = points
    distances = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(len(places))
    loneliest = int(distances.min(axis=1).argmax())
    mapped.mouse.move(*place_of(mapped, places[loneliest]))
    name = serving.get(f"api/indexes/hobbies/documents/{rows[loneliest]}")["name"]
    expect(mapped.locator(".point-tip b")).to_have_text(name)
    mapped.mouse.click(*place_of(mapped, places[loneliest]))
    expect(mapped.locator(".chosen")).to_contain_text("1 document chosen")
    mapped.get_by_role("button", name="Clear", exact=True).click()
    middle = np.median(places[(rows < 400) & (rows % 5 == 2)], axis=0)  # astronomy
    mapped.get_by_role("button", name="Lasso").click()
    for place, corner in enumerate([(-0.06, -0.06), (0.06, -0.06), (0.06, 0.06), (-0.06, 0.06), (-0.06, -0.06)]):
        mapped.mouse.move(*place_of(mapped, middle + corner), steps=5)
        if place == 0:
            mapped.mouse.down()
    mapped.mouse.up()
    inside = np.all(np.abs(places - middle) < 0.06, axis=1).sum()
    expect(mapped.locator(".chosen")).to_contain_text("chosen")
    assert abs(int(mapped.locator(".chosen").inner_text().split()[0]) - inside) <= 0.1 * inside + 2
    mapped.locator("#like-chosen").click()
    expect(mapped.locator("#topic-title")).to_contain_text("star")
    assert set(asked(mapped)) == {"documents"}


def test_the_map_of_documents_is_zoomed_and_moved(mapped):
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
    box = canvas.bounding_box()
    mapped.mouse.move(box["x"] + 200, box["y"] + 200)
    mapped.mouse.wheel(0, -300)
    see_change()
    mapped.get_by_role("button", name="Show all").click()
    see_change()
    mapped.get_by_role("button", name="Topics", exact=True).click()
    expect(mapped.locator(".topic-mark").first).to_be_visible()
    mapped.go_back()
    expect(mapped.locator("canvas[data-drawn]")).to_be_visible()
