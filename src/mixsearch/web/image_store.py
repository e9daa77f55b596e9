"""Images: decoded in processes that can be killed, and kept in memory with their last segmentations.

Decoders are where malicious files do harm. Names cannot be guessed.
"""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixsearch import datasets
from mixsearch._typing import Array
from mixsearch.errors import HintError, SearchError, SearchWarning, collect_warnings
from mixsearch.image.reading import LargeImageError, RasterImage, read_file, read_image
from mixsearch.image.seeds import parse_seeds
from mixsearch.web.cache import LRUCache
from mixsearch.web.image_schemas import MAX_NAME_LENGTH, NamedSegmentation, SegmentationRequest
from mixsearch.web.processes import run_process
from mixsearch.web.settings import Limits

if TYPE_CHECKING:
    from mixsearch.image.result import Segmentation
    from mixsearch.image.seeds import Pixel
    from mixsearch.image.segment import PreparedImage

EXAMPLE = "example"
# Numbers of images with their graph in memory, and of segmentations.
_N_PREPARED, N_SEGMENTATIONS = 4, 8
# Characters of the seeds of named segmentations.
_MAX_NAMED = 8_000_000
# Every image counts at least this many pixels: many small ones need memory too.
_MIN_PIXELS = 10_000
_MAX_SHOWN = 20
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
_DAMAGED = "The image cannot be read. The file seems to be damaged."

Decode = Callable[[bytes, int], RasterImage]


class GoneError(SearchError):
    """An image that is not in memory any more, or never was."""

    code = "gone"


class NotAnImageError(SearchError):
    """The bytes are not an image, or a damaged one."""

    code = "not_an_image"


class TooLargeError(SearchError):
    """The image has too many pixels."""

    code = "too_large"


class TooSlowError(SearchError):
    """Decoding the image takes too long."""

    code = "too_slow"


class StoredSegmentation(NamedTuple):
    """A segmentation, the request for it and its warnings."""

    found: Segmentation
    request: SegmentationRequest
    warnings: tuple[SearchWarning, ...]


class ImageStore:
    """The uploaded images, and an example that is always there."""

    def __init__(self, limits: Limits) -> None:
        self._images: LRUCache[str, RasterImage] = LRUCache(limits.max_stored_pixels, _measure_image)
        self._prepared: LRUCache[str, PreparedImage] = LRUCache(_N_PREPARED)
        smallest = limits.max_pixels // N_SEGMENTATIONS
        self._segmentations: LRUCache[tuple[str, SegmentationRequest], StoredSegmentation] = LRUCache(
            limits.max_pixels, lambda stored: max(stored.found.labels.size, smallest)
        )
        self._named: LRUCache[tuple[str, str], SegmentationRequest] = LRUCache(
            _MAX_NAMED, lambda request: len(repr(request))
        )

    def add(self, image: RasterImage) -> str:
        """Store an image, and return its name."""
        name = secrets.token_urlsafe(16)
        self._images.put(name, image)
        return name

    def get(self, name: str) -> RasterImage:
        """Return an image by its name."""
        found = make_example() if name == EXAMPLE else self._images.get(name)
        if found is None:
            raise GoneError("This image is not in memory any more. Upload it again.")
        return found

    def remove(self, name: str) -> None:
        """Remove an image and everything computed from it."""
        if name == EXAMPLE:
            raise HintError("The example cannot be removed, only uploaded images.", code="example_stays")
        if not self._images.remove(lambda key: key == name):
            raise GoneError("This image is not in memory any more.")
        self._prepared.remove(lambda key: key == name)
        for derived in (self._segmentations, self._named):
            derived.remove(lambda key: key[0] == name)

    def prepare(self, name: str) -> None:
        """Build the graph of an image, so that the first segmentation need not wait for it."""
        _ = self._prepare(name).graph

    def segment(self, name: str, request: SegmentationRequest | NamedSegmentation) -> StoredSegmentation:
        """Return the segmentation of an image, computed once for all that is shown of it."""
        prepared = self._prepare(name)
        wanted = self._find_request(name, request) if isinstance(request, NamedSegmentation) else request

        def compute() -> StoredSegmentation:
            with collect_warnings() as warnings:
                found = prepared.segment(
                    _read_pixels(wanted.seeds, wanted.max_seeds),
                    not_seeds=_read_pixels(wanted.not_seeds, wanted.max_seeds),
                    method=wanted.method,
                    step=wanted.every,
                )
            return StoredSegmentation(found, wanted, tuple(warnings))

        stored = self._segmentations.get_or_compute((name, wanted), compute)
        self._named.put((name, wanted.name), wanted)
        return stored

    def _prepare(self, name: str) -> PreparedImage:
        image = self.get(name)
        # It imports scikit-image, which would delay the start of the server.
        from mixsearch.image.segment import PreparedImage

        return self._prepared.get_or_compute(name, lambda: PreparedImage(image))

    def _find_request(self, name: str, segmentation: NamedSegmentation) -> SegmentationRequest:
        found = self._named.get((name, segmentation.name))
        if found is None:
            raise GoneError("This segmentation is not in memory any more. Send its seeds again.")
        return replace(found, every=segmentation.every)


