"""Valid, invalid and malicious image files."""

import contextlib
import io
import os
import struct
import time
import zlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from tests.coded import raises
from tests.unit.image.images import as_bytes, halves

from mixsearch.web.image_store import NotAnImageError, TooLargeError, TooSlowError, decode_bytes, decode_upload
from mixsearch.web.processes import start_fork_server
from mixsearch.web.settings import Limits

LIMITS = Limits(decode_timeout=60)


@pytest.fixture(scope="module", autouse=True)
def _ready():
    start_fork_server()


def rgb(height=6, width=9):
    return as_bytes(halves(height=height, width=width)[0])


def saved(image, kind="PNG", **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def png_that_claims(width, height):
    """A PNG of some hundred bytes whose header promises many pixels."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_formats_without_loss_give_the_pixels_themselves(kind):
    picture = decode_upload(saved(Image.fromarray(rgb()), kind, lossless=True), LIMITS)
    assert_array_equal(picture.pixels, rgb())
    assert picture.visible is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"%PDF-1.7", "not_an_image"),
        (saved(Image.fromarray(rgb(60, 90)))[:300], "image_unreadable"),
        (b"P6 2 2 255 " + bytes(12), "not_an_image"),
        (saved(Image.fromarray(np.zeros((4, 4, 4), dtype=np.uint8))), "image_transparent"),
    ],
)
def test_what_is_no_picture_is_an_error_with_the_reason(body, code):
    with raises(code) as reason:
        decode_bytes(body, LIMITS.max_pixels)
    with raises("not_an_image") as caught:
        decode_upload(body, LIMITS)
    assert str(caught.value) == str(reason.value)


def test_a_request_without_a_body_is_not_decoded():
    with raises("not_an_image"):
        decode_upload(b"", Limits(decode_timeout=0.2), hang)


def test_a_bomb_is_refused_by_its_header():
    with raises("too_large"):
        decode_upload(png_that_claims(60_000, 60_000), LIMITS)
    with raises("too_large"):
        decode_upload(png_that_claims(5000, 5000), LIMITS)


def hang(body, max_pixels):
    time.sleep(3600)


def crash(body, max_pixels):
    os._exit(7)


def stumble(body, max_pixels):
    raise KeyError("a bug of a decoder")


def outgrow(body, max_pixels):
    raise MemoryError


def test_a_decoder_that_hangs_is_killed():
    with pytest.raises(TooSlowError):
        decode_upload(b"endless", Limits(decode_timeout=0.2), hang)


@pytest.mark.parametrize("unpack", [crash, stumble])
def test_a_decoder_that_dies_takes_nothing_with_it(unpack):
    with raises("not_an_image"):
        decode_upload(b"poison", LIMITS, unpack)
    assert decode_upload(saved(Image.fromarray(rgb())), LIMITS).height == 6


def test_a_picture_beyond_the_memory_is_too_large():
    with raises("too_large"):
        decode_upload(b"huge", LIMITS, outgrow)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_files_raise_nothing_else(seed):
    rng = np.random.default_rng(seed)
    body = saved(Image.fromarray(rgb(40, 60)), "WEBP")
    spoilt = bytes(each if rng.random() > 0.02 else int(rng.integers(256)) for each in body)
    with contextlib.suppress(NotAnImageError, TooLargeError):
        assert decode_upload(spoilt, LIMITS).width > 0
