"""Pictures over HTTP: upload, display, segmentation, download; and what is rejected."""

import io
import zipfile

import numpy as np
import pytest
from fastapi import FastAPI
from numpy.testing import assert_array_equal
from PIL import Image
from starlette.testclient import TestClient
from tests.unit.segmentation.images import as_bytes, halves

from mixsearch import segment
from mixsearch.segmentation import box, make_path, make_segment_colors, prepare_image, stroke
from mixsearch.web.errors import handle_errors
from mixsearch.web.image_store import ImageStore
from mixsearch.web.routes.images import make_router
from mixsearch.web.settings import Limits
from mixsearch.web.workers import WorkerPool

SEEDS = "seed=left:5,20%2B10,10&seed=50,20"
GIVEN = {"left": [(5, 20), (10, 10)], "segment 2": [(50, 20)]}


def client_of(**limits):
    app, allowed = FastAPI(), Limits(decode_timeout=60, **limits)
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


def bring(client, body=None):
    answer = client.post("/api/pictures", content=png(photo()) if body is None else body)
    assert answer.status_code == 201, answer.text
    return answer.json()["picture"]


def image_of(answer):
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"].startswith("private")
    return Image.open(io.BytesIO(answer.content))


def test_a_picture_is_brought_shown_and_removed(client):
    answer = client.post("/api/pictures", content=png(photo()))
    assert answer.status_code == 201
    found = answer.json()
    assert (found["width"], found["height"]) == (60, 40)
    assert client.get(f"/api/pictures/{found['picture']}").json() == found
    assert_array_equal(np.asarray(image_of(client.get(f"/api/pictures/{found['picture']}.png"))), photo())
    assert client.delete(f"/api/pictures/{found['picture']}").status_code == 204
    gone = client.get(f"/api/pictures/{found['picture']}.png")
    assert (gone.status_code, gone.json()["error"]["code"]) == (410, "gone")
    assert "Upload it again" in gone.json()["error"]["message"]


@pytest.mark.parametrize("options", [{}, {"features": "rgb", "assign": "posterior"}])
def test_segments_are_told_as_the_library_has_them(client, options):
    name, expected = bring(client), segment(photo(), GIVEN, **options)
    answer = client.get(f"/api/pictures/{name}/segments?{SEEDS}" + "".join(f"&{k}={v}" for k, v in options.items()))
    found = answer.json()
    assert answer.headers["cache-control"].startswith("private")
    assert (found["width"], found["height"], found["every"]) == (60, 40, 1)
    assert (found["features"], found["assign"]) == (options.get("features", "rich"), options.get("assign", "auto"))
    assert [each["name"] for each in found["segments"]] == list(GIVEN)
    assert [each["seeds"] for each in found["segments"]] == [[[5, 20], [10, 10]], [[50, 20]]]
    assert [each["pixels"] for each in found["segments"]] == expected.sizes.tolist()
    assert [each["share"] for each in found["segments"]] == expected.shares.tolist()
    assert [each["color"] for each in found["segments"]] == [f"#{bytes(c).hex()}" for c in make_segment_colors(2)]
    codes = {"sure", "partial", "unsure"} if not options else {"clear", "distinct", "close", "ambiguous"}
    assert {each["verdict_code"] for each in found["segments"]} <= codes


def test_labels_overlay_and_masks_are_those_of_the_library(client):
    name, expected = bring(client), segment(photo(), GIVEN)
    path = f"/api/pictures/{name}/segments"
    labels = image_of(client.get(f"{path}/labels.png?{SEEDS}"))
    assert labels.mode == "P"
    assert_array_equal(np.asarray(labels), expected.labels)
    assert_array_equal(np.asarray(labels.convert("RGB")), make_segment_colors(2)[expected.labels])
    overlay = image_of(client.get(f"{path}/overlay.png?{SEEDS}&opacity=0.3"))
    assert_array_equal(np.asarray(overlay), expected.overlay(0.3))
    answer = client.get(f"{path}/masks.zip?{SEEDS}")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == "attachment"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.namelist() == ["1-left.png", "2-segment-2.png"]
        for number, file in enumerate(archive.namelist()):
            mask = np.asarray(Image.open(archive.open(file)))
            assert_array_equal(mask, 255 * expected.mask(number))


