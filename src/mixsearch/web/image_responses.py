"""Responses with images and other files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from typing import Any

from fastapi import Response

from mixsearch import segmentation

# A name never means another image, and the same seeds segment it in the same way.
CACHE_HEADERS = {"Cache-Control": "private, max-age=600"}


def describe_file(media_type: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of an answer that is a file."""
    schema = {"type": "object"} if media_type.endswith("json") else {"type": "string", "format": "binary"}
    return {200: {"content": {media_type: {"schema": schema}}}}


def make_png_response(body: bytes) -> Response:
    """Return a response that browsers may keep for a while."""
    return Response(body, headers=CACHE_HEADERS, media_type="image/png")


def make_download(body: bytes | str, media_type: str) -> Response:
    """Return a file to save. Its name is that of the link to it, or else the end of its address."""
    return Response(body, headers=CACHE_HEADERS | {"Content-Disposition": "attachment"}, media_type=media_type)


def encode_png(image: Any, **options: int) -> bytes:
    """Return a Pillow image as PNG."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=segmentation.PNG_LEVEL, **options)
    return file.getvalue()


def encode_zip(images: Iterable[tuple[str, Any]]) -> bytes:
    """Return Pillow images by their names as a ZIP file of PNG files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:  # not compressed: PNG files are
        for name, image in images:
            archive.writestr(name, encode_png(image))
    return file.getvalue()
