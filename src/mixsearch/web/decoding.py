"""Uploaded bytes -> a picture, in a process of its own that can be killed: decoders are where files do harm."""

from __future__ import annotations

import json
import signal
import warnings
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Event, Timer
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.segmentation import LargeImageError, RasterImage, decode_image
from mixsearch.web.processes import process_context
from mixsearch.web.settings import Limits

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
_DAMAGED = "The picture cannot be read. The file seems to be damaged."

Unpack = Callable[[bytes, int], RasterImage]


class NotAnImageError(SearchError):
    """Bytes that are no picture, or a damaged one."""

    code = "not_an_image"


class TooLargeError(SearchError):
    """A picture of more pixels than are unpacked."""

    code = "too_large"


class TooSlowError(SearchError):
    """A picture that takes longer to unpack than it may."""

    code = "too_slow"


def unpack(body: bytes, most_pixels: int) -> RasterImage:
    """The first picture of a file, turned as its EXIF orientation says."""
    return decode_image(body, most_pixels, FORMATS)


def decode(body: bytes, limits: Limits, unpack: Unpack = unpack) -> RasterImage:
    """A picture from the bytes of its file.

    Parameters
    ----------
    body : bytes
        Of a PNG, JPEG, WebP, GIF, BMP or TIFF.
    limits : Limits
        Of its pixels, which are known before any of them is unpacked, and of the seconds that it may take.
    unpack : callable
        From the bytes and the most pixels to the picture; it runs in a process of its own.

    Raises
    ------
    NotAnImageError, TooLargeError, TooSlowError
    """
    if not body:
        raise NotAnImageError("Nothing was sent. Send the bytes of a picture.")
    context = process_context()
    ours, theirs = context.Pipe(duplex=False)
    decoder = context.Process(target=_answer, args=(theirs, body, limits.most_pixels, unpack), daemon=True)
    with closing(ours):
        with closing(theirs):
            decoder.start()
        is_late = Event()
        clock = Timer(limits.decoding_seconds, _kill, (decoder, is_late))
        clock.start()
        try:
            return _receive(ours)
        except (EOFError, OSError) as error:
            raise _ended_early(limits.decoding_seconds if is_late.is_set() else None) from error
        finally:
            clock.cancel()
            decoder.kill()
            decoder.join()


def _kill(decoder: BaseProcess, is_late: Event) -> None:
    is_late.set()
    decoder.kill()


def _answer(reply: Connection, body: bytes, most_pixels: int, unpack: Unpack) -> None:
    """The work of the process: unpack, and send a header as JSON and the pixels as bytes, or what was wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server hears it, and ends this process
    warnings.simplefilter("ignore")
    try:
        picture = unpack(body, most_pixels)
    except (LargeImageError, MemoryError) as error:
        _send(
            reply, {"error": TooLargeError.code, "message": str(error) or "The picture does not fit into the memory."}
        )
    except SearchError as error:
        _send(reply, {"error": NotAnImageError.code, "message": str(error)})
    except Exception:  # a damaged file can make Pillow raise anything
        _send(reply, {"error": NotAnImageError.code, "message": _DAMAGED})
    else:
        header = {"shape": picture.pixels.shape, "dtype": picture.pixels.dtype.str, "full": picture.white}
        _send(reply, header | {"has_hidden": picture.visible is not None})
        reply.send_bytes(np.ascontiguousarray(picture.pixels).data.cast("B"))
        if picture.visible is not None:
            reply.send_bytes(np.ascontiguousarray(picture.visible).data.cast("B"))


def _send(reply: Connection, header: dict[str, Any]) -> None:
    reply.send_bytes(json.dumps(header).encode())


def _receive(reply: Connection) -> RasterImage:
    header = json.loads(reply.recv_bytes())
    if "error" in header:
        raise {each.code: each for each in (NotAnImageError, TooLargeError)}[header["error"]](header["message"])
    pixels = _array(reply, header["shape"], header["dtype"])
    visible = _array(reply, header["shape"][:2], "|b1") if header["has_hidden"] else None
    return RasterImage(pixels, header["full"], visible)


def _array(reply: Connection, shape: list[int], dtype: str) -> Array:
    array = np.empty(shape, dtype)
    reply.recv_bytes_into(array.data.cast("B"))
    return array


def _ended_early(seconds: float | None) -> SearchError:
    """Killed by the clock, or dead by itself: memory ran out, or a decoder crashed."""
    if seconds is None:
        return NotAnImageError(_DAMAGED)
    return TooSlowError(
        f"The picture took longer than {seconds:g} seconds to unpack. Save it anew as a PNG or JPEG, or shrink it."
    )
