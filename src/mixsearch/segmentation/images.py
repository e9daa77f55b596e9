"""A file, its bytes, a Pillow image or an array -> one picture, checked."""

from __future__ import annotations

import io
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mixsearch.errors import SearchError
from mixsearch.types import Array

NEEDS_PILLOW = "Image files need Pillow: pip install 'mixsearch[image]'"
# Labels, the picture and one block of work then stay below 2 GiB; Pillow refuses files of about this size as well.
MOST_PIXELS = 150_000_000
_GREY, _GREY_ALPHA, _RGB, _RGBA = 1, 2, 3, 4
_BYTE = 255
_ROWS = 256  # that are converted at a time
# What Pillow calls images whose numbers are not those of eight bits, and that must not be squeezed into them.
_DEEP_MODES = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")


class LargeImageError(SearchError):
    """An image of more pixels than are unpacked."""


@dataclass(frozen=True, eq=False)
class Picture:
    """The pixels of a picture, in whatever numbers it came, and which of them can be seen."""

    pixels: Array  # (h, w, 1 | 3), of uint8, uint16 or float32
    full: float  # the number that stands for white
    visible: Array | None  # (h, w) of bool, or None where every pixel is

    @property
    def height(self) -> int:
        """Rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Columns."""
        return int(self.pixels.shape[1])

    def rows(self, rows: slice) -> Array:
        """Some rows as red, green and blue from 0 to 1, (r, w, 3) of float32."""
        part = self.pixels[rows].astype(np.float32)
        part /= np.float32(self.full)
        return np.ascontiguousarray(np.broadcast_to(part, (*part.shape[:2], _RGB)))

    def in_bytes(self) -> Array:
        """All of it as red, green and blue from 0 to 255, (h, w, 3) of uint8."""
        if self.pixels.dtype == np.uint8 and self.full == _BYTE:
            return np.ascontiguousarray(np.broadcast_to(self.pixels, (self.height, self.width, _RGB)))
        drawn = np.empty((self.height, self.width, _RGB), dtype=np.uint8)
        for start in range(0, self.height, _ROWS):
            rows = slice(start, start + _ROWS)
            drawn[rows] = 255 * self.rows(rows) + 0.5
        return drawn

    def thin(self, every: int) -> Picture:
        """Every so many pixels of every so many rows, from the middle of the first ones."""
        kept = kept_places(self.height, every), kept_places(self.width, every)
        return Picture(self.pixels[kept], self.full, None if self.visible is None else self.visible[kept])

    def shrink(self, factor: int) -> Picture:
        """The means of squares of so many pixels a side; smaller ones at the right and lower edge."""
        if factor == 1:
            return self
        seen = None if self.visible is None else _means(self.visible[..., None], factor)[..., 0] > 0
        return Picture(_means(self.pixels, factor) / np.float32(self.full), 1.0, seen)


