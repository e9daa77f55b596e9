"""Decoding of uploaded images, each in a process that can be killed: decoders are where malicious files do harm."""

from __future__ import annotations

import json
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError, SearchWarning, collect_warnings, warn_user
from mixsearch.segmentation import LargeImageError, RasterImage, decode_image
from mixsearch.web.processes import run_process
from mixsearch.web.settings import Limits

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
_DAMAGED = "The image cannot be read. The file seems to be damaged."

Decode = Callable[[bytes, int], RasterImage]


class NotAnImageError(SearchError):
    """The bytes are not an image, or a damaged one."""

    code = "not_an_image"


class TooLargeError(SearchError):
    """The image has too many pixels."""

    code = "too_large"


class TooSlowError(SearchError):
    """Decoding the image takes too long."""

    code = "too_slow"


def decode_bytes(body: bytes, max_pixels: int, frame: int | None = None) -> RasterImage:
    """Return one image of a file, rotated by its EXIF orientation; by default the first."""
    return decode_image(body, max_pixels, FORMATS, frame=frame)


def decode_upload(body: bytes, limits: Limits, decode: Decode = decode_bytes) -> RasterImage:
    """Decode an image in a separate process.

    Parameters
    ----------
    body : bytes
        The contents of a PNG, JPEG, WebP, GIF, BMP or TIFF file.
    limits : Limits
        The largest number of pixels, which is checked before decoding, and the time limit.
    decode : callable
        Decodes the bytes, given the largest number of pixels. It runs in the process.

    Returns
    -------
    RasterImage
        Warnings about the file are issued in this process.

    Raises
    ------
    NotAnImageError, TooLargeError, TooSlowError
    """
    if not body:
        raise NotAnImageError("The request has no body. Send the bytes of an image.")
    with run_process(limits.decode_timeout, _work, body, limits.max_pixels, decode) as child:
        try:
            return _receive(child.connection)
        except (EOFError, OSError) as error:
            raise _explain_end(limits.decode_timeout if child.is_late else None) from error


def _work(reply: Connection, body: bytes, max_pixels: int, decode: Decode) -> None:
    """Decode in the process; send a header as JSON and the pixels as bytes, or an error."""
    try:
        with collect_warnings() as collected:
            image = decode(body, max_pixels)
    except (LargeImageError, MemoryError) as error:
        message = str(error) or "The image does not fit into memory."
        _send(reply, {"error": TooLargeError.code, "message": message})
    except SearchError as error:
        _send(reply, {"error": NotAnImageError.code, "message": str(error)})
    except Exception:  # a damaged file can make Pillow raise anything
        _send(reply, {"error": NotAnImageError.code, "message": _DAMAGED})
    else:
        header = {"shape": image.pixels.shape, "dtype": image.pixels.dtype.str, "white": image.white}
        notes = [[str(warning), warning.code] for warning in collected]
        _send(reply, header | {"has_hidden": image.visible is not None, "warnings": notes})
        reply.send_bytes(np.ascontiguousarray(image.pixels).data.cast("B"))
        if image.visible is not None:
            reply.send_bytes(np.ascontiguousarray(image.visible).data.cast("B"))


def _send(reply: Connection, header: dict[str, Any]) -> None:
    reply.send_bytes(json.dumps(header).encode())


def _receive(reply: Connection) -> RasterImage:
    header = json.loads(reply.recv_bytes())
    if "error" in header:
        raise {each.code: each for each in (NotAnImageError, TooLargeError)}[header["error"]](header["message"])
    for sentence, code in header["warnings"]:
        warn_user(SearchWarning(sentence, code=code))
    pixels = _receive_array(reply, header["shape"], header["dtype"])
    visible = _receive_array(reply, header["shape"][:2], "|b1") if header["has_hidden"] else None
    return RasterImage(pixels, header["white"], visible)


def _receive_array(reply: Connection, shape: list[int], dtype: str) -> Array:
    array = np.empty(shape, dtype)
    reply.recv_bytes_into(array.data.cast("B"))
    return array


def _explain_end(seconds: float | None) -> SearchError:
    """Return the error for a process that was killed by the timer, or ended itself: no memory, or a crash."""
    if seconds is None:
        return NotAnImageError(_DAMAGED)
    return TooSlowError(
        "Decoding the image took longer than {seconds:g} seconds. Save it again as a PNG or JPEG, or make it smaller.",
        seconds=seconds,
    )
