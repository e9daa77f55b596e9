"""Pictures over HTTP: upload, display, segmentation, download; and what is rejected."""

import io
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from starlette.testclient import TestClient
from tests.unit.image.images import as_bytes, halves

from mixsearch import segment
from mixsearch.datasets import make_landscape
from mixsearch.image.files import make_segment_colors
from mixsearch.web import Access, Limits, make_app

SEEDS = "seed=left:5,20%2B10,10&seed=50,20"
GIVEN = {"left": [(5, 20), (10, 10)], "segment 2": [(50, 20)]}


@pytest.fixture(scope="module")
def client():
    app = make_app({}, limits=Limits(timeout=600, max_pixels=200_000), access=Access(files=True))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def photo():
    return as_bytes(halves()[0])


def png(array):
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG")
    return file.getvalue()


def send(client, body, name="photo.png"):
    return client.post("/api/files", params={"name": name}, content=body)


def upload(client, array=None):
    answer = send(client, png(photo() if array is None else array))
    assert answer.status_code == 201, answer.text
    return f"/api/pictures/{answer.json()['file']}"


def image_of(answer):
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"].startswith("private")
    return np.asarray(Image.open(io.BytesIO(answer.content)))


def find_code(answer):
    return answer.status_code, answer.json()["error"]["code"]


def test_a_picture_is_uploaded_and_shown(client):
    path = upload(client)
    assert client.get(path).json() == {"width": 60, "height": 40}
    assert_array_equal(image_of(client.get(f"{path}/image.png")), photo())
    example = image_of(client.get("/api/pictures/example/image.png"))
    assert_array_equal(example, make_landscape(480, 720, random_state=3).image)
    assert find_code(client.get("/api/pictures/nothing/image.png")) == (410, "gone")


def test_a_large_picture_is_shown_smaller_and_what_is_transparent_stays_so(client):
    assert image_of(client.get(f"{upload(client, np.tile(photo(), (1, 50, 1)))}/image.png")).shape[:2] == (27, 2000)
    alpha = np.full((40, 60), 255, dtype=np.uint8)
    alpha[:4] = 0
    path = upload(client, np.dstack([photo(), alpha]))
    assert_array_equal(image_of(client.get(f"{path}/image.png"))[..., 3], alpha)


def test_segments_and_their_files_are_those_of_the_library(client):
    path, expected = upload(client), segment(photo(), GIVEN)
    found = client.get(f"{path}/segments?{SEEDS}&outlines=true").json()
    assert (found["width"], found["height"], found["warnings"]) == (60, 40, [])
    assert [each["name"] for each in found["segments"]] == list(GIVEN)
    assert [each["seeds"] for each in found["segments"]] == [[[5, 20], [10, 10]], [[50, 20]]]
    assert [each["pixels"] for each in found["segments"]] == expected.sizes.tolist()
    assert [each["color"] for each in found["segments"]] == [f"#{bytes(c).hex()}" for c in make_segment_colors(2)]
    assert all(each["outline"].startswith("M") for each in found["segments"])
    assert_array_equal(image_of(client.get(f"{path}/cut-out.png?{SEEDS}&segment=left")), expected.cut_out("left"))
    with zipfile.ZipFile(io.BytesIO(client.get(f"{path}/masks.zip?{SEEDS}").content)) as archive:
        assert archive.namelist() == ["1-left.png", "2-segment-2.png"]
        for number, file in enumerate(archive.namelist()):
            assert_array_equal(np.asarray(Image.open(archive.open(file))), 255 * expected.mask(number))


def test_exclusions_and_steps_reach_the_library(client):
    options = "seed=left:5,20&not_seed=left:50,20&every=2"
    found = client.get(f"{upload(client)}/segments?{options}").json()
    expected = segment(photo(), {"left": (5, 20)}, not_seeds={"left": (50, 20)})
    assert (found["width"], found["height"]) == (30, 20)
    assert found["segments"][0]["share"] == pytest.approx(expected.shares[0], abs=0.05)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("seed=5,90", "seed_outside"),
        ("seed=5;20", "bad_seed"),
        ("", "bad_argument"),
        ("seed=5,20&every=0", "bad_argument"),
    ],
)
def test_what_cannot_be_segmented_is_a_code(client, query, code):
    assert find_code(client.get(f"{upload(client)}/segments?{query}")) == (422, code)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (png(np.zeros((500, 500), dtype=np.uint8)), 413, "image_too_large"),
        (b"hello", 422, "not_an_image"),
        (b"", 422, "not_an_image"),
        (png(photo())[:90], 422, "image_unreadable"),
        (png(np.zeros((4, 4, 4), dtype=np.uint8)), 422, "image_transparent"),
    ],
)
def test_what_is_no_picture_is_a_code(client, body, status, code):
    assert find_code(send(client, body)) == (status, code)