@pytest.mark.parametrize(
    ("body", "status", "code", "sentence"),
    [
        (b"", 415, "not_an_image", "The request has no body"),
        (b"hello", 415, "not_an_image", "Use PNG, JPEG, WEBP, GIF, BMP or TIFF"),
        (png(photo())[:500], 415, "not_an_image", "seems to be damaged"),
    ],
)
def test_uploads_that_are_no_picture_are_refused(client, body, status, code, sentence):
    answer = client.post("/api/pictures", content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert sentence in answer.json()["error"]["message"]


def test_limits_are_those_of_the_server():
    with client_of(max_pixels=2000, max_stored_pixels=25_000) as client:
        answer = client.post("/api/pictures", content=png(photo()))
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
        assert "60 x 40 pixels; the limit is 2,000" in answer.json()["error"]["message"]
        names = [bring(client, png(photo()[:20])) for _ in range(3)]
        assert [client.get(f"/api/pictures/{name}.png").status_code for name in names] == [410, 200, 200]


@pytest.mark.parametrize(
    "path", ["nobody.png", "nobody/segments?seed=1,1", "example/segments/labels.png?segmentation=nothing"]
)
def test_a_picture_that_is_gone_is_said_to_be(client, path):
    answer = client.get(f"/api/pictures/{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (410, "gone")


def test_strokes_and_corrections_are_sent_in_the_body(client):
    name = bring(client)
    body = {"seeds": ["left:5,5~5,35", "right:45,5..55,35"], "every": 2, "outlines": True}
    answer = client.post(f"/api/pictures/{name}/segments", json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    seeds = {"left": stroke([(5, 5), (5, 35)]), "right": box((45, 5), (55, 35))}
    expected = prepare_image(photo()).segment(seeds, step=2)
    assert [each["pixels"] for each in found["segments"]] == expected.sizes.tolist()
    assert [each["outline"] for each in found["segments"]] == [make_path(some) for some in expected.outlines()]
    assert tuple(found["suggested"]) == expected.suggest_click()
    corrected = client.post(f"/api/pictures/{name}/segments", json=body | {"corrections": [["left:33,20"]]}).json()
    assert corrected["segmentation"] != found["segmentation"]
    path = f"/api/pictures/{name}/segments"
    full = segment(photo(), seeds).correct({"left": (33, 20)})
    labels = image_of(client.get(f"{path}/labels.png?segmentation={corrected['segmentation']}"))
    assert_array_equal(np.asarray(labels), full.labels)
    cut = image_of(client.get(f"{path}/cut-out.png?segmentation={corrected['segmentation']}&segment=left"))
    assert_array_equal(np.asarray(cut), full.cut_out("left"))


@pytest.mark.parametrize(
    ("change", "code", "sentence"),
    [
        ({"seeds": []}, "bad_argument", "seeds"),
        ({"seeds": [f"{i}:0,{i}~1500,{i}" for i in range(14)]}, "too_many_seeds", "at most 20000 seeds, got 21014"),
        ({"corrections": [["up:5,5"]]}, "unknown_segment", "has pixels for 'up', but the segments are left, right"),
        ({"strokes": 1}, "bad_argument", "strokes"),
    ],
)
def test_a_body_that_cannot_be_used_is_said_in_a_sentence(client, change, code, sentence):
    body = {"seeds": ["left:5,20", "right:50,20"]} | change
    answer = client.post(f"/api/pictures/{bring(client)}/segments", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    assert sentence in answer.json()["error"]["message"]
