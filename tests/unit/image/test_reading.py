import errno
import io
import os
import warnings
from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from tests.coded import raises
from tests.unit.image.images import as_bytes, halves

from mixsearch import SearchError
from mixsearch.image import read_image, reading


@pytest.fixture
def rgb():
    return as_bytes(halves(height=6, width=9)[0])


def test_a_file_an_image_and_an_array_are_the_same_picture(rgb, tmp_path):
    Image.fromarray(rgb).save(tmp_path / "picture.png")
    for given in (tmp_path / "picture.png", str(tmp_path / "picture.png"), Image.fromarray(rgb), rgb):
        picture = read_image(given)
        assert (picture.height, picture.width) == (6, 9)
        assert picture.visible is None
        assert_allclose(picture.to_rgb(), rgb / 255, rtol=1e-6)


def test_exif_orientation_is_honoured(rgb, tmp_path):
    image = Image.fromarray(rgb)
    exif = image.getexif()
    exif[0x0112] = 6  # the camera was turned: what is stored must be turned by a quarter to the right
    image.save(tmp_path / "turned.png", exif=exif)
    assert_allclose(read_image(tmp_path / "turned.png").to_rgb(), np.rot90(rgb, -1) / 255, rtol=1e-6)


@pytest.mark.parametrize(
    ("values", "white"),
    [
        (np.array([[0, 1000], [2000, 4095]], dtype=np.uint16), 4095),  # twelve bits in sixteen
        (np.array([[0, 3], [100, 200]], dtype=np.uint8), 255),
        (np.eye(2, dtype=bool), 1),
        (np.array([[0.0, 0.25], [0.75, 1.0]]), 1),
    ],
)
def test_values_are_seen_as_parts_of_white(values, white):
    picture = read_image(values)
    assert_allclose(picture.to_rgb()[..., 0], values / white, rtol=1e-6)
    assert np.abs(picture.to_uint8()[..., 0] - 255 * (values / white)).max() <= 0.5 + 1e-4


def test_transparent_pixels_are_not_visible_and_lend_no_colour(rgb):
    alpha = np.full(rgb.shape[:2], 255, dtype=np.uint8)
    alpha[0] = 0
    rgb[0] = 0
    picture = read_image(np.dstack([rgb, alpha]))
    assert_array_equal(picture.visible, alpha > 0)
    assert_allclose(picture.to_rgb(0, 0), (rgb[1:] / 255).mean(axis=(0, 1)), atol=1 / 255)
    assert_allclose(picture.to_rgb(slice(1, None)), rgb[1:] / 255, rtol=1e-6)


@pytest.mark.parametrize("shape", [(7, 11, 3), (1, 5, 1)])
def test_shrinking_takes_means_of_squares(shape):
    pixels = np.random.default_rng(0).random(shape)
    small = read_image(pixels).downscale(3).to_rgb()
    for i, j in np.ndindex(*small.shape[:2]):
        square = pixels[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]
        assert_allclose(small[i, j], np.broadcast_to(square.mean(axis=(0, 1)), 3), rtol=1e-5)


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (np.zeros((3, 8, 9)), "bad_image_shape"),
        (np.zeros((8, 9, 7)), "bad_image_shape"),
        (np.zeros((0, 4)), "image_empty"),
        (np.array([[0.0, np.nan], [np.inf, 1.0]]), "image_not_finite"),
        (np.array([["a", "b"]]), "bad_image_type"),
        (np.dstack([np.ones((3, 3, 3)), np.zeros((3, 3))]), "image_transparent"),
    ],
)
def test_what_is_no_picture_is_refused_with_what_was_found(array, code):
    with raises(code):
        read_image(array)


def test_files_that_cannot_be_read_are_named(rgb, tmp_path):
    (tmp_path / "notes.png").write_text("no picture")
    with raises("not_an_image", source=f"'{tmp_path / 'notes.png'}'"):
        read_image(tmp_path / "notes.png")
    with raises("image_unreadable", source=f"'{tmp_path}'") as caught:
        read_image(tmp_path)
    assert isinstance(caught.value.__cause__, IsADirectoryError | PermissionError)  # the latter on Windows
    with raises("image_unreadable", source=f"'{tmp_path / 'missing.png'}'", reason=os.strerror(errno.ENOENT)):
        read_image(tmp_path / "missing.png")
    Image.fromarray(np.tile(rgb, (20, 20, 1))).save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:300])
    with raises("image_unreadable", source=f"'{tmp_path / 'cut.png'}'") as caught:
        read_image(tmp_path / "cut.png")
    assert getattr(caught.value.__cause__, "errno", None) is None  # of the file's content, not of the system


def test_pictures_beyond_the_limit_are_refused_before_they_are_unpacked(rgb, tmp_path, monkeypatch):
    Image.fromarray(rgb).save(tmp_path / "large.png")
    monkeypatch.setattr(reading, "MAX_PIXELS", 53)
    with raises("image_too_large", max_pixels=53, width=9, height=6):
        read_image(tmp_path / "large.png")
    with raises("image_too_large", source="The image", width=9, height=6):
        read_image(rgb)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with raises("image_too_large", max_pixels=53):
        read_image(tmp_path / "large.png")


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_deep_and_float_tiff_files_keep_their_depth(dtype, tmp_path):
    gray = (np.random.default_rng(0).random((6, 9)) * (65_535 if dtype == np.uint16 else 1)).astype(dtype)
    Image.fromarray(gray).save(tmp_path / "deep.tif")
    white = gray.max() if dtype == np.uint16 else 1
    low = gray.min() if dtype == np.uint16 else 0
    assert_allclose(read_image(tmp_path / "deep.tif").pixels[..., 0], (gray - low) / (white - low), atol=1e-6)


def test_damaged_tiff_files_are_read_or_refused(rgb):
    whole, rng = io.BytesIO(), np.random.default_rng(0)
    Image.fromarray(rgb).save(whole, "TIFF")
    for _ in range(300):
        damaged = np.frombuffer(whole.getvalue(), np.uint8).copy()
        damaged[rng.integers(4, len(damaged), 3)] = rng.integers(0, 256, 3)
        with warnings.catch_warnings(), suppress(SearchError):
            warnings.simplefilter("ignore")
            reading.read_file(io.BytesIO(damaged.tobytes()), "The file", 1000)
    with pytest.raises(SearchError) as caught:
        reading.read_file(io.BytesIO(b"II*\x00" + bytes(200)), "The file", 1000)
    assert caught.value.code in ("image_unreadable", "not_an_image")
