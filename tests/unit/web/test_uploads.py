"""Uploaded files: names, limits of space, and processes that hang, crash or read what is malicious."""

import asyncio
import io
import os
import struct
import time
import zlib

import numpy as np
import pytest
from PIL import Image
from tests.coded import raises

from mixsearch import SearchError
from mixsearch.web import uploads
from mixsearch.web.processes import CancelledError, call_in_process, start_fork_server
from mixsearch.web.settings import Limits
from mixsearch.web.uploads import UploadStore, check_name, inspect_image


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(uploads, "call_in_process", lambda *_: {"columns": []})
    store = UploadStore(Limits(max_file=25))
    yield store
    store.close()


def bring(store, body=b"0123456789", name="a.csv"):
    async def parts():
        yield body

    return asyncio.run(store.receive(name, parts()))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/My reviews[1].CSV", "My-reviews-1.csv"),
        ("C:\\data\\a.parquet", "a.parquet"),
        ("*.csv.gz", "file.csv.gz"),
        ("my photo.JPEG", "my-photo.jpeg"),
        (".csv", "file.csv"),
    ],
)
def test_names_cannot_be_paths_or_patterns(given, kept):
    assert check_name(given) == kept


@pytest.mark.parametrize("name", ["letter.doc", "a.csv.exe", "a.png.gz", ""])
def test_other_names_are_refused(name):
    with raises("unknown_format", name=name):
        check_name(name)


def test_nothing_is_left(store, monkeypatch):
    folder = bring(store).folder.parent

    def fail(*_):
        raise SearchError("No table.")

    monkeypatch.setattr(uploads, "call_in_process", fail)
    n_before = len(list(folder.iterdir()))
    with pytest.raises(SearchError):
        bring(store)
    with raises("too_large", max_bytes=25):
        bring(store, bytes(26))
    assert len(list(folder.iterdir())) == n_before
    store.close()
    assert not folder.exists()


# ---- The process ----


@pytest.fixture(scope="module")
def _ready():
    start_fork_server()


def hang():
    time.sleep(3600)


def crash():
    os._exit(7)


def stumble():
    raise KeyError("a bug of a decoder")


def outgrow():
    raise MemoryError


@pytest.mark.usefixtures("_ready")
@pytest.mark.parametrize("work", [crash, stumble, outgrow])
def test_a_reader_that_dies_takes_nothing_with_it(tmp_path, work):
    with raises("unreadable_file"):
        call_in_process(60, tmp_path, work)
    assert call_in_process(60, tmp_path, os.getcwd) == str(tmp_path)


@pytest.mark.usefixtures("_ready")
def test_a_reader_that_hangs_is_killed_or_cancelled(tmp_path):
    with raises("too_slow"):
        call_in_process(0.1, tmp_path, hang)
    with pytest.raises(CancelledError):
        call_in_process(60, tmp_path, hang, is_cancelled=lambda: True)


def png_that_claims(width, height):
    """A PNG of some hundred bytes whose header promises many pixels."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [5_000, 60_000])
def test_a_bomb_is_refused_by_its_header(tmp_path, monkeypatch, side):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bomb.png").write_bytes(png_that_claims(side, side))
    with raises("image_too_large"):
        inspect_image("bomb.png", Limits().max_pixels)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_files_are_errors_or_images(tmp_path, monkeypatch, seed):
    monkeypatch.chdir(tmp_path)
    rng, file = np.random.default_rng(seed), io.BytesIO()
    Image.fromarray(rng.integers(256, size=(40, 60, 3), dtype=np.uint8)).save(file, "WEBP")
    spoilt = bytes(each if rng.random() > 0.02 else int(rng.integers(256)) for each in file.getvalue())
    (tmp_path / "a.webp").write_bytes(spoilt)
    try:
        assert inspect_image("a.webp", 10_000)["width"] > 0
    except SearchError as error:
        assert error.code in ("not_an_image", "image_unreadable", "image_too_large")  # noqa: PT017