def _measure_image(image: RasterImage) -> int:
    return max(image.width * image.height, _MIN_PIXELS)


def _read_pixels(typed: tuple[str, ...], max_seeds: int) -> dict[str, list[Pixel]]:
    """Return the pixels of each segment, as far as the limits allow."""
    given = parse_seeds(typed)
    n_seeds = sum(map(len, given.values()))
    if n_seeds > max_seeds:
        raise HintError(
            "A segmentation has at most {max_seeds} seeds, got {n_seeds}. Leave some out.",
            code="too_many_seeds",
            n_seeds=n_seeds,
            max_seeds=max_seeds,
        )
    for name in given:
        if len(name) > MAX_NAME_LENGTH:
            raise HintError(
                "The name {start!r}... has {length} characters, at most {max_length} are allowed.",
                code="name_too_long",
                start=name[:_MAX_SHOWN],
                length=len(name),
                max_length=MAX_NAME_LENGTH,
            )
    return given


@cache
def make_example() -> RasterImage:
    """Return a landscape to try the page with."""
    return read_image(datasets.make_landscape(480, 720, random_state=3).image)


def decode_bytes(body: bytes, max_pixels: int) -> RasterImage:
    """Return the first image of a file, rotated by its EXIF orientation."""
    return read_file(io.BytesIO(body), "The file", max_pixels, FORMATS)


def decode_upload(body: bytes, limits: Limits, decode: Decode = decode_bytes) -> RasterImage:
    """Decode an image in a separate process."""
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
        image = decode(body, max_pixels)
    except (LargeImageError, MemoryError) as error:
        message = str(error) or "The image does not fit into memory."
        _send(reply, {"error": TooLargeError.code, "message": message})
    except SearchError as error:
        _send(reply, {"error": NotAnImageError.code, "message": str(error)})
    except Exception:  # a damaged file can make Pillow raise anything
        _send(reply, {"error": NotAnImageError.code, "message": _DAMAGED})
    else:
        header = {"shape": image.pixels.shape, "dtype": image.pixels.dtype.str}
        _send(reply, header | {"has_hidden": image.visible is not None})
        reply.send_bytes(np.ascontiguousarray(image.pixels).data.cast("B"))
        if image.visible is not None:
            reply.send_bytes(np.ascontiguousarray(image.visible).data.cast("B"))


def _send(reply: Connection, header: dict[str, Any]) -> None:
    reply.send_bytes(json.dumps(header).encode())


def _receive(reply: Connection) -> RasterImage:
    header = json.loads(reply.recv_bytes())
    if "error" in header:
        raise {each.code: each for each in (NotAnImageError, TooLargeError)}[header["error"]](header["message"])
    pixels = _receive_array(reply, header["shape"], header["dtype"])
    visible = _receive_array(reply, header["shape"][:2], "|b1") if header["has_hidden"] else None
    return RasterImage(pixels, visible)


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
