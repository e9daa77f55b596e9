"""Images in memory: their pixels, white level, colors and checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.display import pluralize
from mixsearch.errors import Option, SearchError

_BYTE = 255
_GRAY, _GRAY_ALPHA, _RGB, _RGBA = 1, 2, 3, 4
_ROWS_PER_CHUNK = 256


@dataclass(frozen=True, eq=False)
class RasterImage:
    """The pixels of an image, in the type they came in, and which of them are visible.

    Attributes
    ----------
    pixels : array of shape (h, w, 1) or (h, w, 3)
        Gray levels or RGB, of uint8, uint16 or float32.
    white : float
        The value of white.
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
        """Return some rows as RGB from 0 to 1."""
        chunk = self.pixels[rows].astype(np.float32)
        chunk /= np.float32(self.white)
        return np.ascontiguousarray(np.broadcast_to(chunk, (*chunk.shape[:2], _RGB)))

    def to_uint8(self) -> Array:
        """Return the whole image as RGB from 0 to 255."""
        if self.pixels.dtype == np.uint8 and self.white == _BYTE:
            return np.ascontiguousarray(np.broadcast_to(self.pixels, (self.height, self.width, _RGB)))
        rgb = np.empty((self.height, self.width, _RGB), dtype=np.uint8)
        for start in range(0, self.height, _ROWS_PER_CHUNK):
            rows = slice(start, start + _ROWS_PER_CHUNK)
            rgb[rows] = 255 * self.rows(rows) + 0.5
        return rgb

    def subsample(self, step: int) -> RasterImage:
        """Keep one pixel of each square of `step` pixels a side, the middle one."""
        kept = subsample_slice(self.height, step), subsample_slice(self.width, step)
        return RasterImage(self.pixels[kept], self.white, None if self.visible is None else self.visible[kept])

    def downscale(self, factor: int) -> RasterImage:
        """Average squares of `factor` pixels a side; those at the right and lower edge may be smaller."""
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


# sRGB (IEC 61966-2-1) to XYZ relative to the white point D65.
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]],
    dtype=np.float32,
) / np.array([[0.95047], [1.0], [1.08883]], dtype=np.float32)
_LINEAR_BELOW = np.float32(0.04045)
_ROOT_BELOW = np.float32((6 / 29) ** 3)


def convert_to_lab(rgb: Array) -> Array:
    """Convert sRGB from 0 to 1, (..., 3), to CIELAB, (..., 3) of float32."""
    x = np.asarray(rgb, dtype=np.float32)
    linear = np.where(x > _LINEAR_BELOW, ((x + np.float32(0.055)) / np.float32(1.055)) ** np.float32(2.4), x / 12.92)
    xyz = linear.astype(np.float32) @ _TO_XYZ.T
    root = np.where(xyz > _ROOT_BELOW, np.cbrt(xyz), xyz * np.float32(841 / 108) + np.float32(4 / 29))
    X, Y, Z = root[..., 0], root[..., 1], root[..., 2]
    return np.stack([116 * Y - 16, 500 * (X - Y), 200 * (Y - Z)], axis=-1).astype(np.float32)


# Labels, the image and one chunk of work then stay below 2 GiB; Pillow refuses files of about this size as well.
MAX_PIXELS = 150_000_000
_MAX_14_BITS = 2**14


class LargeImageError(SearchError):
    """An image has more pixels than the limit."""

    code = "image_too_large"


def check_size(width: int, height: int, source: str, max_pixels: int, n_channels: int = 1) -> None:
    """Refuse an image without pixels, or with more than the limit: four channels count as one pixel."""
    size: dict[str, Any] = {"source": source, "width": width, "height": height, "n_channels": n_channels}
    if not width * height:
        raise SearchError("{source} is {width} x {height} pixels: it is empty.", code="image_empty", **size)
    if width * height * max(n_channels / _RGBA, 1) > max_pixels:
        many = " of {n_channels} channels" if n_channels > _RGBA else ""
        raise LargeImageError(
            "{source} has {width:,} x {height:,} pixels" + many + "; the limit is {max_pixels:,} pixels, since a small "
            "file can decode to more than fits into memory. Downscale or crop it.",
            max_pixels=max_pixels,
            **size,
        )


def make_raster(array: Array) -> RasterImage:
    """Check the values of an image and find their range; 2 and 4 channels are gray and RGB with alpha."""
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or _has_channels_first(array):
        advice = " Channels come last: np.moveaxis(image, 0, -1)." if _has_channels_first(array) else ""
        raise SearchError(
            "The image has shape {shape}, but needs (h, w) for gray, (h, w, 3) for RGB, or (h, w, 4) for RGB and "
            "alpha.{advice}",
            code="bad_image_shape",
            shape=array.shape,
            advice=advice,
        )
    check_size(array.shape[1], array.shape[0], "The image", MAX_PIXELS, array.shape[2])
    has_alpha = array.shape[2] in (_GRAY_ALPHA, _RGBA)
    colors = array[..., :-1] if has_alpha else array
    if colors.shape[2] not in (_GRAY, _RGB):
        raise SearchError(
            "The image has {n_channels} channels, but only gray and RGB images can be segmented. Choose three of the "
            "channels, and give all of them as {features}.",
            code="bad_image_channels",
            n_channels=colors.shape[2],
            features=Option("features"),
        )
    _check_values(colors)
    visible = array[..., -1] > 0 if has_alpha else None
    if visible is not None and not visible.any():
        raise SearchError(
            "Every pixel of the image is transparent: there is nothing to segment.", code="image_transparent"
        )
    pixels, white = _find_range(colors)
    if visible is None or visible.all():
        return RasterImage(pixels, white, None)
    return RasterImage(_fill_transparent(pixels, visible), white, visible)


def _has_channels_first(array: Array) -> bool:
    """Return whether the first axis is that of the channels: far fewer rows than columns and than channels."""
    if array.ndim != 3 or not array.size:
        return False
    n_rows, n_columns, n_channels = array.shape
    return bool(n_rows <= _RGBA < n_channels or _RGBA * n_rows <= min(n_columns, n_channels))


def _check_values(colors: Array) -> None:
    if colors.dtype == bool:
        return
    if not np.issubdtype(colors.dtype, np.number) or np.iscomplexobj(colors):
        raise SearchError(
            "The image has values of type {dtype}, but needs uint8, uint16, bool or floats.",
            code="bad_image_type",
            dtype=str(colors.dtype),
        )
    is_whole = np.issubdtype(colors.dtype, np.integer)
    n_bad = 0 if is_whole else int(colors.size - np.count_nonzero(np.isfinite(colors)))
    if n_bad:
        raise SearchError(
            "The image has {n_bad:,} "
            + pluralize(
                n_bad, "value that is NaN or infinite. Replace it", "values that are NaN or infinite. Replace them"
            )
            + ", or crop the image.",
            code="image_not_finite",
            n_bad=n_bad,
        )


def _find_range(colors: Array) -> tuple[Array, float]:
    """Return the values of an image, and the white level."""
    if colors.dtype == bool:
        return colors.astype(np.uint8), 1.0
    if colors.dtype == np.uint8:
        return colors, float(_BYTE)
    low, high = float(colors.min()), float(colors.max())
    if colors.dtype == np.uint16:
        # Cameras and microscopes store 10, 12 or 14 bits in 16.
        n_bits = int(high).bit_length() if _BYTE < high < _MAX_14_BITS else 16
        return colors, float(2**n_bits - 1)
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