def kept_places(n: int, every: int) -> slice:
    """Every so many of n places, at least one, from the middle of the first ones."""
    return slice(min(every // 2, n - 1), n, every)


def _means(array: Array, factor: int) -> Array:
    for axis in (0, 1):
        starts = np.arange(0, array.shape[axis], factor)
        sizes = np.diff(np.append(starts, array.shape[axis])).astype(np.float32)
        array = np.add.reduceat(array, starts, axis=axis, dtype=np.float32)
        array /= sizes.reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
    return array


def read_picture(image: Any) -> Picture:
    """Any image as a picture.

    Parameters
    ----------
    image : path, Pillow image, array or Picture
        A file is turned as its EXIF orientation says. Arrays are (h, w) or (h, w, c), where c is 1 for grey, 2 for grey
        and alpha, 3 for RGB, 4 for RGB and alpha; of uint8, uint16, bool, or floats. Floats beyond 0 to 1, and other
        integers beyond 0 to 255, are stretched to it from the least to the largest.
    """
    if isinstance(image, Picture):
        return image
    if isinstance(image, str | os.PathLike):
        return _from_array(_read_file(Path(image), f"'{image}'", MOST_PIXELS))
    if hasattr(image, "getbands"):
        return _from_array(_pillow_pixels(image))
    return _from_array(np.asarray(image))


def read_bytes(body: bytes, most_pixels: int = MOST_PIXELS, formats: tuple[str, ...] | None = None) -> Picture:
    """The bytes of an image file as a picture.

    Parameters
    ----------
    body : bytes
        What the file holds.
    most_pixels : int
        Beyond which it is refused, before any pixel is unpacked.
    formats : tuple of str, optional
        Those that are tried, as Pillow calls them; by default all that it knows.
    """
    return _from_array(_read_file(io.BytesIO(body), "The picture", most_pixels, formats))


def _read_file(file: Path | BinaryIO, name: str, most_pixels: int, formats: tuple[str, ...] | None = None) -> Array:
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise SearchError(NEEDS_PILLOW) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit is ours, below
            with Image.open(file, formats=formats) as image:
                _require_size(*image.size, name, most_pixels)
                return _pillow_pixels(ImageOps.exif_transpose(image))
    except UnidentifiedImageError as error:
        known = " or ".join(", ".join(formats or ("PNG", "JPEG", "TIFF", "WebP")).rsplit(", ", 1))
        raise SearchError(f"{name} is no image that can be read. Give a {known}.") from error
    except Image.DecompressionBombError as error:
        raise LargeImageError(_too_large(name, "more pixels than Pillow unpacks", most_pixels)) from error
    except (OSError, SyntaxError, ValueError) as error:  # Pillow raises each of them on damaged files
        if isinstance(error, SearchError):
            raise
        reason = getattr(error, "strerror", None) or f"{error}. The file seems to be damaged"
        raise SearchError(f"{name} cannot be read: {reason}.") from error


def _pillow_pixels(image: Any) -> Array:
    """The pixels of a Pillow image: deep ones as they are, palettes and other colours as RGB, with alpha if any."""
    if image.mode in _DEEP_MODES:
        return np.asarray(image)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return np.asarray(image.convert("RGBA"))
    return np.asarray(image.convert("L" if image.mode in ("1", "L") else "RGB"))


def _require_size(width: int, height: int, name: str, most_pixels: int) -> None:
    if not width * height:
        raise SearchError(f"{name} is {width} x {height} pixels large, which is none at all.")
    if width * height > most_pixels:
        raise LargeImageError(_too_large(name, f"{width:,} x {height:,} pixels", most_pixels))


def _too_large(name: str, found: str, most_pixels: int) -> str:
    return (
        f"{name} holds {found}; {most_pixels:,} are read at most, since a small file can unpack to more than "
        "the memory holds. Shrink it, or cut out the part that matters."
    )


def _from_array(array: Array) -> Picture:
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or not _GREY <= array.shape[2] <= _RGBA:
        raise SearchError(
            f"The image has shape {array.shape}; needed (h, w) for grey, or (h, w, c) with c = 3 for RGB and 4 for RGB "
            "and alpha." + (" Channels come last: np.moveaxis(image, 0, -1)." if _channels_first(array) else "")
        )
    _require_size(array.shape[1], array.shape[0], "The image", MOST_PIXELS)
    has_alpha = array.shape[2] in (_GREY_ALPHA, _RGBA)
    colours = array[..., :-1] if has_alpha else array
    pixels, full = _in_range(colours)
    visible = array[..., -1] > 0 if has_alpha else None
    if visible is None or visible.all():
        return Picture(pixels, full, None)
    if not visible.any():
        raise SearchError("Every pixel of the image is transparent, so that there is nothing to segment.")
    return Picture(_fill(pixels, visible), full, visible)


def _channels_first(array: Array) -> bool:
    return array.ndim == 3 and array.shape[0] <= _RGBA


def _in_range(colours: Array) -> tuple[Array, float]:
    """The numbers of an image, and the one that stands for white."""
    if colours.dtype == bool:
        return colours.astype(np.uint8), 1.0
    if colours.dtype in (np.uint8, np.uint16):
        return colours, float(np.iinfo(colours.dtype).max)
    if not np.issubdtype(colours.dtype, np.number) or np.iscomplexobj(colours):
        raise SearchError(f"The image holds values of type {colours.dtype}; needed uint8, uint16, bool or floats.")
    n_bad = colours.size - np.count_nonzero(np.isfinite(colours))
    if n_bad:
        raise SearchError(f"The image holds {n_bad:,} values that are NaN or infinite. Replace them, or cut them off.")
    least, most = float(colours.min()), float(colours.max())
    if np.issubdtype(colours.dtype, np.integer) and least >= 0 and most <= _BYTE:
        return colours.astype(np.uint8), float(_BYTE)
    if least >= 0 and most <= 1:
        return colours.astype(np.float32), 1.0
    return ((colours - least) / ((most - least) or 1.0)).astype(np.float32), 1.0


def _fill(pixels: Array, visible: Array) -> Array:
    """The picture with its mean colour where it is transparent: what lies there is often black, and would blur in."""
    filled = pixels.copy()
    filled[~visible] = pixels[visible].mean(axis=0).astype(pixels.dtype)
    return filled
