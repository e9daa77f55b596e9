"""Read images from files, bytes, Pillow images and arrays: pixels, and which of them are visible."""

from __future__ import annotations

import os
import struct
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

# Labels, the image and the work on its borders then stay below 2 GiB; Pillow refuses files of about this size as well.
MAX_PIXELS = 150_000_000
# Damaged files raise any of these in Pillow.
_DAMAGED = (ArithmeticError, LookupError, OSError, RuntimeError, SyntaxError, TypeError, ValueError, struct.error)
# Pillow's modes with more than eight bits per channel. Converting them to RGB would clip their values.
_DEEP_MODES = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")


class LargeImageError(SearchError):
    """An image has more pixels than the limit."""

    code = "image_too_large"


@dataclass(frozen=True, eq=False)
class RasterImage:
    """The pixels of an image, and which of them are visible."""

    pixels: Array  # (h, w, 1) or (h, w, 3): gray levels or RGB, of uint8, or of float32 from 0 to 1
    visible: Array | None  # (h, w) of bool; None if all are

    @property
    def height(self) -> int:
        """The number of rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.pixels.shape[1])

    def to_rgb(self, rows: Any = slice(None), columns: Any = slice(None)) -> Array:
        """Return some pixels as RGB from 0 to 1, (..., 3) of float32."""
        chosen = self.pixels[rows, columns]
        if chosen.dtype == np.uint8:
            chosen = chosen / np.float32(255)
        return np.ascontiguousarray(np.broadcast_to(chosen, (*chosen.shape[:-1], 3)))

    def to_uint8(self) -> Array:
        """Return the image as RGB from 0 to 255, (h, w, 3)."""
        rgb = np.empty((self.height, self.width, 3), dtype=np.uint8)
        for i in range(self.height):  # the floats of a whole photo would take half a gigabyte
            rgb[i] = self.pixels[i] if self.pixels.dtype == np.uint8 else 255 * self.to_rgb(i) + 0.5
        return rgb

    def positions(self, step: int) -> tuple[Array, Array]:
        """Return the rows and the columns of the middle pixel of each square of `step` pixels a side."""
        rows, columns = (np.arange(min(step // 2, n - 1), n, step) for n in (self.height, self.width))
        return rows, columns

    def subsample(self, step: int) -> RasterImage:
        """Keep the middle pixel of each square of `step` pixels a side."""
        kept = tuple(slice(each[0], None, step) for each in self.positions(step))
        return RasterImage(self.pixels[kept], None if self.visible is None else self.visible[kept])

    def downscale(self, factor: int) -> RasterImage:
        """Average squares of `factor` pixels a side; those at the right and lower edge may be smaller."""
        if factor == 1:
            return self
        visible = None if self.visible is None else _average(self.visible[..., None], factor)[..., 0] > 0
        pixels = _average(self.pixels, factor)
        return RasterImage(pixels / np.float32(255) if self.pixels.dtype == np.uint8 else pixels, visible)


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
        A file is rotated by its EXIF orientation; of several frames, the first is read. Arrays have shape (h, w) or
        (h, w, c), where c is 1 for gray, 2 for gray and alpha, 3 for RGB and 4 for RGB and alpha. Black and white are
        0 and 255 of uint8, 0 and 1 of bool and of floats in this range, and else the lowest and the highest value.

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
        return read_file(Path(image), f"'{image}'", MAX_PIXELS)
    if hasattr(image, "getbands"):
        return make_raster(_pillow_pixels(image))
    return make_raster(np.asarray(image))


def read_file(
    file: Path | BinaryIO, source: str, max_pixels: int, formats: tuple[str, ...] | None = None
) -> RasterImage:
    """Read a file with Pillow; errors name the source."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise make_missing_error("Image files need Pillow.") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit below takes its place
            with Image.open(file, formats=formats) as image:
                _check_size(*image.size, source, max_pixels)
                return make_raster(_pillow_pixels(ImageOps.exif_transpose(image)))
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
    except _DAMAGED as error:
        if isinstance(error, SearchError):
            raise
        reason = getattr(error, "strerror", None) or f"{error}. The file seems to be damaged"
        raise SearchError(
            "{source} cannot be read: {reason}.", code="image_unreadable", source=source, reason=reason
        ) from error


def make_missing_error(needs: str) -> SearchError:
    """Return the error for a missing package, with the line that installs it."""
    return SearchError(
        "{needs} Install it with: pip install 'mixsearch[{extra}]'", code="missing_extra", needs=needs, extra="cli"
    )


def _pillow_pixels(image: Any) -> Array:
    """Return the pixels of a Pillow image: those of more than 8 bits unchanged, others as gray, RGB or RGBA."""
    if image.mode in _DEEP_MODES:
        return np.asarray(image)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return np.asarray(image.convert("RGBA"))
    return np.asarray(image.convert("L" if image.mode in ("1", "L") else "RGB"))


def _check_size(width: int, height: int, source: str, max_pixels: int) -> None:
    """Refuse an image without pixels, or with more than the limit."""
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


def make_raster(array: Array) -> RasterImage:
    """Check the values of an image and scale them; 2 and 4 channels are gray and RGB with alpha."""
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or array.shape[2] not in (1, 2, 3, 4):
        raise SearchError(
            "The image has shape {shape}, but needs (h, w) for gray, (h, w, 3) for RGB, or (h, w, 4) for RGB and "
            "alpha. Choose three of more channels; channels come last: np.moveaxis(image, 0, -1).",
            code="bad_image_shape",
            shape=array.shape,
        )
    _check_size(array.shape[1], array.shape[0], "The image", MAX_PIXELS)
    has_alpha = array.shape[2] in (2, 4)
    colors = array[..., :-1] if has_alpha else array
    _check_values(colors)
    pixels = _scale(colors)
    if not has_alpha or (visible := array[..., -1] > 0).all():
        return RasterImage(pixels, None)
    if not visible.any():
        raise SearchError(
            "Every pixel of the image is transparent: there is nothing to segment.", code="image_transparent"
        )
    # Transparent pixels are often black, which filters would mix into their neighbors: they get the mean color.
    pixels = pixels.copy()
    pixels[~visible] = pixels[visible].mean(axis=0).astype(pixels.dtype)
    return RasterImage(pixels, visible)


def _check_values(colors: Array) -> None:
    if colors.dtype != bool and (not np.issubdtype(colors.dtype, np.number) or np.iscomplexobj(colors)):
        raise SearchError(
            "The image has values of type {dtype}, but needs uint8, uint16, bool or floats.",
            code="bad_image_type",
            dtype=str(colors.dtype),
        )
    if not np.issubdtype(colors.dtype, np.integer) and (n_bad := int(np.count_nonzero(~np.isfinite(colors)))):
        raise SearchError(
            "The image has NaN or infinite values, {n_bad:,} in all. Replace them, or crop the image.",
            code="image_not_finite",
            n_bad=n_bad,
        )


def _scale(colors: Array) -> Array:
    """Return values of uint8 as they are, and others from 0 to 1."""
    if colors.dtype == np.uint8:
        return colors
    low, high = float(colors.min()), float(colors.max())
    if np.issubdtype(colors.dtype, np.integer) or low < 0 or high > 1:
        colors = (colors - low) / ((high - low) or 1.0)
    return colors.astype(np.float32)
