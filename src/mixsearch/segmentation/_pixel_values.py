"""Check the values of an image, and find its white level."""

from __future__ import annotations

from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.display import pluralize
from mixsearch.errors import SearchError
from mixsearch.segmentation._channels import reduce_channels
from mixsearch.segmentation._image import RasterImage

# Labels, the image and one chunk of work then stay below 2 GiB; Pillow refuses files of about this size as well.
MAX_PIXELS = 150_000_000
_GRAY, _GRAY_ALPHA, _RGB, _RGBA = 1, 2, 3, 4
_BYTE, _MAX_14_BITS = 255, 2**14


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


def make_raster(array: Array, *, has_alpha: bool | None = None) -> RasterImage:
    """Check the values of an image and find their range. By default 2 and 4 channels are gray and RGB with alpha."""
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or _has_channels_first(array):
        advice = " Channels come last: np.moveaxis(image, 0, -1)." if _has_channels_first(array) else ""
        raise SearchError(
            "The image has shape {shape}, but needs (h, w) for gray, (h, w, 3) for RGB, (h, w, 4) for RGB and alpha, "
            "or (h, w, c) for any number of channels.{advice}",
            code="bad_image_shape",
            shape=array.shape,
            advice=advice,
        )
    check_size(array.shape[1], array.shape[0], "The image", MAX_PIXELS, array.shape[2])
    if has_alpha is None:
        has_alpha = array.shape[2] in (_GRAY_ALPHA, _RGBA)
    colors = array[..., :-1] if has_alpha else array
    _check_values(colors)
    visible = array[..., -1] > 0 if has_alpha else None
    if visible is not None and not visible.any():
        raise SearchError(
            "Every pixel of the image is transparent: there is nothing to segment.", code="image_transparent"
        )
    if colors.shape[2] not in (_GRAY, _RGB):
        pixels, white = reduce_channels(colors, visible), 1.0
    else:
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
