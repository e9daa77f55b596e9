"""Pictures over HTTP: upload, display, segmentation, download; and what is rejected."""

import io
import zipfile

import numpy as np
import pytest
from fastapi import FastAPI
from numpy.testing import assert_array_equal
from PIL import Image
from starlette.testclient import TestClient
from tests.unit.image.images import as_bytes, halves

from mixsearch import segment
from mixsearch.image import parse_seeds
from mixsearch.image.files import make_segment_colors
from mixsearch.web.errors import handle_errors
from mixsearch.web.image_store import ImageStore
from mixsearch.web.routes.images import make_router
from mixsearch.web.settings import Limits
from mixsearch.web.workers import WorkerPool

SEEDS = "seed=left:5,20%2B10,10&seed=50,20"
GIVEN = {"left": [(5, 20), (10, 10)], "segment 2": [(50, 20)]}


def client_of(**limits):
    app, allowed = FastAPI(), Limits(decode_timeout=600, **limits)
    handle_errors(app)
    app.include_router(make_router(ImageStore(allowed), allowed, WorkerPool(2, 10)))
    return TestClient(app)


@pytest.fixture(scope="module")
def client():
    with client_of() as client:
        yield client


def photo():
    return as_bytes(halves()[0])


def png(array):
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG")
    return file.getvalue()


def upload(client, body=None):
    answer = client.post("/api/pictures", content=png(photo()) if body is None else body)
    assert answer.status_code == 201, answer.text
    return answer.json()["picture"]


def image_of(answer):
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"].startswith("private")
    return Image.open(io.BytesIO(answer.content))


def find_code(answer):
    return answer.status_code, answer.json()["error"]["code"]


def test_a_picture_is_uploaded_shown_and_removed(client):
    answer = client.post("/api/pictures", content=png(photo()))
    assert answer.status_code == 201
    found = answer.json()
    path = f"/api/pictures/{found['picture']}"
    assert (found["width"], found["height"]) == (60, 40)
    assert client.get(path).json() == found
    assert_array_equal(np.asarray(image_of(client.get(f"{path}.png"))), photo())
    assert client.delete(path).status_code == 204
    for gone in (path, f"{path}.png", f"{path}/segments?seed=1,1"):
        assert find_code(client.get(gone)) == (410, "gone")


def test_a_large_picture_is_shown_smaller_and_what_is_transparent_has_no_segment(client):
    name = upload(client, png(np.tile(photo(), (1, 50, 1))))
    assert image_of(client.get(f"/api/pictures/{name}.png")).size == (2000, 27)
    alpha = np.full((40, 60), 255, dtype=np.uint8)
    alpha[:4] = 0
    name = upload(client, png(np.dstack([photo(), alpha])))
    assert_array_equal(np.asarray(image_of(client.get(f"/api/pictures/{name}.png")))[..., 3], alpha)
    labels = image_of(client.get(f"/api/pictures/{name}/segments/labels.png?{SEEDS}"))
    assert labels.info["transparency"] == 255
    assert_array_equal(np.asarray(labels)[:4], 255)


@pytest.mark.parametrize("options", [{}, {"method": "paper"}])
def test_segments_are_those_of_the_library(client, options):
    name, expected = upload(client), segment(photo(), GIVEN, **options)
    answer = client.get(f"/api/pictures/{name}/segments?{SEEDS}" + "".join(f"&{k}={v}" for k, v in options.items()))
    found = answer.json()
    assert (found["width"], found["height"], found["every"]) == (60, 40, 1)
    assert found["method"] == options.get("method", "graph")
    assert [each["name"] for each in found["segments"]] == list(GIVEN)
    assert [each["seeds"] for each in found["segments"]] == [[[5, 20], [10, 10]], [[50, 20]]]
    assert [each["pixels"] for each in found["segments"]] == expected.sizes.tolist()
    assert [each["color"] for each in found["segments"]] == [f"#{bytes(c).hex()}" for c in make_segment_colors(2)]


def test_exclusions_reach_the_library(client):
    options = "seed=left:5,20&not_seed=left:50,20"
    found = client.get(f"/api/pictures/{upload(client)}/segments?{options}").json()
    expected = segment(photo(), {"left": (5, 20)}, not_seeds={"left": (50, 20)})
    assert [each["pixels"] for each in found["segments"]] == expected.sizes.tolist()


def test_labels_overlay_masks_and_cut_outs_are_those_of_the_library(client):
    path, expected = f"/api/pictures/{upload(client)}/segments", segment(photo(), GIVEN)
    labels = image_of(client.get(f"{path}/labels.png?{SEEDS}"))
    assert labels.mode == "P"
    assert_array_equal(np.asarray(labels), expected.labels)
    overlay = image_of(client.get(f"{path}/overlay.png?{SEEDS}&opacity=0.3"))
    assert_array_equal(np.asarray(overlay), expected.overlay(0.3))
    answer = client.get(f"{path}/masks.zip?{SEEDS}")
    assert answer.headers["content-disposition"] == "attachment"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.namelist() == ["1-left.png", "2-segment-2.png"]
        for number, file in enumerate(archive.namelist()):
            assert_array_equal(np.asarray(Image.open(archive.open(file))), 255 * expected.mask(number))
    with zipfile.ZipFile(io.BytesIO(client.get(f"{path}/cut-outs.zip?{SEEDS}").content)) as archive:
        assert_array_equal(np.asarray(Image.open(archive.open("1-left.png"))), expected.cut_out("left"))


def test_strokes_are_sent_in_the_body(client):
    path = f"/api/pictures/{upload(client)}/segments"
    body = {"seeds": ["left:5,5~5,35", "right:45,20"], "outlines": True}
    found = client.post(path, json=body).json()
    seeds = parse_seeds(body["seeds"])
    expected = segment(photo(), seeds)
    assert found["warnings"] == []
    assert all(each["outline"].startswith("M") for each in found["segments"])
    labels = image_of(client.get(f"{path}/labels.png?segmentation={found['segmentation']}"))
    assert_array_equal(np.asarray(labels), expected.labels)
    cut = image_of(client.get(f"{path}/cut-out.png?segmentation={found['segmentation']}&segment=left"))
    assert_array_equal(np.asarray(cut), expected.cut_out("left"))


@pytest.mark.parametrize(
    ("query", "code"), [("seed=5,90", "seed_outside"), ("", "bad_argument"), ("seed=5,20&every=0", "bad_argument")]
)
def test_what_cannot_be_segmented_is_a_code(client, query, code):
    assert find_code(client.get(f"/api/pictures/{upload(client)}/segments/labels.png?{query}")) == (422, code)


def test_limits_are_those_of_the_server():
    with client_of(max_pixels=2000, max_stored_pixels=25_000) as client:
        assert find_code(client.post("/api/pictures", content=png(photo()))) == (413, "too_large")
        assert find_code(client.post("/api/pictures", content=b"hello")) == (415, "not_an_image")
        names = [upload(client, png(photo()[:20])) for _ in range(3)]
        assert [client.get(f"/api/pictures/{name}.png").status_code for name in names] == [410, 200, 200]
