"""Read an image from a file, its bytes, a Pillow image or an array, and check it."""

from __future__ import annotations

import io
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.errors import SearchError

if TYPE_CHECKING:
    import PIL.Image

# Labels, the image and one chunk of work then stay below 2 GiB; Pillow refuses files of about this size as well.
MAX_PIXELS = 150_000_000
_GRAY, _GRAY_ALPHA, _RGB, _RGBA = 1, 2, 3, 4
_BYTE = 255
_ROWS_PER_CHUNK = 256
# Pillow's modes with more than eight bits per channel. Converting them to RGB would clip their values.
_DEEP_MODES = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")


class LargeImageError(SearchError):
    """An image has more pixels than the limit."""

    code = "image_too_large"


@dataclass(frozen=True, eq=False)
class RasterImage:
    """The pixels of an image, in the type they came in, and which of them are visible.

    Attributes
    ----------
    pixels : array of shape (h, w, 1) or (h, w, 3)
        Gray levels or RGB, of uint8, uint16 or float32.
    white : float
        The value that stands for white.
    visible : array of bool of shape (h, w), or None
        Which pixels are not transparent. None if all are visible.
    """

    pixels: Array
    white: float
    visible: Array | None

    @property
    def height(self) -> int:
        """The number of rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.pixels.shape[1])

    def rows(self, rows: slice) -> Array:
        """Return some rows as RGB from 0 to 1.

        Parameters
        ----------
        rows : slice
            Which rows.

        Returns
        -------
        array of float32 of shape (r, w, 3)
        """
        chunk = self.pixels[rows].astype(np.float32)
        chunk /= np.float32(self.white)
        return np.ascontiguousarray(np.broadcast_to(chunk, (*chunk.shape[:2], _RGB)))

    def to_uint8(self) -> Array:
        """Return the whole image as RGB from 0 to 255.

        Returns
        -------
        array of uint8 of shape (h, w, 3)
        """
        if self.pixels.dtype == np.uint8 and self.white == _BYTE:
            return np.ascontiguousarray(np.broadcast_to(self.pixels, (self.height, self.width, _RGB)))
        rgb = np.empty((self.height, self.width, _RGB), dtype=np.uint8)
        for start in range(0, self.height, _ROWS_PER_CHUNK):
            rows = slice(start, start + _ROWS_PER_CHUNK)
            rgb[rows] = 255 * self.rows(rows) + 0.5
        return rgb

    def subsample(self, step: int) -> RasterImage:
        """Keep one pixel of each square of `step` pixels a side, the middle one.

        Parameters
        ----------
        step : int
            The side of the squares.

        Returns
        -------
        RasterImage
        """
        kept = subsample_slice(self.height, step), subsample_slice(self.width, step)
        return RasterImage(self.pixels[kept], self.white, None if self.visible is None else self.visible[kept])

    def downscale(self, factor: int) -> RasterImage:
        """Average squares of `factor` pixels a side; those at the right and lower edge may be smaller.

        Parameters
        ----------
        factor : int
            The side of the squares.

        Returns
        -------
        RasterImage
            A pixel is visible if any pixel of its square is.
        """
        if factor == 1:
            return self
        visible = None if self.visible is None else _average(self.visible[..., None], factor)[..., 0] > 0
        return RasterImage(_average(self.pixels, factor) / np.float32(self.white), 1.0, visible)


def subsample_slice(n: int, step: int) -> slice:
    """Return a slice of n positions with the given step and at least one position, from the middle of the first."""
    return slice(min(step // 2, n - 1), n, step)


def _average(array: Array, factor: int) -> Array:
    for axis in (0, 1):
        starts = np.arange(0, array.shape[axis], factor)
        sizes = np.diff(np.append(starts, array.shape[axis])).astype(np.float32)
        array = np.add.reduceat(array, starts, axis=axis, dtype=np.float32)
        array /= sizes.reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
    return array


def read_image(image: str | os.PathLike[str] | PIL.Image.Image | RasterImage | ArrayLike) -> RasterImage:
    """Read an image from a file, a Pillow image or an array.

    Parameters
    ----------
    image : path, Pillow image, array or RasterImage
        A file is rotated by its EXIF orientation. Arrays have shape (h, w) or (h, w, c), where c is 1 for gray, 2 for
        gray and alpha, 3 for RGB, 4 for RGB and alpha; of uint8, uint16, bool or floats. Floats outside 0 to 1, and
        other integers outside 0 to 255, are rescaled from their minimum and maximum.

    Returns
    -------
    RasterImage

    Examples
    --------
    >>> image = read_image([[0, 128, 255], [255, 128, 0]])
    >>> image.height, image.width
    (2, 3)
    """
    if isinstance(image, RasterImage):
        return image
    if isinstance(image, str | os.PathLike):
        return _check_array(_read_file(Path(image), f"'{image}'", MAX_PIXELS))
    if hasattr(image, "getbands"):
        return _check_array(_pillow_pixels(image))
    return _check_array(np.asarray(image))


def decode_image(body: bytes, max_pixels: int = MAX_PIXELS, formats: tuple[str, ...] | None = None) -> RasterImage:
    """Read an image from the bytes of an image file.

    Parameters
    ----------
    body : bytes
        The content of the file.
    max_pixels : int
        Larger images are refused before any pixel is decoded.
    formats : tuple of str, optional
        The formats to try, by Pillow's names; by default all.

    Returns
    -------
    RasterImage
    """
    return _check_array(_read_file(io.BytesIO(body), "The file", max_pixels, formats))


def make_missing_pillow_error() -> SearchError:
    """Return the error for a missing Pillow, with the line that installs it."""
    return SearchError(
        "Image files need Pillow. Install it with: pip install 'mixsearch[{extra}]'",
        code="missing_extra",
        extra="image",
    )


def _read_file(file: Path | BinaryIO, source: str, max_pixels: int, formats: tuple[str, ...] | None = None) -> Array:
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise make_missing_pillow_error() from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit below takes its place
            with Image.open(file, formats=formats) as image:
                _check_size(*image.size, source, max_pixels)
                return _pillow_pixels(ImageOps.exif_transpose(image))
    except UnidentifiedImageError as error:
        known = " or ".join(", ".join(formats or ("PNG", "JPEG", "TIFF", "WebP")).rsplit(", ", 1))
        raise SearchError(
            "{source} isn't an image that can be read. Use {formats}.",
            code="not_an_image",
            source=source,
            formats=known,
        ) from error
    except Image.DecompressionBombError as error:
        raise LargeImageError(
            "{source} has more pixels than Pillow decodes; the limit here is {max_pixels:,}. Downscale or crop it.",
            source=source,
            max_pixels=max_pixels,
        ) from error
    except (OSError, SyntaxError, ValueError) as error:  # Pillow raises each of them on damaged files
        if isinstance(error, SearchError):
            raise
        reason = getattr(error, "strerror", None) or f"{error}. The file seems to be damaged"
        raise SearchError(
            "{source} cannot be read: {reason}.", code="image_unreadable", source=source, reason=reason
        ) from error


def _pillow_pixels(image: Any) -> Array:
    """Return the pixels of a Pillow image: deep ones as they are, others as gray, RGB or RGBA."""
    if image.mode in _DEEP_MODES:
        return np.asarray(image)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return np.asarray(image.convert("RGBA"))
    return np.asarray(image.convert("L" if image.mode in ("1", "L") else "RGB"))


def _check_size(width: int, height: int, source: str, max_pixels: int) -> None:
    size: dict[str, Any] = {"source": source, "width": width, "height": height}
    if not width * height:
        raise SearchError("{source} is {width} x {height} pixels: it is empty.", code="image_empty", **size)
    if width * height > max_pixels:
        raise LargeImageError(
            "{source} has {width:,} x {height:,} pixels; the limit is {max_pixels:,} pixels, since a small file can "
            "decode to more than fits into memory. Downscale or crop it.",
            max_pixels=max_pixels,
            **size,
        )


def _check_array(array: Array) -> RasterImage:
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or not _GRAY <= array.shape[2] <= _RGBA:
        advice = " Channels come last: np.moveaxis(image, 0, -1)." if _has_channels_first(array) else ""
        raise SearchError(
            "The image has shape {shape}, but needs (h, w) for gray, (h, w, 3) for RGB or (h, w, 4) for RGB and alpha."
            "{advice}",
            code="bad_image_shape",
            shape=array.shape,
            advice=advice,
        )
    _check_size(array.shape[1], array.shape[0], "The image", MAX_PIXELS)
    has_alpha = array.shape[2] in (_GRAY_ALPHA, _RGBA)
    pixels, white = _find_range(array[..., :-1] if has_alpha else array)
    visible = array[..., -1] > 0 if has_alpha else None
    if visible is None or visible.all():
        return RasterImage(pixels, white, None)
    if not visible.any():
        raise SearchError(
            "Every pixel of the image is transparent: there is nothing to segment.", code="image_transparent"
        )
    return RasterImage(_fill_transparent(pixels, visible), white, visible)


def _has_channels_first(array: Array) -> bool:
    return array.ndim == 3 and array.shape[0] <= _RGBA


def _find_range(colors: Array) -> tuple[Array, float]:
    """Return the values of an image, and the one that stands for white."""
    if colors.dtype == bool:
        return colors.astype(np.uint8), 1.0
    if colors.dtype in (np.uint8, np.uint16):
        return colors, float(np.iinfo(colors.dtype).max)
    if not np.issubdtype(colors.dtype, np.number) or np.iscomplexobj(colors):
        raise SearchError(
            "The image has values of type {dtype}, but needs uint8, uint16, bool or floats.",
            code="bad_image_type",
            dtype=str(colors.dtype),
        )
    n_bad = colors.size - np.count_nonzero(np.isfinite(colors))
    if n_bad:
        raise SearchError(
            "The image has {n_bad:,} values that are NaN or infinite. Replace them, or crop the image.",
            code="image_not_finite",
            n_bad=n_bad,
        )
    low, high = float(colors.min()), float(colors.max())
    if np.issubdtype(colors.dtype, np.integer) and low >= 0 and high <= _BYTE:
        return colors.astype(np.uint8), float(_BYTE)
    if low >= 0 and high <= 1:
        return colors.astype(np.float32), 1.0
    return ((colors - low) / ((high - low) or 1.0)).astype(np.float32), 1.0


def _fill_transparent(pixels: Array, visible: Array) -> Array:
    """Give transparent pixels the mean color: they are often black, and filters would mix that into their neighbors."""
    filled = pixels.copy()
    filled[~visible] = pixels[visible].mean(axis=0).astype(pixels.dtype)
    return filled
